package memmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// AddLeaf saves v, any value but a dictionary, under a new key of d, and sets it in d, mapped. It
// makes the dictionaries that the key needs. d must be opened with Writable. Everything is checked
// before anything is written. Others see the whole leaf or nothing of it; another Dataset of the
// directory shows it after [Dataset.Refresh]. After an error that is [ErrDone] the leaf is on disk,
// and perhaps in d; after any other error nothing has changed. (Python: make_memmap_from_tensor.)
//
// If d is a member of a lazy stack, v is not compared with the other members: if one of them has a
// value of another kind under key, opening the stack returns [ErrUnsupported] afterwards.
//
// AddLeaf is a write, like Set. It returns tdict.ErrExists, shapeops.ErrShape if the shape of v
// does not begin with the batch shape, tdict.ErrSchema if v would break the schema that was saved
// with d, tensor.ErrReadOnly if d was not opened with Writable, tdict.ErrKind,
// [ErrReplaced], [ErrClosed], [ErrForeign] if a directory that meta.json does not list is in the
// place of the entry, and the errors of [SaveWith].
func (d *Dataset) AddLeaf(key nestedkey.Key, v tdict.Leaf) error {
	if !d.open() || d.in.Closed() {
		return ErrClosed
	}
	a, err := d.planAdd(key, v)
	if err == nil {
		compared := comparer{}
		compared.add(v)
		err = a.save()
		compared.end()
	}
	return d.fail("add", "", err)
}

// An addition is a new entry of a node.
type addition struct {
	d    *Dataset
	node *leafNode
	name string            // of the new entry in node
	td   *tdict.TensorDict // has the new entry only
	key  nestedkey.Key     // of the leaf

	entry nestedkey.Key // of the new entry: the leaf, or a new dictionary around it
	moved bool          // the file or directory of the entry is in its place
}

// planAdd checks all that can be checked without the disk.
func (d *Dataset) planAdd(key nestedkey.Key, v tdict.Leaf) (*addition, error) {
	if d.set == nil {
		return nil, toDirectory()
	}
	if !d.opt.Writable {
		return nil, fmt.Errorf("%w: open with Writable to add to it", tensor.ErrReadOnly)
	}
	switch v.(type) {
	case *tdict.TensorDict:
		return nil, fmt.Errorf("%w: got a dictionary, want a leaf", tdict.ErrKind)
	case *tdict.Stacked:
		return nil, fmt.Errorf("%w: got a stacked leaf: its members are saved with their dictionaries", tdict.ErrKind)
	}
	if err := key.Check(); err != nil {
		return nil, err
	}
	td, rest := d.TensorDict, key
	for first, more, nested := rest.Cut(); nested && td.Has(first); first, more, nested = rest.Cut() {
		inner, err := td.Dict(first)
		if err != nil {
			return nil, err
		}
		td, rest = inner, more
	}
	if td.Has(rest) {
		return nil, fmt.Errorf("%w: %s", tdict.ErrExists, quote(string(key)))
	}
	return d.addTo(td, key, rest, v)
}

// addTo plans to add v, under the key rest, to td, a dictionary of d.
func (d *Dataset) addTo(td *tdict.TensorDict, key, rest nestedkey.Key, v tdict.Leaf) (*addition, error) {
	i := slices.IndexFunc(d.nodes, func(n *leafNode) bool { return n.td == td })
	if i < 0 {
		return nil, fmt.Errorf("%w: the dictionary of %s exists only in memory: save it in the directory first", ErrUnsupported, quote(string(key)))
	}
	if d.nodes[i].lazy {
		return nil, fmt.Errorf("%w: the dictionary of %s is a lazy stack: add the leaf to each member, or a member with AppendMember", ErrUnsupported, quote(string(key)))
	}
	alone := tdict.New(td.Shape()...)
	if err := alone.Set(rest, v); err != nil {
		return nil, err
	}
	first, more, nested := rest.Cut()
	entry := key
	if nested {
		entry = key[:len(key)-len("/")-len(more)]
	}
	if err := d.checkSaved(key, entry, v); err != nil {
		return nil, err
	}
	return &addition{d: d, node: d.nodes[i], name: first.Name(), td: alone, key: key, entry: entry}, nil
}

// save writes the entry and sets it in the dictionary.
func (a *addition) save() error {
	if err := a.write(); err != nil {
		return cmp.Or(a.d.set.InPlace(a.node.dir), err)
	}
	return nil
}

// write writes the entry beside the directory, moves it in, and lists it in the meta.json.
func (a *addition) write() error {
	d := a.d
	at, err := filepath.EvalSymlinks(d.at)
	if err != nil {
		return err
	}
	s := &saver{op: "add", dir: d.dir, ctx: context.Background()}
	top := &savedNode{}
	if err := s.dict(top, a.td, 0); err != nil {
		return err
	}
	k := &dirSink{disk: vfs.OS, dir: at}
	if err := k.make(s.ctx, &oldTree{modes: a.modes(at)}, s.write); err != nil {
		return err
	}
	e := &top.meta.entries[0]
	d.mu.Lock() // Close may come at any time
	defer d.mu.Unlock()
	err = d.changeMeta(a.node, func(dir *vfs.Root, edit *metaEdit) error { return a.moveIn(k, dir, edit, e) })
	failed := k.abort() // if it fails, the next save removes the rest
	switch {
	case err == nil:
		return vfs.Done("the leaf was added, but cannot be shown: Refresh", a.show(e))
	case errors.Is(err, ErrDone):
		return errors.Join(err, vfs.Done("the leaf was added", a.show(e)))
	}
	return errors.Join(err, failed, a.undo(e))
}

