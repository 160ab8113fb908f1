package ragged_test

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// onLevel returns a step that does the same to each row of a level.
func onLevel(name string, run func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model)) step {
	return step{name, func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		level, spelled, ok := g.level(m)
		if !ok {
			_, err := x.IndexLevel(1, ix.Range(0, 1))
			g.refused(err)
			return x, m
		}
		return run(g, x, m, level, spelled)
	}}
}

// levelSteps go into rows.
var levelSteps = []step{
	{"path", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		var expr []ix.Index
		rows, single, depth, ok := m.rows, len(m.shape) == 0, m.depth, len(m.shape) < 2 && len(m.shape)+m.depth > 0
		for range g.IntN(m.depth + 3) {
			if single && ok {
				ok = depth > 0
				if ok {
					rows, depth = rows[0].([]any), depth-1
				}
			}
			if g.chance(4) {
				a, b := g.bound(), g.bound()
				expr = append(expr, ix.Range(a, b))
				rows, single = clipped(rows, a, b, 1), false
				break
			}
			i := g.IntN(4) - 2
			expr = append(expr, ix.At(i))
			if i < 0 {
				i += len(rows)
			}
			ok = ok && i >= 0 && i < len(rows)
			if ok {
				rows, single = rows[i:i+1], true
			}
		}
		y, err := x.Path(expr...)
		if !ok {
			g.refused(err)
			return x, m
		}
		want := model{[]int{len(rows)}, depth, rows}
		switch {
		case single && depth == 0:
			want = model{[]int{}, 0, rows}
		case single:
			want = model{[]int{len(rows[0].([]any))}, depth - 1, rows[0].([]any)}
		}
		g.same(want, y, err)
		return y, want
	}},
	onLevel("cut", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		a, b := g.bound(), g.bound()
		y, err := x.IndexLevel(spelled, ix.Range(a, b))
		want := m.at(level, func(_ int, rows []any) any { return clipped(rows, a, b, 1) })
		g.same(want, y, err)
		return y, want
	}),
	onLevel("cut with a step", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		a, b, by := g.bound(), g.bound(), 1+g.IntN(3)
		y, err := x.IndexLevel(spelled, ix.Range(a, b).Step(by))
		want := m.at(level, func(_ int, rows []any) any { return clipped(rows, a, b, by) })
		g.same(want, y, err)
		return y, want
	}),
	onLevel("nth", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		i, ok := g.IntN(4)-2, true
		want := m.at(level, func(_ int, rows []any) any {
			at := i
			if at < 0 {
				at += len(rows)
			}
			if at < 0 || at >= len(rows) {
				ok = false
				return nil
			}
			return rows[at]
		})
		want.depth--
		y, err := x.IndexLevel(spelled, ix.At(i))
		if !ok {
			g.refused(err)
			return x, m
		}
		g.same(want, y, err)
		return y, want
	}),
	onLevel("window", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		starts, size := make([]int64, len(m.lists(level))), g.IntN(4)
		for i := range starts {
			starts[i] = int64(g.bound())
		}
		y, err := x.WindowLevel(spelled, tensor.Vector(starts...), size)
		want := m.at(level, func(i int, rows []any) any {
			out, start := []any{}, int(starts[i])
			if start < 0 {
				start += len(rows)
			}
			for k, row := range rows {
				if k >= start && k-start < size {
					out = append(out, row)
				}
			}
			return out
		})
		g.same(want, y, err)
		return y, want
	}),
	onLevel("masked select", func(g *drawer, x *ragged.Tensor, m model, level, _ int) (*ragged.Tensor, model) {
		l, err := x.Layout().At(level)
		require.NoError(g, err)
		mask := g.fill(l.Compact(), tensor.Bool)
		bits := modelOf(g, mask).lists(level)
		y, err := x.MaskedSelect(mask)
		want := m.at(level, func(i int, rows []any) any {
			out := []any{}
			for k, row := range rows {
				if bits[i][k].(value)[0] == 1 {
					out = append(out, row)
				}
			}
			return out
		})
		g.same(want, y, err)
		return y, want
	}),
	onLevel("flatten", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		y, err := x.FlattenLevel(spelled)
		var want model
		if level == 1 {
			rows := flat(m.rows, 2)
			want = model{[]int{len(rows)}, m.depth - 1, rows}
		} else {
			want = m.at(level-1, func(_ int, rows []any) any { return flat(rows, 2) })
			want.depth--
		}
		g.same(want, y, err)
		if level > 1 {
			back, err := y.UnflattenLevel(tensor.Must(x.Counts(spelled)))
			g.same(m, back, err)
		}
		return y, want
	}),
	onLevel("unflatten", func(g *drawer, x *ragged.Tensor, m model, level, _ int) (*ragged.Tensor, model) {
		var lengths []int64
		counts := []int64{}
		want := m.at(level, func(_ int, rows []any) any {
			out, pieces := []any{}, 0
			for at := 0; at < len(rows) || g.chance(3); pieces++ {
				n := min(g.IntN(3), len(rows)-at)
				out, lengths = append(out, clipped(rows, at, at+n, 1)), append(lengths, int64(n))
				at += n
			}
			counts = append(counts, int64(pieces))
			return out
		})
		want.depth++
		around, err := x.Layout().At(level - 1)
		require.NoError(g, err)
		offsets := []int64{0}
		for _, n := range counts {
			offsets = append(offsets, offsets[len(offsets)-1]+n)
		}
		l, err := around.Compact().Nest(offsets)
		require.NoError(g, err)
		cuts, err := ragged.New(tensor.Vector(lengths...), l)
		require.NoError(g, err)
		y, err := x.UnflattenLevel(cuts)
		g.same(want, y, err)
		return y, want
	}),
	{"group", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if len(m.shape) != 1 {
			_, err := x.Group(1)
			g.refused(err)
			return x, m
		}
		var lengths []int64
		want := model{nil, m.depth + 1, []any{}}
		for at := 0; at < len(m.rows) || g.chance(3); {
			n := min(g.IntN(3), len(m.rows)-at)
			lengths, want.rows = append(lengths, int64(n)), append(want.rows, clipped(m.rows, at, at+n, 1))
			at += n
		}
		want.shape = []int{len(lengths)}
		y, err := x.Group(lengths...)
		g.same(want, y, err)
		return y, want
	}},
	onLevel("concat", func(g *drawer, x *ragged.Tensor, m model, level, spelled int) (*ragged.Tensor, model) {
		other, err := x.IndexLevel(level, ix.Range(g.bound(), ix.End))
		require.NoError(g, err)
		lists := modelOf(g, other).lists(level)
		y, err := ragged.ConcatLevel([]*ragged.Tensor{x, other, x}, spelled)
		want := m.at(level, func(i int, rows []any) any { return slices.Concat(rows, lists[i], rows) })
		g.same(want, y, err)
		return y, want
	}),
	{"concat of the batch", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		y, err := ragged.ConcatLevel([]*ragged.Tensor{x, x}, 0)
		if len(m.shape) == 0 {
			g.refused(err)
			return x, m
		}
		want := model{slices.Clone(m.shape), m.depth, slices.Concat(m.rows, m.rows)}
		want.shape[0] *= 2
		g.same(want, y, err)
		return y, want
	}},
	{"vstack of rows", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if len(m.shape) != 1 || len(m.rows) == 0 {
			return x, m
		}
		rows := make([]*ragged.Tensor, len(m.rows))
		for i := range rows {
			var err error
			rows[i], err = x.Row(i)
			require.NoError(g, err)
		}
		y, err := ragged.Vstack(rows)
		g.same(m, y, err)
		return y, m
	}},
	{"masked select of the batch", func(g *drawer, x *ragged.Tensor, m model) (*ragged.Tensor, model) {
		if len(m.shape) != 1 {
			return x, m
		}
		mask := g.fill(g.layout(m.shape, 0), tensor.Bool)
		bits := modelOf(g, mask).rows
		want := model{[]int{0}, m.depth, []any{}}
		for i, row := range m.rows {
			if bits[i].(value)[0] == 1 {
				want.rows = append(want.rows, row)
			}
		}
		want.shape[0] = len(want.rows)
		y, err := x.MaskedSelect(mask)
		g.same(want, y, err)
		return y, want
	}},
}
