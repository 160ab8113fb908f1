package memmap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Dataset is a dictionary whose leaves lie in mapped files. It has all methods of the TensorDict
// in it; where a *tdict.TensorDict is wanted, as by Save or shapeops.Stack, pass d.TensorDict. That
// is locked; unlocked, it can be changed in memory, which does not reach the directory.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map. Close and CloseWait
// may be called at any time.
type Dataset struct {
	*tdict.TensorDict
	files *files
}

// OpenOptions say how [OpenWith] opens. The zero value is the default.
type OpenOptions struct {
	// Writable maps the files so that elements can be written, which changes the files. By default
	// that is tensor.ErrReadOnly.
	Writable bool
}

// Open opens the dictionary saved in the directory dir, for reading. It is [OpenWith] without
// options.
func Open(dir string) (*Dataset, error) { return OpenWith(dir, OpenOptions{}) }

// OpenWith opens the dictionary saved in the directory dir, or in one below it: each directory is a
// dictionary of its own. A directory that Save replaces meanwhile is opened as it was before or as
// it is then.
//
// OpenWith returns a [FileError] that says which file is at fault: [ErrCorrupt], [ErrUnsupported],
// or what the system says, such as fs.ErrNotExist if there is no dir.
func OpenWith(dir string, opt OpenOptions) (*Dataset, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("open: %w on a big-endian machine", errors.ErrUnsupported)
	}
	for try := 0; ; try++ {
		d, replaced, err := openOnce(dir, opt)
		if err == nil || !replaced || try == 10 {
			return d, err
		}
	}
}

// whyLocked is what an opened dictionary says to whoever changes its structure.
const whyLocked = "its leaves are mapped files, so what is set here would not be saved: set it in a Copy and Save that"

// openOnce opens dir, and reports whether it was replaced meanwhile.
func openOnce(dir string, opt OpenOptions) (d *Dataset, replaced bool, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, false, &FileError{"open", dir, err}
	}
	o := opener{files: &files{root: root, writable: opt.Writable}}
	td, err := o.dict(root, "", 0)
	if err != nil {
		was, failed := root.Stat(".")
		is, failedToo := os.Stat(dir)
		replaced = failed == nil && failedToo == nil && !os.SameFile(was, is)
		return nil, replaced, errors.Join(err, root.Close())
	}
	td.LockBecause(whyLocked)
	return &Dataset{td, o.files}, false, nil
}

// Flush writes elements that were stored, in a dictionary opened with Writable, to the disk and
// waits for it. Without it the system does so in its own time. Flush returns [ErrClosed] once Close
// began.
func (d *Dataset) Flush() error { return d.files.flush() }

// Close refuses new operations on the elements, which return [ErrClosed] from now on, and unmaps
// the files. It does not wait for operations under way, so a function that one of them calls may
// call it. What an operation has begun to read it reads to the end, and each file is unmapped when
// the last operation on it ends; an operation on several leaves may find ErrClosed at one that it
// had yet to begin. Slices that tensor.Of handed out must not be used any more.
//
// Close returns a [FileError] for a file that it could not unmap, and [ErrClosed] if it was called
// before.
func (d *Dataset) Close() error { return d.files.close() }

// CloseWait begins the close if it has not begun, as [Dataset.Close] does, and waits until all
// files are unmapped. Some systems refuse to replace or remove a file until then. CloseWait returns
// the error of ctx if that ends first, and a [FileError] for a file that could not be unmapped. It
// may be called any number of times, before and after Close. In a function that an operation on the
// elements calls, it waits for that operation and so until ctx ends.
func (d *Dataset) CloseWait(ctx context.Context) error { return d.files.closeWait(ctx) }

// files are the mapped files of one opened directory.
type files struct {
	root     *os.Root
	writable bool
	leaves   []*leafFile

	mu      sync.Mutex
	closed  bool  // guarded by mu; once it is set, no leaf is mapped that was not
	rootErr error // of closing root; never changes once closed is set
}

// mapped returns an iterator over the leaves that are mapped now.
func (f *files) mapped() iter.Seq2[*leafFile, *mapping.Mapping] {
	return func(yield func(*leafFile, *mapping.Mapping) bool) {
		for _, l := range f.leaves {
			if m := l.mapped.Load(); m != nil && !yield(l, m) {
				return
			}
		}
	}
}

func (f *files) flush() error {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return ErrClosed
	}
	for l, m := range f.mapped() {
		if err := m.Flush(); err != nil {
			return l.named("flush", err)
		}
	}
	return nil
}

func (f *files) close() error {
	if !f.refuse() {
		return ErrClosed
	}
	failed := []error{f.rootErr}
	for l, m := range f.mapped() {
		failed = append(failed, l.named("close", m.Close()))
	}
	return errors.Join(failed...)
}

// refuse keeps further leaves from being mapped, and reports whether it was the first to.
func (f *files) refuse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.closed, f.rootErr = true, f.root.Close()
	return true
}

func (f *files) closeWait(ctx context.Context) error {
	_ = f.close() // every leaf, before waiting for one; what it reports is reported below
	failed := []error{f.rootErr}
	for l, m := range f.mapped() {
		err := m.CloseWait(ctx)
		if err != nil && err == ctx.Err() {
			return err
		}
		failed = append(failed, l.named("close", err))
	}
	return errors.Join(failed...)
}

// An opener reads one tree of directories.
type opener struct{ files *files }

// corrupt makes an error of a path and what is wrong there.
func corrupt(at, format string, args ...any) error {
	return &FileError{"open", at, fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)}
}

