package memmap

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Dataset is a dictionary whose leaves lie in mapped files. It has all methods of its TensorDict,
// and is a [tdict.Dictionary], which Save, tdict.Get and other functions take.
//
// Where a function takes a *tdict.TensorDict, as shapeops.Stack and package arith do, pass
// d.TensorDict: arith.Add(d, 1) does not compile, arith.Add(d.TensorDict, 1) does. The TensorDict
// is locked. If it is unlocked, it can be changed in memory; the directory stays as it is.
//
// The methods of Dataset itself return [ErrClosed] for the zero Dataset, which holds no TensorDict.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map. Close, CloseWait and
// Stale may be called at any time, and Flush while others read or write elements.
type Dataset struct {
	*tdict.TensorDict
	dir  string // as the caller named it, for errors
	at   string // absolute
	opt  OpenOptions
	in   container
	set  *mapfile.Set  // in, if it is a directory; otherwise nil
	lock *vfs.Lock     // shared with other writers of the directory; nil if it cannot be locked
	gone chan struct{} // closed when Close has ended and the lock is released

	closing atomic.Bool // Close was called

	growing bool // the Writer has not called Finish
	schema  tdict.Schema
	state   any // result of LiveOptions.OnOpen

	mu      sync.Mutex // guards the sums of files, in memory and in each meta.json
	files   []*leafFile
	nodes   []*leafNode
	layouts pool.Layouts // of the ragged leaves
}

// whyLocked is the reason in the error for changes of the structure of an opened dictionary.
const whyLocked = "its leaves are mapped files, so a changed entry would not be saved: change a Copy and Save it, or call AddLeaf"

// AsTensorDict returns the dictionary of d: a Dataset is a [tdict.Dictionary]. It returns nil for a
// nil Dataset and for the zero Dataset.
func (d *Dataset) AsTensorDict() *tdict.TensorDict {
	if d == nil {
		return nil
	}
	return d.TensorDict
}

// open reports whether d was opened. It may be closed by now: d.in.Closed reports that.
func (d *Dataset) open() bool { return d != nil && d.in != nil }

func (d *Dataset) fail(op, path string, err error) error { return fileError(op, d.dir, path, err) }

// Stale reports whether the directory or file has been replaced since it was opened, as by [Save],
// so that opening it again shows a newer version. Leaves and rows that were added to a directory,
// as by [Writer.Commit], do not count: see [Dataset.Refresh]. Stale returns fs.ErrNotExist if
// nothing is at the path any more, and [ErrClosed].
func (d *Dataset) Stale() (bool, error) {
	if !d.open() || d.in.Closed() {
		return false, ErrClosed
	}
	yes, err := d.in.Replaced()
	return yes, d.fail("read", "", err)
}

// Flush writes changed elements of a dictionary that was opened with Writable to the disk, and
// waits until they are durable. Without Flush, the system writes changed elements to the disk
// whenever it chooses.
//
// A write to the elements of a leaf makes its checksums void. Flush computes none: see
// [Dataset.Close].
//
// Flush returns [ErrReplaced] if the directory was replaced, so that nobody will see the changed
// elements, [ErrCorrupt] if the file of a leaf is missing, and [ErrClosed] once Close has begun.
func (d *Dataset) Flush() error {
	switch {
	case !d.open(), d.set == nil && d.in.Closed():
		return ErrClosed
	case d.set == nil: // a single file is never written in place
		return nil
	case !d.opt.Writable:
		return d.set.Flush()
	}
	err := d.set.Flush()
	return cmp.Or(d.fail("flush", "", d.set.InPlace(d.set.Top())), err)
}

// An Advice says how elements will be read. It changes speed, never results.
type Advice = mapping.Advice

// The values of [Advice].
const (
	Normal     = mapping.Normal     // moderate read-ahead, the default
	Random     = mapping.Random     // no read-ahead: rows are picked at random
	Sequential = mapping.Sequential // much read-ahead
	WillNeed   = mapping.WillNeed   // read all of it soon
)

// Advise advises the system how the elements of all leaves will be read. It maps them for this. On
// systems that take no such advice it has no effect.
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

// A fileRow says which rows of the outermost dictionary have elements in a file. The file of a
// member of a lazy stack has elements of one row; rowNumber makes its fileRow.
type fileRow int

