package memmap

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// OpenOptions say how [OpenWith] opens. The zero value is the default.
//
// Two limits of the process bound what can be open at a time:
//
//   - Mappings. Each leaf that is in use takes one until it is closed. All datasets of the process
//     together take at most half of vm.max_map_count on Linux, 32,765 by default, which leaves room
//     for Go's runtime; no limit is known on other systems. Beyond it, a leaf of up to 64 KiB that
//     is opened for reading is read into memory when its elements are first wanted: it does not
//     show what another process writes to it later. Any other leaf is [ErrLimit].
//   - Descriptors. A dataset has one of its directory. A leaf is open only while it is mapped, but
//     on Unix systems mappings keep descriptors of their files, to notice that a file was cut
//     within its last page: at most 1,000 in the process, and at most a tenth of RLIMIT_NOFILE.
//     When the process has none left, those are closed, and what needed one is tried once more.
type OpenOptions struct {
	// Writable maps the files so that elements can be written, which changes the files. By default
	// that is tensor.ErrReadOnly.
	Writable bool
	// Wait bounds how long OpenWith with Writable waits for another that has the directory to itself,
	// as to set checksums, and how long a store, AddLeaf, Flush and Close wait for another that
	// changes a meta.json. Then they return [ErrBusy]. 0 means a second, and less than 0 not at all.
	Wait time.Duration
	// MaxEntries is how many entries the dictionary may have, at all levels together; 0 means
	// 200,000. It bounds what a hostile directory can make Open do.
	MaxEntries int
	// MaxCopy is how many bytes of lazy stacks, which are read as copies, may be copied, and how
	// many bytes of offsets of ragged rows may be read into memory; 0 means 1 GiB.
	MaxCopy int64
	// SkipPickled leaves out entries that Python has pickled. By default they are ErrUnsupported.
	SkipPickled bool
}

// Open opens the dictionary saved in the directory dir, for reading. It is [OpenWith] without
// options.
func Open(dir string) (*Dataset, error) { return OpenWith(dir, OpenOptions{}) }

