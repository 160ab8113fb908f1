package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Lexsort returns the rows in the order of the first column, those that are equal there in the
// order of the second, and so on:
//
//	columns [N] or [N F...] -> int64 [N], row numbers
//
// The elements of a row of [N F...] count as columns of their own, in row-major order. Rows that
// are equal in all columns keep their order. AsIndex of the result, given to Index, sorts whatever
// has N rows.
//
// Lexsort returns tensor.ErrKind if there is no column or one is nil, tensor.ErrDType if one has no
// order, shapeops.ErrDim if one is a scalar, and shapeops.ErrShape if they differ in N.
//
// The result shares no memory with the columns. Safe for concurrent use, as readers are.
func Lexsort(columns ...*tensor.Tensor) (*tensor.Tensor, error) {
	s, err := sortRows(columns)
	if err != nil {
		return nil, err
	}
	return tensor.Vector(s.rows...), nil
}

// Groups are the rows that are equal, group by group, in the ascending order of what they are equal
// in. [GroupBy] makes Groups. The zero Groups has no group, and nil tensors. The tensors may share
// memory with what the methods use: they are to be read only.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Groups struct {
	Rows   *tensor.Tensor // int64 [N]: the rows, group by group, each group's in their order
	Splits *tensor.Tensor // int64 [G+1]: group g is Rows[Splits[g]:Splits[g+1]]
	Of     *tensor.Tensor // int64 [N]: the group of each row

	rows, splits, firsts []int64
}

// GroupBy puts rows that are equal in all columns into one group:
//
//	columns [N] or [N F...] -> G groups, G at most N
//
// Groups and rows are in the order of [Lexsort]. 0 and -0 are equal, and so are NaNs, which come
// last. Without rows there is no group; rows of no elements, [N 0], are one. The errors are those
// of Lexsort.
//
// The result shares no memory with the columns. Safe for concurrent use, as readers are.
func GroupBy(columns ...*tensor.Tensor) (*Groups, error) {
	s, err := sortRows(columns)
	if err != nil {
		return nil, err
	}
	g := &Groups{splits: s.splits()}
	g.firsts, g.rows = make([]int64, g.Len()), s.rows
	of := blank[int64](len(s.rows))
	for i := range g.firsts {
		group := s.rows[g.splits[i]:g.splits[i+1]]
		g.firsts[i] = group[0]
		for _, row := range group {
			of[row] = int64(i)
		}
	}
	g.Rows, g.Splits, g.Of = tensor.Vector(s.rows...), tensor.Vector(g.splits...), tensor.Vector(of...)
	return g, nil
}

// Len returns the number of groups.
func (g *Groups) Len() int { return max(0, len(g.splits)-1) }

// Sizes returns the number of rows of each group: the sizes for shapeops.Split of what was put in
// the order of Rows.
func (g *Groups) Sizes() []int {
	sizes := make([]int, g.Len())
	for i := range sizes {
		sizes[i] = int(g.splits[i+1] - g.splits[i])
	}
	return sizes
}

// Firsts returns the first row of each group: int64 [G]. AsIndex of it, given to the Index of a
// column, selects the keys. Each call returns a new tensor.
func (g *Groups) Firsts() *tensor.Tensor {
	return tensor.Vector(append(make([]int64, 0, g.Len()), g.firsts...)...)
}

// Lasts returns the last row of each group, as Firsts does the first.
func (g *Groups) Lasts() *tensor.Tensor {
	last := make([]int64, g.Len())
	for i := range last {
		last[i] = g.rows[g.splits[i+1]-1]
	}
	return tensor.Vector(last...)
}

// Uniques are the rows of a tensor without repetitions. [Unique] makes Uniques.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Uniques struct {
	Values  *tensor.Tensor // [G F...]: the rows, in ascending order
	Inverse *tensor.Tensor // int64 [N]: where in Values each row is
	Counts  *tensor.Tensor // int64 [G]: how often each of Values occurs
}

