package main

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/interop/forms"
)

type convertCmd struct {
	Paths []string `arg:"" name:"path" help:"One or more inputs, and last the output."`
	writeFlags
}

func (convertCmd) Help() string {
	return `
The suffix of the output says its form: .tdz, .npy, .npz, .safetensors, .nrt, .csv or .jsonl; a name without a suffix is a directory. Rows of several inputs are laid one after another. The output appears as a whole when it is done.

	tdict convert visits.csv visits
	tdict convert visits visits.tdz
	tdict convert part1.csv part2.csv visits --schema visits.json
	tdict convert visits visits.safetensors --lossy`
}

func (c *convertCmd) Run(s *session) error {
	last := len(c.Paths) - 1
	if last < 1 {
		return s.usage("got one path, want inputs and an output")
	}
	return c.write(s, func(opt forms.Options) error {
		return forms.Convert(s.ctx, c.Paths[last], c.Paths[:last], opt)
	})
}

// writeFlags say how a dataset is written.
type writeFlags struct {
	To    forms.Form `help:"The form of the output: directory, tdz, npy, npz, safetensors, nrt, csv or jsonl." placeholder:"FORM"`
	Force bool       `help:"Replace the output if it is there."`
	Lossy bool       `help:"Leave out what the form cannot hold, and list it on standard error."`
	tableFlags
}

// write calls fn with the options that the flags say.
func (f *writeFlags) write(s *session, fn func(opt forms.Options) error) error {
	open, err := f.options(s)
	if err != nil {
		return err
	}
	opt := forms.Options{Open: open, Form: f.To, Force: f.Force, Progress: s.progress}
	err = fn(opt)
	lost, ok := errors.AsType[*forms.LossError](err)
	if !ok || !f.Lossy {
		return err
	}
	for _, loss := range lost.Losses {
		fmt.Fprintf(s.errs, "tdict: %s: left out %q: %s\n", s.name, loss.Key, loss.Reason)
	}
	opt.Lossy = true
	return fn(opt)
}
