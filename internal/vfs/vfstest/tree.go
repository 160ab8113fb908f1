package vfstest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"testing/fstest"
)

// Tree returns a copy of what is current on the disk, to be read with package fs.
func (d *Disk) Tree() fs.FS {
	d.mu.Lock()
	defer d.mu.Unlock()
	tree := make(fstest.MapFS)
	d.root.addTo(tree, ".")
	return tree
}

// addTo puts n and all below it into tree.
func (n *node) addTo(tree fstest.MapFS, name string) {
	tree[name] = &fstest.MapFile{Data: bytes.Clone(n.data), Mode: n.mode()}
	for child, l := range n.names {
		l.node.addTo(tree, path.Join(name, child))
	}
}

// Export writes what is current on the disk to the real directory dir, so that code which knows
// only real files can open it. dir is made if need be; no file in it is replaced.
func (d *Disk) Export(dir string) error { return os.CopyFS(dir, d.Tree()) }
