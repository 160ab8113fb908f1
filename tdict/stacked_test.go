package tdict_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// episode returns n steps that begin with a number.
func episode(n int, from int64) *tdict.TensorDict {
	return dict([]int{n}, entry{"x", from1(from, n, 2)}, entry{"obs/y", from1(from+100, n)}, entry{"name", data(fmt.Sprint("e", from))})
}

// from1 returns a tensor that counts from a number.
func from1(first int64, shape ...int) *tensor.Tensor {
	return tensor.Must(arith.Add(count(shape...), first))
}

// episodes returns three of them, the second with a key of its own.
func episodes() []*tdict.TensorDict {
	tds := []*tdict.TensorDict{episode(2, 0), episode(3, 10), episode(1, 20)}
	_ = tds[1].Set("only", tensor.Vector[int64](7, 8, 9))
	return tds
}

func TestLazyStack(t *testing.T) {
	tds := episodes()
	td := tensor.Must(tdict.LazyStack(tds, 0))
	consistent(t, td)
	require.Equal(t, shapeops.Shape{3}, td.Shape().Clone())
	require.Equal(t, []nestedkey.Key{"x", "obs/y", "name", "only"}, testkit.Keys(td.Leaves()))
	require.Equal(t, `TensorDict(
    fields={
        x: Stacked(shape=[3 * 2], dim=0, dtype=int64),
        obs: TensorDict(
            fields={
                y: Stacked(shape=[3 *], dim=0, dtype=int64)},
            batch=[3]),
        name: Stacked(shape=[3 *], dim=0),
        only: Stacked(shape=[3 3], dim=0, dtype=int64, missing=2)},
    batch=[3])`, td.String())
	for i, want := range tds {
		row := tensor.Must(td.Index(ix.At(i)))
		consistent(t, row)
		require.Equal(t, testkit.Keys(want.Leaves()), testkit.Keys(row.Leaves()))
		for key, leaf := range want.Leaves() {
			require.Same(t, leaf, tensor.Must(row.Get(key)), key)
		}
	}
	dim, members, err := tdict.Members(td)
	require.NoError(t, err)
	require.Zero(t, dim)
	for i := range tds {
		require.True(t, tds[i].Equal(members[i]), i)
	}
	for _, expr := range []ix.Index{ix.Range(1, 3), ix.Take(1, 2), ix.Mask([]bool{false, true, true})} {
		part := tensor.Must(td.Index(expr))
		consistent(t, part)
		require.True(t, part.Equal(tensor.Must(tdict.LazyStack(tds[1:], 0))), expr.String())
	}
	rest := tensor.Must(td.Index(ix.Take(0, 2)))
	require.False(t, rest.Has("only"), "a key that all lack is left out")
	_, err = td.Dense()
	testkit.Fails(t, shapeops.ErrShape, err)
	more := tensor.Must(shapeops.Cat([]*tdict.TensorDict{rest, tensor.Must(td.Index(ix.Take(2, 0)))}, 0))
	require.True(t, more.Equal(tensor.Must(tdict.LazyStack([]*tdict.TensorDict{tds[0], tds[2], tds[2], tds[0]}, 0))))
	sum := tensor.Must(arith.Add(rest, 1))
	require.Equal(t, int64(21), tensor.Must(tdict.Item[int64](tensor.Must(sum.Index(ix.At(1))), "x", 0, 0)))
	require.NoError(t, td.SetIndex(tensor.Must(episode(3, 50).WithBatch()), ix.At(1)))
	require.Equal(t, int64(50), tensor.Must(tdict.Item[int64](tds[1], "x", 0, 0)))
	text := tensor.Must(td.MarshalJSON())
	var back tdict.TensorDict
	require.NoError(t, back.UnmarshalJSON(text))
	require.True(t, td.Equal(&back), string(text))
	both := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict([]int{2}, entry{"a", count(2, 3)}), dict([]int{2}, entry{"a", count(2, 1)})}, 1))
	require.Equal(t, shapeops.Shape{2, 2}, both.Shape().Clone())
	require.Equal(t, shapeops.Shape{2, 2}, tensor.Must(both.Permute(1, 0)).Shape().Clone())
	s := tensor.Must(tdict.Get[*tdict.Stacked](both, "a"))
	padded, mask, err := s.Padded(tdict.PaddedOptions{Fill: -1, Mask: true, Left: true})
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, -1, -1, 0, 3, 4, 5, -1, -1, 1}, testkit.Elements[int64](t, padded))
	require.Equal(t, []bool{true, true, true, false, false, true, true, true, true, false, false, true}, testkit.Elements[bool](t, mask))
	rows := tensor.Must(s.Ragged())
	require.Equal(t, "[2 2 *]", fmt.Sprint(rows.Ops().(interface{ ShapeText() string }).ShapeText()))
}