const (
	everyRow fileRow = 0  // all rows, with equal sizes, or with the sizes that lengths say
	someRows fileRow = -1 // an unknown set of rows
)

// rowNumber returns the fileRow of row i.
func rowNumber(i int) fileRow { return fileRow(i + 1) }

// number returns the row, given a fileRow of rowNumber.
func (r fileRow) number() int { return int(r - 1) }

// rowBytes returns the bytes of the file that belong to the rows from start to stop of n rows.
func (l *leafFile) rowBytes(start, stop, n int) (offset, size int, err error) {
	switch {
	case l.row > 0 && (l.row.number() < start || l.row.number() >= stop):
		return 0, 0, nil
	case l.unbatched || l.row != everyRow:
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

// Refresh returns the dictionary as the directory holds it now. If another process has added leaves
// or rows, set checksums, or replaced the directory, that is a new Dataset, opened with the same
// options; otherwise it is d itself. Refresh looks at the meta.json of every dictionary in d. d
// stays open and keeps its elements. Refresh returns the errors of [OpenWith], and [ErrClosed].
func (d *Dataset) Refresh() (*Dataset, error) {
	if !d.open() || d.in.Closed() {
		return nil, ErrClosed
	}
	if yes, err := d.in.Replaced(); err == nil && !yes && d.sameMeta() && d.sameText() {
		return d, nil
	}
	return openAt(d.dir, d.at, d.opt)
}

// Close closes d: operations on elements that begin from now on return [ErrClosed]. An operation
// that is reading a leaf reads it to the end, and each file is unmapped when the last operation on
// it ends. An operation on several leaves may find ErrClosed at a leaf that it had not begun to
// read. Slices that tensor.Of handed out must not be used any more.
//
// If d was opened with Writable, Close first does the work of [Dataset.Flush]. If that fails, Close
// returns its error, and closes d all the same. Then it reads the leaves that d has written, and
// computes their checksums, while nobody else can open the directory with Writable. If others have
// it open already, or an operation still uses a leaf, the checksums stay void: see [SealWritten].
// If computing them fails, Close returns the error; the elements are durable by then. d counts as
// open for others until the last operation on it ends.
//
// Close returns a [DatasetError] for a file that it could not unmap, and ErrClosed if it was called
// before.
func (d *Dataset) Close() error {
	if !d.open() || d.closing.Swap(true) {
		return ErrClosed
	}
	var failed, err error
	if d.opt.Writable {
		failed = d.Flush()
	}
	if failed == nil && d.opt.Writable && d.set != nil {
		err = d.set.CloseAfter(d.closeSums)
	} else {
		err = d.in.Close()
	}
	return errors.Join(failed, err, d.fail("close", "", d.release()))
}

// release releases the lock once no operation uses a leaf any more: until then nobody may compute
// checksums.
func (d *Dataset) release() error {
	if d.lock == nil {
		close(d.gone)
		return nil
	}
	if !d.inUse() {
		defer close(d.gone)
		return d.lock.Unlock()
	}
	go func() {
		_ = d.in.CloseWait(context.Background()) // who closes gets its error
		_ = d.lock.Unlock()
		close(d.gone)
	}()
	return nil
}

// inUse reports whether an operation uses a leaf.
func (d *Dataset) inUse() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.files, func(l *leafFile) bool { return l.disk().InUse() })
}

// CloseWait closes d as [Dataset.Close] does, unless d is closed already, and waits until all files
// are unmapped and a Close that runs has ended. Some systems refuse to replace or remove a file
// until then. It may be called any number of times, before and after Close.
//
// CloseWait returns the error of ctx if ctx ends first, the error of Close if it called Close, and
// a [DatasetError] for a file that could not be unmapped.
//
// Do not call CloseWait in a function that an operation on d's elements calls: CloseWait waits for
// the operation, which waits for that function, so it blocks until ctx ends.
func (d *Dataset) CloseWait(ctx context.Context) error {
	if !d.open() {
		return ErrClosed
	}
	failed := d.Close()
	if errors.Is(failed, ErrClosed) { // another call closes it
		failed = nil
	}
	select {
	case <-d.gone:
	default:
		select {
		case <-d.gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := d.in.CloseWait(ctx); err != nil {
		return err
	}
	return failed
}
