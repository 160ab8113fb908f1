package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Lexsort returns the row numbers in sorted order. Rows are ordered by the first column; rows that
// are equal in the first column are ordered by the second, and so on. (The first column counts
// most; for numpy.lexsort it is the last.)
//
//	columns [N] or [N F...] -> int64 [N]
//
// The elements of a row of [N F...] count as separate columns, in row-major order. Rows that are
// equal in all columns keep their order. To sort any value of N rows, call its Index with AsIndex
// of the result.
//
// Lexsort returns tensor.ErrKind if there is no column or one is nil, tensor.ErrDType if the dtype
// of a column has no order, shapeops.ErrDim if a column is a scalar, and shapeops.ErrShape if
// columns differ in N.
//
// The result shares no memory with the columns. Safe for concurrent use unless a goroutine writes
// to a column.
func Lexsort(columns ...*tensor.Tensor) (*tensor.Tensor, error) {
	s, err := sortRows(columns)
	if err != nil {
		return nil, fmt.Errorf("lexsort: %w", err)
	}
	return tensor.Vector(s.rows...), nil
}

// Groups are the groups of equal rows, in ascending order of their keys. The key of a group is what
// its rows have in the columns. [GroupBy] returns Groups. The zero Groups has no group, and nil
// tensors. Do not change the tensors, because the methods may use their memory.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Groups struct {
	Rows   *tensor.Tensor // int64 [N]: the row numbers, group by group, ascending in each group
	Splits *tensor.Tensor // int64 [G+1]: group g is Rows[Splits[g]:Splits[g+1]]
	Of     *tensor.Tensor // int64 [N]: the group of each row

	rows, splits, firsts []int64
}

// GroupBy groups the rows that are equal in all columns:
//
//	columns [N] or [N F...] -> G groups, G at most N
//
// Groups and rows are in the order of [Lexsort]. 0 and -0 are equal, and so are NaNs, which come
// last. Without rows there is no group; rows without elements, [N 0], are one group. A missing
// value of a table is 0, so it is in the group of 0: tdict.Schema.GroupBy takes keys of a
// dictionary, and sets missing values apart. [ByGroups] reduces the rows of each group. GroupBy
// returns the errors of Lexsort.
//
// The result shares no memory with the columns. Safe for concurrent use unless a goroutine writes
// to a column.
func GroupBy(columns ...*tensor.Tensor) (*Groups, error) {
	g, err := groups(columns)
	if err != nil {
		return nil, fmt.Errorf("group by: %w", err)
	}
	return g, nil
}

func groups(columns []*tensor.Tensor) (*Groups, error) {
	s, err := sortRows(columns)
	if err != nil {
		return nil, err
	}
	g := &Groups{splits: s.splits()}
	g.firsts, g.rows = make([]int64, g.Len()), s.rows
	of := cast.UninitOf[int64](len(s.rows))
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

// parts returns the splits and the rows of g, checked against the rows of a shape.
func (g *Groups) parts(shape shapeops.Shape) (splits []int64, rows *tensor.Tensor, err error) {
	switch {
	case g == nil:
		return nil, nil, fmt.Errorf("groups: %w: got nil", tensor.ErrKind)
	case len(shape) == 0:
		return nil, nil, fmt.Errorf("%w: got shape [], want at least one dim", shapeops.ErrDim)
	case shape[0] != len(g.rows):
		return nil, nil, fmt.Errorf("groups: %w: got groups of %d rows, want %d rows", shapeops.ErrShape, len(g.rows), shape[0])
	case g.splits == nil:
		return []int64{0}, tensor.Vector[int64](), nil
	}
	return g.splits, g.Rows, nil
}

// Len returns the number of groups.
func (g *Groups) Len() int { return max(0, len(g.splits)-1) }

// Sizes returns the number of rows of each group. shapeops.Split with these sizes splits a value
// that is in the order of Rows.
func (g *Groups) Sizes() []int {
	sizes := make([]int, g.Len())
	for i := range sizes {
		sizes[i] = int(g.splits[i+1] - g.splits[i])
	}
	return sizes
}

// Firsts returns the first row number of each group: int64 [G]. To select the key of each group,
// call Index of a column with AsIndex of the result. Each call returns a new tensor.
func (g *Groups) Firsts() *tensor.Tensor {
	return tensor.Vector(append(make([]int64, 0, g.Len()), g.firsts...)...)
}

// Lasts returns the last row number of each group: int64 [G]. Each call returns a new tensor.
func (g *Groups) Lasts() *tensor.Tensor {
	last := make([]int64, g.Len())
	for i := range last {
		last[i] = g.rows[g.splits[i+1]-1]
	}
	return tensor.Vector(last...)
}

// Uniques are the distinct rows of a tensor. [Unique] returns Uniques.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Uniques struct {
	Values  *tensor.Tensor // [G F...]: the rows, in ascending order
	Inverse *tensor.Tensor // int64 [N]: for each row, its position in Values
	Counts  *tensor.Tensor // int64 [G]: how often each row of Values occurs
}

// Unique returns the distinct rows of t, in the order of [Lexsort]:
//
//	t [N F...] -> [G F...], int64 [N], int64 [G], G at most N
//
// Of rows that are equal but differ in their bits, such as 0 and -0, it returns the first. It
// returns the errors of Lexsort. The result shares no memory with t.
func Unique(t *tensor.Tensor) (*Uniques, error) {
	g, err := groups([]*tensor.Tensor{t})
	if err != nil {
		return nil, fmt.Errorf("unique: %w", err)
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
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: got no column", tensor.ErrKind)
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
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	s := new(rowSort)
	s.reset(cast.UninitOf[int64](columns[0].Shape()[0]))
	for i, c := range columns { // the memory of one column is borrowed at a time
		var err error
		switch c.DType().Size() {
		case 1:
			err = byColumn[uint8](s, c)
		case 2:
			err = byColumn[uint16](s, c)
		case 4:
			err = byColumn[uint32](s, c)
		default:
			err = byColumn[uint64](s, c)
		}
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return s, nil
}

// byColumn sorts by a tensor whose elements are as wide as K.
func byColumn[K uints](s *rowSort, t *tensor.Tensor) error {
	c := column[K]{order: orderOf[K](t.DType(), false), row: t.Shape()[1:].Size()}
	return readBits(t, func(bits []K) {
		c.bits = bits
		s.by(&c)
	})
}

// A column is the sort table of a tensor [N F...].
type column[K uints] struct {
	order[K]
	bits []K
	row  int // elements of a row
}

func (c *column[K]) elements() int { return c.row }

// differ compares the bits of elements.
func (c *column[K]) differ(rows []int64, from int) int {
	if c.row-from <= 1 {
		return from // comparing keys is as fast
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
			for end < len(other) && first[end] == other[end] { // a mapped file may change meanwhile
				end++
			}
		}
	}
	return end
}

// keys packs as many elements into a key as fit, the first in the highest bits.
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

// splits returns the position in rows at which each group begins, and the number of rows.
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