// undo removes the file or directory of the entry, which was not added, unless meta.json lists it.
func (a *addition) undo(e *metaEntry) error {
	if !a.moved {
		return nil
	}
	dir, err := a.d.set.OpenDir(a.node.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	unlock, err := a.d.opt.lockMeta(dir)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := nodeIn(dir)
	if err != nil || slices.ContainsFunc(m.entries, func(x metaEntry) bool { return x.name == e.name }) {
		return err
	}
	return dir.RemoveAll(e.file())
}

// modes returns the permissions of the directory that gets the entry, and of its files.
func (a *addition) modes(at string) *vfs.Modes {
	m := &vfs.Modes{Exact: true}
	dir := filepath.Join(at, filepath.FromSlash(a.node.path))
	note := func(file, as string) {
		if info, err := os.Lstat(file); err == nil {
			m.Note(as, info)
		}
	}
	note(dir, "")
	note(filepath.Join(dir, metaName), metaName)
	for _, l := range a.node.leaf {
		note(l.disk().String(), path.Base(l.disk().Path()))
	}
	return m
}

// addingName is the name of a file in the directory of an entry that is being added. If meta.json
// does not list the entry, and nobody has meta.json locked, the directory is a leftover of an
// addition that was interrupted.
const addingName = ".adding"

// isAdding reports whether the directory of an entry has a file addingName.
func isAdding(dir *vfs.Root, file string) bool {
	info, err := dir.Lstat(path.Join(file, addingName))
	return err == nil && info.Mode().IsRegular()
}

// moveIn moves the file or directory of the entry to its place in dir, and lists it in the
// meta.json.
func (a *addition) moveIn(k *dirSink, dir *vfs.Root, edit *metaEdit, e *metaEntry) error {
	if err := a.fits(edit.meta, e.file()); err != nil {
		return err
	}
	from, err := vfs.OpenRoot(k.temp.New())
	if err != nil {
		return err
	}
	defer from.Close()
	edit.add(e)
	info, err := from.Lstat(e.file())
	if errors.Is(err, fs.ErrNotExist) { // no elements
		return nil
	}
	if err == nil && info.IsDir() {
		err = moveDir(e.file(), from, dir)
	} else if err == nil {
		err = vfs.Move(e.file(), from, dir) // a file there is of an interrupted addition
	}
	if err != nil {
		return err
	}
	a.moved = true
	return dir.SyncDir(".")
}

// moveDir moves a directory as vfs.Move does, marked with a file addingName. It replaces the
// leftover of an interrupted addition; any other directory may be somebody's dataset.
func moveDir(file string, from, to *vfs.Root) error {
	if isAdding(to, file) {
		if err := to.RemoveAll(file); err != nil {
			return err
		}
	}
	if info, err := to.Lstat(file); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s exists, but meta.json does not list it, and adding the entry would replace it: move it away", ErrForeign, file)
	}
	moved, err := from.OpenRoot(file)
	if err != nil {
		return err
	}
	defer moved.Close()
	empty := func(vfs.File) error { return nil }
	if err := errors.Join(vfs.MakeFile(moved, addingName, 0o600, true, true, empty), moved.SyncDir(".")); err != nil {
		return err
	}
	return vfs.Move(file, from, to)
}

// fits returns an error if the current meta.json of the node, m, has no room for the entry.
func (a *addition) fits(m *meta, file string) error {
	for i := range m.entries {
		x := &m.entries[i]
		leaf, _, flat := pool.Split(x.name)
		switch {
		case x.name == a.name, flat && leaf == a.name:
			return a.exists()
		case x.file() == file || rawName(x.name) && x.rawFile() == file || x.nested == isNested && fileName(x.name)+sizesExt == file:
			return fmt.Errorf("%w: %s: the entry %s has the same file name", ErrName, quote(string(a.key)), quote(x.name))
		}
	}
	return nil
}

// exists returns tdict.ErrExists for an entry that another process has added: the leaf, or a
// dictionary around it.
func (a *addition) exists() error {
	err := fmt.Errorf("%w: another process has added %s", tdict.ErrExists, quote(string(a.entry)))
	if a.entry != a.key {
		err = fmt.Errorf("%w: Refresh, then add %s to it", err, quote(string(a.key)))
	}
	return err
}

// show sets the new entry in the open dictionary.
func (a *addition) show(e *metaEntry) error {
	d, td := a.d, a.node.td
	if err := d.TensorDict.Unlock(); err != nil {
		return err
	}
	defer d.Lock(whyLocked)
	p := &opening{op: "add", dir: d.dir, at: d.at, opt: d.opt}
	r := &reader{opening: p, in: d.set, files: d.files, nodes: d.nodes, layouts: &d.layouts}
	root, err := d.set.OpenDir(a.node.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	_ = root.RemoveAll(path.Join(e.file(), addingName)) // readers ignore it in a listed entry
	n := &dirTree{r: r, set: d.set, root: root, at: a.node.dir, is: a.node}
	v, err := r.entry(n, e, td.Shape(), 0)
	if err != nil {
		return err
	}
	d.files, d.nodes = r.files, r.nodes
	return td.Set(nestedkey.Of(a.name), v)
}
