package memmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// WriterOptions are the options of a [Writer]. The zero value is the default.
type WriterOptions struct {
	// Dim is the name of the dim of rows; "" for none. The other dims have the names of the dims of
	// row.
	Dim string
	// NoSync makes Commit not wait for the disk. Committed rows survive any end of the process, but
	// may be lost if the machine stops within about half a minute.
	NoSync bool
	// Resume makes NewWriter append to a finished dataset, too. The dataset is unfinished again
	// until Finish, or until Close if nothing was committed.
	//
	// The rows of the dataset must have the keys of row, in any order, and its dtypes, shapes and
	// names of dims; otherwise NewWriter returns the error that it documents for this. It returns
	// [ErrForeign] for a dataset that no Writer could have written, such as one that has Data with
	// a value for each row, a class, or a nested tensor of Python's, and [ErrBusy] for one that is
	// open Writable.
	//
	// The Writer appends to the leaf files in place. It copies a file first only if the file has
	// more than one hard link. A Dataset that was opened before keeps its rows, but using a leaf
	// that it has not mapped yet returns [ErrReplaced], as after a Save.
	Resume bool
	// Schema, if not nil, is the schema of the dataset: see [SaveOptions]. NewWriter returns
	// tdict.ErrSchema if row breaks it, or if the dataset in dir has another schema. If it is nil,
	// a Writer keeps the schema of that dataset.
	//
	// Without a row, NewWriter takes one of batch shape [] with all entries of the schema, optional
	// ones too. It returns tdict.ErrSchema if an entry has a value that all rows share (data, an
	// unbatched tensor) or a size that is tdict.Any, or if a row has more than 2^24 texts and
	// ragged rows.
	Schema tdict.Schema
}

// A Writer appends rows to a dictionary in a directory, without knowing how many there will be:
//
//	w, err := memmap.NewWriter("log", row, memmap.WriterOptions{}) // row: an example
//	for ... {
//		err = w.Append(batch)
//	}
//	err = w.Commit() // now and then: readers see the rows so far
//	err = w.Finish()
//
// After each Commit the directory holds a dictionary of all committed rows, which [Open] and
// Python's load_memmap can read meanwhile. Until Finish, the directory is flat on the disk. Open
// returns the nested keys all the same. Python loads the leaf "n/y" under the key "n.y";
// td.unflatten_keys(".") restores the nesting. A ragged leaf "text" has the leaves "text.@pool" and
// others, see docs/from-python.md.
//
// Whenever the process ends, the rows of the last Commit are there, and [NewWriter] with the same
// row continues after them.
//
// A Writer keeps the files of its leaves open if there are up to 256. If there are more, it opens a
// file each time it writes to it.
//
// Only one Writer at a time can be at work in a directory, and nobody else writes there meanwhile:
// see [ErrBusy]. If another tool replaces the directory all the same, Commit and Finish return
// [ErrReplaced]. Not safe for concurrent use.
type Writer struct {
	dir    string // as the caller named it, for errors
	at     string // absolute, without links
	disk   vfs.FS
	opt    WriterOptions
	in     vfs.Dir // the open directory, even if another one is at the path by now
	lock   *vfs.Lock
	row    *tdict.TensorDict
	none   *tdict.TensorDict // zero rows like row
	meta   *meta
	leaves []*column
	rows   int   // appended rows
	saved  int   // committed rows
	broken error // of a write that failed; w can only be closed

	compared comparer // of the appended dictionaries

	private bool // for SaveRows: nobody else reads the directory

	unsynced bool // another Writer committed rows, perhaps with NoSync
	closed   bool
	reopened bool // the dataset was finished, and nothing was committed since
}

