package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

//go:embed peers.py
var script string

// peers runs the same work in torch and pandas.
func peers(w io.Writer, python string, bytes, rounds int) error {
	f, err := os.CreateTemp("", "speed-*.csv")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(sheet(bytes * 37 / 64))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	cmd := exec.Command(python, "-c", script, f.Name(), strconv.Itoa(bytes), strconv.Itoa(rounds))
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	return nil
}
