package memmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Dataset is a dictionary whose leaves lie in mapped files. It has all methods of the TensorDict
// in it. Where a *tdict.TensorDict is wanted, as by Save, shapeops.Stack or the functions of
// package arith, pass d.TensorDict: arith.Add(d, 1) does not compile, arith.Add(d.TensorDict, 1)
// does. That is locked; unlocked, it can be changed in memory, which does not reach the directory.
// The methods of Dataset itself return [ErrClosed] for the zero Dataset, which holds no TensorDict.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map. Close, CloseWait and
// Stale may be called at any time, and Flush while others read or write elements.
type Dataset struct {
	*tdict.TensorDict
	dir  string // as it was given, for errors
	at   string // absolute
	opt  OpenOptions
	in   container
	set  *mapfile.Set // in, if that is a directory; else nil
	lock *vfs.Lock    // shared with others who write the directory; nil if it cannot be locked

	hidden  *dirSink // until Publish, if it was made so; nobody else knows the directory
	growing bool     // a Writer has not finished it
	schema  tdict.Schema
	token   string // marks what this Dataset has made void
	state   any    // of LiveOptions.OnOpen

	settling sync.Mutex // held while sums are set: one Flush at a time
	mu       sync.Mutex // guards the sums of files, here and in each meta.json
	files    []*leafFile
	nodes    []*leafNode
}

// whyLocked is what an opened dictionary says to whoever changes its structure.
const whyLocked = "its leaves are mapped files, so what is set or deleted here would not be saved: do it in a Copy and Save that; AddLeaf adds one"

// open reports whether d was opened; whether it was closed, its files know.
func (d *Dataset) open() bool { return d != nil && d.in != nil }

func (d *Dataset) fail(op, path string, err error) error { return fileError(op, d.dir, path, err) }

// Stale reports whether the directory or archive that was opened has been replaced since, as by
// [Save], so that opening it again shows something newer. What was added to a directory, as by
// [Writer.Commit], is not looked for: [Dataset.Refresh] does. It returns fs.ErrNotExist if there is
// nothing any more, and [ErrClosed].
func (d *Dataset) Stale() (bool, error) {
	if !d.open() || d.in.Closed() {
		return false, ErrClosed
	}
	yes, err := d.in.Replaced()
	return yes, d.fail("read", "", err)
}

// Flush writes elements that were stored, in a dictionary opened with Writable, to the disk and
// waits for it; without it the system does so in its own time. Then it sets the checksums of leaves
// that had some before they were mapped, or were made by [Create], for which it reads all of them:
// those that [Verify] compares. Stores do not wait meanwhile. It leaves them void while a leaf is
// in use, or was written meanwhile, if tensor.Of has handed out its elements, and if somebody else
// has the directory open with Writable when it begins to read or is done.
//
// Flush returns [ErrReplaced] if the directory was replaced, so that nobody will see what was
// written, [ErrCorrupt] if the file of a leaf is gone, and [ErrClosed] once Close began.
func (d *Dataset) Flush() error {
	if !d.open() {
		return ErrClosed
	}
	return d.flush()
}

func (d *Dataset) flush() error {
	if d.set == nil { // which is not written
		if d.in.Closed() {
			return ErrClosed
		}
		return nil
	}
	if !d.opt.Writable {
		return d.set.Flush()
	}
	err := d.set.Flush()
	if err == nil && d.set.InPlace(d.set.Top()) == nil {
		err = d.settle()
	}
	return cmp.Or(d.fail("flush", "", d.set.InPlace(d.set.Top())), err)
}

// FlushRows is [Dataset.Flush] of the rows from start to stop, which are counted along the first
// batch dim, of each leaf that is mapped. It sets no sums. Its errors are also shapeops.ErrDim if
// the batch shape has no dims, and shapeops.ErrIndex for rows that there are not.
func (d *Dataset) FlushRows(start, stop int) error {
	return d.rows(start, stop, func(l *leafFile, offset, size int) error {
		if d.set == nil {
			return nil
		}
		return l.disk().FlushRange(offset, size)
	})
}

// An Advice says how elements will be read. It changes speed, never results.
type Advice = mapping.Advice

// The advices.
const (
	Normal     = mapping.Normal     // moderate read-ahead, the default
	Random     = mapping.Random     // no read-ahead: rows are picked at random
	Sequential = mapping.Sequential // much read-ahead
	WillNeed   = mapping.WillNeed   // read all of it soon
)

// Advise tells the system how the elements of all leaves will be read, for which it maps them.
// Where the system has no use for that, nothing happens.
func (d *Dataset) Advise(a Advice) error {
	if !d.open() || d.in.Closed() {
		return ErrClosed
	}
	for _, l := range d.files {
		if err := l.file.Advise(a, 0, l.file.Size()); err != nil {
			return err
		}
	}
	return nil
}

