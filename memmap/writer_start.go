package memmap

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// start makes the dataset, or opens the one that is there.
func (w *Writer) start() error {
	if w.at == "" {
		at, err := vfs.Resolve(w.dir)
		if err != nil {
			return err
		}
		w.at = at
	}
	if err := checkDirectory(w.at); err != nil {
		return err
	}
	s, err := w.plan()
	if err != nil {
		return err
	}
	if w.isNew() {
		err = w.create(s)
	} else if w.opt.Resume {
		err = w.reopen(s)
	}
	if err != nil {
		return err
	}
	if w.in, err = w.disk.OpenDir(w.at); err != nil {
		return err
	}
	if err := w.ensureLock(); err != nil {
		return err
	}
	if w.lock, err = vfs.TryLock(filepath.Join(w.at, lockName), vfs.Exclusive); err != nil {
		return w.busy(err)
	}
	return w.resume()
}

// isNew reports whether a new dataset is to be made: there is none, or one that a Writer has left
// without rows.
func (w *Writer) isNew() bool {
	m, err := readNode(w.at)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return m.native.growing && len(m.shape) > 0 && m.shape[0] == 0
}

// ensureLock makes the lock file if it is missing from a growing dataset, as in a copy without dot
// files.
func (w *Writer) ensureLock() error {
	if m, err := readNode(w.at); err != nil || !m.native.growing {
		return nil // taking the lock returns the error
	}
	f, err := w.in.Create(lockName, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// busy returns the error for a lock that w could not take.
func (w *Writer) busy(err error) error {
	switch {
	case errors.Is(err, vfs.ErrHeld):
		return fmt.Errorf("%w: another Writer has it open, or a save is replacing it", ErrBusy)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it holds a finished dataset: set Resume to append to it", fs.ErrExist)
	}
	return err
}

// create publishes a dataset without rows.
func (w *Writer) create(s *saver) error {
	old, err := replaceable(w.at)
	if err != nil {
		return err
	}
	defer old.unlock()
	if m, err := readNode(w.at); err == nil { // an unfinished dataset without rows
		if err := w.keepSchema(m.native.schema); err != nil {
			return err
		}
	}
	if !w.isNew() { // another Writer was faster: start finds its lock
		return nil
	}
	if err := makeParent(w.at); err != nil {
		return err
	}
	k := &dirSink{disk: w.disk, dir: w.at, noSync: w.opt.NoSync}
	if err := k.make(context.Background(), old, func(k *dirSink) error { return w.fill(s, k) }); err != nil {
		return err
	}
	appeared, err := k.publish()
	if appeared {
		return err
	}
	if _, failed := w.disk.Lstat(w.at); failed == nil && errors.Is(err, fs.ErrExist) {
		err = nil // another Writer was faster: start finds its lock
	}
	return errors.Join(err, k.abort())
}

// fill writes the directory of a growing dataset. The files of leaves are made with their first
// rows: a leaf without elements has no file.
func (w *Writer) fill(s *saver, k *dirSink) error {
	if err := k.wholeFile(lockName, func(vfs.File) error { return nil }); err != nil {
		return err
	}
	return s.write(k)
}

// resume opens the dataset, whose lock w has taken.
func (w *Writer) resume() error {
	root, err := vfs.OpenRoot(w.at)
	if err != nil {
		return err
	}
	defer root.Close()
	m, err := nodeIn(root)
	if err != nil {
		return err
	}
	if !m.native.growing || len(m.shape) == 0 {
		return w.busy(fs.ErrNotExist)
	}
	if !w.locked(root) || !w.locked(w.in) || w.inPlace() != nil { // the directory was exchanged meanwhile
		return w.busy(vfs.ErrHeld)
	}
	if err := w.continueFrom(root, m); err != nil {
		return cmp.Or(w.inPlace(), err)
	}
	return nil
}

// locked reports whether w has the lock of the directory dir.
func (w *Writer) locked(dir interface {
	Lstat(name string) (fs.FileInfo, error)
}) bool {
	info, err := dir.Lstat(lockName)
	return err == nil && w.lock.Of(info)
}

// continueFrom opens the files of the dataset that m describes, after the committed rows.
func (w *Writer) continueFrom(root *vfs.Root, m *meta) error {
	if err := w.agree(m); err != nil {
		return err
	}
	w.rows, w.saved, w.unsynced = m.shape[0], m.shape[0], m.shape[0] > 0 && !w.opt.NoSync
	var err error
	if w.leaves, err = columnsOf(w.meta); err != nil {
		return err
	}
	if err := w.agreeValues(); err != nil {
		return err
	}
	for _, c := range w.leaves {
		if c.part == pool.Row && c.size() > 0 {
			if err := c.readTag(root); err != nil {
				return w.fail(c.at(), err)
			}
		}
	}
	// 256 KiB are still in the processor's cache when they are written. Larger chunks are not
	// buffered.
	size := min(1<<18, max(1<<12, (16<<20)/max(1, len(w.leaves))))
	for _, c := range w.leaves {
		if err := w.open(c, size); err != nil {
			return w.fail(c.at(), err)
		}
	}
	return nil
}

// agree takes over the facts of m about the rows so far. It returns an error unless these are like
// row.
func (w *Writer) agree(m *meta) error {
	if err := w.keepSchema(m.native.schema); err != nil {
		return err
	}
	there, own := m.keyed(), w.meta.keyed()
	if len(there) != len(own) {
		return fmt.Errorf("%w: got a row of %d leaves, want %d as in the dataset", tdict.ErrMissing, len(own), len(there))
	}
	if !slices.Equal(m.native.names, w.meta.native.names) {
		return fmt.Errorf("%w: got rows whose dims are named %q, want %q", tdict.ErrName, w.meta.native.names, m.native.names)
	}
	if !m.shape[1:].Equal(w.meta.shape[1:]) || !slices.EqualFunc(m.native.nodes, w.meta.native.nodes, sameNode) {
		return fmt.Errorf("%w: got a row with other batch shapes or names of dims than the dataset", shapeops.ErrShape)
	}
	for i := range own {
		if err := own[i].agree(there[i], m.shape); err != nil {
			return w.fail(strings.Join(own[i].path, "."), err)
		}
	}
	sameName := func(a, b metaEntry) bool { return a.name == b.name }
	if !slices.EqualFunc(m.entries, w.meta.entries, sameName) { // parts of ragged leaves in another order
		return errOtherEntry
	}
	for i := range m.entries {
		is, e := &m.entries[i], &w.meta.entries[i]
		e.shape, e.fact.sums, e.fact.more = is.shape, is.fact.sums, is.fact.more
	}
	w.meta.shape, w.meta.native.more, w.meta.native.nodes = m.shape, m.native.more, m.native.nodes
	return nil
}

var errOtherEntry = fmt.Errorf("%w: got an entry that the dataset does not have, want the same entries in the same order", tdict.ErrMissing)

// agree returns an error unless rows like e can be appended to the n rows that there describes.
func (e *metaEntry) agree(there *metaEntry, n int) error {
	switch {
	case there.name != e.name || !slices.Equal(there.fact.path, e.fact.path), there.isNode() != e.isNode(),
		there.fact.unbatched != e.fact.unbatched:
		return errOtherEntry
	case there.dtype != e.dtype:
		return fmt.Errorf("%w: got %s, want %s", tensor.ErrDType, e.dtype, there.dtype)
	case e.isNode() || e.fact.unbatched:
		return nil
	}
	if err := checkCount(there.shape, n); err != nil {
		return err
	}
	if !there.shape[1:].Equal(e.shape[1:]) {
		return fmt.Errorf("%w: got rows %v, want %v", shapeops.ErrShape, e.shape[1:], there.shape[1:])
	}
	return nil
}

// checkCount returns an error unless the shape of a leaf in the dataset has n rows.
func checkCount(shape shapeops.Shape, n int) error {
	if len(shape) == 0 || shape[0] != n {
		return corrupt("got shape %v, want %d rows", shape, n)
	}
	return nil
}

// agreeValues returns an error unless data and unbatched tensors in the dataset equal the values of
// the row. It counts the rows of ragged leaves.
func (w *Writer) agreeValues() error {
	if len(w.leaves) == len(w.meta.entries) && !slices.ContainsFunc(w.leaves, func(c *column) bool { return c.rows != nil }) {
		return nil
	}
	ds, err := w.dataset()
	if err != nil {
		return err
	}
	defer ds.Close()
	for key, want := range w.row.Leaves() {
		switch want.(type) {
		case *tensor.Tensor, *ragged.Tensor:
			continue
		}
		got, err := ds.Get(key)
		if err == nil {
			err = sameForAll(want, got, append(shapeops.Shape{ds.Shape()[0]}, want.Shape()...))
		}
		if err != nil {
			return w.keyError(key, err)
		}
	}
	return w.countRows(ds.TensorDict)
}

func sameNode(a, b nodeShape) bool {
	return slices.Equal(a.path, b.path) && a.shape.Equal(b.shape) && slices.Equal(a.names, b.names)
}

// make makes the file of a column, with the permissions of meta.json.
func (w *Writer) make(at string) (vfs.File, error) {
	info, err := w.in.Lstat(metaName)
	if err != nil {
		return nil, err
	}
	f, err := w.in.Create(at, 0o600)
	if err != nil {
		return nil, err
	}
	if err := w.in.Chmod(at, info.Mode().Perm()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// open opens the file of a column, truncated to the committed rows.
func (w *Writer) open(c *column, buffer int) error {
	if c.width == 0 {
		return nil
	}
	size, at := c.size(), c.at()
	f, err := c.resume(w.in, size)
	if errors.Is(err, fs.ErrNotExist) && size == 0 {
		f, err = w.make(at)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) { // missing, or too short
		return corrupt("%w: call Verify to list all damage", bare(err))
	}
	if err != nil {
		return err
	}
	c.file = f
	if len(w.leaves) > mostOpen {
		if err := f.Close(); err != nil {
			return err
		}
		c.file = &reopened{w, c, size}
	}
	c.buf, c.saved = bufio.NewWriterSize(c.file, buffer), size
	c.sum = tdc.Summer{W: c.buf, N: int(size % BlockSize)}
	sums := c.entry.fact.sums
	if want := int((size + BlockSize - 1) / BlockSize); len(sums) != want {
		return corrupt("got %d checksums, want %d", len(sums), want)
	}
	c.sum.Full = slices.Clone(sums)
	if c.sum.N > 0 {
		last := len(sums) - 1
		c.sum.Full, c.sum.Part = c.sum.Full[:last], sums[last]
	}
	return nil
}