// Unique returns the rows of t, in the order of [Lexsort], each once:
//
//	t [N F...] -> [G F...], int64 [N], int64 [G], G at most N
//
// Of rows that are equal but differ in their bits, as 0 and -0 do, the first is the one shown. The
// errors are those of Lexsort. The result shares no memory with t.
func Unique(t *tensor.Tensor) (*Uniques, error) {
	g, err := GroupBy(t)
	if err != nil {
		return nil, err
	}
	firsts, err := g.Firsts().AsIndex()
	if err != nil {
		return nil, err
	}
	values, err := t.Index(firsts)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, g.Len())
	for i := range counts {
		counts[i] = g.splits[i+1] - g.splits[i]
	}
	return &Uniques{Values: values, Inverse: g.Of, Counts: tensor.Vector(counts...)}, nil
}

// sortRows sorts the rows of columns.
func sortRows(columns []*tensor.Tensor) (*rowSort, error) {
	n, err := countRows(columns)
	if err != nil {
		return nil, err
	}
	s := new(rowSort)
	s.reset(blank[int64](n))
	return s, s.byEach(columns)
}

// countRows returns the number of rows of columns that can be sorted.
func countRows(columns []*tensor.Tensor) (int, error) {
	if len(columns) == 0 {
		return 0, fmt.Errorf("%w: got no column", tensor.ErrKind)
	}
	for i, c := range columns {
		err := checkOrder(c)
		switch {
		case err != nil:
		case c.Device() == tensor.Meta:
			err = tensor.ErrMeta
		case len(c.Shape()) == 0:
			err = fmt.Errorf("%w: got a scalar, want rows", shapeops.ErrDim)
		case c.Shape()[0] != columns[0].Shape()[0]:
			err = fmt.Errorf("%w: got %v, want %d rows", shapeops.ErrShape, c.Shape(), columns[0].Shape()[0])
		}
		if err != nil {
			return 0, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return columns[0].Shape()[0], nil
}

// byEach sorts by one column after another. It borrows each while it sorts by it.
func (s *rowSort) byEach(columns []*tensor.Tensor) error {
	for i, c := range columns {
		if err := s.byTensor(c); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func (s *rowSort) byTensor(t *tensor.Tensor) error {
	switch t.DType().Size() {
	case 1:
		return byColumn[uint8](s, t)
	case 2:
		return byColumn[uint16](s, t)
	case 4:
		return byColumn[uint32](s, t)
	}
	return byColumn[uint64](s, t)
}

// byColumn sorts by a tensor whose elements are as wide as K.
func byColumn[K uints](s *rowSort, t *tensor.Tensor) error {
	c := column[K]{order: orderOf[K](t.DType(), false), row: t.Shape()[1:].Size()}
	return readBits(t, func(bits []K) {
		c.bits = bits
		s.by(&c)
	})
}

// A column is the table of a tensor [N F...].
type column[K uints] struct {
	order[K]
	bits []K
	row  int // elements of a row
}

func (c *column[K]) elements() int { return c.row }

// differ looks for elements whose bits differ.
func (c *column[K]) differ(rows []int64, from int) int {
	if c.row-from <= 1 {
		return from // keys will tell
	}
	first := c.bits[int(rows[0])*c.row:][:c.row]
	end := c.row
	for _, row := range rows[1:] {
		if end == from {
			break
		}
		other := c.bits[int(row)*c.row:][:end]
		if !slices.Equal(first[from:end], other[from:]) {
			end = from
			for end < len(other) && first[end] == other[end] { // they may change in a mapped file
				end++
			}
		}
	}
	return end
}

// keys joins as many elements as a key holds, the first uppermost.
func (c *column[K]) keys(dst []uint64, rows []int64, from int) (to int) {
	o, to := c.order, min(c.row, from+64/c.width)
	if to == from+1 {
		for i, row := range rows {
			dst[i] = uint64(o.key(c.bits[int(row)*c.row+from]))
		}
		return to
	}
	for i, row := range rows {
		k := uint64(0)
		for _, b := range c.bits[int(row)*c.row:][from:to] {
			k = k<<o.width | uint64(o.key(b))
		}
		dst[i] = k
	}
	return to
}

// splits returns where in rows each group begins, and their number.
func (s *rowSort) splits() []int64 {
	groups := len(s.rows)
	for _, tie := range s.ties {
		groups -= tie.hi - tie.lo - 1
	}
	splits, at := make([]int64, 0, groups+1), 0
	for _, tie := range append(s.ties, run{lo: len(s.rows), hi: len(s.rows)}) {
		for ; at < tie.lo; at++ {
			splits = append(splits, int64(at))
		}
		splits = append(splits, int64(at))
		at = max(at, tie.hi)
	}
	return splits
}
