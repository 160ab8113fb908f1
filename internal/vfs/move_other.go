//go:build !unix

package vfs

import (
	"os"
	"path/filepath"
)

// move goes by the paths: systems that open directories by name, as Windows, do not let one be
// renamed that is open.
func move(name string, from, to *Root) error {
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), name))
}
