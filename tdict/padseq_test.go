package tdict_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOraclePadSequence compares PadSequence along a batch dim, plain, into a dictionary that is
// there and with masks, with nested loops.
func TestOraclePadSequence(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.named(g.dict(append(naive.Shape(g.Rand, 2), 2), 2))
		rank := len(td.Shape())
		dim := g.IntN(rank)
		xs, shapes := []*tdict.TensorDict{td}, [][]int{td.Shape()}
		for range g.IntN(3) {
			xs = append(xs, g.twin(td, dim, g.IntN(4)))
			shapes = append(shapes, xs[len(xs)-1].Shape())
		}
		opt := shapeops.PadSequenceOptions{Fill: 1, Dim: dim, Left: g.IntN(2) == 0, Length: 5 * g.IntN(2)}
		want := naive.PadSequence(naive.Number(shapes...), dim, opt.Length, opt.Left)
		got, masks, err := shapeops.PadSequenceMasked(xs, opt)
		require.NoError(t, err)
		require.Equal(t, shapeops.Shape(want.Shape), got.Shape().Clone())
		require.Equal(t, append([]string{""}, td.Names()...), got.Names())
		require.Equal(t, got.Names(), masks.Names())
		consistent(t, got)
		consistent(t, masks)
		for key, v := range got.Leaves() {
			rows := []string{}
			for _, x := range xs {
				rows = append(rows, rowsOf(t, tensor.Must(x.Get(key)), rank)...)
			}
			rows = padded(t, rows, tensor.Must(td.Get(key)), rank)
			after, own := make([]string, len(want.At)), make([]bool, len(want.At))
			for i, at := range want.At {
				if own[i] = at != naive.Gap; !own[i] {
					at = len(rows) - 1
				}
				after[i] = rows[at]
			}
			require.Equal(t, after, rowsOf(t, v, len(want.Shape)), key)
			if _, ok := v.(*tensor.Tensor); ok {
				require.Equal(t, own, testkit.Elements[bool](t, tensor.Must(masks.Tensor(key))), key)
			} else {
				require.False(t, masks.Has(key))
			}
		}
		dst := g.writable().twin(got, -1, 0)
		require.NoError(t, shapeops.PadSequenceInto(dst, xs, opt))
		require.True(t, dst.Equal(got))
	})
}

// sequence returns what a row of a data set is: leaves of lengths of their own.
//
//	a    int64 [n 2]
//	n/b  int64 [m]
//	s    data
func sequence(n, m int) *tdict.TensorDict {
	return dict(nil, entry{"a", count(n, 2)}, entry{"n/b", count(m)}, entry{"s", data(fmt.Sprint(n))})
}

// Along a dim after the batch shape, each leaf is padded to its own longest.
func TestPadSequenceOfLeaves(t *testing.T) {
	xs := []*tdict.TensorDict{sequence(1, 3), sequence(2, 1)}
	got, masks, err := shapeops.PadSequenceMasked(xs, shapeops.PadSequenceOptions{Fill: -7})
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2}, got.Shape().Clone())
	require.Equal(t, []int64{0, 1, -7, -7, 0, 1, 2, 3}, values(t, got, "a"))
	require.Equal(t, []int64{0, 1, 2, 0, -7, -7}, values(t, got, "n/b"))
	require.Equal(t, []any{"1", "2"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](got, "s")).All()))
	require.Equal(t, "bool [2 2]\n[[ true false]\n [ true  true]]", tensor.Must(masks.Tensor("a")).String())
	require.Equal(t, "bool [2 3]\n[[ true  true  true]\n [ true false false]]", tensor.Must(masks.Tensor("n/b")).String())
	require.False(t, masks.Has("s"))
	require.Equal(t, shapeops.Shape{2}, tensor.Must(masks.Dict("n")).Shape().Clone())
}

// A negative dim counts from the last dim of each leaf, whatever the batch shape: so do the masks.
func TestPadSequenceFromTheLastDim(t *testing.T) {
	row := func(n, m int) *tdict.TensorDict {
		return dict([]int{3}, entry{"a", count(3, n)}, entry{"b", count(3, 2, m)})
	}
	got, masks, err := shapeops.PadSequenceMasked([]*tdict.TensorDict{row(1, 2), row(2, 1)}, shapeops.PadSequenceOptions{Dim: -1})
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 3, 2}, tensor.Must(got.Tensor("a")).Shape().Clone())
	require.Equal(t, shapeops.Shape{2, 3, 2, 2}, tensor.Must(got.Tensor("b")).Shape().Clone())
	mask := tensor.Must(masks.Tensor("a"))
	require.Equal(t, shapeops.Shape{2, 3, 2}, mask.Shape().Clone(), "[N B... L]")
	require.Equal(t, []bool{true, false, true, false, true, false, true, true, true, true, true, true}, testkit.Elements[bool](t, mask))
}

