package tdict_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// applied is Apply in the order of the keys.
func applied(fn tdict.LeafFunc, opt tdict.ApplyOptions, tds ...*tdict.TensorDict) (*tdict.TensorDict, error) {
	opt.Workers = 1
	return tdict.Apply(context.Background(), tds, fn, opt)
}

// negated returns the first of int64 tensors with the other sign.
func negated(_ key, xs tensors) (*tensor.Tensor, error) {
	return tensor.Map(xs[0], func(v int64) int64 { return -v })
}

// family returns what tables about keys start from: tensors on three levels beside other leaves.
func family() *tdict.TensorDict {
	return dict([]int{2}, entry{"a", count(2)}, entry{"b/c", count(2, 3)}, entry{"b/d/e", count(2)}, entry{"b/empty", tdict.New(2)},
		entry{"name", texts("x", "y")}, entry{"b/w", unbatched(count(4))}, entry{"bc", count(2)})
}

func TestApplyKeys(t *testing.T) {
	tests := []struct {
		name   string
		keys   []key
		called []key
		err    error
	}{
		{"nil is all", nil, []key{"a", "b/c", "b/d/e", "bc"}, nil},
		{"none is none", []key{}, nil, nil},
		{"a leaf", []key{"bc"}, []key{"bc"}, nil},
		{"a nested leaf", []key{"b/d/e"}, []key{"b/d/e"}, nil},
		{"a dictionary is all tensors in it", []key{"b"}, []key{"b/c", "b/d/e"}, nil},
		{"an empty dictionary has none", []key{"b/empty"}, nil, nil},
		{"in the dictionary's order, each once", []key{"bc", "b/c", "a", "b/c", "b/d", "b/d/e"}, []key{"a", "b/c", "b/d/e", "bc"}, nil},
		{"missing", []key{"a", "z"}, nil, tdict.ErrMissing},
		{"missing within", []key{"b/z"}, nil, tdict.ErrMissing},
		{"below a leaf", []key{"a/z"}, nil, tdict.ErrNotDict},
		{"no key", []key{""}, nil, tdict.ErrMissing},
		{"data", []key{"name"}, nil, tdict.ErrKind},
		{"an unbatched tensor", []key{"b/w"}, nil, tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := family()
			var called []key
			got, err := applied(func(k key, xs tensors) (*tensor.Tensor, error) {
				called = append(called, k)
				return negated(k, xs)
			}, tdict.ApplyOptions{Keys: tt.keys}, td)
			require.Equal(t, tt.called, called)
			if tt.err != nil {
				testkit.Fails(t, tt.err, err)
				require.Nil(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, keys(td), keys(got))
			for k, leaf := range td.Leaves() {
				was := tensor.Must(got.Get(k))
				require.Equal(t, slices.Contains(tt.called, k), was != tdict.Value(leaf), "%s is kept as it is", k)
			}
			require.True(t, slices.Equal(keys(family()), keys(td)))
		})
	}
}

// With keys, the other dictionaries need only these, and a new batch shape must suit the rest.
func TestApplyKeysOfSeveral(t *testing.T) {
	other := dict([]int{2}, entry{"a", count(2)})
	sum := func(_ key, xs tensors) (*tensor.Tensor, error) { return shapeops.Cat(xs, 0) }
	opt := tdict.ApplyOptions{Keys: []key{"a"}, Batch: shapeops.Shape{}}
	_, err := applied(sum, tdict.ApplyOptions{Keys: []key{"a", "b"}}, family(), other)
	require.ErrorIs(t, err, tdict.ErrMissing)
	_, err = applied(sum, opt, family(), other)
	require.ErrorIs(t, err, tdict.ErrKind, "data cannot change its batch shape")

	td := sample()
	got, err := applied(sum, opt, td, dict([]int{3}, entry{"a", count(3, 4)}))
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{6, 4}, tensor.Must(got.Tensor("a")).Shape())
	require.Same(t, tensor.Must(td.Tensor("b/c")), tensor.Must(got.Tensor("b/c")))
	require.Equal(t, shapeops.Shape{}, tensor.Must(got.Dict("b")).Shape())

	opt.Batch = shapeops.Shape{6}
	_, err = applied(func(key, tensors) (*tensor.Tensor, error) { panic("called") }, opt, td)
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.ErrorContains(t, err, "b/c", "what is kept does not begin with it, which is found before fn is called")
}

