package memmap

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A ragged tensor is a dictionary of its parts, see package pool. In a flat dictionary, such as one
// that grows, the parts of "text" are the entries "text.@pool" and so on.

// isPool reports whether the dictionary is a ragged tensor.
func (m *meta) isPool() bool {
	return slices.ContainsFunc(m.entries, func(e metaEntry) bool { return pool.IsPart(e.name) })
}

// parts returns all entries of m.
func (m *meta) parts() []*metaEntry {
	all := make([]*metaEntry, len(m.entries))
	for i := range all {
		all[i] = &m.entries[i]
	}
	return all
}

// A keyed is an entry of a dictionary with its key in it, or the parts of a ragged tensor.
type keyed struct {
	path  []string
	name  string     // of the entry, or of the first part
	e     *metaEntry // nil for a ragged tensor
	parts []*metaEntry
}

// keyed returns the entries of m. A ragged tensor is at the place of its first part.
func (m *meta) keyed() []keyed {
	all := make([]keyed, 0, len(m.entries))
	var pools map[nestedkey.Key]int
	for i := range m.entries {
		e := &m.entries[i]
		path := e.fact.path
		if !m.native.growing || path == nil { // nil: added by Python's make_memmap
			path = []string{e.name}
		}
		above, ok := partPath(path)
		if !ok {
			all = append(all, keyed{path: path, name: e.name, e: e})
			continue
		}
		key := keyOf(above)
		at, known := pools[key]
		if !known {
			if pools == nil {
				pools = map[nestedkey.Key]int{}
			}
			at = len(all)
			pools[key], all = at, append(all, keyed{path: above, name: e.name})
		}
		all[at].parts = append(all[at].parts, e)
	}
	return all
}

// partPath returns the path of the ragged tensor of which the entry at path is a part.
func partPath(path []string) (above []string, ok bool) {
	if len(path) == 0 {
		return nil, false
	}
	rest, last := path[:len(path)-1], path[len(path)-1]
	if pool.IsPart(last) {
		return rest, true
	}
	leaf, _, ok := pool.Split(last)
	if !ok {
		return nil, false
	}
	return append(slices.Clip(rest), leaf), true
}

// partName returns the name of the part that an entry is.
func partName(name string) string {
	if _, part, ok := pool.Split(name); ok {
		return part
	}
	return name
}

// partsOf checks the entries that are the parts of a ragged tensor, in a dictionary of the given
// batch shape.
func partsOf(entries []*metaEntry, batch shapeops.Shape) (*pool.Parts, error) {
	parts := make([]pool.Part, len(entries))
	for i, e := range entries {
		name := partName(e.name)
		if e.isNode() || e.nested == isNested || e.fact.unbatched {
			return nil, corrupt("%s: got another kind of entry, want a tensor", name)
		}
		if n := len(e.fact.path); n > 0 && partName(e.fact.path[n-1]) != name {
			return nil, corrupt("%s: got a path that ends in %s", name, quote(e.fact.path[n-1]))
		}
		dtype, err := e.element()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		parts[i] = pool.Part{Name: name, DType: dtype, Shape: e.shape}
	}
	return pool.Check(parts, batch)
}

// pooled returns the ragged tensor with the given parts, which are entries of n, in a dictionary of
// the given batch shape. at is its path below n, for errors.
func (r *reader) pooled(n tree, at string, entries []*metaEntry, batch shapeops.Shape) (*ragged.Tensor, error) {
	parts, err := partsOf(entries, batch)
	if err != nil {
		return nil, r.fail(n, at, err)
	}
	named := map[string]*metaEntry{}
	for _, e := range entries {
		named[partName(e.name)] = e
	}
	layout, shape, err := parts.Layout(r.layouts, func(name string, count int, each func([]int64) error) error {
		e := named[name]
		x := firstInts{name: e.name, ext: leafExt, count: count, sums: e.fact.sums, unkept: name == pool.Row}
		return r.firstInts(n, x, func(numbers []int64) error { return r.fail(n, at, each(numbers)) })
	})
	if err != nil {
		return nil, r.fail(n, at, err)
	}
	e := named[pool.Values]
	find := func(size int) (lender, int, error) { return n.leaf(e.name, size) }
	return r.overRows(n, e, layout, savedValues{leafPath(n, e.name), parts.DType, shape, find})
}

// firstInts are the first int64 in a file of an entry.
type firstInts struct {
	name, ext string
	count     int
	sums      []uint32 // nil for none
	unkept    bool     // they take no memory
}

