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
	"github.com/go-tensordict/tensordict/tdict"
)

// WriterOptions say how a [Writer] writes. The zero value is the default.
type WriterOptions struct {
	// Dim is the name of the dim that rows are appended along; "" for none. The names of the others
	// are those of the row.
	Dim string
	// NoSync lets Commit not wait for the disk: what was committed survives the end of the process,
	// however it comes, but not that of the machine within the next half minute or so.
	NoSync bool
	// Resume goes on with a dataset that is finished, too. The rows there must be like row, in any
	// order of keys, and their dims named alike; else the errors are those for rows that are not
	// like row. A dataset that no Writer could have written, such as one with Data with a
	// value for each row, a class, or a nested tensor of Python's, is [ErrForeign], and one that is open
	// Writable is [ErrBusy]. The leaves are not copied, unless a file has several names. Who has
	// the dataset open keeps the rows that it shows; leaves that were not read yet are
	// [ErrReplaced] there, as after a Save. From then on it is unfinished, until Finish, or a Close
	// before the first Commit.
	Resume bool
	// Schema, if not nil, is that of the dataset: see [SaveOptions]. A row that breaks it is
	// tdict.ErrSchema, and so is another schema than that of rows that are there already. If it is
	// nil, a Writer that goes on keeps the one there.
	Schema tdict.Schema
}

// A Writer appends rows to a dictionary in a directory, without knowing how many there will be:
//
//	w, err := memmap.NewWriter("log", row, memmap.WriterOptions{}) // row: what one is like
//	for ... {
//		err = w.Append(batch)
//	}
//	err = w.Commit() // now and then: readers see the rows so far
//	err = w.Finish()
//
// After each Commit the directory holds a dictionary of all rows committed so far, which [Open] and
// Python's load_memmap can read meanwhile; until Finish, Python sees the leaves side by side, "n/y"
// as "n.y" (unflatten_keys makes them nested), and Open sees them as they will be. Whenever the
// process ends, the rows committed last are there, whole, and [NewWriter] with the same row goes on
// after them.
//
// One Writer at a time can be at work in a directory, and nobody else writes there meanwhile: see
// [ErrBusy]. If the directory is replaced all the same, as by other tools, Commit and Finish return
// [ErrReplaced]. Not safe for concurrent use.
type Writer struct {
	dir    string // as it was given
	at     string // free of links
	disk   vfs.FS
	opt    WriterOptions
	in     vfs.Dir // the directory, open: rows are written there, whatever is at the path by now
	lock   *vfs.Lock
	row    *tdict.TensorDict
	none   *tdict.TensorDict // like row, for no rows
	meta   *meta
	named  namedEntries // of meta
	leaves []*column
	rows   int // appended
	saved  int // committed
	broken error

	private bool // nobody else reads it while it grows

	unsynced bool // what is committed may not be on the disk: another Writer did it, perhaps with NoSync
	closed   bool
	reopened bool // it was finished, and nothing was committed since
}

// NewWriter makes a dictionary without rows in the directory dir, to which rows like row can be
// appended, or goes on with the one that a Writer has left there unfinished. The batch shape of row
// is that of one row, [] for most; the dictionary has it behind the number of rows:
//
//	row [R...], leaf [R... F...] -> dictionary [N R...], leaf [N R... F...]
//
// So row must be one row: given a batch, each Append of such a batch is one row. Elements of row
// are not looked at, but for the values of Data, which all rows share: Data with a value for each
// row is [ErrUnsupported], and texts that differ can be ragged rows of uint8. Unbatched tensors are
// shared by all rows, too, and saved at once. Ragged leaves of row may have any lengths. Those that
// share a Layout in row share offsets on disk, and must have equal lengths in each Append. A Writer
// that goes on keeps the sharing of the unfinished dataset. It reads all offsets into memory, as
// Finish does. A Writer keeps no class of row: that dictionaries have one is lost.
//
// NewWriter returns [ErrBusy] if another Writer is at work there, fs.ErrExist if dir holds a
// dictionary that is finished and [WriterOptions.Resume] is not set, shapeops.ErrShape,
// tensor.ErrDType, tdict.ErrMissing or tdict.ErrName if the rows there are not like row, [ErrName]
// if two leaves would be one file while it grows, as "a/b" and "a.b", or one that Python could not
// nest beside another, as "a" and "a.b", and the errors of [SaveWith].
func NewWriter(dir string, row *tdict.TensorDict, opt WriterOptions) (*Writer, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("append: %w on a big-endian machine", errors.ErrUnsupported)
	}
	if row == nil {
		return nil, fileError("append", dir, "", fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind))
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
		if !raced || !opt.Resume || try == 10 { // what another has put there is looked at again
			return nil, w.fail("", err)
		}
	}
}

