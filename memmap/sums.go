package memmap

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// A leafFile is the file of a leaf of a [Dataset].
type leafFile struct {
	file      lender
	node      *leafNode
	name      string         // of the entry
	key       nestedkey.Key  // for Verify
	unbatched bool           // an unbatched tensor
	rows      *ragged.Layout // of a ragged tensor; otherwise nil
	row       fileRow        // the rows of the outermost dictionary in the file
	summed    bool           // the meta.json has sums for it, which may be void
	sums      []uint32       // of the elements in the file; nil if void or unknown
	written   bool           // this Dataset has made them void, or written elements while they were
	was       []uint32       // the sums, if they became void with others and d has not written it
}

// A leafNode is a node of a [Dataset].
type leafNode struct {
	path string
	dir  *mapfile.Dir
	td   *tdict.TensorDict // if it is a dictionary
	lazy bool              // it is a lazy stack
	info fs.FileInfo       // of its meta.json, when last read or written
	sum  uint32            // of the text of that meta.json
	leaf map[string]*leafFile

	schema []byte // text of the saved schema; nil for none
	voids  int    // number of changes that made sums void
}

// disk returns the file of a leaf in a directory.
func (l *leafFile) disk() *mapfile.File { return l.file.(*mapfile.File) }

// touch is called before memory of a file is written. It makes the sums of the leaf void, durably,
// because a crash may leave any part of the new elements in the file.
func (d *Dataset) touch(f *mapfile.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.files[f.Number()]
	if len(l.sums) > 0 {
		if err := d.void(l); err != nil {
			return vfs.NotDone(d.fail("write", path.Join(l.node.path, metaName), err))
		}
	}
	l.written, l.was = true, nil
	return nil
}

// mostVoids is how many leaves of a node get void sums one by one. Then all do, so that writing a
// table with many columns does not rewrite its meta.json for each of them.
const mostVoids = 16

// void makes the sums of a leaf void in its meta.json, or of all leaves of its node, see mostVoids.
func (d *Dataset) void(l *leafFile) error {
	n := l.node
	all := n.voids >= mostVoids
	err := d.changeMeta(n, func(_ *vfs.Root, edit *metaEdit) error {
		for i := range edit.entries {
			e := &edit.entries[i]
			if len(e.fact.sums) > 0 && (e.name == l.name || all && n.leaf[e.name] != nil) { // lengths and row numbers cannot be written
				edit.setSums(e.name, nil)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	n.voids++
	for _, x := range n.leaf {
		if x == l || all && x.sums != nil {
			x.sums, x.written, x.was = nil, true, x.sums
		}
	}
	return nil
}

// read sums the file, whose elements it makes durable first: sums must not survive a loss of power
// that elements do not. It reads the file instead of the mapping, whose pages would count as memory
// of the process.
func (l *leafFile) read(s *tdc.Summer) error {
	f, err := l.disk().Open()
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	size := l.file.Size()
	_, err = io.CopyBuffer(s, io.NewSectionReader(f, 0, int64(size)), make([]byte, max(1, min(size, 1<<20))))
	return errors.Join(err, f.Close())
}

// changeMeta replaces the meta.json of a node by the result of change, if that changes anything. It
// changes the directory that was opened, and no other. If another directory is in its
// place by then, so that nobody will see the change, it returns ErrReplaced.
func (d *Dataset) changeMeta(n *leafNode, change func(dir *vfs.Root, edit *metaEdit) error) error {
	err := d.changeOpen(n, change)
	if errors.Is(err, fs.ErrClosed) { // d.Close was called meanwhile
		return ErrClosed
	}
	return cmp.Or(d.set.InPlace(n.dir), err)
}

// changeOpen changes the text of an opened node under its lock, if the directory is in its place.
func (d *Dataset) changeOpen(n *leafNode, change func(dir *vfs.Root, edit *metaEdit) error) error {
	dir, err := d.set.OpenDir(n.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	unlock, err := d.opt.lockMeta(dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.set.InPlace(n.dir); err != nil {
		return err
	}
	text, _, err := readMeta(dir)
	if err != nil {
		return err
	}
	edit, err := newMetaEdit(text)
	if err != nil {
		return err
	}
	if err := change(dir, edit); err != nil || !edit.fields.changed {
		return err
	}
	text = edit.sealed()
	if err := replaceMeta(dir, text, true); err != nil {
		return err
	}
	n.sum = crc32.Checksum(text, tdc.Castagnoli)
	n.info, err = dir.Lstat(metaName)
	return vfs.Done("meta.json was replaced", err)
}

// lockMeta locks the meta.json of a directory against changes by other processes that use this
// module.
func (opt *OpenOptions) lockMeta(dir *vfs.Root) (unlock func(), err error) {
	l, err := opt.await(func() (*vfs.Lock, error) { return tryMeta(dir) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return func() { _ = l.Unlock() }, err
}

// tryMeta locks the meta.json of a directory. It returns vfs.ErrHeld if another process has locked
// it, or has replaced it meanwhile.
func tryMeta(dir *vfs.Root) (*vfs.Lock, error) {
	f, err := openIn(dir, metaName, os.O_RDWR) // to lock, network file systems need O_RDWR
	if errors.Is(err, fs.ErrPermission) {
		f, err = openIn(dir, metaName, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	l, err := vfs.LockOpen(f, vfs.Exclusive)
	if err != nil {
		return nil, err
	}
	info, err := dir.Lstat(metaName)
	switch {
	case err == nil && l.Of(info):
		return l, nil
	case err == nil && info.Mode().IsRegular():
		err = fmt.Errorf("%w: %s was replaced", vfs.ErrHeld, f.Name())
	case err == nil:
		err = unlike(info, "a file")
	}
	return nil, errors.Join(err, l.Unlock())
}

// sameMeta reports whether every meta.json is the one that was last read or written, by the inode
// number, size and time of the file.
func (d *Dataset) sameMeta() bool {
	if d.set == nil { // a single file is only replaced as a whole
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.nodes {
		is, err := d.set.Root().Lstat(path.Join(n.path, metaName))
		if err != nil || !os.SameFile(is, n.info) || is.Size() != n.info.Size() || !is.ModTime().Equal(n.info.ModTime()) {
			return false
		}
	}
	return true
}

// sameText is sameMeta by the text of the files. A file that replaces another within a tick of the
// clock may get the same inode number, and have the same size.
func (d *Dataset) sameText() bool {
	if d.set == nil {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.nodes {
		dir, err := d.set.OpenDir(n.dir)
		if err != nil {
			return false
		}
		text, _, err := readMeta(dir)
		if err = errors.Join(err, dir.Close()); err != nil || crc32.Checksum(text, tdc.Castagnoli) != n.sum {
			return false
		}
	}
	return true
}
