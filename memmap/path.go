package memmap

import (
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// holdsWorkingDir reports whether the working directory is dir or in it. It is false for a working
// directory that was removed.
func holdsWorkingDir(dir string) bool {
	here, err := vfs.WorkingDir()
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, here)
	return err == nil && filepath.IsLocal(rel)
}

// keyOf returns the key with the given parts, "" for none.
func keyOf(path []string) nestedkey.Key {
	if len(path) == 0 {
		return ""
	}
	return nestedkey.Of(path[0], path[1:]...)
}
