package vfstest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"testing/fstest"
)

// Tree returns a copy of the current state of the disk as an fs.FS.
func (d *Disk) Tree() fs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	tree := make(fstest.MapFS)
	d.root.addTo(tree, ".")
	return tree
}

// addTo adds n and everything below it to tree.
func (n *node) addTo(tree fstest.MapFS, name string) {
	tree[name] = &fstest.MapFile{Data: bytes.Clone(n.data), Mode: n.mode()}
	for child, l := range n.names {
		l.node.addTo(tree, path.Join(name, child))
	}
}

// Export writes the current state of the disk to the real directory dir, for code that only opens
// real files. It creates dir if necessary, and replaces no file in it.
func (d *Disk) Export(dir string) error { return os.CopyFS(dir, d.Tree()) }