func (w *Writer) fail(at string, err error) error { return fileError("append", w.dir, at, err) }

// Len returns how many rows there are, those not yet committed included.
func (w *Writer) Len() int { return w.rows }

// Committed returns how many rows readers see, and what is left if the process ends now.
func (w *Writer) Committed() int { return w.saved }

// check returns an error unless w can be written to.
func (w *Writer) check() error {
	switch {
	case w == nil || w.row == nil:
		return ErrClosed
	case w.closed:
		return w.fail("", ErrClosed)
	case w.broken != nil:
		return w.fail("", fmt.Errorf("an earlier write failed, so start again from the last commit: %w", w.broken))
	}
	return nil
}

// Commit makes all rows that were appended part of the dictionary: readers that open it, or
// Refresh, see them, all leaves alike, and they are there whenever the process ends, and durably,
// unless [WriterOptions.NoSync] is set, also when the machine does. It replaces one file,
// meta.json.
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
		return w.fail("", err)
	}
	w.saved, w.unsynced, w.reopened = w.rows, false, false
	for _, c := range w.leaves {
		c.saved = c.size()
	}
	return nil
}

// flush writes what is left of the rows of a leaf, durably.
func (w *Writer) flush(c *column) error {
	if c.file == nil {
		return nil
	}
	err := c.buf.Flush()
	if err == nil && !w.opt.NoSync {
		err = c.file.Sync()
	}
	return w.fail(c.at(), err)
}

// inPlace returns ErrReplaced unless the directory is still the one that is locked.
func (w *Writer) inPlace() error {
	if w.lock == nil || w.lock.At(filepath.Join(w.at, lockName)) { // nil on a disk of a test
		return nil
	}
	return ErrReplaced
}

// publish replaces meta.json by one that has all rows. It returns ErrReplaced if the directory is
// not in its place then, so that readers do not find them.
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
	if (w.saved == 0 || w.unsynced) && !w.opt.NoSync { // the names of new files come before what tells of them
		if err := w.syncNames(); err != nil {
			return err
		}
	}
	return replaceMeta(w.in, w.meta.appendTo(nil), !w.opt.NoSync)
}

// syncNames makes the names of all files durable.
func (w *Writer) syncNames() error {
	for _, e := range w.raggedEntries() {
		if err := w.in.SyncDir(fileName(e.name)); err != nil {
			return err
		}
	}
	return w.in.SyncDir(".")
}

// setRows puts the number of rows, and the sums, into the entries.
func (w *Writer) setRows() {
	w.meta.shape[0] = w.rows
	for i := range w.meta.entries {
		if e := &w.meta.entries[i]; e.fact.batch != nil {
			e.fact.batch[0] = w.rows
		}
	}
	for _, c := range w.leaves {
		if c.entry.fact.rows == nil {
			c.entry.shape[0] = w.rows
		}
		if c.file != nil {
			*c.sums() = c.sum.sums()
		}
	}
}

// Close ends the writing without a commit: rows that were appended since the last are not kept, and
// another Writer can go on. A dataset that was finished, and to which nothing was committed since,
// is put back in its final form. Close returns [ErrClosed] if w was closed or finished.
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

// putBack puts the directory in its final form again, without the rows that were not committed. If
// it has that form, or another Writer has it by now, there is nothing to do.
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
		f, failed := w.in.Resume(c.at(), c.saved) // which cuts it
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

// giveUp closes all that is open.
func (w *Writer) release() error {
	w.closed = true
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
