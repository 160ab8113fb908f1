package memmap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// WriterOptions say how a [Writer] writes. The zero value is the default.
type WriterOptions struct {
	// NoSync lets Commit not wait for the disk: what was committed survives the end of the process,
	// however it comes, but not that of the machine within the next half minute or so.
	NoSync bool
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
	lock   *vfs.Lock
	row    *tdict.TensorDict
	meta   *meta
	leaves []*column
	rows   int // appended
	saved  int // committed
	broken error

	unsynced bool // what is committed may not be on the disk: another Writer did it, perhaps with NoSync
	closed   bool
}

// A column is a leaf of a dataset that grows.
type column struct {
	key   nestedkey.Key
	entry *metaEntry
	width int // bytes of a row
	file  vfs.File
	buf   *bufio.Writer
	sum   summer
}

// NewWriter makes a dictionary without rows in the directory dir, to which rows like row can be
// appended, or goes on with the one that a Writer has left there unfinished. The batch shape of row
// is that of one row, [] for most; the dictionary has it behind the number of rows:
//
//	row [R...], leaf [R... F...] -> dictionary [N R...], leaf [N R... F...]
//
// So row must be one row: given a batch, each Append of such a batch is one row. Elements of row
// are not looked at, but for the values of Data, which all rows share: Data with a value for each
// row is [ErrUnsupported]. So are the elements of unbatched tensors, which are saved at once.
//
// NewWriter returns [ErrBusy] if another Writer is at work there, fs.ErrExist if dir holds a
// dictionary that is finished, shapeops.ErrShape, tensor.ErrDType or tdict.ErrMissing if the rows
// there are not like row, [ErrName] if two leaves would be one file while it grows, as "a/b" and
// "a.b", and the errors of [SaveWith].
func NewWriter(dir string, row *tdict.TensorDict, opt WriterOptions) (*Writer, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("append: %w on a big-endian machine", errors.ErrUnsupported)
	}
	w := &Writer{dir: dir, disk: vfs.OS, opt: opt}
	if row == nil {
		return nil, w.fail("", fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind))
	}
	w.row = row.Copy()
	if err := w.start(); err != nil {
		return nil, w.fail("", errors.Join(err, w.giveUp()))
	}
	return w, nil
}

func (w *Writer) fail(at string, err error) error { return fileError("append", w.dir, at, err) }

// start finds out what there is, and makes or opens it.
func (w *Writer) start() error {
	var err error
	if w.at, err = resolve(w.dir); err != nil {
		return err
	}
	s, err := w.plan()
	if err != nil {
		return err
	}
	if w.isNew() {
		if err := w.create(s); err != nil {
			return err
		}
	}
	if err := w.haveLock(); err != nil {
		return err
	}
	if w.lock, err = vfs.TryLock(filepath.Join(w.at, lockName), vfs.Exclusive); err != nil {
		return w.busy(err)
	}
	return w.resume()
}

// isNew reports whether there is no dictionary yet, or one that a Writer has left without rows,
// which is made anew.
func (w *Writer) isNew() bool {
	m, err := readNode(w.at)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return m.native.growing && len(m.shape) > 0 && m.shape[0] == 0
}

// readNode reads the meta.json in a directory.
func readNode(at string) (*meta, error) {
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, _, err := readMeta(root)
	if err != nil {
		return nil, err
	}
	return decodeMeta(text, maxMeta)
}

