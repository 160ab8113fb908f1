//go:build unix

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func move(name string, from, to *Root) error {
	a, err := from.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer b.Close()
	return unix.Renameat(int(a.Fd()), name, int(b.Fd()), name)
}
