package tdict_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// manyDTypes has leaves of two dtypes, of several layouts, and of other kinds. Its batch shape is
// [3].
func manyDTypes() *tdict.TensorDict {
	return dict([]int{3}, entry{"i", count(3, 2)}, entry{"f", tensor.Vector[float32](0.5, 1.5, 2.5)}, entry{"name", texts("x", "y", "z")},
		entry{"d/stepped", tensor.Must(count(6, 2).Index(ix.All.Step(2)))}, entry{"d/turned", tensor.Must(count(2, 3).Transpose(0, 1))},
		entry{"d/w", unbatched(count(2))}, entry{"d/none", count(3, 0)})
}

func TestMapElems(t *testing.T) {
	td := manyDTypes()
	testkit.Unchanged(t, td, state, func() {
		td.Lock()
		got, err := tdict.MapElems(td, func(v int64) float32 { return float32(v) / 2 })
		require.NoError(t, err)
		require.Equal(t, keys(td), keys(got))
		require.False(t, got.Locked())
		for k, leaf := range td.Leaves() {
			x, ok := leaf.(*tensor.Tensor)
			if !ok || x.DType() != tensor.Int64 {
				require.True(t, tensor.Must(got.Get(k)) == tdict.Value(leaf), "%s is shared", k)
				continue
			}
			want := []float32{}
			for _, v := range testkit.Elements[int64](t, x) {
				want = append(want, float32(v)/2)
			}
			require.Equal(t, want, testkit.Elements[float32](t, tensor.Must(got.Tensor(k))), k)
			require.Equal(t, x.Shape(), tensor.Must(got.Tensor(k)).Shape())
		}
		require.NoError(t, td.Unlock())
	})
}

func TestMapElemsRefuses(t *testing.T) {
	broken := func(v int64) int64 {
		if v == 10 {
			panic(errStop)
		}
		return v
	}
	td := func() *tdict.TensorDict {
		return dict([]int{3}, entry{"a", count(3)}, entry{"d/x", count(3, 4)})
	}
	tests := []struct {
		name string
		op   func(td *tdict.TensorDict) error
		err  error
		text string
	}{
		{"a panic", func(td *tdict.TensorDict) error { return testkit.Err(tdict.MapElems(td, broken)) }, errStop, `map elems "d/x": element [2 2]: panic: stop`},
		{"no elements", func(*tdict.TensorDict) error {
			return testkit.Err(tdict.MapElems(tensor.Must(td().ToMeta()), broken))
		}, tensor.ErrMeta, `map elems "a": `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := td()
			testkit.Unchanged(t, x, state, func() {
				err := tt.op(x)
				require.ErrorIs(t, err, tt.err)
				require.ErrorContains(t, err, tt.text)
			})
		})
	}
}

// Elements come one after the other, in the order of the keys. Where no leaf has the dtype, that is
// said, since it is a slip of the function's type; a dictionary without tensors stays as it is.
func TestMapElemsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		td, began, seen := dict([]int{3}, entry{"b", count(3)}, entry{"a/c", tensor.Vector[int64](7, 8, 9)}), time.Now(), []int64{}
		_, err := tdict.MapElems(td, func(v int64) int64 {
			time.Sleep(time.Second)
			seen = append(seen, v)
			return v
		})
		require.NoError(t, err)
		require.Equal(t, []int64{0, 1, 2, 7, 8, 9}, seen)
		require.Equal(t, 6*time.Second, time.Since(began))
	})
	never := func(bool) int8 { panic("no bool here") }
	require.ErrorIs(t, testkit.Err(tdict.MapElems(sample(), never)), tensor.ErrDType)
	got, err := tdict.MapElems(tdict.New(2), never)
	require.NoError(t, err)
	require.True(t, tdict.New(2).Equal(got))
}

// A panic has its stack, as that of a function for tensors.
func TestMapElemsPanic(t *testing.T) {
	_, err := tdict.MapElems(sample(), func(int64) bool { panic("at 0") })
	p, ok := errors.AsType[*tdict.PanicError](err)
	require.True(t, ok)
	require.Equal(t, "at 0", p.Value)
	require.Contains(t, string(p.Stack), "elems_test.go")
}

// A leaf that is not touched need not be writable, nor have elements.
func TestMapElemsOfOtherDTypes(t *testing.T) {
	lender := &testkit.Lender{Bytes: make([]byte, 24), Locked: true, Fail: errStop}
	td := dict([]int{3}, entry{"a", tensor.Must(tensor.FromLender(tensor.Int64, lender, 0, 3))}, entry{"b", tensor.Vector[uint8](1, 2, 3)})
	got, err := tdict.MapElems(td, func(v uint8) bool { return v > 1 })
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, true}, testkit.Elements[bool](t, tensor.Must(got.Tensor("b"))))
	require.Equal(t, shapeops.Shape{3}, got.Shape())
}
