package arith_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// entry is a key and its value, for dictionaries spelled in a line.
type entry struct {
	key   nestedkey.Key
	value tdict.Value
}

func dict(batch []int, entries ...entry) *tdict.TensorDict {
	td := tdict.New(batch...)
	for _, e := range entries {
		if err := td.Set(e.key, e.value); err != nil {
			panic(err)
		}
	}
	return td
}

// numbers returns an int64 tensor that counts up from first.
func numbers(first int64, shape ...int) *tensor.Tensor {
	size := int64(1)
	for _, n := range shape {
		size *= int64(n)
	}
	return tensor.Must(tensor.Must(tensor.Arange(first, first+size, 1)).Reshape(shape...))
}

func texts(values ...any) *tdict.Data { return tensor.Must(tdict.DataFrom(values, len(values))) }

func same(x *tensor.Tensor) *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(x)) }

// rows returns a dictionary with a value of each kind, and one nested in it with a longer batch
// shape. Its batch shape is [3], and its numbers begin at first.
func rows(first int64) *tdict.TensorDict {
	name := fmt.Sprint(first)
	label := tensor.Must(tdict.DataFrom([]any{first, first + 1, first + 2, first + 3, first + 4, first + 5}, 3, 2))
	inner := dict([]int{3, 2}, entry{"y", numbers(first+10, 3, 2, 2)}, entry{"z", numbers(first+30, 3, 2)}, entry{"label", label})
	return dict([]int{3}, entry{"x", numbers(first, 3, 2)}, entry{"d", inner},
		entry{"each", texts(name+"a", name+"b", name+"c")}, entry{"all", tensor.Must(tdict.NewData(name, 3))})
}

// state is all that can be seen of td but locks.
func state(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	text := fmt.Sprintln(td.Shape(), td.Names())
	for key, v := range td.Leaves() {
		switch v := v.(type) {
		case *tensor.Tensor:
			text += fmt.Sprintln(key, v.DType(), v.Shape(), testkit.Content(t, v))
		case *tdict.Data:
			text += fmt.Sprintln(key, v.Shape(), slices.Collect(v.All()))
		case *tdict.Unbatched:
			text += fmt.Sprintln(key, v.Shape(), testkit.Content(t, v.Tensor()))
		}
	}
	return text
}

func ints(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) []int64 {
	return testkit.Elements[int64](t, tensor.Must(td.Tensor(key)))
}

func anys(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) []any {
	t.Helper()
	return slices.Collect(tensor.Must(tdict.Get[*tdict.Data](td, key)).All())
}

var mask3 = tensor.Vector(true, false, true)

// TestWhereOfDictionaries picks rows of all kinds of values, and shares nothing with what it picks
// from.
func TestWhereOfDictionaries(t *testing.T) {
	check := func(t *testing.T, got *tdict.TensorDict) {
		require.Equal(t, []int64{0, 1, 102, 103, 4, 5}, ints(t, got, "x"))
		require.Equal(t, []int64{10, 11, 12, 13, 114, 115, 116, 117, 18, 19, 20, 21}, ints(t, got, "d/y"))
		require.Equal(t, []int64{30, 31, 132, 133, 34, 35}, ints(t, got, "d/z"))
		require.Equal(t, []any{int64(0), int64(1), int64(102), int64(103), int64(4), int64(5)}, anys(t, got, "d/label"))
		require.Equal(t, []any{"0a", "100b", "0c"}, anys(t, got, "each"))
		require.Equal(t, []any{"0", "100", "0"}, anys(t, got, "all"))
		require.Equal(t, []string{"time"}, got.Names())
		require.Equal(t, []string{"time", "place"}, tensor.Must(got.Dict("d")).Names())
	}
	named := func(first int64) *tdict.TensorDict {
		td := rows(first)
		require.NoError(t, tensor.Must(td.Dict("d")).SetNames("", "place"))
		require.NoError(t, td.SetNames("time"))
		return td
	}
	x, y := named(0), rows(100)
	before := state(t, x) + state(t, y)
	got := tensor.Must(arith.Where(mask3, x, y))
	check(t, got)
	for key, v := range got.Leaves() {
		switch v := v.(type) {
		case *tensor.Tensor:
			for _, of := range []*tdict.TensorDict{x, y} {
				require.False(t, v.SharesMemory(tensor.Must(of.Tensor(key))), key)
			}
		case *tdict.Data:
			for _, of := range []*tdict.TensorDict{x, y} {
				require.NotSame(t, v, tensor.Must(tdict.Get[*tdict.Data](of, key)), key)
			}
		}
	}
	zero := tensor.Must(got.NewZeros(3))
	require.NoError(t, zero.SetNames("time"))
	require.NoError(t, got.SetIndex(zero), "Data of the result too")
	require.Equal(t, before, state(t, x)+state(t, y))

	dst := tensor.Must(x.Clone())
	require.NoError(t, arith.WhereInto(dst, mask3, rows(0), y))
	check(t, dst)
	require.NoError(t, arith.WhereInto(x, mask3, x, y))
	check(t, x)
	into := tensor.Must(named(100).Clone())
	require.NoError(t, arith.WhereInto(into, mask3, rows(0), into), "the other is the destination")
	check(t, into)
}

