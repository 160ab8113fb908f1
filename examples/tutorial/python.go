package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

//go:embed share.py
var script string

// python has Python read the dataset at dir and write another one, which it opens. Without a Python
// that has tensordict, in the environment variable TENSORDICT_PYTHON, it does nothing.
func python(dir string) {
	exe := os.Getenv("TENSORDICT_PYTHON")
	if exe == "" {
		fmt.Println("skipped: TENSORDICT_PYTHON is not set")
		return
	}
	summary := dir + "-by-stage"
	command := exec.Command(exe, "-W", "ignore", "-c", script, dir, summary)
	command.Stderr = os.Stderr
	fmt.Print(string(tensor.Must(command.Output())))

	ds := tensor.Must(memmap.Open(summary))
	defer ds.Close()
	bilirubin := tensor.Must(tensor.Must(ds.Tensor("labs")).Index(ix.All, ix.At(0)))
	fmt.Println("mean bilirubin in each stage:", bilirubin)
}
