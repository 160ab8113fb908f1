package zipfile

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// What can be wrong with an archive.
var (
	// ErrCorrupt says that a file does not hold what the format demands.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file holds something that this package does not read, or is to
	// hold something that it does not write.
	ErrUnsupported = fileformat.ErrUnsupported
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// within returns err, if there is one, as one about a part of an archive.
func within(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}