// TestWhereWithoutADictionary keeps Data, and broadcasts over features.
func TestWhereWithoutADictionary(t *testing.T) {
	x := dict([]int{3}, entry{"x", numbers(0, 3, 2)}, entry{"d", dict([]int{3, 2}, entry{"y", numbers(0, 3, 2)})},
		entry{"each", texts("a", "b", "c")}, entry{"w", same(numbers(0, 2))})
	got := tensor.Must(arith.MaskedFill(x, mask3, tensor.Vector[int64](7, 8, 9)))
	require.Equal(t, []int64{7, 7, 2, 3, 9, 9}, ints(t, got, "x"))
	require.Equal(t, []int64{7, 7, 2, 3, 9, 9}, ints(t, got, "d/y"))
	require.Equal(t, []any{"a", "b", "c"}, anys(t, got, "each"))
	got = tensor.Must(arith.Where(mask3, x, -1))
	require.Equal(t, []int64{0, 1, -1, -1, 4, 5}, ints(t, got, "x"))
	require.Equal(t, []any{"a", "b", "c"}, anys(t, got, "each"))
	z := dict(nil, entry{"each", tensor.Must(tdict.NewData("z"))})
	require.NoError(t, tensor.Must(got.Select("each")).SetIndex(z, ix.At(0)))
	require.Equal(t, []any{"z", "b", "c"}, anys(t, got, "each"))
	require.Equal(t, []any{"a", "b", "c"}, anys(t, x, "each"))
	require.NoError(t, arith.MaskedFillInto(x, x, mask3, 1))
	require.Equal(t, []int64{1, 1, 2, 3, 1, 1}, ints(t, x, "x"))
}

// TestWhereByShorterMasks picks all of a dictionary by one bool, and whole rows of several dims.
func TestWhereByShorterMasks(t *testing.T) {
	grid := func(first int64) *tdict.TensorDict {
		data := tensor.Must(tdict.DataFrom([]any{first, first + 1, first + 2, first + 3}, 2, 2))
		return dict([]int{2, 2}, entry{"x", numbers(first, 2, 2, 1)}, entry{"name", data})
	}
	x, y := grid(0), grid(10)
	tests := []struct {
		name string
		mask *tensor.Tensor
		want []int64
	}{
		{"true", tensor.Scalar(true), []int64{0, 1, 2, 3}},
		{"false", tensor.Scalar(false), []int64{10, 11, 12, 13}},
		{"rows", tensor.Vector(false, true), []int64{10, 11, 2, 3}},
		{"elements", tensor.Must(tensor.From([]bool{true, false, false, true}, 2, 2)), []int64{0, 11, 12, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tensor.Must(arith.Where(tt.mask, x, y))
			require.Equal(t, tt.want, ints(t, got, "x"))
			names := []int64{}
			for _, v := range anys(t, got, "name") {
				names = append(names, v.(int64))
			}
			require.Equal(t, tt.want, names)
			into := tensor.Must(x.Clone())
			require.NoError(t, arith.WhereInto(into, tt.mask, into, y))
			require.Equal(t, state(t, got), state(t, into))
		})
	}
}

// TestWhereMissing has keys on one side only, dictionaries too, for which a number stands.
func TestWhereMissing(t *testing.T) {
	x := dict([]int{3}, entry{"x", numbers(0, 3)}, entry{"only/a", numbers(0, 3, 2)}, entry{"name", texts("a", "b", "c")})
	y := dict([]int{3}, entry{"x", numbers(10, 3)}, entry{"more/b", numbers(10, 3)}, entry{"text", texts("p", "q", "r")},
		entry{"w", same(numbers(0, 1))})
	require.NoError(t, x.SetNames("time"))
	before := state(t, x) + state(t, y)
	got := tensor.Must(arith.Where(mask3, x, y, arith.WhereOptions{Missing: -1}))
	require.Equal(t, []nestedkey.Key{"x", "only/a", "name", "more/b", "text", "w"}, testkit.Keys(got.Leaves()))
	require.Equal(t, []int64{0, 11, 2}, ints(t, got, "x"))
	require.Equal(t, []int64{0, 1, -1, -1, 4, 5}, ints(t, got, "only/a"))
	require.Equal(t, []any{"a", nil, "c"}, anys(t, got, "name"))
	require.Equal(t, []int64{-1, 11, -1}, ints(t, got, "more/b"))
	require.Equal(t, []any{nil, "q", nil}, anys(t, got, "text"))
	require.Equal(t, before, state(t, x)+state(t, y))

	bits := dict([]int{3}, entry{"bit", tensor.Vector(true, true, true)})
	require.ErrorIs(t, testkit.Err(arith.Where(mask3, x, bits, arith.WhereOptions{Missing: -1})), tensor.ErrDType)
}