// OpenWith opens the dictionary saved in the directory dir, or in one below it: each directory is a
// dictionary of its own. A directory that Save replaces meanwhile is opened as it was before or as
// it is then.
//
// OpenWith returns a [FileError] that says which file is at fault: [ErrCorrupt], [ErrUnsupported],
// [ErrBusy] if a [Writer] is at work in a directory to be opened Writable, or another has it to itself
// for longer than Wait, or what the system says,
// such as fs.ErrNotExist if there is no dir, fs.ErrInvalid if dir is empty, and fs.ErrPermission or
// EROFS, an error of the system, if a leaf cannot be written that should be. If dir is a file, or a
// directory without a meta.json, the error is [ErrForeign], and says what is there; for the
// directory it is ErrCorrupt and fs.ErrNotExist too.
func OpenWith(dir string, opt OpenOptions) (*Dataset, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("open: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := absolute(dir)
	if err != nil {
		return nil, fileError("open", dir, "", err)
	}
	return openAt(dir, at, opt)
}

// openAt opens the directory whose absolute path is at, and which errors call dir.
func openAt(dir, at string, opt OpenOptions) (*Dataset, error) {
	for try := 0; ; try++ {
		o := &opener{op: "open", dir: dir, at: at, opt: opt}
		d, err := o.dataset()
		if err == nil {
			return d, nil
		}
		replaced := o.replaced()
		if err := errors.Join(err, o.close()); !replaced || try == 10 {
			return nil, err
		}
	}
}

// An opener reads one tree.
type opener struct {
	op, dir string // for errors
	at      string // absolute
	opt     OpenOptions
	set     *mapfile.Set
	lock    *vfs.Lock
	files   []*leafFile // numbered as those of set
	nodes   []*leafNode
	entries int
	copied  int64 // bytes of lazy stacks
	taken   int64 // bytes of offsets
	ds      *Dataset
	grows   bool     // a Writer has not finished it
	hidden  *dirSink // of Create: what is opened is not in its place yet

	faults func(error) // of Verify, which goes on after one; else nil
	found  int         // how many there were
	parts  []string    // of the key of what is being read, for Verify
}

// dataset opens the directory.
func (o *opener) dataset() (_ *Dataset, err error) {
	o.ds = &Dataset{dir: o.dir, at: o.at, opt: o.opt, hidden: o.hidden, token: rand.Text()[:8]}
	o.set, err = mapfile.Open(o.at, mapfile.Options{Writable: o.opt.Writable, Name: o.named, Touch: o.ds.touch})
	if info, failed := os.Stat(o.at); err != nil && failed == nil && !info.IsDir() {
		err = &absent{fmt.Errorf("%w: got a file of %d bytes, want a directory", ErrForeign, info.Size()), bare(err)}
	}
	if err == nil && o.opt.Writable && o.hidden == nil {
		o.lock, err = o.opt.lockWriters(o.at)
	}
	if err == nil && o.lock != nil && o.replaced() { // and so what is locked may be another
		err = ErrReplaced
	}
	if err != nil {
		return nil, fileError(o.op, o.dir, "", err)
	}
	td, err := o.top()
	if err != nil {
		return nil, err
	}
	if td == nil {
		return nil, fileError(o.op, o.dir, "", unsupported("the whole of it is pickled"))
	}
	td.LockBecause(whyLocked)
	o.ds.growing = o.grows
	o.ds.TensorDict, o.ds.set, o.ds.lock, o.ds.files, o.ds.nodes = td, o.set, o.lock, o.files, o.nodes
	return o.ds, nil
}

// top reads the whole tree.
func (o *opener) top() (*tdict.TensorDict, error) {
	n := &dirTree{o: o, root: o.set.Root(), at: o.set.Top()}
	v, err := o.node(n, nil, nil, 0)
	if err != nil {
		return nil, err
	}
	td, ok := v.(*tdict.TensorDict)
	if v != nil && !ok {
		return nil, o.fail(n, metaName, unsupported("an entry that is no dictionary: open the directory around it"))
	}
	return td, nil
}

// replaced reports whether the directory has been replaced since it was opened.
func (o *opener) replaced() bool {
	if o.set == nil {
		return false
	}
	yes, err := o.set.Replaced()
	return yes && err == nil
}

// close gives back what a failed opener holds.
func (o *opener) close() error {
	if o.lock != nil {
		_ = o.lock.Unlock() // it was only read
	}
	if o.set == nil {
		return nil
	}
	return o.set.Close()
}

// fail returns err, if there is one, as one about a file of the node n.
func (o *opener) fail(n tree, file string, err error) error {
	if err == nil {
		return nil
	}
	return o.failAt(path.Join(n.path(), file), err)
}

// failAt returns err, if there is one, as one about the file at a path.
func (o *opener) failAt(at string, err error) error { return fileError(o.op, o.dir, at, err) }

// named makes the errors of mapped files.
func (o *opener) named(op, at string, err error) error {
	err = bare(err)
	if errors.Is(err, mapping.ErrSize) || errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapfile.ErrGone) {
		err = corrupt("%w", err)
	}
	return &FileError{op, o.dir, at, err}
}

// key returns the key of what is being read.
func (o *opener) key() nestedkey.Key {
	if len(o.parts) == 0 {
		return ""
	}
	return nestedkey.Of(o.parts[0], o.parts[1:]...)
}

// enter tells the key of what is read until the function that it returns is called.
func (o *opener) enter(parts ...string) (leave func()) {
	if o.faults == nil {
		return func() {}
	}
	n := len(o.parts)
	o.parts = append(o.parts, parts...)
	return func() { o.parts = o.parts[:n] }
}

// fault returns err, unless somebody collects them.
func (o *opener) fault(err error) error {
	if err == nil || o.faults == nil {
		return err
	}
	o.found++
	o.faults(err)
	return nil
}

