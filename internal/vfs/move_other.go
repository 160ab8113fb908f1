//go:build !unix

package vfs

import (
	"os"
	"path/filepath"
)

// move uses the paths: systems that open directories by name, such as Windows, do not rename an
// open directory.
func move(name string, from, to *Root) error {
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), name))
}
