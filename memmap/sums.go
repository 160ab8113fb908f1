package memmap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
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
	sums      []uint32       // of the elements in the file; nil if unknown
	marked    bool           // the meta.json has sums for it
	summed    bool           // the meta.json has sums for it, which may be void
	fresh     bool           // sums were computed since unsummed read the node's token

	touched int // number of calls of touch
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

	voided bool   // this Dataset has made sums in it void, and some still are
	by     string // the token in its meta.json when Flush began to compute sums
}

// disk returns the file of a leaf in a directory.
func (l *leafFile) disk() *mapfile.File { return l.file.(*mapfile.File) }

// touch is called before memory of a file is written. It makes the sums void, durably, because a
// crash may leave any part of the new elements in the file.
func (d *Dataset) touch(f *mapfile.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.files[f.Number()]
	if l.summed && (l.marked || !l.node.voided) {
		if err := d.void(l.node); err != nil {
			return vfs.NotDone(d.fail("write", path.Join(l.node.path, metaName), err))
		}
	}
	l.sums = nil
	l.touched++
	f.SetTouched(true)
	return nil
}

// void makes the sums of all leaves of a node void in its meta.json, with one change. writeSums can
// restore the sums of leaves that nobody has written since: the token shows whether d was the last
// to make sums void.
func (d *Dataset) void(n *leafNode) error {
	before := map[string]bool{} // leaves whose sums were void
	err := d.changeMeta(n, func(_ *vfs.Root, text []byte) ([]byte, error) {
		return editMeta(text, d.token, func(name string, sums []uint32) []uint32 {
			if n.leaf[name] == nil { // it cannot be written: lengths and row numbers
				return sums
			}
			before[name] = len(sums) == 0
			return sums[:0]
		})
	})
	if err != nil {
		return err
	}
	n.voided = true
	for _, l := range n.leaf {
		l.marked = false
		if before[l.name] {
			l.sums = nil
		}
	}
	return nil
}

// A summing computes the sums of a leaf, which may be written meanwhile.
type summing struct {
	leaf    *leafFile
	touched int // leaf.touched at the beginning; if it has changed, sums do not count
	sums    []uint32
}

// setSums sets the sums of all leaves that nobody is using, after their files were flushed. Stores
// do not wait while it reads the files.
func (d *Dataset) setSums() error {
	d.flushing.Lock()
	defer d.flushing.Unlock()
	todo, err := d.unsummed()
	if todo == nil || err != nil {
		return err
	}
	err = workers.Do(context.Background(), len(todo), 0, func(i int) error { return todo[i].sum() })
	if err != nil {
		return err
	}
	return d.storeSums(todo)
}

// storeSums puts computed sums into each meta.json, except for leaves that were written since their
// computation began.
func (d *Dataset) storeSums(todo []*summing) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range todo {
		if s.sums != nil && s.leaf.touched == s.touched {
			s.leaf.sums, s.leaf.fresh = s.sums, true
			defer func() { s.leaf.fresh = false }() // another process may write it afterwards
		}
	}
	if !d.lockAlone() {
		return nil
	}
	defer d.lockShared()
	for _, n := range d.nodes {
		if err := d.writeSums(n); err != nil {
			return d.fail("flush", path.Join(n.path, metaName), err)
		}
	}
	return nil
}

// unsummed returns the leaves whose sums are to be computed. It returns nil if no node has void
// sums of d, or another process has the directory open to write it. It records the token in each
// meta.json, so that writeSums notices if another process makes sums void meanwhile.
func (d *Dataset) unsummed() ([]*summing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.nodes, func(n *leafNode) bool { return n.voided }) || !d.lockAlone() {
		return nil, nil
	}
	defer d.lockShared()
	for _, n := range d.nodes {
		if !n.voided {
			continue
		}
		m, err := metaNow(d.set, n)
		if err != nil {
			return nil, d.fail("flush", path.Join(n.path, metaName), cmp.Or(d.set.InPlace(n.dir), err))
		}
		n.by = m.native.by
	}
	todo := []*summing{}
	for _, l := range d.files {
		if l.sums == nil && l.summed && l.node.voided {
			todo = append(todo, &summing{leaf: l, touched: l.touched})
		}
	}
	return todo, nil
}

