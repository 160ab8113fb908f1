package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// uneven returns Python's example of dictionaries that differ: {a: [2], c} and {a: [3], b, c}.
func uneven() []dictionary {
	return []dictionary{
		dict(nil, entry{"a", count(2)}, entry{"c", count(1)}),
		dict(nil, entry{"a", count(3)}, entry{"b", count(1)}, entry{"c", count(1)}),
	}
}

// What Python's stacks do, case by case; where its answer is a defect, the row says so.
func TestStacksAsInPython(t *testing.T) {
	lazy := func() dictionary { return tensor.Must(tdict.LazyStack(uneven(), 0)) }
	stacked := func(td dictionary, key string) *tdict.Stacked {
		return tensor.Must(tdict.Get[*tdict.Stacked](td, nestedkey.Key(key)))
	}
	stack := func(dim int, tds ...dictionary) error { return testkit.Err(shapeops.Stack(tds, dim)) }
	a := func(batch ...int) dictionary { return dict(batch, entry{"a", count(batch...)}) }
	tests := []struct {
		name  string
		check func(t *testing.T)
	}{
		{"stack of two [2]", func(t *testing.T) {
			td := tensor.Must(shapeops.Stack([]dictionary{a(2), a(2)}, 0))
			require.Equal(t, shapeops.Shape{2, 2}, tensor.Must(td.Tensor("a")).Shape().Clone())
		}},
		{"stack at dim -1 of [2 3]", func(t *testing.T) {
			require.Equal(t, shapeops.Shape{2, 3, 2}, tensor.Must(shapeops.Stack([]dictionary{a(2, 3), a(2, 3)}, -1)).Shape().Clone())
		}},
		{"stack at dim 3 of [2 3]: Python accepts it and corrupts the result", func(t *testing.T) {
			require.ErrorIs(t, stack(3, a(2, 3), a(2, 3)), shapeops.ErrDim)
		}},
		{"stack of nothing", func(t *testing.T) { require.ErrorIs(t, stack(0), shapeops.ErrShape) }},
		{"stack of [3] and [2]", func(t *testing.T) { require.ErrorIs(t, stack(0, a(3), a(2)), shapeops.ErrShape) }},
		{"stack of other keys", func(t *testing.T) {
			require.ErrorIs(t, stack(0, a(2), dict([]int{2}, entry{"a", count(2)}, entry{"b", count(2)})), tdict.ErrMissing)
		}},
		{"stack of other leaf shapes names the key", func(t *testing.T) {
			err := stack(0, a(2), dict([]int{2}, entry{"a", count(2, 3)}))
			require.ErrorIs(t, err, shapeops.ErrShape)
			require.ErrorContains(t, err, `"a"`)
		}},
		{"stack of a leaf and a dictionary", func(t *testing.T) {
			require.ErrorIs(t, stack(0, a(2), dict([]int{2}, entry{"a/b", count(2)})), tdict.ErrKind)
		}},
		{"stack of float32 and int64: Python promotes in silence", func(t *testing.T) {
			require.ErrorIs(t, stack(0, dict(nil, entry{"a", tensor.Must(tensor.Zeros[float32]())}), dict(nil, entry{"a", tensor.Must(tensor.Zeros[int64]())})), tensor.ErrDType)
		}},
		{"stack of strings", func(t *testing.T) {
			td := tensor.Must(shapeops.Stack([]dictionary{dict(nil, entry{"s", data("x")}), dict(nil, entry{"s", data("y")})}, 0))
			require.Equal(t, `data [2] ["x" "y"]`, tensor.Must(tdict.Get[*tdict.Data](td, "s")).String())
		}},
		{"stack into another batch shape", func(t *testing.T) {
			require.ErrorIs(t, shapeops.StackInto(a(3, 2), []dictionary{a(2), a(2)}, 0), shapeops.ErrShape)
		}},
		{"cat of two [3]", func(t *testing.T) {
			require.Equal(t, shapeops.Shape{6}, tensor.Must(shapeops.Cat([]dictionary{a(3), a(3)}, 0)).Shape().Clone())
		}},
		{"cat at dim 1 of [3], and of []", func(t *testing.T) {
			require.ErrorIs(t, testkit.Err(shapeops.Cat([]dictionary{a(3), a(3)}, 1)), shapeops.ErrDim)
			require.ErrorIs(t, testkit.Err(shapeops.Cat([]dictionary{a(), a()}, 0)), shapeops.ErrDim)
		}},
		{"lazy stack of other keys: all keys, not the common ones as in Python", func(t *testing.T) {
			td := lazy()
			require.Equal(t, shapeops.Shape{2}, td.Shape().Clone())
			require.ErrorIs(t, testkit.Err(stacked(td, "b").Member(0)), tdict.ErrMissing)
			require.True(t, tensor.Must(td.Index(ix.At(1))).Has("b"))
			require.False(t, tensor.Must(td.Index(ix.At(0))).Has("b"))
		}},
		{"a leaf that differs, as a list, padded and ragged", func(t *testing.T) {
			s := stacked(lazy(), "a")
			require.ErrorIs(t, testkit.Err(s.Dense()), shapeops.ErrShape)
			require.Equal(t, 2, s.Len())
			padded, _, err := s.Padded(tdict.PaddedOptions{Fill: 7})
			require.NoError(t, err)
			require.Equal(t, []int64{0, 1, 7, 0, 1, 2}, testkit.Elements[int64](t, padded))
			require.Equal(t, "ragged int64 [2 *]", tensor.Must(s.Ragged()).Text())
			require.Equal(t, "stacked int64 [2 *]", s.Text())
		}},
		{"what is set is cut when it is stacked again: Python distributes it at once", func(t *testing.T) {
			td := lazy()
			require.NoError(t, td.Set("z", count(2)))
			require.Equal(t, int64(1), tensor.Must(tdict.Item[int64](tensor.Must(td.Index(ix.At(1))), "z")))
			require.ErrorIs(t, td.Set("y", count(3)), shapeops.ErrShape)
		}},
		{"a write to a position reaches the member", func(t *testing.T) {
			tds := uneven()
			td := tensor.Must(tdict.LazyStack(tds, 0))
			require.NoError(t, td.SetIndex(dict(nil, entry{"a", from1(5, 2)}), ix.At(0)))
			require.Equal(t, []int64{5, 6}, testkit.Elements[int64](t, tensor.Must(tds[0].Tensor("a"))))
		}},
		{"lazy stack of [3] and [2]: Python has -1 for what differs", func(t *testing.T) {
			require.Equal(t, shapeops.Shape{2}, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a(3), a(2)}, 0)).Shape().Clone())
		}},
		{"lazy stack of [3] and []: Python refuses", func(t *testing.T) {
			require.Equal(t, shapeops.Shape{2}, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a(3), a()}, 0)).Shape().Clone())
			require.ErrorIs(t, testkit.Err(tdict.LazyStack([]*tdict.TensorDict{a(3), a()}, 1)), shapeops.ErrShape)
		}},
		{"append, insert, extend", func(t *testing.T) {
			_, members, err := tdict.Members(lazy())
			require.NoError(t, err)
			more := tensor.Must(tdict.LazyStack(append(members, uneven()[0]), 0))
			require.Equal(t, shapeops.Shape{3}, more.Shape().Clone())
			twice := tensor.Must(shapeops.Cat([]dictionary{lazy(), lazy()}, 0))
			require.Equal(t, shapeops.Shape{4}, twice.Shape().Clone())
		}},
		{"delete, pop and rename are of all members", func(t *testing.T) {
			td := lazy()
			require.NoError(t, td.Delete("b"))
			require.NoError(t, td.Rename("a", "q"))
			row := tensor.Must(td.Index(ix.At(1)))
			require.False(t, row.Has("b"))
			require.True(t, row.Has("q"))
			require.Equal(t, 2, tensor.Must(td.Pop("q")).(*tdict.Stacked).Len(), "Python has no pop of what some lack")
		}},
		{"slices and masks are lazy, a position is the member", func(t *testing.T) {
			tds := uneven()
			td := tensor.Must(tdict.LazyStack(tds, 0))
			for _, expr := range []ix.Index{ix.Range(0, 1), ix.Mask([]bool{true, false})} {
				require.Equal(t, 1, stacked(tensor.Must(td.Index(expr)), "a").Len())
			}
			for i, row := range tensor.Must(shapeops.Unbind(td, 0)) {
				require.Same(t, tensor.Must(tds[i].Tensor("a")), tensor.Must(row.Tensor("a")))
			}
		}},
		{"what differs is not made dense, nor reshaped across", func(t *testing.T) {
			require.ErrorIs(t, testkit.Err(lazy().Dense()), shapeops.ErrShape)
			both := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict([]int{2}, entry{"a", count(2, 3)}), dict([]int{2}, entry{"a", count(2, 4)})}, 1))
			require.ErrorIs(t, testkit.Err(both.Reshape(4)), shapeops.ErrShape)
		}},
		{"a missing member is a row of length 0", func(t *testing.T) {
			require.Equal(t, []int64{0, 1}, tensor.Must(tensor.Must(stacked(lazy(), "b").Ragged()).Layout().Lengths(1)))
			require.Equal(t, shapeops.Shape{2, 1}, tensor.Must(stacked(lazy(), "c").Dense()).Shape().Clone())
		}},
		{"dense where all agree, lazy elsewhere", func(t *testing.T) {
			td := tensor.Must(tdict.MaybeDense(uneven(), 0))
			require.Equal(t, shapeops.Shape{2, 1}, tensor.Must(td.Tensor("c")).Shape().Clone())
			require.Equal(t, 2, stacked(td, "a").Len())
			require.Equal(t, 2, stacked(td, "b").Len())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.check)
	}
}
