package vfstest

import "io/fs"

// A file is the vfs.File of a Disk, guarded by the disk's lock.
type file struct {
	disk   *Disk
	path   string
	node   *node
	at     int // where Write continues
	closed bool
}

// Write writes p after the bytes of the last Write; the first Write begins where the file was
// opened. If it is made to fail, half of p is written.
func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	injected := f.disk.failures.next()
	if f.closed {
		return 0, pathError("write", f.path, fs.ErrClosed)
	}
	if injected != nil {
		p = p[:len(p)/2]
	}
	f.node.data = append(f.node.data, make([]byte, max(0, f.at-len(f.node.data)))...)
	n := copy(f.node.data[f.at:], p)
	f.node.data = append(f.node.data, p[n:]...)
	f.at += len(p)
	return len(p), pathError("write", f.path, injected)
}

// WriteAt replaces bytes at offset at. If it is made to fail, it has replaced half of them. Unlike
// a real file it returns an error if p is not within the bytes already written.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	injected := f.disk.failures.next()
	size := int64(len(f.node.data))
	switch {
	case f.closed:
		return 0, pathError("write", f.path, fs.ErrClosed)
	case at < 0 || at > size || int64(len(p)) > size-at:
		return 0, pathError("write", f.path, fs.ErrInvalid)
	case injected != nil:
		p = p[:len(p)/2]
	}
	return copy(f.node.data[at:], p), pathError("write", f.path, injected)
}

// Reserve appends zeros.
func (f *file) Reserve(size int64) error {
	return f.disk.change("reserve", f.path, func() error {
		if f.closed {
			return fs.ErrClosed
		}
		f.node.data = append(f.node.data, make([]byte, size)...)
		f.at = len(f.node.data)
		return nil
	})
}

// Extend appends zeros to a shorter file.
func (f *file) Extend(size int64) error {
	return f.disk.change("extend", f.path, func() error {
		if f.closed {
			return fs.ErrClosed
		}
		f.node.data = append(f.node.data, make([]byte, max(0, int(size)-len(f.node.data)))...)
		return nil
	})
}

// Sync makes all written bytes durable.
func (f *file) Sync() error {
	return f.disk.change("sync", f.path, func() error {
		if f.closed {
			return fs.ErrClosed
		}
		f.node.sync()
		return nil
	})
}

// Close closes the file, even if it is made to fail.
func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.failures.next()
	if f.closed {
		err = fs.ErrClosed
	}
	f.closed = true
	return pathError("close", f.path, err)
}