// firstInts calls each with the next numbers of x, and compares their sums.
func (r *reader) firstInts(n tree, x firstInts, each func([]int64) error) error {
	var sum tdc.Summer
	var wrong error
	found := false
	err := n.ints(x.name, x.ext, x.count, func(numbers []int64) error {
		if !found && !x.unkept {
			wrong = r.takes(8 * x.count)
		}
		if found = true; wrong == nil {
			wrong = each(numbers)
		}
		if x.sums == nil {
			return wrong
		}
		sum.Add(cast.Bytes(numbers))
		return nil // a wrong sum explains wrong numbers
	})
	if err == nil {
		err = r.fail(n, fileName(x.name)+x.ext, sameSums(sum.Sums(), x.sums))
	}
	return cmp.Or(err, wrong)
}

// sameSums returns ErrCorrupt unless got equals want, or want is nil. The error is no mismatch, for
// which Verify says to Seal the dataset: Seal keeps these sums.
func sameSums(got, want []uint32) error {
	if want == nil {
		return nil
	}
	if len(got) != len(want) {
		return corrupt("got %d checksums, want %d", len(want), len(got)) // want was read from the file
	}
	for i := range got {
		if got[i] != want[i] {
			return corrupt("%s", sumsText(got[i], want[i]))
		}
	}
	return nil
}

// savedValues are the values of a ragged tensor on disk.
type savedValues struct {
	at    string // path of the file
	dtype tensor.DType
	shape shapeops.Shape
	find  func(size int) (file lender, offset int, err error) // returns their lender
}

// overRows returns the ragged tensor with values v and the given layout, for the entry e of n. The
// values are checked but not mapped.
func (r *reader) overRows(n tree, e *metaEntry, layout *ragged.Layout, v savedValues) (*ragged.Tensor, error) {
	values, file, err := r.lend(v)
	if err != nil {
		return nil, err
	}
	t, err := ragged.New(values, layout)
	if err != nil {
		return nil, r.failAt(v.at, asCorrupt(err))
	}
	if file == nil { // no values, but lengths in a file
		return t.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout]).Fixed(), nil
	}
	return t, r.opened(n, e, file, layout)
}

// lend returns the tensor of values, and the file that lends it: nil if there are no elements.
func (r *reader) lend(v savedValues) (*tensor.Tensor, lender, error) {
	size, err := byteSize(v.dtype, v.shape)
	if err != nil {
		return nil, nil, r.failAt(v.at, corrupt("%w", err))
	}
	if size == 0 { // no elements, so no file
		t, err := tensor.New(v.dtype, v.shape...)
		return t, nil, r.failAt(v.at, asCorrupt(err))
	}
	file, offset, err := v.find(size)
	if err != nil {
		return nil, nil, err
	}
	t, err := tensor.FromLender(v.dtype, file, offset, v.shape...)
	return t, file, r.failAt(v.at, err)
}

// checkRank returns an error if a ragged tensor has more dims than the format's readers take.
func checkRank(t *ragged.Tensor) error {
	return checkShape(slices.Concat(t.Shape(), slices.Repeat(shapeops.Shape{1}, t.Depth()), t.Features()))
}

// rows plans to save t as the entry e of n.
func (s *saver) rows(n *savedNode, e *metaEntry, t *ragged.Tensor) error {
	if c := s.nested[t.Layout()]; c != nil {
		return s.nestedTensor(n, e, t, c)
	}
	inner, err := s.claimNode(n, e.name)
	if err != nil {
		return err
	}
	if err := checkRank(t); err != nil {
		return s.fail(inner.at, err)
	}
	parts, err := pool.PartsOf(t)
	if err != nil {
		return s.fail(inner.at, err)
	}
	e.class = dictClass
	inner.meta = &meta{shape: t.Shape().Clone(), entries: make([]metaEntry, len(parts))}
	s.nodes = append(s.nodes, inner)
	var sums []*[]uint32
	for i, p := range parts {
		e := &inner.meta.entries[i]
		*e = partEntry(p)
		f := &savedFile{at: inner.leaf(p.Name), bytes: int64(p.Used), pad: int64(p.Size() - p.Used), sums: &e.fact.sums, part: p.Name}
		f.write = func(w io.Writer) error {
			tag := uint32(0)
			if p.Name == pool.Row {
				tag = s.tag(sums)
			}
			return pool.Write(w, p.Name, t, 0, tag)
		}
		if p.Used > 0 {
			s.add(f)
		}
		if p.Name != pool.Row {
			sums = append(sums, f.sums)
		}
	}
	return nil
}

// partEntry returns the entry of a part.
func partEntry(p pool.Part) metaEntry {
	return metaEntry{name: p.Name, dtype: torch + p.DType.String(), shape: p.Shape, nested: isDense}
}

// tag returns the tag of a ragged tensor whose other parts have the given sums.
func (s *saver) tag(sums []*[]uint32) uint32 {
	if s.create != nil { // the values are not known
		return pool.RandomTag()
	}
	var all []uint32
	for _, list := range sums {
		all = append(all, *list...)
	}
	return pool.Tag(all)
}