// NewWriter makes a dictionary without rows in the directory dir, or continues with the one that a
// Writer has left there unfinished. The batch shape of row is the batch shape of one row, usually
// []. The dictionary has one more batch dim, the rows, as its first dim:
//
//	row [R...], leaf [R... F...] -> dictionary [N R...], leaf [N R... F...]
//
// So pass a single row, such as Index(ix.At(0)) of rows: a row of batch shape [32] makes each
// Append of a dictionary of batch shape [32] add one row, not 32. A nil row is made of
// [WriterOptions.Schema].
//
// NewWriter uses only the keys, dtypes, shapes and names of dims of row, except for two kinds of
// values that all rows share: Data, which must have one value (otherwise [ErrUnsupported]; texts
// that differ can be ragged rows of uint8), and unbatched tensors. Ragged leaves of row may have
// any lengths. Classes are not kept.
//
// NewWriter returns
//
//   - [ErrBusy] if another Writer is at work in dir
//   - fs.ErrExist if dir holds a finished dictionary and [WriterOptions.Resume] is not set
//   - shapeops.ErrShape, tensor.ErrDType, tdict.ErrMissing, tdict.ErrKind or tdict.ErrName if the
//     dataset in dir has rows of another kind than row
//   - [ErrName] if two leaves would have the same file name before Finish, such as "a/b" and
//     "a.b", if a name is too long, or for names that Python's unflatten_keys could not nest, such
//     as "a" and "a.b"
//   - the errors of [SaveWith]
func NewWriter(dir string, row *tdict.TensorDict, opt WriterOptions) (*Writer, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("append: %w on a big-endian machine", errors.ErrUnsupported)
	}
	if row == nil && opt.Schema != nil {
		var err error
		if row, err = rowOf(opt.Schema); err != nil {
			return nil, fileError("append", dir, "", err)
		}
	}
	if row == nil {
		return nil, fileError("append", dir, "", fmt.Errorf("%w: got a nil dictionary, want a row or a Schema", tdict.ErrKind))
	}
	for try := 0; ; try++ {
		w := &Writer{dir: dir, disk: vfs.OS, opt: opt, row: row.Copy()}
		err := w.start()
		if err == nil {
			return w, nil
		}
		if w.reopened {
			err = errors.Join(err, w.putBack())
		}
		err = errors.Join(err, w.release())
		raced := errors.Is(err, ErrReplaced) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
		if !raced || !opt.Resume || try == 10 { // otherwise start again with the directory that is there now
			return nil, w.fail("", vfs.NotDone(err))
		}
	}
}

// mostOffsets bounds the texts and ragged rows in a row that is made of a schema. Each takes 8
// bytes.
const mostOffsets = 1 << 24

// rowOf returns a row with the entries of a schema.
func rowOf(s tdict.Schema) (*tdict.TensorDict, error) {
	left := mostOffsets
	for _, e := range s {
		var outer shapeops.Shape
		switch e.Kind {
		case tdict.KindData, tdict.KindUnbatched:
			return nil, fmt.Errorf("%w: all rows share the value of %s, which a schema does not have: pass a row", tdict.ErrSchema, quote(string(e.Key)))
		case tdict.KindText:
			outer = e.Shape
		case tdict.KindRagged:
			outer = e.Batch
		default:
			continue
		}
		if outer.Check() != nil { // Meta returns an error
			continue
		}
		if left -= outer.Size(); left < 0 {
			return nil, fmt.Errorf("%w: a row has more than %d texts and ragged rows at %s: pass a row", tdict.ErrSchema, mostOffsets, quote(string(e.Key)))
		}
	}
	return s.Meta()
}

func (w *Writer) fail(at string, err error) error { return fileError("append", w.dir, at, err) }

// Len returns the number of rows, including rows that are not committed.
func (w *Writer) Len() int { return w.rows }

// Committed returns the number of rows that readers see, and that survive the end of the process,
// as of the last Commit without an error.
func (w *Writer) Committed() int { return w.saved }

// check returns an error unless w can be written to.
func (w *Writer) check() error {
	switch {
	case w == nil || w.row == nil:
		return ErrClosed
	case w.closed:
		return w.fail("", ErrClosed)
	case w.broken != nil:
		return w.fail("", fmt.Errorf("an earlier write failed: Close, and make a new Writer, which continues after the last commit: %w", w.broken))
	}
	return nil
}

