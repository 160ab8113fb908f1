package memmap

import (
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// holdsWorkingDir reports whether the working directory is dir, or in it. One that was removed is
// not.
func holdsWorkingDir(dir string) bool {
	here, err := vfs.WorkingDir()
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, here)
	return err == nil && filepath.IsLocal(rel)
}