// rows calls fn with the bytes that rows have in each leaf.
func (d *Dataset) rows(start, stop int, fn func(l *leafFile, offset, size int) error) error {
	n, err := d.numRows()
	if err != nil {
		return err
	}
	if start < 0 || stop < start || stop > n {
		return d.fail("read", "", fmt.Errorf("%w: got rows %d to %d, want 0 to %d", shapeops.ErrIndex, start, stop, n))
	}
	for _, l := range d.files {
		offset, size, err := l.rowBytes(start, stop, n)
		if err != nil {
			return d.fail("read", l.file.Path(), err)
		}
		if size == 0 {
			continue
		}
		if err := fn(l, offset, size); err != nil {
			return err
		}
	}
	return nil
}

// numRows returns how many rows there are along the first batch dim.
func (d *Dataset) numRows() (int, error) {
	if !d.open() || d.in.Closed() {
		return 0, ErrClosed
	}
	if len(d.Shape()) == 0 {
		return 0, d.fail("read", "", fmt.Errorf("%w: a batch shape without dims has no rows", shapeops.ErrDim))
	}
	return d.Shape()[0], nil
}

// A fileRow says of which rows of the outermost dictionary a file has elements: of one, as that of
// a member of a lazy stack, or of others.
type fileRow int

const (
	everyRow fileRow = 0  // each row has as many bytes, or as many as its lengths say
	someRows fileRow = -1 // nobody knows which
)

// rowNumber returns a fileRow of one row.
func rowNumber(i int) fileRow { return fileRow(i + 1) }

// number returns which row it is.
func (r fileRow) number() int { return int(r - 1) }

// rowBytes returns which bytes of the file the rows from start to stop of n have.
func (l *leafFile) rowBytes(start, stop, n int) (offset, size int, err error) {
	switch {
	case l.row > 0 && (l.row.number() < start || l.row.number() >= stop):
		return 0, 0, nil
	case l.alike || l.row != everyRow:
		return 0, l.file.Size(), nil
	case l.rows == nil:
		width := l.file.Size() / n
		return start * width, (stop - start) * width, nil
	}
	width := l.rows.Shape().Size() / n
	start, stop = start*width, stop*width
	for level := range l.rows.Depth() {
		offsets, err := l.rows.Offsets(level + 1)
		if err != nil {
			return 0, 0, err
		}
		start, stop = int(offsets[start]), int(offsets[stop])
	}
	values, err := l.rows.NumRows(l.rows.Depth())
	if err != nil {
		return 0, 0, err
	}
	width = l.file.Size() / values
	return start * width, (stop - start) * width, nil
}

// Refresh returns the dictionary as the directory holds it now: a new Dataset, opened with the same
// options, if another process has added leaves or rows, set checksums, or replaced it, and d itself
// if nothing has changed. It looks at each dictionary in it. d keeps what it showed and stays open.
// The errors are those of [OpenWith], and [ErrClosed].
func (d *Dataset) Refresh() (*Dataset, error) {
	if !d.open() || d.in.Closed() {
		return nil, ErrClosed
	}
	if yes, err := d.in.Replaced(); err == nil && !yes && d.sameMeta() && d.sameText() {
		return d, nil
	}
	return openAt(d.dir, d.at, d.opt)
}

// Close refuses new operations on the elements, which return [ErrClosed] from now on, and unmaps
// the files. It does not wait for operations under way, so a function that one of them calls may
// call it. What an operation has begun to read it reads to the end, and each file is unmapped when
// the last operation on it ends; an operation on several leaves may find ErrClosed at one that it
// had yet to begin. Slices that tensor.Of handed out must not be used any more.
//
// For a dictionary opened with Writable, Close first does what [Dataset.Flush] does, and returns
// its error, but closes all the same; one that was made hidden and not published is removed. It
// returns a [FileError] for a file that it could not unmap, and [ErrClosed] if it was called
// before.
func (d *Dataset) Close() error {
	if !d.open() {
		return ErrClosed
	}
	var failed error
	if d.opt.Writable && !d.isHidden() && !d.in.Closed() {
		failed = d.flush()
	}
	err := d.in.Close()
	if errors.Is(err, ErrClosed) {
		return err
	}
	return errors.Join(failed, err, d.fail("close", "", d.letGo()))
}

// letGo gives back the lock, and removes what is hidden.
func (d *Dataset) letGo() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hidden != nil {
		return d.hidden.abort()
	}
	if d.lock != nil {
		return d.lock.Unlock()
	}
	return nil
}

// isHidden reports whether d is not in its place yet.
func (d *Dataset) isHidden() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hidden != nil
}

// CloseWait begins the close if it has not begun, as [Dataset.Close] does, and waits until all
// files are unmapped. Some systems refuse to replace or remove a file until then. CloseWait returns
// the error of ctx if that ends first, what Close returned if it began the close, and a [FileError]
// for a file that could not be unmapped. It may be called any number of times, before and after
// Close. In a function that an operation on the elements calls, it waits for that operation and so
// until ctx ends.
func (d *Dataset) CloseWait(ctx context.Context) error {
	if !d.open() {
		return ErrClosed
	}
	var failed error
	if !d.in.Closed() {
		failed = d.Close()
	}
	err := d.in.CloseWait(ctx)
	if err != nil {
		return err
	}
	return failed
}
