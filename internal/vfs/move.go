package vfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Move moves an entry of one open directory to another on the same disk, under the same name. It
// uses the open directories, whatever their paths name now. A file replaces a file; a directory
// replaces only an empty directory. Move does not sync.
func Move(name string, from, to *Root) error {
	err := fmt.Errorf("%w: want the name of an entry", fs.ErrInvalid)
	if filepath.IsLocal(name) && filepath.Base(name) == name {
		err = step("move", to.at(name), func() error { return move(name, from, to) })
	}
	if err != nil {
		return &os.LinkError{Op: "move", Old: filepath.Join(from.Name(), name), New: filepath.Join(to.Name(), name), Err: err}
	}
	return nil
}
