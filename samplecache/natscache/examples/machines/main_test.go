package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestMachines runs the program as a user does.
func TestMachines(t *testing.T) {
	exe := t.TempDir() + "/machines"
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(exe).CombinedOutput()
	if err != nil || strings.Count(string(out), "64 waves, all of gen-0 and gen-1: true") != 5 {
		t.Fatalf("%v\n%s", err, out)
	}
}
