package memmap

import (
	"io"
	"path"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// valuesName is the name, without extension, of the file with the values of a ragged tensor.
const valuesName = "values"

// raggedRows returns the ragged tensor of the entry e. Its node is data for Python, whose text
// describes the tensor; the files of values and offsets lie beside the meta.json. A native field
// has their sizes.
func (r *reader) raggedRows(n tree, e *metaEntry) (*ragged.Tensor, error) {
	f := e.fact.rows
	if err := f.check(); err != nil {
		return nil, r.fail(n, metaName, inEntry(e, corrupt("%w", err)))
	}
	inner, err := n.node(e.name)
	if err != nil {
		return nil, err
	}
	v, err := r.rows(n, inner, e)
	if failed := inner.close(); err == nil {
		err = r.fail(inner, "", failed)
	}
	return v, err
}

// rows returns the ragged tensor of the entry e of n, whose node is inner.
func (r *reader) rows(n, inner tree, e *metaEntry) (*ragged.Tensor, error) {
	f := e.fact.rows
	if err := r.checkText(inner, f); err != nil {
		return nil, err
	}
	layout, err := f.among.layout(e, len(f.levels))
	if err != nil {
		return nil, err
	}
	find := func(size int) (lender, int, error) { return inner.leaf(valuesName, size) }
	return r.overRows(n, e, layout, savedValues{inner.leafPath(valuesName), f.dtype, f.values(), find})
}

// checkText returns an error unless the data of a node is the text that f gives.
func (r *reader) checkText(inner tree, f *rowsFact) error {
	m, err := r.nodeMeta(inner)
	if err != nil {
		return err
	}
	want := f.text(f.among.grow)
	if m.class != dataClass || m.data == nil {
		return r.fail(inner, metaName, corrupt("got a %s, want a NonTensorData with the value %q", quote(m.class), want))
	}
	s := jsonscan.New(m.data)
	if got, err := s.Text(); err != nil || string(got) != want {
		return r.fail(inner, metaName, corrupt("got the data %s, want %q", quote(string(m.data)), want))
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
		return t.Plan().(plan.Nested[*ragged.Tensor, *ragged.Layout]).Fixed(), nil
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

// rows plans to save t as the entry e of n.
func (s *saver) rows(n *savedNode, e *metaEntry, t *ragged.Tensor) error {
	if s.asNested(n, e.name) {
		return s.nestedTensor(n, e, t)
	}
	inner, err := s.claimNode(n, e.name)
	if err != nil {
		return err
	}
	f := rowsFactOf(t)
	if err := checkRank(f.batch, t.Depth(), f.features); err != nil {
		return s.fail(inner.at, err)
	}
	for level := range f.levels {
		offsets, err := s.offsets(t.Layout(), level+1)
		if err != nil {
			return s.fail(inner.at, err)
		}
		f.levels[level].rows = int(offsets[len(offsets)-1])
	}
	e.class, e.fact.rows, inner.text = dataClass, f, dataText(f.text(s.grow))
	s.nodes = append(s.nodes, inner)
	n.rows = append(n.rows, savedRows{e, inner, t.Layout()})
	return s.values(path.Join(inner.at, valuesName+leafExt), e, t, f.values())
}

// values plans the file with the values of t.
func (s *saver) values(at string, e *metaEntry, t *ragged.Tensor, shape shapeops.Shape) error {
	size, err := byteSize(t.DType(), shape)
	if err != nil || size == 0 {
		return s.fail(at, err)
	}
	s.add(&savedFile{at: at, bytes: int64(size), sums: &e.fact.sums, write: func(w io.Writer) error {
		values, err := t.Values()
		if err == nil {
			_, err = bundle.Write(w, values)
		}
		return err
	}})
	return nil
}

// A savedRows is a ragged entry whose offsets are to be planned.
type savedRows struct {
	e      *metaEntry
	inner  *savedNode
	layout *ragged.Layout
}

// offsets returns the offsets of a level of l. It computes them once for all layouts that share it.
func (s *saver) offsets(l *ragged.Layout, level int) ([]int64, error) {
	l, err := l.At(level)
	if err != nil {
		return nil, err
	}
	if known, ok := s.known[l]; ok {
		return known, nil
	}
	offsets, err := l.Offsets(level)
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		s.known = map[*ragged.Layout][]int64{}
	}
	s.known[l] = offsets
	return offsets, nil
}

// share plans the files of offsets of the ragged entries of n, unless a leaf in n or below has the
// same layout.
func (s *saver) share(n *savedNode) error {
	for _, r := range n.rows {
		paths := n.owners.of(r.layout)
		for level := len(paths) + 1; level <= r.layout.Depth(); level++ {
			if err := s.saveOffsets(r, level); err != nil {
				return err
			}
			paths = append(slices.Clip(paths), []string{r.e.name})
			l, _ := r.layout.At(level) // the level exists
			if n.owners == nil {
				n.owners = owners{}
			}
			n.owners[l] = paths
		}
		for i, path := range paths {
			if l := &r.e.fact.rows.levels[i]; !slices.Equal(path, []string{r.e.name}) {
				l.of = path
			}
		}
	}
	return nil
}

// of returns the paths for the first levels of l whose offsets have an owner.
func (w owners) of(l *ragged.Layout) [][]string {
	for ; l != nil; l = l.Outer() {
		if paths, ok := w[l]; ok {
			return paths
		}
	}
	return nil
}

// adopt adds the owners of inner, the node of the entry name, to the owners of n.
func (n *savedNode) adopt(name string, inner *savedNode) {
	for l, paths := range inner.owners {
		if _, ok := n.owners[l]; ok {
			continue
		}
		longer := make([][]string, len(paths))
		for i, path := range paths {
			longer[i] = append([]string{name}, path...)
		}
		if n.owners == nil {
			n.owners = owners{}
		}
		n.owners[l] = longer
	}
}

// saveOffsets plans the file with the offsets of a level.
func (s *saver) saveOffsets(r savedRows, level int) error {
	offsets, err := s.offsets(r.layout, level)
	if err != nil {
		return s.fail(r.inner.at, err)
	}
	at := path.Join(r.inner.at, offsetsName(level)+leafExt)
	s.ints(at, offsets, &r.e.fact.rows.levels[level-1].sums)
	return nil
}

// ints plans a file of int64. It is written even if saver.reserve is set.
func (s *saver) ints(at string, numbers []int64, sums *[]uint32) {
	write := func(w io.Writer) error { _, err := tensor.Vector(numbers...).WriteTo(w); return err }
	s.add(&savedFile{at: at, bytes: int64(8 * len(numbers)), sums: sums, keep: true, write: write})
}

// keyOf returns the key of an entry of n.
func (n *savedNode) keyOf(name string) nestedkey.Key {
	return keyOf(append(slices.Clip(n.names), name))
}
