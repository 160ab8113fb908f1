package ragged

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestSmoke(t *testing.T) {
	l, err := LayoutOf(shapeops.Shape{3}, []int64{2, 1, 3}, []int64{0, 2, 3, 0, 0, 1})
	require.NoError(t, err)
	x, err := New(tensor.Vector[int64](3, 0, 3, 4, 5, 2), l)
	require.NoError(t, err)
	y, err := x.Index(ix.Take(2, 0))
	require.NoError(t, err)
	v, _ := y.Values()
	o1, _ := y.Offsets(1)
	o2, _ := y.Offsets(2)
	t.Log(v, o1, o2)
	z, err := shapeops.Stack([]*Tensor{x, y.must(ix.Take(0, 1, 1)), x}, 1)
	require.NoError(t, err)
	v, _ = z.Values()
	o1, _ = z.Offsets(1)
	o2, _ = z.Offsets(2)
	t.Log(z.Shape(), v, o1, o2)
	w, err := x.Index(ix.Range(1, 3))
	require.NoError(t, err)
	v, _ = w.Values()
	o2, _ = w.Offsets(2)
	t.Log(v, o2)
	require.NoError(t, x.SetIndex(y, ix.Range(0, 2)))
	v, _ = x.Values()
	o2, _ = x.Offsets(2)
	t.Log(v, o2)
}
func (t *Tensor) must(e ...ix.Index) *Tensor { return tensor.Must(t.Index(e...)) }

func TestSmoke2(t *testing.T) {
	x, err := From[int64]([][][]int64{{{1, 2, 3}, {3, 4}, {1, 2}}, {{3}, {3, 2, 2}}})
	require.NoError(t, err)
	show := func(x *Tensor, err error) {
		t.Helper()
		if err != nil {
			t.Log(err)
			return
		}
		v, err := x.Values()
		require.NoError(t, err)
		s := x.Layout().String()
		for k := range x.Depth() {
			o, _ := x.Offsets(k + 1)
			t.Log(s, o)
		}
		t.Log(s, v)
	}
	show(x.Row(0))
	show(x.Path(ix.At(0), ix.Range(1, ix.End)))
	show(x.Path(ix.At(0), ix.At(1), ix.At(1)))
	show(x.Path(ix.At(0), ix.At(3)))
	show(x.Cut(2, 0, 1))
	show(x.Nth(1, -1))
	show(x.Flatten(1))
	show(x.Flatten(-1))
	show(x.Reduce(-1, arith.Sum))
	show(x.Reduce(0, arith.Max))
	show(x.Sort(arith.SortOptions{}))
	show(Concat([]*Tensor{x, x}, 1))
	show(Concat([]*Tensor{x, x}, 2))
	show(FromLists([]any{[]any{1, 2}, []any{}, []any{-3}}))
	a, _ := x.Row(0)
	b, _ := x.Row(1)
	show(Vstack([]*Tensor{a, b}))
	c, _ := x.Counts(2)
	f, _ := x.Flatten(2)
	show(f.Unflatten(c))
	show(c.Broadcast(x.Layout()))
}
