package memmap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// plan plans the flat form: every leaf is an entry of one node.
func (w *Writer) plan() (*saver, error) {
	s := &saver{op: "append", dir: w.dir, ctx: context.Background()}
	shape := append(shapeops.Shape{0}, w.row.Shape()...)
	if err := checkShape(shape); err != nil {
		return nil, err
	}
	entries := make([]metaEntry, 0, mostEntries(w.row)) // never reallocated: there are pointers into it
	w.meta = &meta{shape: shape, native: nodeFact{growing: true}, entries: entries}
	w.meta.native.names = w.names(w.row)
	n := &savedNode{meta: w.meta}
	s.nodes = []*savedNode{n}
	var err error
	if w.none, err = noRows(w.row); err == nil {
		err = w.planDict(s, n, w.row, nil, flatNames{})
	}
	if err != nil {
		return nil, err
	}
	if err := w.keepSchema(nil); err != nil {
		return nil, err
	}
	if w.leaves, err = columnsOf(w.meta); err != nil {
		return nil, err
	}
	return s, (&saver{op: "append", dir: w.dir}).dict(&savedNode{}, w.none, 0) // checks the names in the final form
}

// mostEntries returns the number of entries in the flat form of rows like row.
func mostEntries(row *tdict.TensorDict) (n int) {
	for _, v := range row.Leaves() {
		n++
		if t, ok := v.(*ragged.Tensor); ok {
			n += max(1, t.Depth()) + 1 // lengths also of a tensor without levels, and row numbers
		}
	}
	return n
}

// noRows returns zero rows like row.
func noRows(row *tdict.TensorDict) (*tdict.TensorDict, error) {
	td, err := row.Unsqueeze(0)
	if err != nil {
		return nil, err
	}
	return td.Index(ix.Range(0, 0))
}

// names returns the names of the dims of rows like row, or nil if no dim has one.
func (w *Writer) names(row *tdict.TensorDict) []string {
	if w.opt.Dim == "" && dimNames(row) == nil {
		return nil
	}
	return append([]string{w.opt.Dim}, row.Names()...)
}

// planDict plans the leaves of td, a dictionary of the row with key prefix, as entries of n. names
// has the names of the entries so far.
func (w *Writer) planDict(s *saver, n *savedNode, td *tdict.TensorDict, prefix []string, names flatNames) error {
	if len(prefix) > tdict.MaxDepth {
		return fmt.Errorf("%w: dictionaries nested more than %d deep", ErrName, tdict.MaxDepth)
	}
	for key, v := range td.All() {
		parts := append(prefix[:len(prefix):len(prefix)], key.Name())
		if inner, ok := v.(*tdict.TensorDict); ok {
			n.meta.native.nodes = append(n.meta.native.nodes, nodeShape{path: parts, shape: inner.Shape().Clone(), names: w.names(inner)})
			if err := w.planDict(s, n, inner, parts, names); err != nil {
				return err
			}
			continue
		}
		e := metaEntry{name: strings.Join(parts, "."), fact: fact{path: parts}}
		if err := names.add(e.name, w.private); err != nil {
			return s.fail(e.name, err)
		}
		if _, ok := v.(*ragged.Tensor); ok {
			if err := w.planRows(s, n, e); err != nil {
				return err
			}
			continue
		}
		n.meta.entries = append(n.meta.entries, e)
		if err := w.planLeaf(s, n, &n.meta.entries[len(n.meta.entries)-1], v); err != nil {
			return err
		}
	}
	return nil
}

// flatNames has the names of entries of the flat form (true), and each prefix of one before a dot
// (false), which Python's unflatten_keys makes a dictionary.
type flatNames map[string]bool

// add returns ErrName if name is taken or, unless the dataset is private, if a name and a dot are
// the beginning of another name.
func (names flatNames) add(name string, private bool) error {
	if entry, taken := names[name]; entry {
		return fmt.Errorf("%w: until Finish, two leaves would have the same file name", ErrName)
	} else if private {
		names[name] = true
		return nil
	} else if taken {
		return fmt.Errorf("%w: until Finish, another leaf has a name that begins with %s, and Python's unflatten_keys could not nest the two", ErrName, quote(name+"."))
	}
	names[name] = true
	for i, c := range name {
		if c != '.' {
			continue
		}
		if names[name[:i]] {
			return fmt.Errorf("%w: until Finish, another leaf has the name %s, and Python's unflatten_keys could not nest the two", ErrName, quote(name[:i]))
		}
		names[name[:i]] = false
	}
	return nil
}

// planLeaf plans a leaf as the entry e of n.
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
		return nil
	}
	if d, ok := v.(*tdict.Data); ok {
		if _, same := d.Uniform(); !same {
			return s.fail(n.leaf(e.name), unsupported(useText))
		}
	}
	if err := s.value(n, e, v, 0); err != nil {
		return err
	}
	if e.fact.batch != nil { // the batch shape of one row
		e.fact.batch = append(shapeops.Shape{0}, e.fact.batch...)
	}
	return nil
}

// planRows plans the ragged leaf e: each of its parts is an entry of n.
func (w *Writer) planRows(s *saver, n *savedNode, e metaEntry) error {
	none, err := tdict.Get[*ragged.Tensor](w.none, keyOf(e.fact.path))
	if err != nil {
		return s.fail(e.name, err)
	}
	if err := checkRank(none); err != nil {
		return s.fail(e.name, err)
	}
	parts, err := pool.PartsOf(none)
	if err != nil {
		return s.fail(e.name, err)
	}
	for _, p := range parts {
		part := partEntry(p)
		part.name = e.name + "." + p.Name
		part.fact.path = append(slices.Clip(e.fact.path), p.Name)
		at, err := n.claimFile(part.name, leafExt)
		if err != nil {
			return s.fail(at, err)
		}
		n.meta.entries = append(n.meta.entries, part)
	}
	return nil
}
