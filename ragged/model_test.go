package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A model is a ragged tensor as lists of lists: a row for each place of the batch, row-major, each
// a value at depth 0 or else a []any of rows one less deep.
type model struct {
	shape []int
	depth int
	rows  []any
}

func (m model) String() string { return fmt.Sprint(m.shape, " ", m.depth, " ", m.rows) }

// A value is the elements of one value.
type value = []float64

// modelOf reads a tensor by its lengths and values.
func modelOf(t testing.TB, x *ragged.Tensor) model {
	t.Helper()
	values, err := x.Values()
	require.NoError(t, err)
	list, size := realsOf(t, values), x.Features().Size()
	require.Len(t, list, x.NumValues()*size)
	lengths := make([][]int64, x.Depth()+1)
	for level := 1; level <= x.Depth(); level++ {
		lengths[level], err = x.Layout().Lengths(level)
		require.NoError(t, err)
	}
	var row func(level int) any
	row = func(level int) any {
		if level > x.Depth() {
			v := value(list[:size])
			list = list[size:]
			return v
		}
		n := lengths[level][0]
		lengths[level] = lengths[level][1:]
		rows := make([]any, n)
		for i := range rows {
			rows[i] = row(level + 1)
		}
		return rows
	}
	m := model{slices.Clone(x.Shape()), x.Depth(), make([]any, x.Shape().Size())}
	for i := range m.rows {
		m.rows[i] = row(1)
	}
	require.Empty(t, list)
	return m
}

// realsOf returns the elements of a tensor of any dtype.
func realsOf(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	if x.DType() != tensor.Complex128 {
		return numbersOf(t, x)
	}
	var out []float64
	for _, v := range testkit.Elements[complex128](t, x) {
		out = append(out, real(v))
	}
	return out
}

// at replaces each list of rows of a level by what fn makes of it: level 1 is that of the rows of
// the batch. fn is given its number.
func (m model) at(level int, fn func(i int, rows []any) any) model {
	i := 0
	var in func(row any, k int) any
	in = func(row any, k int) any {
		rows := row.([]any)
		if k == level {
			i++
			return fn(i-1, rows)
		}
		out := make([]any, len(rows))
		for i, r := range rows {
			out[i] = in(r, k+1)
		}
		return out
	}
	out := model{m.shape, m.depth, make([]any, len(m.rows))}
	for r, row := range m.rows {
		out.rows[r] = in(row, 1)
	}
	return out
}

// lists returns the lists of rows of a level, in their order; of level 0 the rows of the batch.
func (m model) lists(level int) [][]any {
	if level == 0 {
		return [][]any{m.rows}
	}
	var all [][]any
	m.at(level, func(_ int, rows []any) any { all = append(all, rows); return rows })
	return all
}

// placed returns the rows of a batch that an array of their numbers lists.
func (m model) placed(a naive.Array) model {
	out := model{slices.Clone(a.Shape), m.depth, []any{}}
	for _, i := range a.At {
		out.rows = append(out.rows, m.rows[i])
	}
	return out
}

// clipped returns a range of rows, with Python's rules.
func clipped(rows []any, start, stop, step int) []any {
	resolve := func(i int) int {
		if i < 0 {
			i += len(rows)
		}
		return min(max(i, 0), len(rows))
	}
	out := []any{}
	for i := resolve(start); i < resolve(stop); i += step {
		out = append(out, rows[i])
	}
	return out
}

// flat returns everything in a row of so many levels, laid together.
func flat(row any, levels int) []any {
	out := []any{}
	if levels == 0 {
		return append(out, row)
	}
	for _, r := range row.([]any) {
		out = append(out, flat(r, levels-1)...)
	}
	return out
}

// A drawer makes random tensors beside their models.
type drawer struct {
	testing.TB
	*rand.Rand
	next int
}

// chance reports true in one of n cases.
func (g *drawer) chance(n int) bool { return g.IntN(n) == 0 }

// layout returns a layout of random lengths, and sometimes of none.
func (g *drawer) layout(shape []int, depth int) *ragged.Layout {
	n, most := naive.Size(shape), 1+g.IntN(4)
	var lengths [][]int64
	for range depth {
		list, sum := make([]int64, n), 0
		for i := range list {
			if sum < 40 {
				list[i] = int64(g.IntN(most + 1))
			}
			sum += int(list[i])
		}
		lengths, n = append(lengths, list), sum
	}
	l, err := ragged.LayoutOf(shape, lengths...)
	require.NoError(g, err)
	return l
}

var dtypes = []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float16, tensor.Int32, tensor.Float64, tensor.Complex128, tensor.Bool}

// fill returns the tensor of a layout with values that are numbered on.
func (g *drawer) fill(l *ragged.Layout, d tensor.DType, features ...int) *ragged.Tensor {
	n, err := l.NumRows(l.Depth())
	require.NoError(g, err)
	size := naive.Size(features)
	list := make([]float64, n*size)
	for i := range list {
		g.next = (g.next*7 + 3) % 251
		list[i] = float64(g.next % 120)
		if d == tensor.Bool {
			list[i] = float64(g.next % 2)
		}
	}
	x := tensor.Must(tensor.Vector(list...).Cast(d))
	x, err = x.Reshape(append([]int{n}, features...)...)
	require.NoError(g, err)
	return tensor.Must(ragged.New(x, l))
}

// shape returns a small batch shape.
func (g *drawer) shape() []int {
	return [][]int{{}, {0}, {1}, {3}, {4}, {2, 3}, {2, 0}, {1, 2}}[g.IntN(8)]
}

// tensor returns a tensor and its model.
func (g *drawer) tensor() (*ragged.Tensor, model) {
	d := dtypes[g.IntN(len(dtypes))]
	var features []int
	if g.chance(4) {
		features = []int{2}
	}
	x := g.fill(g.layout(g.shape(), g.IntN(5)), d, features...)
	return x, modelOf(g, x)
}

// level returns a level of a tensor, as a positive and as a perhaps negative number, or false.
func (g *drawer) level(m model) (level, spelled int, ok bool) {
	if m.depth == 0 {
		return 0, 0, false
	}
	level = 1 + g.IntN(m.depth)
	if g.chance(2) {
		return level, level - m.depth - 1, true
	}
	return level, level, true
}

// bound returns a bound of a range.
func (g *drawer) bound() int { return g.IntN(13) - 6 }

// same fails the test unless a tensor is what a model says.
func (g *drawer) same(want model, x *ragged.Tensor, err error) {
	g.Helper()
	require.NoError(g, err)
	require.Equal(g, want.String(), modelOf(g, x).String())
	require.Equal(g, want.depth, x.Layout().Depth())
}

// refused fails the test unless err is one of the errors that bad arguments have.
func (g *drawer) refused(err error) {
	g.Helper()
	require.Error(g, err)
	for _, known := range []error{shapeops.ErrIndex, shapeops.ErrShape, shapeops.ErrDim, shapeops.ErrKind, ragged.ErrLengths, ragged.ErrOffsets} {
		if errorsIs(err, known) {
			return
		}
	}
	g.Fatalf("unclassified error %v", err)
}
