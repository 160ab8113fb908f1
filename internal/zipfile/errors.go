package zipfile

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// Errors about an archive.
var (
	// ErrCorrupt says that a file violates the format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a file has something that this package does not read, or should
	// have something that it does not write.
	ErrUnsupported = fileformat.ErrUnsupported
)

var corrupt, unsupported = fileformat.Corrupt, fileformat.Unsupported

// within adds the part of the archive to err, unless err is nil.
func within(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}
