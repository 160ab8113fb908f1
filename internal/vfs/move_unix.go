//go:build unix

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func move(name string, from, to *os.Root) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	return unix.Renameat(int(a.Fd()), name, int(b.Fd()), name)
}
