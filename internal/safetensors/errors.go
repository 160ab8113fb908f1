package safetensors

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
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

// within returns err, if there is one, as one about a part of a header.
func within(part string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, jsonscan.ErrSyntax) && !errors.Is(err, ErrCorrupt) {
		err = corrupt("%w", err)
	}
	return fmt.Errorf("%s: %w", part, err)
}

// inTensor returns err, if there is one, as one about a tensor.
func inTensor(name string, err error) error {
	if err == nil {
		return nil
	}
	return within("tensor "+errtext.Quote(name), err)
}
