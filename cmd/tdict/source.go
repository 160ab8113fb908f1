package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
)

// tableFlags say how csv and jsonl files are read and written.
type tableFlags struct {
	From   forms.Form `help:"The form of the inputs, if neither bytes nor suffix tell it." placeholder:"FORM"`
	Schema string     `help:"Read csv and jsonl by the schema in FILE, as 'tdict schema' prints it." placeholder:"FILE"`
	Comma  string     `help:"What separates the fields of csv." placeholder:"CHAR"`
	NA     []string   `name:"na" sep:"none" help:"A spelling of missing values in csv; NA and nothing without it. Repeat it for more." placeholder:"TEXT"`
}

// options returns what the flags say.
func (f *tableFlags) options(s *session) (opt forms.OpenOptions, err error) {
	opt.Form, opt.CSV = f.From, csv.Format{NA: f.NA}
	if len(f.Comma) > 1 {
		return opt, s.usage("--comma takes one character, got %q", f.Comma)
	} else if f.Comma != "" {
		opt.CSV.Comma = f.Comma[0]
	}
	if f.Schema != "" {
		opt.Schema, err = readSchema(f.Schema)
	}
	return opt, err
}

// A source is an opened dataset. Dict is never nil.
type source struct {
	*forms.Input
	made string // a temporary directory that Close removes
}

// open opens a dataset for reading. A table is converted to a temporary directory.
func (s *session) open(path string, flags tableFlags) (*source, error) {
	opt, err := flags.options(s)
	if err != nil {
		return nil, err
	}
	in, err := forms.Open(path, opt)
	if err != nil || in.Dict != nil {
		return &source{Input: in}, err
	}
	if err := in.Close(); err != nil {
		return nil, err
	}
	made, err := os.MkdirTemp("", "tdict-")
	if err != nil {
		return nil, err
	}
	table, rows := *in, filepath.Join(made, "rows")
	err = forms.Convert(s.ctx, rows, []string{path}, forms.Options{Open: opt, Progress: s.progress, NoSync: true})
	if err == nil {
		in, err = forms.Open(rows, forms.OpenOptions{})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	in.Path, in.Form = table.Path, table.Form
	return &source{in, made}, nil
}

// Close unmaps the files.
func (in *source) Close() error {
	return errors.Join(in.Input.Close(), os.RemoveAll(in.made)) // which does nothing for ""
}
