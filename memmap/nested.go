package memmap

import (
	"io"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// sizesExt is the extension of the file with the shapes of the components of a nested tensor.
const sizesExt = ".shape" + leafExt

// nestedRows reads a nested tensor of Python's as a ragged tensor. In the layout that Python calls
// strided, one file has the elements of all components, one after the other, and another has the
// shape of each component.
func (r *reader) nestedRows(n tree, e *metaEntry, batch shapeops.Shape) (*ragged.Tensor, error) {
	at := leafPath(n, e.name)
	dtype, err := e.element()
	if err == nil && (len(e.shape) != 2 || e.shape[1] < 1 || e.shape[1] > maxDims-1) {
		err = corrupt("%w: got %v as the shape of the list of component shapes, want [components dims]", shapeops.ErrShape, e.shape)
	}
	if err == nil && len(batch) > 1 {
		err = unsupported("a nested tensor in a dictionary of batch shape %v, want at most one batch dim", batch)
	}
	if err != nil {
		return nil, r.failAt(at, err)
	}
	c, err := r.components(n, e)
	if err != nil {
		return nil, err
	}
	if err := c.count(); err != nil {
		return nil, r.failAt(c.at, err)
	}
	t, err := c.open(r, n, e, dtype)
	if err == nil && r.copying && c.number > 0 {
		if r.nested == nil {
			r.nested = map[*ragged.Layout]*components{}
		}
		r.nested[t.Layout()] = c
	}
	return t, err
}

// components are the shapes of the components of a nested tensor.
type components struct {
	at     string // path of the file of shapes
	number int
	dims   int
	sizes  []int64 // number * dims

	levels int   // the first levels dims are levels
	rows   []int // number of rows of each level; level 0 is the components
}

// components reads the shapes of the components of e.
func (r *reader) components(n tree, e *metaEntry) (*components, error) {
	c := &components{at: join(n.path(), fileName(e.name)+sizesExt), number: e.shape[0], dims: e.shape[1]}
	if c.number == 0 {
		return c, nil
	}
	if c.number > math.MaxInt/8/c.dims {
		return nil, r.failAt(c.at, corrupt("got component shapes of shape %v, want a size in bytes that an int holds", e.shape))
	}
	x := firstInts{name: e.name, ext: sizesExt, count: c.number * c.dims, sums: e.fact.sizes}
	err := r.firstInts(n, x, func(sizes []int64) error {
		if c.sizes == nil {
			c.sizes = make([]int64, 0, x.count)
		}
		c.sizes = append(c.sizes, sizes...)
		return nil
	})
	return c, r.failAt(c.at, err)
}

// shape returns the shape of a component.
func (c *components) shape(i int) []int64 { return c.sizes[i*c.dims : (i+1)*c.dims] }

// count computes the number of levels and of the rows of each level. The last dims that are the
// same in all components are features; all dims before them, and in any case the first, are levels.
func (c *components) count() error {
	for i := range c.number {
		if d := slices.IndexFunc(c.shape(i), func(n int64) bool { return n < 0 }); d >= 0 {
			return corrupt("%w: component %d: got %v, want no negative size", shapeops.ErrShape, i, c.shape(i))
		}
	}
	c.levels = c.dims
	for c.levels > 1 && c.number > 0 && c.same(c.levels-1) {
		c.levels--
	}
	c.rows = make([]int, c.levels+1)
	for i := range c.number {
		n, ok := 1, true
		for level := range c.rows {
			if level > 0 {
				n, ok = times(n, c.shape(i)[level-1])
			}
			if !ok || c.rows[level] > math.MaxInt-n {
				return corrupt("%w: component %d: got %v, want a number of elements that an int holds", shapeops.ErrShape, i, c.shape(i))
			}
			c.rows[level] += n
		}
	}
	return nil
}

// same reports whether all components have the same size in a dim.
func (c *components) same(dim int) bool {
	for i := 1; i < c.number; i++ {
		if c.shape(i)[dim] != c.shape(0)[dim] {
			return false
		}
	}
	return true
}

// times returns a*b for numbers that are not negative, and reports whether it fits.
func times(a int, b int64) (int, bool) {
	if b > 0 && a > math.MaxInt/int(b) {
		return 0, false
	}
	return a * int(b), true
}

// values returns the shape of the values of the ragged tensor.
func (c *components) values() shapeops.Shape {
	shape := shapeops.Shape{c.rows[c.levels]}
	if c.number > 0 {
		for _, n := range c.shape(0)[c.levels:] {
			shape = append(shape, int(n))
		}
	}
	return shape
}

// open returns the ragged tensor of the entry e.
func (c *components) open(r *reader, n tree, e *metaEntry, dtype tensor.DType) (*ragged.Tensor, error) {
	shape := c.values()
	if err := shape.Check(); err != nil {
		return nil, r.failAt(c.at, corrupt("%w", err))
	}
	size, err := byteSize(dtype, shape)
	if err != nil {
		return nil, r.failAt(c.at, corrupt("%w", err))
	}
	var file lender
	var offset int
	if size > 0 { // check the file first: the number of rows comes from another file
		if file, offset, err = n.leaf(e.name, size); err != nil {
			return nil, err
		}
	}
	layout, err := c.layout(r, size)
	if err != nil {
		return nil, r.failAt(c.at, err)
	}
	find := func(int) (lender, int, error) { return file, offset, nil }
	return r.overRows(n, e, layout, savedValues{leafPath(n, e.name), dtype, shape, find})
}

// emptyRows bounds the rows of a nested tensor that have no elements, since no file size bounds
// them.
const emptyRows = 1 << 16

// layout returns the layout of the components, whose elements have size bytes.
func (c *components) layout(r *reader, size int) (*ragged.Layout, error) {
	l, err := ragged.NewLayout(shapeops.Shape{c.number})
	for level := 1; level <= c.levels && err == nil; level++ {
		rows := c.rows[level-1]
		if level > 1 && rows > size+emptyRows {
			return nil, unsupported("a nested tensor of %d bytes has %d rows, want at most %d", size, rows, size+emptyRows)
		}
		if err = r.takes(8 * (rows + 1)); err == nil {
			l, err = l.Nest(c.offsets(level))
		}
	}
	return l, err
}

// offsets returns the offsets of a level.
func (c *components) offsets(level int) []int64 {
	offsets := make([]int64, 1, c.rows[level-1]+1)
	for i := range c.number {
		n := int64(1)
		for _, size := range c.shape(i)[:level-1] {
			n *= size
		}
		for range n {
			offsets = append(offsets, offsets[len(offsets)-1]+c.shape(i)[level-1])
		}
	}
	return offsets
}

// nestedTensor plans to save t as the entry e of n: a nested tensor of components c, from which t
// was read.
func (s *saver) nestedTensor(n *savedNode, e *metaEntry, t *ragged.Tensor, c *components) error {
	at, err := n.claim(e.name, leafExt)
	if err != nil {
		return s.fail(at, err)
	}
	sizesAt, err := n.claim(e.name, sizesExt)
	if err != nil {
		return s.fail(sizesAt, err)
	}
	e.dtype, e.shape, e.nested = torch+t.DType().String(), shapeops.Shape{c.number, c.dims}, isNested
	sizes := tensor.Vector(c.sizes...)
	write := func(w io.Writer) error { _, err := sizes.WriteTo(w); return err }
	s.add(&savedFile{at: sizesAt, bytes: int64(sizes.ByteSize()), sums: &e.fact.sizes, write: write})
	f := &savedFile{at: at, bytes: int64(t.NumValues() * t.Features().Size() * t.DType().Size()), sums: &e.fact.sums}
	f.write = func(w io.Writer) error { return pool.Write(w, pool.Values, t, 0, 0) }
	if f.bytes == 0 { // Python ignores an entry without a file
		f.sums = new([]uint32)
	}
	s.add(f)
	return nil
}