// dict reads the directory dir, which lies at the path at below the top.
func (o *opener) dict(dir *os.Root, at string, depth int) (*tdict.TensorDict, error) {
	if depth > tdict.MaxDepth {
		return nil, corrupt(path.Join(at, "."), "nested more than %d deep", tdict.MaxDepth)
	}
	m, err := readMeta(dir, path.Join(at, metaName))
	if err != nil {
		return nil, err
	}
	if m.old() {
		if err := m.addUnlisted(dir, at); err != nil {
			return nil, err
		}
	}
	td := tdict.New(m.shape...)
	for _, e := range m.entries {
		v, err := o.value(dir, at, e, depth)
		if err != nil {
			return nil, err
		}
		if err := td.Set(nestedkey.Of(e.name), v); err != nil {
			return nil, corrupt(path.Join(at, metaName), "%w", err)
		}
	}
	return td, nil
}

func (o *opener) value(dir *os.Root, at string, e metaEntry, depth int) (tdict.Value, error) {
	if !e.isDict {
		return o.leaf(dir, at, e)
	}
	name, info, err := find(dir, at, e.name, "")
	if err != nil {
		return nil, err
	}
	if info == nil || !info.IsDir() {
		return nil, corrupt(path.Join(at, name), "got %s, want a directory", kind(info))
	}
	inner, err := dir.OpenRoot(name)
	if err != nil {
		return nil, &FileError{"open", path.Join(at, name), err}
	}
	td, err := o.dict(inner, path.Join(at, name), depth+1)
	return td, errors.Join(err, inner.Close())
}

// find returns the name of an entry's file: the one that the format gives it, or the entry's own if
// only that exists. info is nil if neither does.
func find(dir *os.Root, at, text, ext string) (name string, info fs.FileInfo, err error) {
	name = fileName(text) + ext
	info, err = dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && rawName(text) && text+ext != name {
		if raw, err := dir.Lstat(text + ext); err == nil {
			return text + ext, raw, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil, nil
	}
	if err != nil {
		return name, nil, &FileError{"open", path.Join(at, name), err}
	}
	return name, info, nil
}

// kind says what info describes.
func kind(info fs.FileInfo) string {
	switch {
	case info == nil:
		return "nothing"
	case info.IsDir():
		return "a directory"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case !info.Mode().IsRegular():
		return "a special file"
	}
	return "a file"
}

// leaf returns the tensor of a leaf, whose file is checked but not mapped.
func (o *opener) leaf(dir *os.Root, at string, e metaEntry) (tdict.Value, error) {
	dtype, err := e.leaf.dtype()
	if err == nil && e.leaf.ragged() {
		err = fmt.Errorf("%w: a nested tensor", ErrUnsupported)
	}
	name, info, findErr := find(dir, at, e.name, leafExt)
	if err = errors.Join(err, findErr); err != nil {
		return nil, &FileError{"open", path.Join(at, name), err}
	}
	l := &leafFile{files: o.files, path: path.Join(at, name), info: info}
	t, err := tensor.FromLender(dtype, l, 0, e.leaf.Shape...)
	if err != nil {
		return nil, corrupt(l.path, "%w", err)
	}
	l.size = t.ByteSize()
	if l.size == 0 {
		return tensor.New(dtype, e.leaf.Shape...)
	}
	if info == nil || !info.Mode().IsRegular() {
		return nil, corrupt(l.path, "got %s, want a file", kind(info))
	}
	if info.Size() < int64(l.size) {
		return nil, corrupt(l.path, "got %d bytes, want the %d of %v %v", info.Size(), l.size, dtype, t.Shape())
	}
	l.id = vfs.FileID(info, filepath.Join(o.files.root.Name(), filepath.FromSlash(l.path)))
	o.files.leaves = append(o.files.leaves, l)
	return t, nil
}

// readMeta reads the meta.json of dir; at is its path below the top.
func readMeta(dir *os.Root, at string) (meta, error) {
	info, err := dir.Lstat(metaName)
	if errors.Is(err, fs.ErrNotExist) {
		return meta{}, corrupt(at, "%w", err)
	}
	if err != nil {
		return meta{}, &FileError{"open", at, err}
	}
	if !info.Mode().IsRegular() || info.Size() > maxMeta {
		return meta{}, corrupt(at, "got %s of %d bytes, want a file of at most %d", kind(info), info.Size(), maxMeta)
	}
	f, err := dir.Open(metaName)
	if err != nil {
		return meta{}, &FileError{"open", at, err}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMeta))
	if err = errors.Join(err, f.Close()); err != nil {
		return meta{}, &FileError{"open", at, err}
	}
	m, err := decodeMeta(data)
	if err == nil && !dictKinds[m.kind] {
		err = fmt.Errorf("%w: a %s", ErrUnsupported, m.kind)
	}
	if err != nil {
		return meta{}, &FileError{"open", at, err}
	}
	return m, nil
}

// addUnlisted adds the directories of dir that have a meta.json: before v0.4, meta.json did not
// list them.
func (m *meta) addUnlisted(dir *os.Root, at string) error {
	found, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return &FileError{"open", path.Join(at, "."), err}
	}
	listed := map[string]bool{}
	for _, e := range m.entries {
		listed[e.name] = true
	}
	for _, d := range found {
		if !d.IsDir() || d.Name() == "_tensordict" {
			continue
		}
		if info, err := dir.Lstat(path.Join(d.Name(), metaName)); err == nil && info.Mode().IsRegular() {
			if listed[d.Name()] {
				return corrupt(path.Join(at, d.Name()), "a leaf has the same name")
			}
			m.entries = append(m.entries, metaEntry{name: d.Name(), isDict: true})
		}
	}
	return nil
}
