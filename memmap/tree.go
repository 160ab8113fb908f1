package memmap

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// A tree is a node of a container that is being read: one meta.json, leaves, and further nodes.
// Paths are below the top of the container, with slashes. Errors are FileErrors.
type tree interface {
	// path returns the path of the node, "" for the top.
	path() string
	// meta returns the text of meta.json.
	meta() ([]byte, error)
	// known returns the leafNode that a Dataset keeps of the node. It is valid once meta was
	// called.
	known() *leafNode
	// leaf returns the lender of a leaf of size bytes, and the offset of the leaf in it.
	leaf(name string, size int) (file lender, offset int, err error)
	// ints calls each with the next of the first n int64 in a file of an entry. It checks the size
	// of the file first.
	ints(name, ext string, n int, each func(numbers []int64) error) error
	// node returns the node of an entry. The caller closes it.
	node(name string) (tree, error)
	// member returns the member of a lazy stack, or nil if there is none. The caller closes it.
	member(number int) (tree, error)
	// unlisted returns the names of all directories in the node that have a meta.json, unless
	// the meta.json of the node has grown since it was read.
	unlisted() ([]string, error)
	// dirs returns the names of all directories in the node.
	dirs() ([]string, error)
	// has reports whether there is a file of that name.
	has(file string) bool
	// close ends the reading of the node; lenders stay valid.
	close() error
}

// A dirTree is a directory as a tree.
type dirTree struct {
	r    *reader
	set  *mapfile.Set
	root *vfs.Root
	at   *mapfile.Dir
	is   *leafNode
}

func (t *dirTree) path() string { return t.at.Path() }

func (t *dirTree) known() *leafNode { return t.is }

// fail returns err as one about the file name in the directory; nil stays nil.
func (t *dirTree) fail(name string, err error) error {
	return t.r.fail(t, name, err)
}

func (t *dirTree) close() error {
	if t.at == t.set.Top() { // the set closes it
		return nil
	}
	return t.root.Close()
}

func (t *dirTree) meta() ([]byte, error) {
	text, info, err := readMeta(t.root)
	t.is = &leafNode{path: t.path(), dir: t.at, info: info, sum: crc32.Checksum(text, tdc.Castagnoli)}
	if errors.Is(err, fs.ErrNotExist) && t.path() == "" {
		return nil, t.fail(metaName, noDataset(t.root))
	}
	return text, t.fail(metaName, err)
}

// noDataset returns the error for a directory without a meta.json, with a list of its content.
func noDataset(root *vfs.Root) error {
	found, err := root.ReadDir()
	if err != nil {
		return err
	}
	names := make([]string, len(found))
	for i, d := range found {
		names[i] = quote(d.Name())
		if d.IsDir() {
			names[i] = "directory " + names[i]
		}
	}
	return foreign("directory", names)
}

// foreign returns the error for a container without a meta.json. names are its content.
func foreign(form string, names []string) error {
	const most = 5
	holds := "is empty"
	if len(names) > 0 {
		holds = "holds " + strings.Join(names[:min(len(names), most)], ", ")
	}
	if more := len(names) - most; more > 0 {
		holds += fmt.Sprintf(" and %d more", more)
	}
	return &absent{fmt.Errorf("missing: %w: the %s %s", ErrForeign, form, holds), errors.Join(ErrCorrupt, fs.ErrNotExist)}
}