// With a length, too: it is that of the leaves, not of the batch shape.
func TestPadSequenceFromTheLastDimToALength(t *testing.T) {
	row := dict([]int{3}, entry{"a", count(3, 2)}, entry{"s", texts("x", "y", "z")})
	got, err := shapeops.PadSequence([]*tdict.TensorDict{row, row}, shapeops.PadSequenceOptions{Dim: -1, Length: 4})
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 3}, got.Shape().Clone())
	require.Equal(t, shapeops.Shape{2, 3, 4}, tensor.Must(got.Tensor("a")).Shape().Clone())
}

// A single dictionary, and one without leaves.
func TestPadSequenceOfLittle(t *testing.T) {
	one := tensor.Must(shapeops.PadSequence([]*tdict.TensorDict{sequence(2, 1)}, shapeops.PadSequenceOptions{}))
	require.Equal(t, shapeops.Shape{1, 2, 2}, tensor.Must(one.Tensor("a")).Shape().Clone())
	got, masks, err := shapeops.PadSequenceMasked([]*tdict.TensorDict{tdict.New(2), tdict.New(4)}, shapeops.PadSequenceOptions{})
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 4}, got.Shape().Clone())
	require.Equal(t, shapeops.Shape{2, 4}, masks.Shape().Clone())
}

func TestPadSequenceRefusals(t *testing.T) {
	type (
		dictionary = *tdict.TensorDict
		opt        = shapeops.PadSequenceOptions
	)
	pad := func(o opt, others ...dictionary) func(dictionary) error {
		return func(td dictionary) error {
			_, _, err := shapeops.PadSequenceMasked(append([]dictionary{td}, others...), o)
			return err
		}
	}
	into := func(dst dictionary, o opt) func(dictionary) error {
		return func(td dictionary) error { return shapeops.PadSequenceInto(dst, []dictionary{td, sequence(2, 2)}, o) }
	}
	fresh := func() dictionary { return sequence(1, 2) }
	refuse(t, fresh, []refusal{
		{"a key that value 0 lacks", pad(opt{}, dict(nil, entry{"a", count(1, 2)}, entry{"n/b", count(1)}, entry{"s", data(1)}, entry{"x", count(1)})), tdict.ErrMissing},
		{"a key that value 1 lacks", pad(opt{}, dict(nil, entry{"a", count(1, 2)})), tdict.ErrMissing},
		{"a nested key that value 1 lacks", pad(opt{}, dict(nil, entry{"a", count(1, 2)}, entry{"n/c", count(1)}, entry{"s", data(1)})), tdict.ErrMissing},
		{"another kind", pad(opt{}, dict(nil, entry{"a", data(1)}, entry{"n/b", count(1)}, entry{"s", data(1)})), tdict.ErrKind},
		{"another dtype", pad(opt{}, dict(nil, entry{"a", tensor.Must(tensor.Zeros[int8](1, 2))}, entry{"n/b", count(1)}, entry{"s", data(1)})), tensor.ErrDType},
		{"different elsewhere", pad(opt{}, dict(nil, entry{"a", count(1, 3)}, entry{"n/b", count(1)}, entry{"s", data(1)})), shapeops.ErrShape},
		{"a leaf without the dim", pad(opt{Dim: 1}), shapeops.ErrDim},
		{"the largest dim", pad(opt{Dim: math.MaxInt}), shapeops.ErrDim},
		{"longer than the length", pad(opt{Length: 1}), shapeops.ErrShape},
		{"a length that overflows", pad(opt{Length: math.MaxInt}), shapeops.ErrShape},
		{"a value that a leaf does not hold", pad(opt{Fill: 0.5}, sequence(3, 3)), tensor.ErrDType},
		{"another batch shape", pad(opt{}, dict([]int{1})), shapeops.ErrShape},
		{"into another batch shape", into(tdict.New(3), opt{}), shapeops.ErrShape},
		{"into other keys", into(tdict.New(2), opt{}), tdict.ErrMissing},
	})
}

// Ragged leaves and stacks have masks too, which are dense; data and unbatched tensors have none.
func TestPadSequenceMasksOfOtherKinds(t *testing.T) {
	of := func(lengths ...int64) dictionary {
		r := tensor.Must(ragged.FromLengths(tensor.Must(tensor.Zeros[int32](int(lengths[0]+lengths[1]))), lengths))
		return dict([]int{2}, entry{"r", r}, entry{"d", data("x", 2)}, entry{"u", unbatched(count(3))})
	}
	one := tensor.Must(of(1, 2).Index(ix.Range(0, 1)))
	_, masks, err := shapeops.PadSequenceMasked([]dictionary{one, of(1, 2)}, shapeops.PadSequenceOptions{})
	require.NoError(t, err)
	require.Equal(t, []nestedkey.Key{"r"}, slices.Collect(masks.Keys()))
	require.Equal(t, []bool{true, false, true, true}, tensor.Must(tensor.Of[bool](tensor.Must(masks.Tensor("r")))))
	_, _, err = shapeops.PadSequenceMasked([]dictionary{one, one}, shapeops.PadSequenceOptions{Dim: -1})
	require.ErrorIs(t, err, shapeops.ErrDim)
}
