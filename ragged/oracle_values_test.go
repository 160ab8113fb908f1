package ragged_test

import (
	"math"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// reductions are operations of package arith, the last two for bools, and what they make of a
// column of numbers.
var reductions = []struct {
	name string
	verb ragged.Reducer
	of   func(list []float64) float64
}{
	{"sum", arith.Sum[*tensor.Tensor], func(list []float64) (sum float64) {
		for _, v := range list {
			sum += v
		}
		return sum
	}},
	{"mean", arith.Mean[*tensor.Tensor], func(list []float64) (sum float64) {
		for _, v := range list {
			sum += v
		}
		return sum / float64(len(list))
	}},
	{"min", arith.Min[*tensor.Tensor], func(list []float64) float64 { return orNaN(list, slices.Min[[]float64]) }},
	{"max", arith.Max[*tensor.Tensor], func(list []float64) float64 { return orNaN(list, slices.Max[[]float64]) }},
	{"argmax", arith.ArgMax[*tensor.Tensor], func(list []float64) float64 {
		return orNaN(list, func(list []float64) float64 { return float64(slices.Index(list, slices.Max(list))) })
	}},
	{"any", arith.Any[*tensor.Tensor], func(list []float64) float64 {
		for _, v := range list {
			if v != 0 {
				return 1
			}
		}
		return 0
	}},
	{"count", arith.Count[*tensor.Tensor], func(list []float64) float64 { return float64(len(list)) }},
}

func orNaN(list []float64, fn func([]float64) float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	return fn(list)
}

// reduced returns what becomes of the rows of a depth when each feature of their values is reduced.
func (m model) reduced(depth int, features int, of func([]float64) float64) model {
	one := func(row any) any {
		all := flat(row, m.depth-depth)
		out := make(value, features)
		for f := range out {
			var column []float64
			for _, v := range all {
				column = append(column, v.(value)[f])
			}
			out[f] = of(column)
		}
		return out
	}
	each := func(_ int, rows []any) any {
		out := make([]any, len(rows))
		for i, row := range rows {
			out[i] = one(row)
		}
		return out
	}
	if depth == 0 {
		return model{m.shape, 0, each(0, m.rows).([]any)}
	}
	out := m.at(depth, each)
	out.depth = depth
	return out
}

// valueSteps look at values.
var valueSteps = []step{
	{"reduce", reduce},
	{"scan", scan},
	{"pick", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if m.depth == 0 {
			return x, m
		}
		var list []int64
		offsets := []int64{0}
		want := m.at(m.depth, func(_ int, rows []any) any {
			out := []any{}
			for range g.IntN(4) {
				if len(rows) > 0 {
					i := g.IntN(2*len(rows)) - len(rows)
					list, out = append(list, int64(i)), append(out, rows[(i+len(rows))%len(rows)])
				}
			}
			offsets = append(offsets, int64(len(list)))
			return out
		})
		l, err := x.Layout().Outer().Compact().Nest(offsets)
		require.NoError(g, err)
		y, err := x.Pick(tensor.Must(ragged.New(tensor.Vector(list...), l)))
		g.same(want, y, err)
		return y, want
	}},
	{"sort", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		y, err := x.Sort(arith.SortOptions{})
		if m.depth == 0 || len(x.Features()) > 0 || x.DType() == tensor.Complex128 {
			require.Error(g, err)
			return x, m
		}
		want := m.at(m.depth, func(_ int, rows []any) any {
			out := slices.Clone(rows)
			slices.SortStableFunc(out, func(a, b any) int { return slices.Compare(a.(value), b.(value)) })
			return out
		})
		g.same(want, y, err)
		order, err := x.ArgSort(arith.SortOptions{})
		require.NoError(g, err)
		z, err := x.Pick(order)
		g.same(want, z, err)
		return y, want
	}},
	{"broadcast", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		l := x.Layout().Compact()
		n, err := l.NumRows(-1)
		require.NoError(g, err)
		offsets := make([]int64, n+1)
		for i := range n {
			offsets[i+1] = offsets[i] + int64(g.IntN(3))
		}
		deeper, err := l.Nest(offsets)
		require.NoError(g, err)
		y, err := x.Broadcast(deeper)
		i := 0
		repeat := func(_ int, rows []any) any {
			out := make([]any, len(rows))
			for k, row := range rows {
				out[k] = slices.Repeat([]any{row}, int(offsets[i+1]-offsets[i]))
				i++
			}
			return out
		}
		want := model{m.shape, 1, nil}
		if m.depth == 0 {
			want.rows = repeat(0, m.rows).([]any)
		} else {
			want = m.at(m.depth, repeat)
			want.depth++
		}
		g.same(want, y, err)
		return y, want
	}},
	{"densify", densify},
}