func TestApplyInPlace(t *testing.T) {
	td := locked()
	require.NoError(t, td.Unlock())
	require.NoError(t, td.Set("name", texts("x", "y", "z")))
	td.Lock()
	view := tensor.Must(td.Index(ix.Range(1, 2)))
	calls := []key{}
	got, err := applied(func(k key, xs tensors) (*tensor.Tensor, error) {
		if calls = append(calls, k); k == "a" {
			return nil, nil
		}
		return negated(k, xs)
	}, tdict.ApplyOptions{InPlace: true, FilterEmpty: true}, td)
	require.NoError(t, err)
	require.True(t, got == td, "the first dictionary itself")
	require.Equal(t, []key{"a", "b/c"}, calls)
	require.True(t, td.Locked())
	require.Equal(t, []key{"a", "b", "b/c", "d", "name"}, keys(td), "structure stays")
	require.Equal(t, int64(1), values(t, td, "a")[1], "nil leaves the leaf as it is")
	require.Equal(t, int64(-8), values(t, view, "b/c")[0], "what shares memory sees it")
}

// The leaf itself, changed by fn or not, is not copied; nor does one tensor under two keys harm.
func TestApplyInPlaceOfTheLeafItself(t *testing.T) {
	x := count(3)
	td := dict([]int{3}, entry{"a", x}, entry{"d/again", x})
	got, err := applied(func(_ key, xs tensors) (*tensor.Tensor, error) {
		return xs[0], tensor.Write(xs[0], func(s []int64) { s[0]++ })
	}, tdict.ApplyOptions{InPlace: true}, td)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1, 2}, values(t, got, "a"))

	_, err = applied(negated, tdict.ApplyOptions{InPlace: true}, td)
	require.NoError(t, err)
	require.Equal(t, []int64{-2, -1, -2}, values(t, td, "a"), "fn sees each leaf as it was")
}

// fn may put its result into the slice of its arguments.
func TestApplyInPlaceOfChangedArguments(t *testing.T) {
	td := dict([]int{3}, entry{"a", count(3)})
	_, err := applied(func(key key, xs tensors) (_ *tensor.Tensor, err error) {
		xs[0], err = negated(key, xs)
		return xs[0], err
	}, tdict.ApplyOptions{InPlace: true}, td)
	require.NoError(t, err)
	require.Equal(t, []int64{0, -1, -2}, values(t, td, "a"))
}

func TestApplyInPlaceRefuses(t *testing.T) {
	within := func(fn func(x *tensor.Tensor) (*tensor.Tensor, error)) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			return testkit.Err(applied(func(k key, xs tensors) (*tensor.Tensor, error) {
				if k == "b/c" {
					return fn(xs[0])
				}
				return negated(k, xs) // and yet "a" stays as it is
			}, tdict.ApplyOptions{InPlace: true}, td))
		}
	}
	refuse(t, sample, []refusal{
		{"fn fails", within(func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, errStop }), errStop},
		{"fn panics", within(func(*tensor.Tensor) (*tensor.Tensor, error) { panic(errStop) }), errStop},
		{"another dtype", within(func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Cast(tensor.Float64) }), tensor.ErrDType},
		{"a shape that would broadcast", within(func(*tensor.Tensor) (*tensor.Tensor, error) { return count(2), nil }), shapeops.ErrShape},
		{"a longer shape", within(func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Unsqueeze(3) }), shapeops.ErrShape},
		{"a zero tensor", within(func(*tensor.Tensor) (*tensor.Tensor, error) { return new(tensor.Tensor), nil }), tdict.ErrKind},
		{"no elements", within(func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.ToMeta() }), tensor.ErrMeta},
		{"a batch shape", func(td *tdict.TensorDict) error {
			return testkit.Err(applied(negated, tdict.ApplyOptions{InPlace: true, Batch: shapeops.Shape{3}}, td))
		}, shapeops.ErrShape},
	})
}