// TestWhereMissingNamesDims: a dictionary that only the other has gets the names of the dims that
// it is in.
func TestWhereMissingNamesDims(t *testing.T) {
	x, y := dict([]int{3}), dict([]int{3}, entry{"more/b", numbers(10, 3)})
	require.NoError(t, x.SetNames("time"))
	got := tensor.Must(arith.Where(mask3, x, y, arith.WhereOptions{Missing: -1}))
	require.Equal(t, []string{"time"}, got.Names())
	require.Equal(t, []string{"time"}, tensor.Must(got.Dict("more")).Names())
	require.NoError(t, y.SetNames("step"))
	got = tensor.Must(arith.Where(mask3, x, y, arith.WhereOptions{Missing: -1}))
	require.Equal(t, []string{"time"}, tensor.Must(got.Dict("more")).Names())
}

// TestWhereOfUnbatched passes over what is the same in both, in a copy of it, and wants no other.
func TestWhereOfUnbatched(t *testing.T) {
	of := func(first int64) *tdict.TensorDict {
		return dict([]int{3}, entry{"x", numbers(first, 3)}, entry{"d/w", same(numbers(first, 2))})
	}
	w := func(td *tdict.TensorDict) *tensor.Tensor {
		return tensor.Must(tdict.Get[*tdict.Unbatched](td, "d/w")).Tensor()
	}
	x, y := of(0), dict([]int{3}, entry{"x", numbers(9, 3)}, entry{"d/w", same(numbers(0, 2))})
	for name, make := range map[string]func() (*tdict.TensorDict, error){
		"where":       func() (*tdict.TensorDict, error) { return arith.Where(mask3, x, y) },
		"masked fill": func() (*tdict.TensorDict, error) { return arith.MaskedFill(x, mask3, 9) },
		"where into": func() (*tdict.TensorDict, error) {
			dst := of(7)
			return dst, arith.WhereInto(dst, mask3, x, y)
		},
		"masked fill into": func() (*tdict.TensorDict, error) {
			dst := of(7)
			return dst, arith.MaskedFillInto(dst, x, mask3, 9)
		},
		"sort into": func() (*tdict.TensorDict, error) {
			dst := of(7)
			return dst, arith.SortInto(dst, x, 0, arith.SortOptions{})
		},
		"in place": func() (*tdict.TensorDict, error) {
			dst := of(0)
			return dst, arith.WhereInto(dst, mask3, dst, y)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := make()
			require.NoError(t, err)
			require.Equal(t, []int64{0, 1}, testkit.Elements[int64](t, w(got)))
			require.False(t, w(got).SharesMemory(w(x)) || w(got).SharesMemory(w(y)))
		})
	}
	require.ErrorIs(t, testkit.Err(arith.Where(mask3, x, of(1))), tdict.ErrDiffers)
	before := state(t, x)
	require.ErrorIs(t, arith.WhereInto(x, mask3, x, of(1)), tdict.ErrDiffers)
	require.Equal(t, before, state(t, x))
}

