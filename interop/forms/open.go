package forms

import (
	"context"
	"errors"
	"iter"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/tdict"
)

// OpenOptions say how [Open] opens. The zero value is the default.
type OpenOptions struct {
	// Form is that of the input; 0 means what [Of] returns.
	Form Form
	// Schema has the columns of a csv or jsonl file; nil means the one that is inferred from all
	// rows.
	Schema tdict.Schema
	// CSV is the syntax of csv files. It must have no Categories.
	CSV csv.Format
}

// An Input is an opened dataset.
type Input struct {
	Path string
	Form Form
	// Dict has the elements, which lie in mapped files; nil for csv and jsonl.
	Dict *tdict.TensorDict
	// Schema has the entries as a table has them: ragged bytes of one level are text, and an entry
	// with a mask beside it is Optional, and the mask no entry.
	Schema tdict.Schema
}

// Open opens a dataset for reading.
func Open(path string, opt OpenOptions) (*Input, error) { return nil, errors.ErrUnsupported }

// Chunks returns an iterator over the rows.
func (in *Input) Chunks(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] { return nil }

// Losses lists what of the dataset a form cannot hold.
func (in *Input) Losses(to Form) []Loss { return nil }

// Close unmaps the files.
func (in *Input) Close() error { return nil }