// A leaf that cannot be written is found before fn is called.
func TestApplyInPlaceRefusesLeaves(t *testing.T) {
	readOnly := &testkit.Lender{Bytes: make([]byte, 24), Locked: true}
	tests := map[string]struct {
		leaf *tensor.Tensor
		err  error
	}{
		"read-only": {tensor.Must(tensor.FromLender(tensor.Int64, readOnly, 0, 3)), tensor.ErrReadOnly},
		"expanded":  {tensor.Must(tensor.Scalar[int64](1).Expand(3)), tensor.ErrLayout},
		"windows":   {tensor.Must(shapeops.Unfold(count(4), 0, 2, 1)), tensor.ErrLayout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			td := dict([]int{3}, entry{"a", count(3)}, entry{"d/x", tt.leaf})
			never := func(key, tensors) (*tensor.Tensor, error) { panic("called") }
			testkit.Fails(t, tt.err, testkit.Err(applied(never, tdict.ApplyOptions{InPlace: true}, td)))
			_, err := applied(negated, tdict.ApplyOptions{InPlace: true, Keys: []key{"a"}}, td)
			require.NoError(t, err, "only leaves that fn is called for are written")
			require.Zero(t, readOnly.Borrowed())
		})
	}
}

// In place, leaves of any layout that can be written can be.
func TestApplyInPlaceLayouts(t *testing.T) {
	layouts := map[string]*tensor.Tensor{
		"stepped":    tensor.Must(count(7, 2).Index(ix.All.Step(2))),
		"transposed": tensor.Must(count(3, 4).Transpose(0, 1)),
		"a column":   tensor.Must(count(4, 3).Index(ix.All, ix.At(1))),
		"a part":     tensor.Must(count(4, 3, 5).Index(ix.All, ix.Range(1, 3), ix.Range(0, 5).Step(3))),
		"no element": count(4, 0),
	}
	for name, x := range layouts {
		want := testkit.Elements[int64](t, x)
		for i, v := range want {
			want[i] = -v
		}
		td := dict([]int{4}, entry{"x", x})
		_, err := applied(negated, tdict.ApplyOptions{InPlace: true}, td)
		require.NoError(t, err, name)
		require.Equal(t, want, testkit.Elements[int64](t, x), name)
	}
}

func TestApplyMissing(t *testing.T) {
	td := dict([]int{2}, entry{"i", count(2)}, entry{"d/f", tensor.Vector[float32](1, 2)}, entry{"d/b", tensor.Vector(true, false)})
	given := tensor.Vector[uint8](7)
	tests := []struct {
		name string
		opt  tdict.ApplyOptions
		want string // of the second dictionary
		err  error
	}{
		{"an error by default", tdict.ApplyOptions{}, "", tdict.ErrMissing},
		{"nil if that is allowed", tdict.ApplyOptions{AllowMissing: true}, "i nil, d/f nil, d/b nil, ", nil},
		{"a number in the dtype of the first", tdict.ApplyOptions{Default: 1},
			"i int64 [2] [1 1], d/f float32 [2] [1 1], d/b bool [2] [true true], ", nil},
		{"a tensor as it is", tdict.ApplyOptions{Default: given}, "i uint8 [1] [7], d/f uint8 [1] [7], d/b uint8 [1] [7], ", nil},
		{"a default before nil", tdict.ApplyOptions{Default: given, AllowMissing: true}, "i uint8 [1] [7], d/f uint8 [1] [7], d/b uint8 [1] [7], ", nil},
		{"for chosen keys only", tdict.ApplyOptions{Default: 0.5, Keys: []key{"d/f"}}, "d/f float32 [2] [0.5 0.5], ", nil},
		{"a number that a dtype does not hold", tdict.ApplyOptions{Default: 0.5}, "", tensor.ErrDType},
		{"a bool for a number", tdict.ApplyOptions{Default: true}, "", tensor.ErrDType},
		{"no number", tdict.ApplyOptions{Default: "x"}, "", tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := ""
			_, err := applied(func(k key, xs tensors) (*tensor.Tensor, error) {
				text += fmt.Sprint(k, " ")
				if x := xs[1]; x == nil {
					text += "nil, "
				} else {
					text += fmt.Sprint(x.DType(), x.Shape(), " ", tensor.Must(x.Ops().Texts()), ", ")
				}
				return xs[0], nil
			}, tt.opt, td, dict([]int{2}, entry{"extra", count(2)}))
			require.Equal(t, tt.want, text, "fn is not called before all is checked")
			if tt.err != nil {
				testkit.Fails(t, tt.err, err)
				return
			}
			require.NoError(t, err)
		})
	}
}

// Only what is missing has a stand-in: what is there and is no tensor is still refused.
func TestApplyMissingRefuses(t *testing.T) {
	never := func(key, tensors) (*tensor.Tensor, error) { panic("called") }
	for _, opt := range []tdict.ApplyOptions{{Default: 1}, {AllowMissing: true}} {
		_, err := applied(never, opt, sample(), dict([]int{3}, entry{"b/c", texts("x", "y", "z")}))
		require.ErrorIs(t, err, tdict.ErrKind)
		_, err = applied(never, opt, sample(), dict([]int{3}, entry{"b", count(3)}))
		require.ErrorIs(t, err, tdict.ErrNotDict)
	}
}

