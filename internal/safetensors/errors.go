package safetensors

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// What can be wrong with a header.
var (
	// ErrCorrupt says that a file does not hold what its format demands.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or is to
	// hold something that the format has no place for.
	ErrUnsupported = fileformat.ErrUnsupported
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// within returns err, if there is one, as one about a part of a header, unless it is about a
// tensor.
func within(part string, err error) error {
	if _, ok := err.(*fileformat.Error); ok || err == nil {
		return err
	}
	return fmt.Errorf("%s: %w", part, classed(err))
}

// inTensor returns err, if there is one, as one about a tensor.
func inTensor(name string, err error) error { return fileformat.In(name, classed(err)) }

// classed returns what is no JSON as ErrCorrupt.
func classed(err error) error {
	if errors.Is(err, jsonscan.ErrSyntax) && !errors.Is(err, ErrCorrupt) {
		return corrupt("%w", err)
	}
	return err
}
