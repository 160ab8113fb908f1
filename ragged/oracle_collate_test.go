package ragged_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

func depthOf(j *joint.Joint) int {
	depth := 0
	for f := range j.Fields() {
		depth = max(depth, f.Tensor.Depth())
	}
	return depth
}

func flattenJoint(g *drawer, j *joint.Joint) (*joint.Joint, error) {
	level, mode := 1+g.IntN(depthOf(j)), joint.FlattenMode(g.IntN(3))
	lengths := tensor.Must(tensor.Must(j.Tensor(fmt.Sprint("f", level))).Layout().Lengths(level))
	y, err := j.FlattenLevel(level, mode)
	if mode == joint.First && slices.Contains(lengths, 0) {
		require.ErrorIs(g, err, ragged.ErrLengths)
		return j, nil
	}
	require.NoError(g, err)
	requireShared(g, y)
	require.Equal(g, mode != joint.Drop, slices.Contains(y.Names(), fmt.Sprint("f", level-1)))
	for f := range y.Fields() {
		x := tensor.Must(j.Tensor(f.Name))
		m := modelOf(g, x)
		want := m
		switch {
		case m.depth == level-1:
			want = m.spread(lengths, mode == joint.First)
		case m.depth >= level && level == 1:
			want = model{m.shape, m.depth - 1, nil}.batchOf(flat(m.rows, 2))
		case m.depth >= level:
			want = m.at(level-1, func(_ int, rows []any) any { return flat(rows, 2) })
			want.depth--
		}
		g.same(want, f.Tensor, nil)
	}
	return j, nil
}

// spread returns each value as often as a length says, or once with zeros after it.
func (m model) spread(lengths []int64, zeros bool) model {
	i := 0
	spread := func(_ int, rows []any) any {
		out := []any{}
		for _, v := range rows {
			for k := range lengths[i] {
				if zeros && k > 0 {
					v = make(value, len(v.(value)))
				}
				out = append(out, v)
			}
			i++
		}
		return out
	}
	if m.depth == 0 {
		return m.batchOf(spread(0, m.rows).([]any))
	}
	return m.at(m.depth, spread)
}

// collate compares Collate with stacking and padding: of rows, of ranges of their rows, of single
// rows two levels in, and of parts of two collections.
func collate(g *drawer, j *joint.Joint) (*joint.Joint, error) {
	n, _ := j.Len()
	if n == 0 {
		return j, nil
	}
	kind := g.IntN(4)
	var parts []*joint.Joint
	for range 1 + g.IntN(4) {
		x, err := j.Row(g.IntN(n))
		require.NoError(g, err)
		if rows, ok := x.Len(); kind == 1 || kind == 2 && (!ok || rows == 0) {
			x, err = x.Range(g.bound(), g.bound())
			kind = 1
		} else if kind == 2 {
			x, err = x.Row(g.IntN(rows))
		}
		require.NoError(g, err)
		if kind == 3 {
			x, err = x.Select(x.Names()...)
			require.NoError(g, err)
		}
		parts = append(parts, x)
	}
	opt := ragged.DensifyOptions{Left: g.chance(2), KeepLast: g.chance(2)}
	if g.chance(2) {
		opt.Masks = "masks"
	}
	for range g.IntN(3) {
		opt.Widths = append(opt.Widths, g.IntN(4))
	}
	stacked, err := joint.Vstack(parts)
	if err != nil { // parts of several kinds
		g.refused(err)
		return j, nil
	}
	requireShared(g, stacked)
	want, err := stacked.Densify(opt)
	if errors.Is(err, shapeops.ErrShape) { // more widths than levels
		_, err = joint.Collate(parts, opt)
		require.ErrorIs(g, err, shapeops.ErrShape)
		opt.Widths = nil
		want, err = stacked.Densify(opt)
	}
	require.NoError(g, err)
	got, err := joint.Collate(parts, opt)
	require.NoError(g, err)
	text, err := want.Diff(got)
	require.NoError(g, err)
	require.Empty(g, text)
	require.Equal(g, opt.Masks != "" && depthOf(stacked) > 0, got.Has("masks"))
	return j, nil
}