func reduce(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
	if m.depth == 0 {
		_, err := x.Reduce(1, arith.Sum[*tensor.Tensor])
		g.refused(err)
		return x, m
	}
	if x.DType() == tensor.Complex128 || x.DType() == tensor.Float16 {
		return x, m
	}
	r, level := reductions[g.IntN(5)], 1+g.IntN(m.depth)
	if x.DType() == tensor.Bool {
		r = reductions[5+g.IntN(2)]
	}
	spelled := level
	if g.chance(2) {
		spelled -= m.depth + 1
	}
	want := m.reduced(level-1, x.Features().Size(), r.of)
	y, err := x.Reduce(spelled, r.verb)
	if errorsIs(err, arith.ErrEmpty) {
		require.Contains(g, want.String(), "NaN", "%s of no empty row", r.name)
		return x, m
	}
	if r.name == "mean" && x.DType() != tensor.Float64 {
		require.NoError(g, err) // its rounding is a matter of package arith
		require.Equal(g, level-1, y.Depth())
		return x, m
	}
	g.same(want, y, err)
	if strings.Contains(want.String(), "NaN") { // which has an order of its own
		return x, m
	}
	return y, want
}

func scan(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
	if m.depth == 0 || len(x.Features()) > 0 || x.DType() != tensor.Float64 && x.DType() != tensor.Int32 {
		return x, m
	}
	want := m.at(m.depth, func(_ int, rows []any) any {
		out, sum := make([]any, len(rows)), 0.0
		for i, row := range rows {
			sum += row.(value)[0]
			out[i] = value{sum}
		}
		return out
	})
	y, err := x.CumSum(-1)
	g.same(want, y, err)
	return y, want
}

// densify pads in all ways, compares each cell, and takes values out by the masks again.
func densify(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
	opt := ragged.DensifyOptions{Left: g.chance(2), KeepLast: g.chance(2), Buffer: [2]*ragged.Buffer{nil, {}}[g.IntN(2)]}
	if g.chance(2) {
		opt.Fill = 1
	}
	for range g.IntN(m.depth + 1) {
		opt.Widths = append(opt.Widths, g.IntN(4))
	}
	part := m
	if len(m.shape) == 1 && len(m.rows) > 0 && g.chance(2) {
		part = model{nil, m.depth, nil}
		for range g.IntN(4) {
			i := g.IntN(2*len(m.rows)) - len(m.rows)
			opt.Rows, part.rows = append(opt.Rows, i), append(part.rows, m.rows[(i+len(m.rows))%len(m.rows)])
		}
		if opt.Rows == nil {
			part.rows = m.rows
		}
		part.shape = []int{len(part.rows)}
	}
	features := x.Features().Size()
	want, cut, masks := part.padded(opt, features)
	for range 2 { // a buffer is used again
		dense, got, err := x.DensifyMasked(opt)
		require.NoError(g, err)
		require.Equal(g, want.At, whole(realsOf(g, dense)))
		require.Equal(g, shapeops.Shape(slices.Concat(want.Shape, []int(x.Features()))).String(), dense.Shape().String())
		require.Len(g, got, m.depth)
		for level, mask := range masks {
			require.Equal(g, mask.Shape, []int(got[level].Shape()))
			require.Equal(g, mask.At, whole(realsOf(g, got[level])))
		}
		if m.depth > 0 {
			back, err := ragged.FromMasks(dense, got...)
			g.same(cut, back, err)
		}
	}
	if m.depth == 0 {
		return x, m
	}
	dense, got, err := x.DensifyMasked(opt)
	require.NoError(g, err)
	back, err := ragged.FromMasks(dense, got...)
	g.same(cut, back, err)
	back, err = back.Clone()
	require.NoError(g, err)
	return back, cut
}

func whole(list []float64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

// padded returns the elements of the rows padded, the rows as far as they were not cut, and the
// masks.
func (m model) padded(opt ragged.DensifyOptions, features int) (dense naive.Array, cut model, masks []naive.Array) {
	grid, there := m.rows, slices.Repeat([]bool{true}, len(m.rows))
	cut = model{m.shape, m.depth, m.rows}
	shape := slices.Clone(m.shape)
	for level := 1; level <= m.depth; level++ {
		width := 0
		for i, row := range grid {
			if there[i] {
				width = max(width, len(row.([]any)))
			}
		}
		if level <= len(opt.Widths) && opt.Widths[level-1] > 0 {
			width = opt.Widths[level-1]
		}
		keep := func(_ int, rows []any) any {
			if opt.KeepLast {
				return rows[max(0, len(rows)-width):]
			}
			return rows[:min(width, len(rows))]
		}
		cut = cut.at(level, keep)
		var nextGrid []any
		var nextThere []bool
		mask := naive.Array{At: []int{}}
		for i, row := range grid {
			cells, bits := make([]any, width), make([]bool, width)
			if there[i] {
				rows := keep(0, row.([]any)).([]any)
				at := 0
				if opt.Left {
					at = width - len(rows)
				}
				for k, r := range rows {
					cells[at+k], bits[at+k] = r, true
				}
			}
			nextGrid, nextThere = append(nextGrid, cells...), append(nextThere, bits...)
		}
		for _, bit := range nextThere {
			mask.At = append(mask.At, map[bool]int{true: 1}[bit])
		}
		shape = append(shape, width)
		mask.Shape = slices.Clone(shape)
		masks = append(masks, mask)
		grid, there = nextGrid, nextThere
	}
	dense = naive.Array{Shape: shape, At: []int{}}
	for i, v := range grid {
		for f := range features {
			switch {
			case there[i]:
				dense.At = append(dense.At, int(v.(value)[f]))
			case opt.Fill != nil:
				dense.At = append(dense.At, opt.Fill.(int))
			default:
				dense.At = append(dense.At, 0)
			}
		}
	}
	return dense, cut, masks
}