// TestMasksOfLeaves: a dictionary of masks, as comparisons make, masks each leaf by its own.
func TestMasksOfLeaves(t *testing.T) {
	x := tensor.Must(rows(0).Select("x", "d/y", "d/z"))
	masks := tensor.Must(arith.Greater(x, 11))
	testkit.Unchanged(t, x, state, func() {
		filled, err := arith.MaskedFill(x, masks, 11)
		require.NoError(t, err)
		require.Equal(t, state(t, tensor.Must(arith.Minimum(x, 11))), state(t, filled))
		chosen := tensor.Must(arith.Where(masks, x, 11))
		require.Equal(t, state(t, tensor.Must(arith.Maximum(x, 11))), state(t, chosen))
		into := tensor.Must(x.NewZeros(x.Shape()...))
		require.NoError(t, arith.WhereInto(into, masks, x, 11))
		require.Equal(t, state(t, chosen), state(t, into))
	})
	own := tensor.Must(x.Clone())
	require.NoError(t, arith.MaskedFillInto(own, own, masks, 11))
	require.Equal(t, state(t, tensor.Must(arith.Minimum(x, 11))), state(t, own))

	bad := tensor.Must(masks.Clone())
	require.NoError(t, bad.Set("d/z", lent(tensor.Bool, &testkit.Lender{Bytes: []byte{0, 1, 2, 0, 1, 0}}, 3, 2)))
	testkit.Unchanged(t, own, state, func() {
		require.ErrorIs(t, arith.MaskedFillInto(own, own, bad, 7), tensor.ErrDType, "a byte that is no bool, in the last leaf")
		require.ErrorIs(t, arith.MaskedFillInto(own, own, own, 7), tensor.ErrDType, "numbers are no masks")
		require.ErrorIs(t, arith.MaskedFillInto(own, own, tensor.Must(masks.Select("x")), 7), tdict.ErrMissing)
		require.ErrorIs(t, arith.MaskedFillInto(own, own, true, 7), tensor.ErrKind)
		require.ErrorIs(t, arith.MaskedFillInto(own, own, (*tdict.TensorDict)(nil), 7), tensor.ErrKind)
	})
}

// TestStackedAndDense: a stack of dictionaries and its dense form are operands, and destinations,
// for one another, whatever the kind of their leaves.
func TestStackedAndDense(t *testing.T) {
	mask := tensor.Must(tensor.From([]bool{true, false, false, true}, 2, 2))
	for name, leaf := range map[string]func(first int64) tdict.Value{
		"tensor": func(first int64) tdict.Value { return numbers(first, 2, 3) },
		"ragged": func(first int64) tdict.Value {
			return tensor.Must(ragged.New(numbers(first, 3), tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{2, 1}))))
		},
		"data":         func(first int64) tdict.Value { return texts(fmt.Sprint("a", first), "b") },
		"uniform data": func(first int64) tdict.Value { return tensor.Must(tdict.NewData(fmt.Sprint(first), 2)) },
		"unbatched":    func(int64) tdict.Value { return same(numbers(1, 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			both := func(first int64) [2]*tdict.TensorDict {
				stack := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict([]int{2}, entry{"v", leaf(first)}), dict([]int{2}, entry{"v", leaf(first + 1)})}, 0))
				return [2]*tdict.TensorDict{stack, tensor.Must(stack.Dense())}
			}
			xs, ys := both(1), both(5)
			chosen, sum := tensor.Must(arith.Where(mask, xs[1], ys[1])), tensor.Must(arith.Add(xs[1], xs[1]))
			for _, x := range xs {
				for _, y := range ys {
					got := tensor.Must(arith.Where(mask, x, y))
					require.True(t, tensor.Must(got.Dense()).Equal(chosen), "%v", got)
					for _, dst := range both(3) {
						require.NoError(t, arith.WhereInto(dst, mask, x, y))
						require.True(t, tensor.Must(dst.Dense()).Equal(chosen), "%v", dst)
					}
				}
				for _, dst := range both(1) { // values without elements stay as they are
					require.NoError(t, arith.AddInto(dst, x, x))
					require.True(t, tensor.Must(dst.Dense()).Equal(sum), "%v", dst)
				}
			}
		})
	}
}

// TestStackWithoutMember: rows that are selected from a stack of dictionaries, none of which has
// the leaf, are an error if the result is dense.
func TestStackWithoutMember(t *testing.T) {
	for name, leaf := range map[string]tdict.Value{
		"ragged":    tensor.Must(ragged.New(numbers(0, 3), tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{2, 1})))),
		"data":      texts("a", "b"),
		"unbatched": same(numbers(1, 2)),
	} {
		t.Run(name, func(t *testing.T) {
			with, without := dict([]int{2}, entry{"v", leaf}), dict([]int{2})
			x := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{with, without}, 0))
			y := tensor.Must(tensor.Must(tdict.LazyStack([]*tdict.TensorDict{with, with}, 0)).Dense())
			for _, bits := range [][]bool{{false, true}, {true, true}} {
				mask := tensor.Vector(bits...)
				require.ErrorIs(t, testkit.Err(arith.Where(mask, x, y)), tdict.ErrMissing)
				require.ErrorIs(t, arith.WhereInto(y, mask, x, y), tdict.ErrMissing)
			}
			first := tensor.Vector(true, false)
			require.True(t, tensor.Must(arith.Where(first, x, y)).Equal(y))
		})
	}
}