// readMeta returns the text of the meta.json in a directory, and the Lstat of the file before it
// was read.
func readMeta(root *vfs.Root) ([]byte, fs.FileInfo, error) {
	info, err := root.Lstat(metaName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, corrupt("%w", fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMeta {
		return nil, nil, corrupt("got %s of %d bytes, want a file of at most %d", kind(info), info.Size(), maxMeta)
	}
	f, err := openIn(root, metaName, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	text := make([]byte, 0, info.Size()+512)
	text, err = appendAll(text, io.LimitReader(f, maxMeta))
	return text, info, errors.Join(err, f.Close())
}

// openIn opens a regular file. It does not wait for the other end of a pipe.
func openIn(root *vfs.Root, file string, flag int) (*os.File, error) {
	f, err := root.OpenFile(file, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = unlike(info, "a file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readNode reads the meta.json in a directory.
func readNode(at string) (*meta, error) {
	root, err := vfs.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return nodeIn(root)
}

// nodeIn reads the meta.json in an open directory.
func nodeIn(root *vfs.Root) (*meta, error) {
	text, _, err := readMeta(root)
	if err != nil {
		return nil, err
	}
	return decodeNode(text)
}

// decodeNode reads a meta.json whose unknown native fields are kept.
func decodeNode(text []byte) (*meta, error) {
	d := newMetaDecoder(text, maxMeta)
	d.keep = true
	return d.decode(text)
}

// appendAll reads r to its end, and appends the bytes to b.
func appendAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// leafPath returns the path of the file of a leaf of a node.
func leafPath(n tree, name string) string { return join(n.path(), fileName(name)+leafExt) }

// join returns the path of a file in a directory.
func join(dir, file string) string {
	if dir == "" {
		return file
	}
	return dir + "/" + file
}

func (t *dirTree) leaf(name string, size int) (lender, int, error) {
	file, info, err := t.holding(name, leafExt, size)
	if err != nil {
		return nil, 0, t.fail(file, err)
	}
	return t.set.Add(t.at, join(t.path(), file), info, size), 0, nil
}

func (t *dirTree) node(name string) (tree, error) {
	file, info, err := t.find(name, "")
	if err != nil {
		return nil, t.fail(file, err)
	}
	if info == nil || !info.IsDir() {
		return nil, t.fail(file, unlike(info, "a directory"))
	}
	return t.below(file, info)
}

func (t *dirTree) member(number int) (tree, error) {
	file := strconv.Itoa(number)
	info, err := t.root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.IsDir() {
		err = unlike(info, "a directory")
	}
	if err != nil {
		return nil, t.fail(file, err)
	}
	return t.below(file, info)
}

// below returns the node in the directory file of t.
func (t *dirTree) below(file string, info fs.FileInfo) (tree, error) {
	root, err := t.root.OpenRoot(file)
	if err != nil {
		return nil, t.fail(file, err)
	}
	return &dirTree{r: t.r, set: t.set, root: root, at: t.set.Dir(t.at, path.Join(t.path(), file), info)}, nil
}

// find returns the name of the file of an entry: the escaped name or, if only that exists, the
// entry's own name. info is nil if neither exists.
func (t *dirTree) find(name, ext string) (file string, info fs.FileInfo, err error) {
	file = fileName(name) + ext
	if len(file) > maxName {
		return file, nil, corrupt("got a file name of %d bytes, want at most %d", len(file), maxName)
	}
	info, err = t.root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) && rawName(name) && name+ext != file {
		if raw, err := t.root.Lstat(name + ext); err == nil {
			return name + ext, raw, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil, nil
	}
	return file, info, err
}

// holding is find for a file of at least size bytes.
func (t *dirTree) holding(name, ext string, size int) (file string, info fs.FileInfo, err error) {
	file, info, err = t.find(name, ext)
	switch {
	case err != nil:
	case info == nil || !info.Mode().IsRegular():
		err = unlike(info, "a file")
	case info.Size() < int64(size):
		err = corrupt("got %d bytes, want %d", info.Size(), size)
	}
	return file, info, err
}

// kind returns the kind of file that info describes.
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

// unlike returns ErrCorrupt for a file of another kind than want. If there is none, it is
// fs.ErrNotExist too.
func unlike(info fs.FileInfo, want string) error {
	err := corrupt("got %s, want %s", kind(info), want)
	if info == nil {
		return &absent{err, fs.ErrNotExist}
	}
	return err
}

// An absent error is an error that matches further ones.
type absent struct {
	error
	also error // such as fs.ErrNotExist; not in the text
}

// Unwrap returns both errors.
func (e *absent) Unwrap() []error { return []error{e.error, e.also} }

func (t *dirTree) unlisted() ([]string, error) {
	names, err := t.dirs()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := t.root.Lstat(path.Join(name, metaName))
		return vfs.Reserved(name) || isAdding(t.root, name) || err != nil || !info.Mode().IsRegular()
	})
	if now, err := t.root.Lstat(metaName); err != nil || now.Size() != t.is.info.Size() {
		return nil, nil // entries were added after it was read, so it lists them by now
	}
	return names, nil
}

func (t *dirTree) dirs() ([]string, error) {
	found, err := t.root.ReadDir()
	if err != nil {
		return nil, t.fail("", err)
	}
	var names []string
	for _, d := range found {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	return names, nil
}

func (t *dirTree) has(file string) bool {
	_, err := t.root.Lstat(file)
	return err == nil
}