// Operations along dims do with a uniform stack what they do with Dense of it, whether the dim
// comes before the stack dim, is it, or comes after it; and with members that differ they are
// refused.
func TestStackedAlongDims(t *testing.T) {
	type op func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error)
	over := func(fn func(*tdict.TensorDict, arith.Over) (*tdict.TensorDict, error)) op {
		return func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) { return fn(td, arith.Dims(dim)) }
	}
	ops := map[string]op{
		"sum": over(arith.Sum[*tdict.TensorDict]), "max": over(arith.Max[*tdict.TensorDict]),
		"arg max": over(arith.ArgMax[*tdict.TensorDict]), "cum sum": over(arith.CumSum[*tdict.TensorDict]),
		"sort": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
			return arith.Sort(td, dim, arith.SortOptions{Descending: true})
		},
		"arg sort": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
			return arith.ArgSort(td, dim, arith.SortOptions{Descending: true})
		},
		"sort into": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
			dst, err := td.Clone()
			if err != nil {
				return nil, err
			}
			return dst, arith.SortInto(dst, td, dim, arith.SortOptions{Descending: true})
		},
		"scatter add": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
			return arith.ScatterAdd(td, dim, tensor.Must(tensor.Zeros[int64](td.Shape()...)), td)
		},
		"roll": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) { return shapeops.Roll(td, dim, 1) },
		"repeat": func(td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
			return shapeops.RepeatInterleave(td, dim, 2)
		},
	}
	member := func(n, features int) *tdict.TensorDict {
		return dict([]int{2, 2}, entry{"x", shifted(n, 2, 2, features)}, entry{"in/y", shifted(-n, 2, 2)}, entry{"d", data(7, 2, 2)})
	}
	for name, do := range ops {
		for stackDim := range 3 {
			lazy := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{member(5, 3), member(90, 3), member(1, 3)}, stackDim))
			uneven := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{member(5, 3), member(90, 4), member(1, 3)}, stackDim))
			for dim := range 3 {
				want, err := do(tensor.Must(lazy.Dense()), dim)
				require.NoError(t, err, name)
				got, err := do(lazy, dim)
				require.NoError(t, err, name)
				consistent(t, got)
				text, err := tensor.Must(got.Dense()).Diff(want)
				require.NoError(t, err, name)
				require.Empty(t, text, "%s along %d, stacked along %d", name, dim, stackDim)
				if name != "roll" && name != "repeat" { // which go member by member
					require.ErrorIs(t, testkit.Err(do(uneven, dim)), shapeops.ErrShape, name)
				}
			}
		}
	}
}

// shifted returns numbers that count down from n.
func shifted(n int, shape ...int) *tensor.Tensor {
	return tensor.Must(arith.Sub(tensor.Must(tensor.Full(int64(n), shape...)), count(shape...)))
}

// A member has at least the dims that the dictionary around it has.
func TestMembersOfMoreBatchDims(t *testing.T) {
	lazy := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict(nil, entry{"x", count(3)}), dict(nil, entry{"x", count(3, 2)})}, 0))
	td := dict([]int{2, 3}, entry{"x", tensor.Must(lazy.Get("x"))})
	_, members, err := tdict.Members(td)
	require.NoError(t, err)
	for _, m := range members {
		require.Equal(t, shapeops.Shape{3}, m.Shape().Clone())
	}
	require.True(t, tensor.Must(tdict.LazyStack(members, 0)).Equal(td))
}

// A row of a lazy stack, in which a dictionary has fewer batch dims than in the member, is no lazy
// stack if these dims have no stack dim.
func TestRowOfMembersOfMoreBatchDims(t *testing.T) {
	var members []*tdict.TensorDict
	for n := range 2 {
		stack := tensor.Must(tdict.LazyStack(slices.Repeat([]*tdict.TensorDict{dict(nil, entry{"in", tdict.New()})}, n+1), 0))
		members = append(members, dict(nil, entry{"a", stack}))
	}
	td := tensor.Must(tdict.LazyStack(members, 0))
	row := tensor.Must(td.Index(ix.At(0)))
	require.Empty(t, tensor.Must(row.Dict("a")).Shape())
	_, lazy := tdict.StackDim(tensor.Must(row.Dict("a")))
	require.False(t, lazy)
	_, _, err := tdict.Members(tensor.Must(row.Dict("a")))
	require.ErrorIs(t, err, tdict.ErrKind)
}