func TestApplyFilterEmpty(t *testing.T) {
	drop := func(gone ...key) tdict.LeafFunc {
		return func(k key, xs tensors) (*tensor.Tensor, error) {
			if slices.ContainsFunc(gone, func(g key) bool { return k.HasPrefix(g) }) {
				return nil, nil
			}
			return xs[0], nil
		}
	}
	tests := []struct {
		name string
		fn   tdict.LeafFunc
		keep []key // by default
		want []key // with FilterEmpty
	}{
		{"nothing is dropped: those that were empty before go", drop(),
			[]key{"a", "b", "b/c", "b/d", "b/d/e", "b/empty", "b/w", "name", "bc"}, []key{"a", "b", "b/c", "b/d", "b/d/e", "b/w", "name", "bc"}},
		{"what has lost its only leaf", drop("b/d"),
			[]key{"a", "b", "b/c", "b/d", "b/empty", "b/w", "name", "bc"}, []key{"a", "b", "b/c", "b/w", "name", "bc"}},
		{"a leaf of another kind holds its dictionary", drop("a", "b", "bc"),
			[]key{"b", "b/d", "b/empty", "b/w", "name"}, []key{"b", "b/w", "name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := applied(tt.fn, tdict.ApplyOptions{}, family())
			require.NoError(t, err)
			require.Equal(t, tt.keep, keys(got))
			got, err = applied(tt.fn, tdict.ApplyOptions{FilterEmpty: true}, family())
			require.NoError(t, err)
			require.Equal(t, tt.want, keys(got))
		})
	}
	got, err := applied(drop("a", "b"), tdict.ApplyOptions{FilterEmpty: true}, sample())
	require.NoError(t, err)
	require.Empty(t, keys(got), "the outermost stays")
	require.Equal(t, shapeops.Shape{3}, got.Shape())
}

// A panic has its stack, and is not mistaken for one within.
func TestApplyPanicsWithin(t *testing.T) {
	inner := func(key, tensors) (*tensor.Tensor, error) { panic("inner") }
	for _, workers := range []int{1, 4} {
		_, err := tdict.Apply(t.Context(), []*tdict.TensorDict{dict(nil, entry{"x", count()})}, func(key, tensors) (*tensor.Tensor, error) {
			return nil, testkit.Err(tdict.Apply(t.Context(), []*tdict.TensorDict{many()}, inner, tdict.ApplyOptions{Workers: workers}))
		}, tdict.ApplyOptions{Workers: workers})
		p, ok := errors.AsType[*tdict.PanicError](err)
		require.True(t, ok)
		require.Equal(t, "inner", p.Value)
		require.Contains(t, string(p.Stack), "apply_options_test.go")
		require.ErrorContains(t, err, `apply "x": apply "a/a/aa": panic: inner`)
	}
	_, err := tdict.Apply(t.Context(), []*tdict.TensorDict{many()}, negated, tdict.ApplyOptions{Progress: func(int, int) { panic(errStop) }})
	require.ErrorIs(t, err, errStop, "one of Progress is an error too")
}

func TestApplyWithoutFunction(t *testing.T) {
	testkit.Fails(t, tdict.ErrKind, testkit.Err(tdict.Apply(t.Context(), []*tdict.TensorDict{sample()}, nil, tdict.ApplyOptions{})))
	require.ErrorIs(t, testkit.Err(sample().Apply(nil)), tdict.ErrKind)
}

// Any number of workers writes the same in place, and does it after the last call.
func TestApplyInPlaceWorkers(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		td := many()
		was := tensor.Must(td.Clone())
		var calls atomic.Int64
		got, err := tdict.Apply(t.Context(), []*tdict.TensorDict{td, was}, func(k key, xs tensors) (*tensor.Tensor, error) {
			calls.Add(1)
			if !xs[0].Equal(xs[1]) {
				return nil, fmt.Errorf("%s has changed already", k)
			}
			return negated(k, xs)
		}, tdict.ApplyOptions{InPlace: true, Workers: workers})
		require.NoError(t, err)
		require.True(t, got == td)
		require.EqualValues(t, 40, calls.Load())
		require.Equal(t, []int64{-9, -9}, values(t, td, "c/b/cb"))
	}
}