// node reads a node of any class. e is the entry that led there, or nil.
func (o *opener) node(n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	if depth > tdict.MaxDepth {
		return nil, o.fail(n, "", corrupt("nested more than %d deep", tdict.MaxDepth))
	}
	m, err := o.nodeMeta(n)
	if err != nil {
		return nil, err
	}
	c, err := nodeCodecOf(m.class)
	if err != nil {
		return nil, o.fail(n, metaName, err)
	}
	v, err := c.read(o, n, m, e, batch, depth)
	if t, ok := n.(*dirTree); ok {
		t.known.td, _ = v.(*tdict.TensorDict)
	}
	return v, err
}

// nodeMeta reads the meta.json of a node.
func (o *opener) nodeMeta(n tree) (*meta, error) {
	text, err := n.meta()
	if err != nil {
		return nil, err
	}
	m, err := decodeMeta(text, o.maxEntries()-o.entries)
	if err != nil {
		return nil, o.fail(n, metaName, err)
	}
	o.entries += len(m.entries)
	if t, ok := n.(*dirTree); ok {
		o.nodes = append(o.nodes, t.known)
	}
	return m, nil
}

func (o *opener) maxEntries() int {
	if o.opt.MaxEntries > 0 {
		return o.opt.MaxEntries
	}
	return 200_000
}

// opened takes note of the file of a leaf of n, which has rows of its own if it is ragged, and
// checks that it can be written if it should be.
func (o *opener) opened(n tree, e *metaEntry, lender tensor.Lender, rows *ragged.Layout) error {
	f, ok := lender.(*mapfile.File)
	if !ok {
		return nil
	}
	l := &leafFile{file: f, node: n.(*dirTree).known, name: e.name, alike: e.fact.alike, rows: rows, sums: e.fact.sums, marked: len(e.fact.sums) > 0, summed: e.fact.sums != nil}
	if !l.marked {
		l.sums = nil
	}
	if o.faults != nil {
		l.key = o.key()
	}
	o.files = append(o.files, l)
	if !o.opt.Writable {
		return nil
	}
	if l.node.leaf == nil {
		l.node.leaf = map[string]*leafFile{}
	}
	l.node.leaf[l.name] = l
	if l.summed && len(l.node.leaf) == 1 { // its meta.json is to be replaced
		if err := vfs.CanWrite(filepath.Join(o.at, filepath.FromSlash(l.node.path))); err != nil {
			return o.failAt(l.node.path, err)
		}
	}
	return o.failAt(f.Path(), vfs.CanWrite(f.String()))
}

// lockWriters locks what those who write the directory at, or one around or in it, have in common:
// the outermost dictionary. They share the lock for as long as they write; whoever has it alone is
// setting sums or publishing. The lock is nil where directories cannot be locked.
func (opt *OpenOptions) lockWriters(at string) (*vfs.Lock, error) {
	top := outermost(at)
	l, err := opt.await(func() (*vfs.Lock, error) { return vfs.TryLock(top, vfs.Shared) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return l, err
}

// await calls try until it returns another error than vfs.ErrHeld, or nil, or Wait is over.
func (opt *OpenOptions) await(try func() (*vfs.Lock, error)) (*vfs.Lock, error) {
	end := time.Now().Add(cmp.Or(opt.Wait, time.Second))
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		l, err := try()
		if !errors.Is(err, vfs.ErrHeld) {
			return l, err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		time.Sleep(min(pause, left))
	}
}

// outermost returns the directory of the dictionary that the one at is an entry of, or an entry of
// an entry, and so on, if there is one.
func outermost(at string) string {
	if found, err := filepath.EvalSymlinks(at); err == nil {
		at = found
	}
	for above := filepath.Dir(at); above != at; above = filepath.Dir(at) {
		m, err := readNode(above)
		if err != nil || !slices.ContainsFunc(m.entries, func(e metaEntry) bool {
			return e.isNode() && (fileName(e.name) == filepath.Base(at) || e.name == filepath.Base(at))
		}) {
			break
		}
		at = above
	}
	return at
}
