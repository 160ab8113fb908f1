package safetensors

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// Errors about headers.
var (
	// ErrCorrupt says that a file violates the format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file has something that this package does not read, or was asked
	// for something that the format cannot hold.
	ErrUnsupported = fileformat.ErrUnsupported
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// within adds the part of a header to err, unless err is nil or names a tensor.
func within(part string, err error) error {
	if _, ok := err.(*fileformat.Error); ok || err == nil {
		return err
	}
	return fmt.Errorf("%s: %w", part, classed(err))
}

// inTensor adds the name of a tensor to err, unless err is nil.
func inTensor(name string, err error) error { return fileformat.In(name, classed(err)) }

// classed returns a syntax error of JSON as ErrCorrupt, and any other error unchanged.
func classed(err error) error {
	if errors.Is(err, jsonscan.ErrSyntax) && !errors.Is(err, ErrCorrupt) {
		return corrupt("%w", err)
	}
	return err
}
