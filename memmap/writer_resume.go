package memmap

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// reopen puts a finished dataset into the flat form of s, in which it can grow. It does nothing for
// a dataset that a Writer has not finished.
func (w *Writer) reopen(s *saver) error {
	if m, err := readNode(w.at); err != nil || m.native.growing {
		return err
	}
	top := outermost(w.at)
	lock, err := vfs.TryLock(top, vfs.Exclusive) // see lockWriters
	if errors.Is(err, vfs.ErrHeld) {
		return fmt.Errorf("%w: a Dataset is open on it with Writable: Close that first", ErrBusy)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err == nil {
		defer lock.Unlock()
	}
	ds, err := openAt(w.dir, w.at, OpenOptions{MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64})
	if err != nil {
		return err
	}
	if lock != nil && !lock.At(top) {
		err = ErrReplaced
	} else if !ds.growing { // otherwise another Writer was faster, and start finds its lock
		err = w.flat(s, ds)
	}
	if failed := ds.Close(); !errors.Is(failed, ErrClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

// flat puts ds into its flat form, with hard links to the files of the leaves.
func (w *Writer) flat(s *saver, ds *Dataset) error {
	if err := w.couldWrite(ds.TensorDict); err != nil {
		return err
	}
	if err := w.isLike(ds.TensorDict); err != nil {
		return err
	}
	if ds.schema != nil {
		text, err := ds.schema.MarshalJSON()
		if err == nil {
			err = w.keepSchema(text)
		}
		if err != nil {
			return err
		}
	}
	n := ds.Shape()[0]
	old, err := replaceable(w.at)
	if err != nil {
		return err
	}
	defer old.unlock()
	for _, node := range ds.nodes { // their files will be removed
		if err := vfs.CanWrite(filepath.Join(w.at, filepath.FromSlash(node.path))); err != nil {
			return w.fail(node.path, err)
		}
	}
	w.rows, w.saved = n, n
	if err := w.countRows(ds.TensorDict); err != nil {
		return err
	}
	w.setRows()
	if n > 0 {
		if err := w.takeFiles(s, ds, old); err != nil {
			return err
		}
	}
	if old.info, err = ds.set.Root().Lstat("."); err != nil {
		return err
	}
	k, err := w.beside(old, func(k *dirSink) error { return w.fill(s, k) })
	if err != nil {
		return err
	}
	w.reopened = true
	return k.commit()
}

// couldWrite returns ErrForeign if td has a value that a Writer cannot write.
func (w *Writer) couldWrite(td *tdict.TensorDict) error {
	if td.Class() != "" {
		return fmt.Errorf("%w that a Writer can append to: it has the class %s", ErrForeign, quote(td.Class()))
	}
	for key, v := range td.All() {
		if d, ok := v.(*tdict.TensorDict); ok {
			if err := w.couldWrite(d); err != nil {
				return w.keyError(key, err)
			}
		}
	}
	for key, v := range td.Leaves() {
		d, ok := v.(*tdict.Data)
		if !ok {
			continue
		}
		if _, same := d.Uniform(); !same && d.Shape().Size() > 0 {
			return fmt.Errorf("%w that a Writer can append to: %s has a value for each row", ErrForeign, quote(string(key)))
		}
	}
	return nil
}

// isLike returns an error unless td is rows like row, with the same names of dims.
func (w *Writer) isLike(td *tdict.TensorDict) error {
	n, err := w.like(td)
	if err == nil && n == single {
		err = fmt.Errorf("%w: got batch shape %v, want the rows as the first dim", shapeops.ErrShape, td.Shape())
	}
	if e, ok := errors.AsType[*tdict.KeyError](err); ok {
		return fmt.Errorf("the rows of the dataset are not like row: %s: %w", quote(string(e.Key)), e.Err)
	}
	if err != nil {
		return fmt.Errorf("the rows of the dataset are not like row: %w", err)
	}
	return w.namedAlike(w.row, td)
}

// namedAlike returns an error unless the dims of td have the names of rows like row.
func (w *Writer) namedAlike(row, td *tdict.TensorDict) error {
	want := append([]string{w.opt.Dim}, row.Names()...)
	if got := td.Names(); !slices.Equal(got, want) {
		return fmt.Errorf("%w: got rows whose dims are named %q, want %q", tdict.ErrName, want, got)
	}
	for key, v := range row.All() {
		if inner, ok := v.(*tdict.TensorDict); ok {
			there, err := td.Dict(key)
			if err == nil {
				err = w.namedAlike(inner, there)
			}
			if err != nil {
				return w.keyError(key, err)
			}
		}
	}
	return nil
}

// takeFiles makes s link the files of the leaves of ds, in the tree old, and takes over their sums.
// Lengths and row numbers are written again.
func (w *Writer) takeFiles(s *saver, ds *Dataset, old *oldTree) error {
	for _, c := range w.leaves {
		if c.size() == 0 {
			continue
		}
		v, err := ds.Get(c.key)
		if err != nil {
			return err
		}
		t, _ := v.(*tensor.Tensor)
		if rows, is := v.(*ragged.Tensor); is {
			if c.part != pool.Values {
				write := func(w io.Writer) error { return pool.Write(w, c.part, rows, 0, c.rows.tag) }
				s.add(&savedFile{at: c.at(), bytes: c.size(), pad: c.extent() - c.size(), sums: &c.entry.fact.sums, write: write})
				continue
			}
			if t, err = rows.Values(); err != nil {
				return err
			}
		}
		l := t.Lender().(*mapfile.File).Owner.(*leafFile) // Open maps the leaves of a directory
		if err := w.take(s, c, l, old); err != nil {
			return w.fail(l.file.Path(), err)
		}
	}
	return nil
}

// take makes s link the file of a leaf, which is going to grow. It copies a file that has several
// links already, because another may be of another leaf.
func (w *Writer) take(s *saver, c *column, l *leafFile, old *oldTree) error {
	if c.rows != nil && partName(l.name) != pool.Values {
		return fmt.Errorf("%w that a Writer can append to: %s is a nested tensor of Python's", ErrForeign, quote(string(c.key)))
	}
	c.entry.fact.sums = l.sums
	if len(l.sums) != (l.file.Size()+BlockSize-1)/BlockSize { // void, or missing
		sum := tdc.Summer{}
		if err := l.read(&sum); err != nil {
			return err
		}
		c.entry.fact.sums = sum.Sums()
	}
	f, err := l.disk().Open()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := vfs.CanWrite(l.disk().String()); err != nil {
		return err
	}
	// The flat form has no inner directory that keeps others from the file.
	if mode, ok := old.modes.Through(l.file.Path()); ok && mode != info.Mode().Perm() {
		if err := w.disk.Chmod(l.disk().String(), mode); err != nil {
			return err
		}
		old.modes = old.modes.Flat()
	}
	s.add(&savedFile{at: c.at(), from: &existing{path: l.disk().String(), info: info, copied: vfs.Links(info) != 1}})
	return nil
}
