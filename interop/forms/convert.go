package forms

import (
	"context"
	"errors"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// Options say how [Convert], [Slice] and [Split] read and write. The zero value is the default.
type Options struct {
	Open OpenOptions // of the inputs; Schema and CSV are also those of csv and jsonl that is written
	// Form is that of the output; 0 means what [For] returns. Split has forms by the names of parts.
	Form  Form
	Force bool // replaces what is at the output
	Lossy bool // leaves out what the form of the output cannot hold
	// Progress, if not nil, is called with the bytes that were read or written, and with all of
	// them, 0 if that is not known.
	Progress func(done, total int64)
}

// A Loss is an entry, or a property of one, that a form cannot hold.
type Loss struct {
	Key    nestedkey.Key // "" for the whole
	Reason string
}

// A LossError lists what a form cannot hold.
type LossError struct {
	Path   string // of the input
	Form   Form   // of the output
	Losses []Loss
}

// Error returns the list.
func (e *LossError) Error() string { return "" }

// Convert saves the rows of one or more datasets.
func Convert(ctx context.Context, to string, from []string, opt Options) error {
	return errors.ErrUnsupported
}
