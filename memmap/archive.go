package memmap

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// archiveExt is the extension of the name of an archive.
const archiveExt = ".tdz"

// An archive is a zip file whose entries are the files of a directory.
type archive struct {
	*mapfile.Single
	opening *opening
	zip     *zipfile.Archive
	nodes   map[string][]string // results of below; nil before its first call
}

// zipStart is the first bytes of a zip file that has entries.
const zipStart = "PK\x03\x04"

// archive opens a file that is an archive.
func (p *opening) archive(file *mapfile.Single) (*archive, error) {
	a := &archive{Single: file, opening: p}
	err := a.open(p.maxEntries())
	if err == nil && p.opt.Writable {
		err = toDirectory()
	}
	return a, err
}

// open reads the directory of the archive.
func (a *archive) open(entries int) error {
	start := make([]byte, 16)
	n, err := a.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if !bytes.HasPrefix(start, []byte(zipStart)) {
		return fmt.Errorf("%w: got a file of %d bytes, want a directory or an archive%s", ErrForeign, a.Size(), fileformat.Foreign(start[:n]))
	}
	return a.View(func(b []byte) (err error) {
		a.zip, err = zipfile.Open(bytes.NewReader(b), int64(len(b)), max(entries, zipfile.MaxEntries))
		return err
	})
}

func (a *archive) MapAll() error { return a.Map() }

// below returns the names of the directories in a directory that have a meta.json, whether or not
// the meta.json of the directory lists them.
func (a *archive) below(at string) []string {
	if a.nodes == nil {
		a.nodes = map[string][]string{}
		for _, e := range a.zip.Entries {
			node, file := path.Split(e.Name)
			if _, adding := a.zip.Find(node + addingName); file == metaName && node != "" && !adding {
				above, name := path.Split(strings.TrimSuffix(node, "/"))
				above = strings.TrimSuffix(above, "/")
				a.nodes[above] = append(a.nodes[above], name)
			}
		}
	}
	slices.Sort(a.nodes[at])
	return a.nodes[at]
}

// read calls fn with a reader of an entry. It reads the entry to its end, so that the CRC-32 is
// compared.
func (a *archive) read(e zipfile.Entry, fn func(io.Reader) error) error {
	r := e.Reader(a.Single)
	err := fn(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// readFull fills b with the first bytes of an entry.
func (a *archive) readFull(e zipfile.Entry, b []byte) error {
	return a.read(e, func(r io.Reader) error { _, err := io.ReadFull(r, b); return err })
}

// A zipTree is a directory in an archive, as a tree.
type zipTree struct {
	r  *reader
	a  *archive
	at string
	is *leafNode
}

func newZipTree(r *reader, a *archive, at string) *zipTree {
	return &zipTree{r, a, at, &leafNode{path: at}}
}

func (t *zipTree) path() string { return t.at }

func (t *zipTree) known() *leafNode { return t.is }

func (t *zipTree) close() error { return nil }

// fail returns err as one about a file in the directory.
func (t *zipTree) fail(file string, err error) error { return t.r.fail(t, file, err) }

func (t *zipTree) has(file string) bool {
	_, ok := t.a.zip.Find(join(t.at, file))
	return ok
}

func (t *zipTree) unlisted() ([]string, error) { return t.a.below(t.at), nil }

func (t *zipTree) dirs() ([]string, error) { return t.a.below(t.at), nil }

func (t *zipTree) meta() ([]byte, error) {
	text, err := t.readMeta()
	return text, t.fail(metaName, err)
}

func (t *zipTree) readMeta() ([]byte, error) {
	e, ok := t.a.zip.Find(join(t.at, metaName))
	switch {
	case !ok && t.at == "":
		return nil, t.a.noDataset()
	case !ok:
		return nil, corrupt("%w", fs.ErrNotExist)
	case e.Size > maxMeta:
		return nil, corrupt("got a file of %d bytes, want one of at most %d", e.Size, maxMeta)
	}
	if err := t.r.inflates(e); err != nil {
		return nil, err
	}
	text := make([]byte, e.Size)
	return text, t.a.readFull(e, text)
}

// noDataset returns the error for a zip file without a meta.json, with a list of its entries.
func (a *archive) noDataset() error {
	names := make([]string, len(a.zip.Entries))
	for i, e := range a.zip.Entries {
		names[i] = quote(e.Name)
	}
	return foreign("archive", names)
}

func (t *zipTree) leaf(name string, size int) (lender, int, error) {
	file, e, err := t.find(name, leafExt, size)
	if err != nil {
		return nil, 0, t.fail(file, err)
	}
	at := join(t.at, file)
	if e.Method != zipfile.Stored {
		if err := t.r.inflates(e); err != nil {
			return nil, 0, t.fail(file, err)
		}
		part, err := t.a.Lend(at, int(e.Offset), int(e.Packed))
		return &inflated{zipLeaf: zipLeaf{part, t.a, e}, size: size, once: t.r.copying}, 0, t.fail(file, err)
	}
	part, err := t.a.Lend(at, int(e.Offset), size)
	if err != nil {
		return nil, 0, t.fail(file, err)
	}
	return &zipLeaf{part, t.a, e}, part.Offset(), nil
}

// find returns the entry of the zip file for the entry name of the dictionary, which must have at
// least size bytes. It tries the same names as dirTree.find.
func (t *zipTree) find(name, ext string, size int) (file string, e zipfile.Entry, err error) {
	file = fileName(name) + ext
	e, ok := t.a.zip.Find(join(t.at, file))
	if !ok && rawName(name) {
		if e, ok = t.a.zip.Find(join(t.at, name+ext)); ok {
			file = name + ext
		}
	}
	if !ok {
		return file, e, unlike(nil, "a file")
	}
	if e.Size < int64(size) {
		return file, e, corrupt("got %d bytes, want %d", e.Size, size)
	}
	return file, e, nil
}

func (t *zipTree) ints(name, ext string, n int, each func([]int64) error) error {
	file, e, err := t.find(name, ext, 8*n)
	if err == nil {
		err = t.a.read(e, func(r io.Reader) error { return readInts(r, n, each) })
	}
	return t.fail(file, err)
}

func (t *zipTree) node(name string) (tree, error) {
	file := fileName(name)
	if !t.hasDir(file) && rawName(name) && t.hasDir(name) {
		file = name
	}
	if !t.hasDir(file) {
		return nil, t.fail(file, unlike(nil, "a directory"))
	}
	return newZipTree(t.r, t.a, join(t.at, file)), nil
}

// hasDir reports whether there is a directory of that name.
func (t *zipTree) hasDir(file string) bool { return t.a.zip.HasDir(join(t.at, file)) }

func (t *zipTree) member(number int) (tree, error) {
	file := strconv.Itoa(number)
	if t.has(file) {
		return nil, t.fail(file, corrupt("got a file, want a directory"))
	}
	if !t.hasDir(file) {
		return nil, nil
	}
	return newZipTree(t.r, t.a, join(t.at, file)), nil
}
