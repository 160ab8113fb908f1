package tdarrow

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/tdict"
)

// Infer reads a stream to its end and returns the schema of the dictionaries that [Read] makes of
// it: as [Write] wrote it, where that still fits, otherwise
//
//   - a mask for each column that has nulls in any batch
//   - Categories for texts with a dictionary: the texts of all dictionaries, in order
//   - units and layouts of times, shapes of lists of one length
//
// It returns the errors of Read. Memory is in proportion to a batch and to the dictionaries.
func Infer(r io.Reader, opt Options) (tdict.Schema, error) {
	s, err := message.NewStream(r, options("", &opt))
	if err != nil {
		return nil, err
	}
	return infer("", s.Schema(), s.Facts, opt)
}

// InferFile is [Infer] for a file on disk, in the file format or as a stream. It reads the headers
// of batches and the texts of dictionaries, and no values.
func InferFile(path string, opt Options) (tdict.Schema, error) {
	f, err := open(path, &opt)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.infer(opt)
}

// infer is InferFile for an open file.
func (f *file) infer(opt Options) (schema tdict.Schema, err error) {
	err = f.view(func() (err error) {
		schema, err = infer(f.path, f.Schema(), f.Facts, opt)
		return err
	})
	return schema, err
}

// infer returns the schema of a file from its facts.
func infer(path string, s *arrow.Schema, facts func() (*message.Facts, error), opt Options) (tdict.Schema, error) {
	x, err := columns.NewInferrer(s, opt)
	if err != nil {
		return nil, message.In(path, "schema", "", err)
	}
	known, err := facts()
	if err != nil {
		return nil, err
	}
	x.Learn(known)
	schema, err := x.Schema()
	return schema, message.In(path, "schema", "", err)
}

// options returns the options of messages of a file.
func options(path string, opt *Options) message.Options {
	return message.Options{Path: path, MaxMemory: opt.MaxMemory}
}
