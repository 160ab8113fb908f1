package vfstest

import (
	"io/fs"
	"maps"
	"slices"
	"time"
)

// A node is a file or a directory. The zero node is an empty directory.
type node struct {
	isFile bool

	data, synced   []byte           // of a file: current and durable
	names, durable map[string]*link // of a directory: current and durable
}

// A link is a name's entry in a directory. It stays the same when it is renamed; a file may have
// several links.
type link struct {
	node    *node
	removed bool // by RemoveAll, durably or not
}

// empty reports whether n is a directory without names.
func (n *node) empty() bool { return !n.isFile && len(n.names) == 0 }

// put sets the current entry of a name.
func (n *node) put(name string, l *link) {
	if n.names == nil {
		n.names = make(map[string]*link)
	}
	n.names[name] = l
}

// sync makes the current content durable: the bytes of a file, the names of a directory.
func (n *node) sync() {
	n.synced = slices.Clone(n.data)
	n.durable = maps.Clone(n.names)
}

// clear removes everything below n, except for the last keep names of n.
func (n *node) clear(keep int) {
	names := slices.Sorted(maps.Keys(n.names))
	for _, name := range names[:max(0, len(names)-keep)] {
		n.remove(name)
	}
}

// remove removes a name of n and everything below it.
func (n *node) remove(name string) {
	l := n.names[name]
	l.node.clear(0)
	l.removed = true
	delete(n.names, name)
}

// mode returns the type and permissions that a real file would have.
func (n *node) mode() fs.FileMode {
	if n.isFile {
		return 0o666
	}
	return fs.ModeDir | 0o777
}

// An info is the fs.FileInfo of a node. It is taken under the lock of the disk.
type info struct {
	name string
	mode fs.FileMode
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
