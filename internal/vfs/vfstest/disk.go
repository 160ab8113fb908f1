package vfstest

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A Disk is a [vfs.FS] in memory. The zero Disk is empty, has no failures and supports Exchange.
//
// The root always exists; relative paths start there too. Safe for concurrent use.
type Disk struct {
	// NoExchange makes Exchange return [errors.ErrUnsupported]. Set it before the first operation.
	NoExchange bool

	mu       sync.Mutex
	root     node
	failures failures
}

var _ vfs.FS = (*Disk)(nil)

// New returns an empty Disk.
func New() *Disk { return new(Disk) }

// Mkdir implements [vfs.FS].
func (d *Disk) Mkdir(path string, _ fs.FileMode) error {
	return d.change("mkdir", path, func() error {
		return d.add(path, new(node))
	})
}

// Create implements [vfs.FS].
func (d *Disk) Create(path string, _ fs.FileMode) (vfs.File, error) {
	f := &file{disk: d, path: path, node: &node{isFile: true}}
	err := d.change("create", path, func() error { return d.add(path, f.node) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Resume implements [vfs.FS].
func (d *Disk) Resume(path string, size int64, cut bool) (vfs.File, error) {
	f := &file{disk: d, path: path, at: int(size)}
	err := d.change("resume", path, func() (err error) {
		f.node, err = d.find(path)
		switch {
		case err != nil:
			return err
		case !f.node.isFile:
			return syscall.EISDIR
		case size < 0 || int64(len(f.node.data)) < size:
			return fs.ErrInvalid
		}
		if cut {
			f.node.data = f.node.data[:size:size]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Chmod only counts as an operation: a Disk has no permissions.
func (d *Disk) Chmod(path string, _ fs.FileMode) error {
	return d.change("chmod", path, func() error {
		_, err := d.find(path)
		return err
	})
}

// Hold does nothing: a Disk has one user.
func (d *Disk) Hold(string) (release func() error, err error) {
	return func() error { return nil }, nil
}

// OpenDir opens a directory by its path: a Disk has one user, who does not rename it meanwhile.
func (d *Disk) OpenDir(path string) (vfs.Dir, error) {
	info, err := d.Lstat(path)
	if err == nil && !info.IsDir() {
		err = pathError("opendir", path, syscall.ENOTDIR)
	}
	if err != nil {
		return nil, err
	}
	return dir{d, path}, nil
}

// Link implements [vfs.FS].
func (d *Disk) Link(old, new string) error {
	return d.change2("link", old, new, func() error {
		n, err := d.find(old)
		if err != nil {
			return err
		}
		to, err := d.vacant(new)
		switch {
		case err != nil:
			return err
		case !n.isFile:
			return fs.ErrPermission
		}
		to.put(&link{node: n})
		return nil
	})
}

// SyncDir implements [vfs.FS].
func (d *Disk) SyncDir(path string) error {
	return d.change("syncdir", path, func() error {
		n, err := d.find(path)
		if err != nil {
			return err
		}
		if n.isFile {
			return syscall.ENOTDIR
		}
		n.sync()
		return nil
	})
}

// RemoveAll implements [vfs.FS]. If it is made to fail, it has removed a part of the tree.
func (d *Disk) RemoveAll(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	injected := d.failures.next()
	e, err := d.entry(path)
	switch {
	case injected != nil:
		err = injected
		if e.node != nil {
			e.node.clear(1)
		}
	case e.node != nil:
		e.dir.remove(e.name)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	return pathError("removeall", path, err)
}

// Rename implements [vfs.FS].
func (d *Disk) Rename(old, new string) error {
	return d.change2("rename", old, new, func() error { return d.apply2(old, new, d.rename) })
}

func (d *Disk) rename(from, to entry) error {
	switch {
	case from.node == nil:
		return fs.ErrNotExist
	case to.node != nil && !to.node.isFile:
		return fs.ErrExist
	case nested(from.path, to.path):
		return fs.ErrInvalid
	case to.node != nil && !from.node.isFile:
		return syscall.ENOTDIR
	case to.node == from.node:
		return nil // two names of one file do not change
	}
	delete(from.dir.names, from.name)
	to.put(from.link)
	return nil
}

// RenameNew implements [vfs.FS].
func (d *Disk) RenameNew(old, new string, overEmpty bool) error {
	return d.change2("rename", old, new, func() error {
		return d.apply2(old, new, func(from, to entry) error { return d.renameNew(from, to, overEmpty) })
	})
}

func (d *Disk) renameNew(from, to entry, overEmpty bool) error {
	switch {
	case from.node == nil:
		return fs.ErrNotExist
	case from.node.isFile:
		return syscall.ENOTDIR
	case overEmpty && to.node == from.node:
		return nil
	case to.node != nil && !(overEmpty && to.node.empty()):
		return fs.ErrExist
	case nested(from.path, to.path):
		return fs.ErrInvalid
	}
	delete(from.dir.names, from.name)
	to.put(from.link)
	return nil
}

// Exchange implements [vfs.FS].
func (d *Disk) Exchange(a, b string) error {
	return d.change2("exchange", a, b, func() error { return d.apply2(a, b, d.exchange) })
}

func (d *Disk) exchange(a, b entry) error {
	switch {
	case d.NoExchange:
		return errors.ErrUnsupported
	case a.node == nil || b.node == nil:
		return fs.ErrNotExist
	case nested(a.path, b.path):
		return fs.ErrInvalid
	}
	a.put(b.link)
	b.put(a.link)
	return nil
}

// Lstat implements [vfs.FS]. It does not change the disk and never fails by injection.
func (d *Disk) Lstat(path string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(path)
	if err != nil {
		return nil, pathError("lstat", path, err)
	}
	return info{name: base(path), mode: n.mode(), size: int64(len(n.data))}, nil
}

// change runs a mutating operation on one path, unless it is made to fail.
func (d *Disk) change(op, path string, apply func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failures.next(); err != nil {
		return pathError(op, path, err)
	}
	return pathError(op, path, apply())
}

// change2 runs a mutating operation on two paths, unless it is made to fail.
func (d *Disk) change2(op, a, b string, apply func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failures.next(); err != nil {
		return &os.LinkError{Op: op, Old: a, New: b, Err: err}
	}
	if err := apply(); err != nil {
		return &os.LinkError{Op: op, Old: a, New: b, Err: err}
	}
	return nil
}

// apply2 looks up two paths, a first, and applies an operation to them.
func (d *Disk) apply2(a, b string, apply func(a, b entry) error) error {
	from, err := d.place(a)
	if err != nil {
		return err
	}
	to, err := d.place(b)
	if err != nil {
		return err
	}
	return apply(from, to)
}

// pathError adds op and path to err, unless err is nil.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