// lockAlone reports whether nobody else has the directory open to write it, and keeps others out
// until lockShared. To ask for the exclusive lock, a process briefly gives up the shared one. Only
// one process may ask at a time, so that two do not take each other's absence for permission.
func (d *Dataset) lockAlone() bool {
	if d.lock == nil {
		return false
	}
	dir, err := vfs.OpenRoot(outermost(d.at))
	if err != nil {
		return false
	}
	defer dir.Close()
	unlock, err := d.opt.lockMeta(dir)
	if err != nil {
		return false
	}
	defer unlock()
	if err := d.lock.Become(vfs.Exclusive); err != nil {
		d.lockShared()
		return false
	}
	return true
}

// lockShared turns the exclusive lock into a shared one, so that others can write the directory. It
// waits only for processes that try the exclusive lock for a moment.
func (d *Dataset) lockShared() {
	for range 1000 {
		if err := d.lock.Become(vfs.Shared); !errors.Is(err, vfs.ErrHeld) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// sum computes the sums of a leaf, if its file was mapped and nobody is using it.
func (s *summing) sum() error {
	sum := tdc.Summer{}
	var failed error
	file := s.leaf.disk()
	quiet, err := file.Quiet(func([]byte) { failed = s.leaf.read(&sum) })
	if err = errors.Join(err, failed); err != nil || !quiet {
		return err
	}
	s.sums = sum.Sums()
	return file.FlushRange(0, file.Size()) // elements stored since the flush
}

// read sums the file. It reads the file instead of the mapping, whose pages would count as memory
// of the process.
func (l *leafFile) read(s *tdc.Summer) error {
	f, err := l.disk().Open()
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(s, io.NewSectionReader(f, 0, int64(l.file.Size())), make([]byte, 1<<20))
	return errors.Join(err, f.Close())
}

// writeSums puts the sums that are known to be right into the meta.json of a node.
func (d *Dataset) writeSums(n *leafNode) error {
	if !n.voided {
		return nil
	}
	known, left := map[string][]uint32{}, 0
	err := d.changeMeta(n, func(_ *vfs.Root, text []byte) ([]byte, error) {
		m, err := decodeMeta(text, maxMeta)
		if err != nil {
			return nil, err
		}
		for i := range m.entries {
			e := &m.entries[i]
			if e.fact.sums == nil || len(e.fact.sums) > 0 {
				continue
			}
			l := n.leaf[e.name]
			if l != nil && l.sums != nil && (m.native.by == d.token || l.fresh && m.native.by == n.by) {
				known[e.name] = l.sums
			} else {
				left++
			}
		}
		by := ""
		if left > 0 {
			by = m.native.by
		}
		return editMeta(text, by, func(name string, sums []uint32) []uint32 {
			if right, ok := known[name]; ok {
				return right
			}
			return sums
		})
	})
	if err != nil {
		return err
	}
	n.voided = left > 0
	for name := range known {
		n.leaf[name].marked = true
	}
	return nil
}

// changeMeta replaces the text of the meta.json of a node by the result of change, unless they are
// equal. It changes the directory that was opened, and no other. If another directory is in its
// place by then, so that nobody will see the change, it returns ErrReplaced.
func (d *Dataset) changeMeta(n *leafNode, change func(dir *vfs.Root, text []byte) ([]byte, error)) error {
	err := d.changeOpen(n, change)
	if errors.Is(err, fs.ErrClosed) { // d.Close was called meanwhile
		return ErrClosed
	}
	return cmp.Or(d.set.InPlace(n.dir), err)
}

// changeOpen is changeMeta for a directory that nobody replaces meanwhile.
func (d *Dataset) changeOpen(n *leafNode, change func(dir *vfs.Root, text []byte) ([]byte, error)) error {
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
	if err == nil {
		err = checkMetaSum(text, true)
	}
	if err != nil {
		return err
	}
	changed, err := change(dir, text)
	if err != nil || bytes.Equal(changed, text) {
		return err
	}
	if changed, err = withMetaSum(changed); err != nil {
		return err
	}
	if err := replaceMeta(dir, changed, true); err != nil {
		return err
	}
	n.sum = crc32.Checksum(changed, tdc.Castagnoli)
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
	f, err := dir.OpenFile(metaName, os.O_RDWR|syscall.O_NONBLOCK, 0) // to lock, network file systems need O_RDWR
	if errors.Is(err, fs.ErrPermission) {
		f, err = dir.OpenFile(metaName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	is, err := f.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = unlike(is, "a file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
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

// metaNow reads the current meta.json of a node.
func metaNow(set *mapfile.Set, n *leafNode) (*meta, error) {
	dir, err := set.OpenDir(n.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	text, _, err := readMeta(dir)
	if err != nil {
		return nil, err
	}
	return decodeMeta(text, maxMeta)
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