// Commit makes all appended rows part of the dictionary. Readers see them when they open it, or
// Refresh, with the same number of rows in each leaf. Committed rows survive any end of the process
// and, unless [WriterOptions.NoSync] is set, of the machine. Commit replaces one file, meta.json.
//
// After an error w can only be closed. If the error is [ErrDone], readers see the rows all the
// same, but a crash of the machine may take them back, so [Writer.Committed] does not count them.
func (w *Writer) Commit() error {
	if err := w.check(); err != nil {
		return err
	}
	if w.rows == w.saved && !w.unsynced {
		return nil
	}
	err := workers.Do(context.Background(), len(w.leaves), syncsAtOnce, func(i int) error { return w.flush(w.leaves[i]) })
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		w.broken = err
		w.reopened = w.reopened && !errors.Is(err, ErrDone)
		return w.fail("", err)
	}
	w.saved, w.unsynced, w.reopened = w.rows, false, false
	for _, c := range w.leaves {
		c.saved = c.size()
	}
	return nil
}

// flush writes the buffered rows of a column to its file, durably.
func (w *Writer) flush(c *column) error {
	if c.file == nil {
		return nil
	}
	err := c.buf.Flush()
	if err == nil && c.isPool() {
		err = c.file.Extend(c.extent())
	}
	if err == nil && !w.opt.NoSync {
		err = c.file.Sync()
	}
	return w.fail(c.at(), err)
}

// inPlace returns ErrReplaced unless the directory at the path is still the one that w has locked.
func (w *Writer) inPlace() error {
	if w.lock == nil || w.lock.At(filepath.Join(w.at, lockName)) { // nil on the in-memory disk of a test
		return nil
	}
	return ErrReplaced
}

// publish replaces meta.json by one that counts all rows. It returns ErrReplaced if the directory
// is not in its place before or after that, so that readers do not find the rows.
func (w *Writer) publish() error {
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.writeMeta(); err != nil {
		return err
	}
	return w.inPlace()
}

func (w *Writer) writeMeta() error {
	w.setRows()
	if (w.saved == 0 || w.unsynced) && !w.opt.NoSync { // new files must be durable before meta.json counts their rows
		if err := w.in.SyncDir("."); err != nil {
			return err
		}
	}
	return replaceMeta(w.in, withMetaSum(w.meta.appendTo(nil)), !w.opt.NoSync)
}

// setRows sets the number of rows, and the sums, in the entries.
func (w *Writer) setRows() {
	w.meta.shape[0] = w.rows
	for i := range w.meta.entries {
		if e := &w.meta.entries[i]; e.fact.batch != nil {
			e.fact.batch[0] = w.rows
		}
	}
	for _, c := range w.leaves {
		c.setShape(w.rows)
		if c.file != nil {
			c.entry.fact.sums = c.sum.Sums()
		}
	}
}

// Close ends the writing without a commit: rows appended since the last Commit are lost, and
// another Writer can continue. If w resumed a finished dataset and committed nothing, Close
// restores the finished form. Close returns [ErrClosed] if w was closed or finished.
func (w *Writer) Close() error {
	if w == nil || w.row == nil {
		return ErrClosed
	}
	if w.closed {
		return w.fail("", ErrClosed)
	}
	var failed error
	if w.reopened {
		failed = w.putBack()
	}
	return w.fail("", errors.Join(failed, w.release()))
}

// putBack puts the dataset back into its final form, without rows that were not committed. If it
// has that form already, or another Writer has locked it by now, putBack does nothing.
func (w *Writer) putBack() (err error) {
	if w.lock == nil {
		if w.lock, err = vfs.TryLock(filepath.Join(w.at, lockName), vfs.Exclusive); err != nil {
			return nil
		}
	}
	if w.in == nil {
		if w.in, err = w.disk.OpenDir(w.at); err != nil {
			return err
		}
	}
	for _, c := range w.leaves {
		if c.file == nil {
			continue
		}
		err = c.file.Close()
		c.file = nil
		f, failed := c.resume(w.in, c.saved) // may truncate it
		if failed == nil {
			failed = f.Close()
		}
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	w.rows = w.saved
	return w.finish()
}

// release closes all files, and releases the lock.
func (w *Writer) release() error {
	w.closed = true
	w.compared.end()
	var failed []error
	for _, c := range w.leaves {
		if c.file != nil {
			failed = append(failed, c.file.Close())
			c.file = nil
		}
	}
	if w.lock != nil {
		failed = append(failed, w.lock.Unlock())
		w.lock = nil
	}
	if w.in != nil {
		failed = append(failed, w.in.Close())
		w.in = nil
	}
	return errors.Join(failed...)
}