// haveLock makes the file to be locked, if it is missing from a dictionary that grows, as from a
// copy without dot files.
func (w *Writer) haveLock() error {
	if m, err := readNode(w.at); err != nil || !m.native.growing {
		return nil // what is wrong, taking the lock will tell
	}
	f, err := os.OpenFile(filepath.Join(w.at, lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

// busy says why the lock is not to be had.
func (w *Writer) busy(err error) error {
	switch {
	case errors.Is(err, vfs.ErrHeld):
		return fmt.Errorf("%w: another Writer has it", ErrBusy)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it holds a dictionary that no Writer is to go on with; write elsewhere", fs.ErrExist)
	}
	return err
}

// plan works out the flat layout: every leaf an entry of one node.
func (w *Writer) plan() (*saver, error) {
	s := &saver{op: "append", dir: w.dir, ctx: context.Background()}
	shape := append(shapeops.Shape{0}, w.row.Shape()...)
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	leaves := 0
	for range w.row.Leaves() {
		leaves++
	}
	entries := make([]metaEntry, 0, leaves) // which stay where they are
	w.meta = &meta{shape: shape, native: nodeFact{growing: true}, entries: entries}
	n := &savedNode{meta: w.meta}
	s.nodes = []*savedNode{n}
	if err := w.planDict(s, n, w.row, nil, map[string]bool{}); err != nil {
		return nil, err
	}
	return s, w.planFinish()
}

// planFinish returns an error if the dictionary could not be finished: names have other rules where
// they are nested.
func (w *Writer) planFinish() error {
	td, err := w.final(w.row)
	if err != nil {
		return err
	}
	return (&saver{op: "append", dir: w.dir}).dict(&savedNode{}, td, 0)
}

// planDict works out the layout of a dictionary of the row, which has the key prefix, beside entries
// that have names.
func (w *Writer) planDict(s *saver, n *savedNode, td *tdict.TensorDict, prefix []string, names map[string]bool) error {
	if len(prefix) > tdict.MaxDepth {
		return fmt.Errorf("%w: dictionaries nested more than %d deep", ErrName, tdict.MaxDepth)
	}
	for key, v := range td.All() {
		parts := append(prefix[:len(prefix):len(prefix)], key.Name())
		if inner, ok := v.(*tdict.TensorDict); ok {
			n.meta.native.nodes = append(n.meta.native.nodes, nodeShape{parts, inner.Shape().Clone()})
			if err := w.planDict(s, n, inner, parts, names); err != nil {
				return err
			}
			continue
		}
		e := metaEntry{name: strings.Join(parts, "."), fact: fact{path: parts}}
		if names[e.name] {
			return s.fail(e.name, fmt.Errorf("%w: two leaves are called so while it grows", ErrName))
		}
		names[e.name] = true
		n.meta.entries = append(n.meta.entries, e)
		if err := w.planLeaf(s, n, &n.meta.entries[len(n.meta.entries)-1], v); err != nil {
			return err
		}
	}
	return nil
}

// planLeaf works out the layout of a leaf.
func (w *Writer) planLeaf(s *saver, n *savedNode, e *metaEntry, v tdict.Value) error {
	if t, ok := v.(*tensor.Tensor); ok {
		at, err := n.claim(e.name, leafExt)
		shape := append(shapeops.Shape{0}, t.Shape()...)
		if err == nil {
			err = checkShape(shape)
		}
		if err != nil {
			return s.fail(at, err)
		}
		e.dtype, e.shape, e.nested = torch+t.DType().String(), shape, isDense
		key := nestedkey.Of(e.fact.path[0], e.fact.path[1:]...)
		w.leaves = append(w.leaves, &column{key: key, entry: e, width: t.ByteSize()})
		return nil
	}
	if d, ok := v.(*tdict.Data); ok {
		if _, same := d.Uniform(); !same {
			return s.fail(n.leaf(e.name), unsupported("data with a value for each row cannot be appended"))
		}
	}
	c, err := codecFor(v)
	if err != nil {
		return s.fail(n.leaf(e.name), err)
	}
	if err := c.save(s, n, e, v, 0); err != nil {
		return err
	}
	if e.fact.batch != nil { // of a row
		e.fact.batch = append(shapeops.Shape{0}, e.fact.batch...)
	}
	return nil
}

// create publishes the dictionary without rows.
func (w *Writer) create(s *saver) error {
	old, err := replaceable(w.at, w.meta.shape)
	if err != nil {
		return err
	}
	defer old.unlock()
	if err := makeParent(w.at); err != nil {
		return err
	}
	_ = vfs.Sweep(filepath.Dir(w.at)) // leftovers of others are no reason not to write
	k, err := newDirSink(w.disk, w.at, old.modes, w.opt.NoSync)
	if err != nil {
		return err
	}
	if err := w.fill(s, k); err != nil {
		return errors.Join(err, k.abort())
	}
	appeared, err := k.publish()
	if appeared {
		return errors.Join(err, k.release())
	}
	if errors.Is(err, fs.ErrExist) { // another was faster: its lock will tell
		err = nil
	}
	return errors.Join(err, k.abort())
}

// fill writes what the directory of a growing dictionary holds. The files of leaves come with their
// first rows: a leaf without elements has none.
func (w *Writer) fill(s *saver, k sink) error {
	if err := wholeFile(k, lockName, func(vfs.File) error { return nil }); err != nil {
		return err
	}
	return s.write(k)
}

// resume opens the files, behind the rows that are committed.
func (w *Writer) resume() error {
	m, err := readNode(w.at)
	if err != nil {
		return err
	}
	if !m.native.growing || len(m.shape) == 0 {
		return w.busy(fs.ErrNotExist)
	}
	if !w.lock.At(filepath.Join(w.at, lockName)) {
		return w.busy(vfs.ErrHeld)
	}
	if err := w.agree(m); err != nil {
		return err
	}
	if err := w.agreeValues(); err != nil {
		return err
	}
	w.rows, w.saved, w.unsynced = m.shape[0], m.shape[0], m.shape[0] > 0 && !w.opt.NoSync
	size := min(1<<20, max(1<<12, (16<<20)/max(1, len(w.leaves))))
	for _, c := range w.leaves {
		if err := w.open(c, size); err != nil {
			return w.fail(fileName(c.entry.name)+leafExt, err)
		}
	}
	return nil
}

// agree takes over what m says of the rows so far, if they are like those to be appended.
func (w *Writer) agree(m *meta) error {
	if len(m.entries) != len(w.meta.entries) {
		return fmt.Errorf("%w: got a row of %d leaves, want the %d there", tdict.ErrMissing, len(w.meta.entries), len(m.entries))
	}
	if !m.shape[1:].Equal(w.meta.shape[1:]) || !slices.EqualFunc(m.native.nodes, w.meta.native.nodes, sameNode) {
		return fmt.Errorf("%w: got rows of other batch shapes than those there", shapeops.ErrShape)
	}
	for i := range m.entries {
		is, e := &m.entries[i], &w.meta.entries[i]
		var err error
		switch {
		case is.name != e.name || is.isNode() != e.isNode() || is.fact.alike != e.fact.alike:
			err = fmt.Errorf("%w: want an entry like the one there", tdict.ErrMissing)
		case is.dtype != e.dtype:
			err = fmt.Errorf("%w: got %s, want %s", tensor.ErrDType, e.dtype, is.dtype)
		case !e.isNode() && !e.fact.alike && (len(is.shape) == 0 || is.shape[0] != m.shape[0] || !is.shape[1:].Equal(e.shape[1:])):
			err = fmt.Errorf("%w: got rows %v, want %v", shapeops.ErrShape, e.shape[1:], is.shape[min(1, len(is.shape)):])
		}
		if err != nil {
			return w.fail(e.name, err)
		}
		e.shape, e.fact.sums = is.shape, is.fact.sums
	}
	w.meta.shape = m.shape
	return nil
}

// agreeValues returns an error unless the data and the unbatched tensors there are those of the
// row.
func (w *Writer) agreeValues() error {
	if len(w.leaves) == len(w.meta.entries) {
		return nil
	}
	o := &opener{op: "append", dir: w.dir, at: w.at, opt: OpenOptions{MaxEntries: math.MaxInt}}
	ds, err := o.dataset()
	if err != nil {
		return errors.Join(err, o.close())
	}
	defer ds.Close()
	for key, want := range w.row.Leaves() {
		if _, ok := want.(*tensor.Tensor); ok {
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
	return nil
}

// keyError says which key an error is about.
func (w *Writer) keyError(key nestedkey.Key, err error) error {
	if e, ok := errors.AsType[*tdict.KeyError](err); ok {
		if e.Op == "append" {
			return err
		}
		err = e.Err
	}
	return &tdict.KeyError{Op: "append", Key: key, Err: err}
}

func sameNode(a, b nodeShape) bool { return slices.Equal(a.path, b.path) && a.shape.Equal(b.shape) }

// open opens the file of a leaf, cut to the rows that are committed.
func (w *Writer) open(c *column, buffer int) error {
	if c.width == 0 {
		return nil
	}
	size := int64(w.rows) * int64(c.width)
	at := filepath.Join(w.at, fileName(c.entry.name)+leafExt)
	f, err := w.disk.Resume(at, size)
	if errors.Is(err, fs.ErrNotExist) && size == 0 {
		f, err = w.disk.Create(at)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) { // gone, or shorter
		return corrupt("%w; Verify tells what else is", bare(err))
	}
	if err != nil {
		return err
	}
	c.file, c.buf = f, bufio.NewWriterSize(f, buffer)
	c.sum = summer{w: c.buf, n: int(size % blockBytes)}
	sums := c.entry.fact.sums
	if want := int((size + blockBytes - 1) / blockBytes); len(sums) != want {
		return corrupt("got %d sums, want %d", len(sums), want)
	}
	c.sum.full = slices.Clone(sums)
	if c.sum.n > 0 {
		last := len(sums) - 1
		c.sum.full, c.sum.part = c.sum.full[:last], sums[last]
	}
	return nil
}

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

// Append appends td: one row, if its batch shape is that of a row, or several, if it has one more
// dim before that. It must have the keys of a row, and for each leaf its dtype and shape. td is not
// kept. What is appended reaches readers, and survives the process, with [Writer.Commit].
//
// Append returns tdict.ErrMissing, shapeops.ErrShape, tensor.ErrDType, tdict.ErrKind, or
// tdict.ErrDiffers for data or an unbatched tensor that is not that of the row; then nothing was
// appended. If the disk fails, as when it is full, or mapped memory of td, w can only be closed:
// the rows committed last stay.
func (w *Writer) Append(td *tdict.TensorDict) error {
	if err := w.check(); err != nil {
		return err
	}
	n, err := w.count(td)
	if err == nil {
		err = w.fits(w.row, td, n, "")
	}
	if err != nil {
		return w.fail("", err)
	}
	for _, c := range w.leaves {
		t, err := td.Tensor(c.key)
		if err == nil && c.width > 0 {
			_, err = t.WriteTo(&c.sum)
		}
		if err != nil {
			w.broken = err
			return w.fail(fileName(c.entry.name)+leafExt, err)
		}
	}
	if n == single {
		n = 1
	}
	w.rows += n
	return nil
}

// single is what count returns for one row without a dim for it.
const single = -1

// count returns how many rows td has.
func (w *Writer) count(td *tdict.TensorDict) (int, error) {
	if td == nil {
		return 0, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	}
	got, want := td.Shape(), w.row.Shape()
	if got.Equal(want) {
		return single, nil
	}
	if len(got) == len(want)+1 && got[1:].Equal(want) {
		return got[0], nil
	}
	return 0, fmt.Errorf("%w: got batch shape %v, want that of a row, %v, or of several, [n %v]", shapeops.ErrShape, got, want, want)
}

// fits returns an error unless td, which lies under a key, is n rows like row.
func (w *Writer) fits(row, td *tdict.TensorDict, n int, under nestedkey.Key) error {
	for key := range td.Keys() {
		if !row.Has(key) {
			return w.keyError(prefixed(under, key), fmt.Errorf("%w: the rows there have no such key", tdict.ErrMissing))
		}
	}
	for key, want := range row.All() {
		got, err := td.Get(key)
		key = prefixed(under, key)
		if err == nil {
			err = w.fitsValue(want, got, n, key)
		}
		if err != nil {
			return w.keyError(key, err)
		}
	}
	return nil
}

// prefixed returns a key as seen from the outermost dictionary.
func prefixed(under, key nestedkey.Key) nestedkey.Key {
	if under == "" {
		return key
	}
	return nestedkey.Join(under, key)
}

// fitsValue is fits of an entry.
func (w *Writer) fitsValue(want, got tdict.Value, n int, key nestedkey.Key) error {
	shape := want.Shape()
	if n != single {
		shape = append(shapeops.Shape{n}, shape...)
	}
	switch want := want.(type) {
	case *tensor.Tensor:
		t, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("%w: got a %T, want a tensor", tdict.ErrKind, got)
		}
		if t.DType() != want.DType() {
			return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, t.DType(), want.DType())
		}
		return t.Shape().CheckEqual(shape)
	case *tdict.TensorDict:
		inner, ok := got.(*tdict.TensorDict)
		if !ok {
			return fmt.Errorf("%w: got a %T, want a dictionary", tdict.ErrKind, got)
		}
		if err := inner.Shape().CheckEqual(shape); err != nil {
			return err
		}
		return w.fits(want, inner, n, key)
	}
	return sameForAll(want, got, shape)
}

// sameForAll returns an error unless data or an unbatched tensor is the one that all rows share.
func sameForAll(want, got tdict.Value, shape shapeops.Shape) error {
	if err := got.Shape().CheckEqual(shape); err != nil {
		return err
	}
	switch want := want.(type) {
	case *tdict.Data:
		if d, ok := got.(*tdict.Data); ok {
			a, _ := want.Uniform()
			b, same := d.Uniform()
			if same && equalData(a, b) || !same && shape.Size() == 0 {
				return nil
			}
			return fmt.Errorf("%w: data must be the same for all rows", tdict.ErrDiffers)
		}
	case *tdict.Unbatched:
		if u, ok := got.(*tdict.Unbatched); ok {
			return sameBytes(u.Tensor(), want.Tensor())
		}
	}
	return fmt.Errorf("%w: got a %T, want a %T", tdict.ErrKind, got, want)
}

// equalData reports whether two values of data are saved alike. NaN is equal to itself.
func equalData(a, b any) bool { return bytes.Equal(dataText(a), dataText(b)) }

// sameBytes returns tdict.ErrDiffers unless two tensors are saved alike.
func sameBytes(a, b *tensor.Tensor) error {
	if a == b {
		return nil
	}
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return fmt.Errorf("%w: %v %v, of other rows %v %v", tdict.ErrDiffers, a.DType(), a.Shape(), b.DType(), b.Shape())
	}
	var x, y bytes.Buffer
	_, err := a.WriteTo(&x)
	_, failed := b.WriteTo(&y)
	if err = errors.Join(err, failed); err == nil && !bytes.Equal(x.Bytes(), y.Bytes()) {
		err = tdict.ErrDiffers
	}
	return err
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
	w.saved, w.unsynced = w.rows, false
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
	return w.fail(fileName(c.entry.name)+leafExt, err)
}

// inPlace returns ErrReplaced unless the directory is still the one that is locked.
func (w *Writer) inPlace() error {
	if w.lock == nil || w.lock.At(filepath.Join(w.at, lockName)) { // nil on a disk of a test
		return nil
	}
	return ErrReplaced
}

// publish replaces meta.json by one that has all rows.
func (w *Writer) publish() error {
	if err := w.inPlace(); err != nil {
		return err
	}
	w.setRows()
	tmp := filepath.Join(w.at, tempMeta)
	if err := w.disk.RemoveAll(tmp); err != nil { // of a Writer that is gone
		return err
	}
	f, err := w.disk.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.Write(w.meta.appendTo(nil))
	if err == nil && !w.opt.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if is, err := w.disk.Lstat(filepath.Join(w.at, metaName)); err == nil {
		if err := w.disk.Chmod(tmp, is.Mode().Perm()); err != nil {
			return err
		}
	}
	if (w.saved == 0 || w.unsynced) && !w.opt.NoSync { // the names of new files come before what tells of them
		if err := w.disk.SyncDir(w.at); err != nil {
			return err
		}
	}
	if err := w.disk.Rename(tmp, filepath.Join(w.at, metaName)); err != nil || w.opt.NoSync {
		return err
	}
	return w.disk.SyncDir(w.at)
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
		c.entry.shape[0] = w.rows
		if c.file != nil {
			c.entry.fact.sums = c.sum.sums()
		}
	}
}

// Finish commits, and puts the dictionary in its final form: nested as its keys are, with files of
// exactly the size of their leaves, as if it had been saved. It closes w, unless it cannot commit.
func (w *Writer) Finish() error {
	if err := w.Commit(); err != nil {
		return err
	}
	err := w.finish()
	return w.fail("", errors.Join(err, w.giveUp()))
}

// finish publishes the nested tree, in which the files of the leaves have a second name.
func (w *Writer) finish() error {
	if err := w.inPlace(); err != nil {
		return err
	}
	old := oldTree{modes: newModes()}
	if err := old.scan(w.at, ""); err != nil {
		return err
	}
	td, err := w.final(w.row)
	if err != nil {
		return err
	}
	s := &saver{op: "append", dir: w.dir, ctx: context.Background(), opt: SaveOptions{NoSync: w.opt.NoSync}}
	if err := s.dict(&savedNode{}, td, 0); err != nil {
		return err
	}
	w.linkFiles(s)
	k, err := newDirSink(w.disk, w.at, old.modes, w.opt.NoSync)
	if err != nil {
		return err
	}
	if err := s.write(k); err != nil {
		return errors.Join(err, k.abort())
	}
	if openBlocksRename {
		if err := w.giveUp(); err != nil {
			return errors.Join(err, k.abort())
		}
	}
	return k.commit()
}

// final returns a dictionary like the one that there will be, with elements that are not there.
func (w *Writer) final(row *tdict.TensorDict) (*tdict.TensorDict, error) {
	td := tdict.New(append(shapeops.Shape{w.rows}, row.Shape()...)...)
	for key, v := range row.All() {
		var err error
		switch x := v.(type) {
		case *tensor.Tensor:
			v, err = w.finalTensor(x)
		case *tdict.TensorDict:
			v, err = w.final(x)
		case *tdict.Data:
			value, _ := x.Uniform()
			v, err = tdict.NewData(value, append(shapeops.Shape{w.rows}, x.Shape()...)...)
		case *tdict.Unbatched:
			v, err = w.finalUnbatched(x)
		}
		if err == nil {
			err = td.Set(key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return td, nil
}

// finalUnbatched returns an unbatched tensor of a row with the batch shape of all rows.
func (w *Writer) finalUnbatched(row *tdict.Unbatched) (*tdict.Unbatched, error) {
	u, err := tdict.NewUnbatched(row.Tensor())
	if err != nil {
		return nil, err
	}
	batch := row.Shape()[:len(row.Shape())-len(row.Tensor().Shape())]
	return batched(u, append(shapeops.Shape{w.rows}, batch...))
}

// finalTensor returns zeros in the shape of all rows, which take no memory.
func (w *Writer) finalTensor(row *tensor.Tensor) (*tensor.Tensor, error) {
	zero, err := tensor.New(row.DType())
	if err != nil {
		return nil, err
	}
	return zero.Expand(append(shapeops.Shape{w.rows}, row.Shape()...)...)
}

// linkFiles has s take the files of leaves that are there instead of writing them.
func (w *Writer) linkFiles(s *saver) {
	entries := map[string]*metaEntry{}
	for i := range w.meta.entries {
		e := &w.meta.entries[i]
		at := ""
		for _, part := range e.fact.path {
			at = path.Join(at, fileName(part))
		}
		entries[at+leafExt] = e
	}
	for _, f := range s.files {
		if e := entries[f.at]; e != nil {
			f.from = filepath.Join(w.at, fileName(e.name)+leafExt)
			f.fact.sums = e.fact.sums
		}
	}
}

// Close ends the writing without a commit: rows that were appended since the last are not kept, and
// another Writer can go on. It returns [ErrClosed] if w was closed or finished.
func (w *Writer) Close() error {
	if w == nil || w.row == nil {
		return ErrClosed
	}
	if w.closed {
		return w.fail("", ErrClosed)
	}
	return w.fail("", w.giveUp())
}

// giveUp closes all that is open.
func (w *Writer) giveUp() error {
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
	return errors.Join(failed...)
}
