package arith_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// mixed returns a dictionary of several dtypes, nested, with data.
func mixed() *tdict.TensorDict {
	td := tdict.New(3)
	_ = td.Set("n", tensor.Vector[int64](1, -2, 3))
	_ = td.Set("in/f", tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	_ = td.Set("in/h", tensor.Vector(tensor.F16Of(0.5), tensor.F16Of(1), tensor.F16Of(-1)))
	_ = td.Set("name", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3)))
	return td
}

// TestVerbsOfDictionaries: the operand is a dictionary by key, a tensor over the batch dims, or a
// number in each leaf's dtype.
func TestVerbsOfDictionaries(t *testing.T) {
	type td = *tdict.TensorDict
	tests := []struct {
		name string
		got  func(x td) (td, error)
		want map[nestedkey.Key][]float64
	}{
		{"a number", func(x td) (td, error) { return arith.Add(x, 1) },
			map[nestedkey.Key][]float64{"n": {2, -1, 4}, "in/f": {2, 3, 4, 5, 6, 7}, "in/h": {1.5, 2, 0}}},
		{"a dictionary, by key", func(x td) (td, error) { return arith.Mul(x, x) },
			map[nestedkey.Key][]float64{"n": {1, 4, 9}, "in/f": {1, 4, 9, 16, 25, 36}, "in/h": {0.25, 1, 1}}},
		{"none", func(x td) (td, error) { return arith.Neg(x) },
			map[nestedkey.Key][]float64{"n": {-1, 2, -3}, "in/f": {-1, -2, -3, -4, -5, -6}, "in/h": {-0.5, -1, 1}}},
		{"two numbers", func(x td) (td, error) { return arith.Clamp(x, 0, 2) },
			map[nestedkey.Key][]float64{"n": {1, 0, 2}, "in/f": {1, 2, 2, 2, 2, 2}, "in/h": {0.5, 1, 0}}},
		{"a mask of each leaf", func(x td) (td, error) { return arith.Greater(x, 1) },
			map[nestedkey.Key][]float64{"n": {0, 0, 1}, "in/f": {0, 1, 1, 1, 1, 1}, "in/h": {0, 0, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := mixed()
			got, err := tt.got(x)
			require.NoError(t, err)
			require.Equal(t, testkit.Keys(x.Leaves()), testkit.Keys(got.Leaves()))
			for key, want := range tt.want {
				have := tensor.Must(tensor.Must(got.Tensor(key)).Cast(tensor.Float64))
				require.Equal(t, want, testkit.Elements[float64](t, have), key)
			}
			require.Equal(t, state(t, mixed()), state(t, x), "x stays")
		})
	}
	perRow := tensor.Vector[float32](10, 20, 30)
	sum := tensor.Must(arith.Add(tensor.Must(tensor.Must(mixed().Select("in/f")).Clone()), perRow))
	require.Equal(t, []float32{11, 12, 23, 24, 35, 36}, tensor.Must(tdict.Slice[float32](sum, "in/f")))
}

// TestVerbsChangeNothingWhenTheyFail: of several leaves, none.
func TestVerbsChangeNothingWhenTheyFail(t *testing.T) {
	sums := func() *tdict.TensorDict {
		td := tdict.New(2)
		_ = td.Set("f", tensor.Vector[float32](1, 2))
		_ = td.Set("b", tensor.Vector[uint8](1, 250))
		_ = td.Set("z", tensor.Vector[int8](1, -128))
		return td
	}
	byte2 := lent(tensor.Bool, &testkit.Lender{Bytes: []byte{1, 2}}, 2)
	x := func(td *tdict.TensorDict, key nestedkey.Key) *tensor.Tensor { return tensor.Must(td.Tensor(key)) }
	type R = testkit.Refusal[*tdict.TensorDict]
	testkit.Refuse(t, sums, state, []R{
		{"a sum beyond the dtype", func(d *tdict.TensorDict) error { return arith.AddInto(d, d, 10) }, tensor.ErrDType},
		{"a sum into another", func(d *tdict.TensorDict) error { return arith.AddInto(d, sums(), 10) }, tensor.ErrDType},
		{"a number that a leaf does not hold", func(d *tdict.TensorDict) error { return testkit.Err(arith.Add(d, 0.5)) }, tensor.ErrDType},
		{"a number beyond a dtype", func(d *tdict.TensorDict) error { return testkit.Err(arith.Less(d, 1000)) }, tensor.ErrDType},
		{"a tensor of another dtype", func(d *tdict.TensorDict) error { return testkit.Err(arith.Add(x(d, "f"), x(d, "b"))) }, tensor.ErrDType},
		{"a tensor of another shape", func(d *tdict.TensorDict) error {
			return testkit.Err(arith.Add(x(d, "b"), tensor.Vector[uint8](1, 2, 3)))
		}, shapeops.ErrShape},
		{"a dictionary with other keys", func(d *tdict.TensorDict) error {
			return testkit.Err(arith.Add(d, sums().Exclude("z")))
		}, tdict.ErrMissing},
		{"a destination of the operands' dtype for a mask", func(d *tdict.TensorDict) error { return arith.LessInto(d, sums(), 1) }, tensor.ErrDType},
		{"a byte that is no bool", func(d *tdict.TensorDict) error { return testkit.Err(arith.Not(byte2)) }, tensor.ErrDType},
		{"a text", func(d *tdict.TensorDict) error { return testkit.Err(arith.Add(d, "1")) }, tensor.ErrKind},
		{"classes that there are not", func(d *tdict.TensorDict) error { return testkit.Err(arith.OneHot(x(d, "b"), 3, tensor.Bool)) }, shapeops.ErrIndex},
		{"a class below 0", func(d *tdict.TensorDict) error {
			return testkit.Err(arith.OneHot(x(d, "z"), 3, tensor.Int64))
		}, shapeops.ErrIndex},
		{"a negative number of classes", func(d *tdict.TensorDict) error { return testkit.Err(arith.OneHot(x(d, "z"), -1, tensor.Bool)) }, shapeops.ErrShape},
		{"classes of fractions", func(d *tdict.TensorDict) error { return testkit.Err(arith.OneHot(x(d, "f"), 3, tensor.Bool)) }, tensor.ErrDType},
		{"one-hot complex", func(d *tdict.TensorDict) error { return testkit.Err(arith.OneHot(x(d, "b"), 3, tensor.Complex64)) }, tensor.ErrDType},
		{"scaling to integers", func(d *tdict.TensorDict) error { return testkit.Err(arith.CastScale(d, tensor.Int64, 1, 0)) }, tensor.ErrDType},
		{"scaling bools", func(d *tdict.TensorDict) error {
			return testkit.Err(arith.CastScale(tensor.Vector(true), tensor.Float32, 1, 0))
		}, tensor.ErrDType},
	})
}

// TestCastScale compares with a plain loop for each pair of dtypes.
func TestCastScale(t *testing.T) {
	const scale, shift = 0.3, -7.1
	for _, from := range tensor.DTypes() {
		for _, to := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
			if from == tensor.Bool || from.IsComplex() {
				continue
			}
			wide := make([]float64, 5000)
			for i := range wide {
				wide[i] = float64(i % 100)
			}
			x := tensor.Must(tensor.Must(tensor.From(wide, 50, 100)).Cast(from))
			turned := tensor.Must(x.Transpose(0, 1))
			got := tensor.Must(arith.CastScale(turned, to, scale, shift))
			require.Equal(t, to, got.DType())
			narrow := from.Size() <= 2 || from == tensor.Float32
			var want []float64
			for v := range tensor.Must(tensor.Elements[float64](tensor.Must(turned.Cast(tensor.Float64)))) {
				w := v*scale + shift
				if narrow && to != tensor.Float64 {
					p := float32(v) * float32(scale)
					w = float64(p + float32(shift))
				}
				want = append(want, w)
			}
			exact := tensor.Must(tensor.Must(tensor.From(want, 100, 50)).Cast(to))
			require.True(t, exact.Equal(got), "%v to %v", from, to)
			into := tensor.Must(tensor.New(to, 100, 50))
			require.NoError(t, arith.CastScaleInto(into, turned, to, scale, shift))
			require.True(t, exact.Equal(into))
		}
	}
	fine := tensor.Vector(1+0x1p-11+0x1p-30, 1<<24+1<<16+1)
	for _, to := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32} {
		require.True(t, tensor.Must(fine.Cast(to)).Equal(tensor.Must(arith.CastScale(fine, to, 1, 0))), "rounded once to %v", to)
	}
	x := tensor.Vector[float32](1, 2)
	require.NoError(t, arith.CastScaleInto(x, x, tensor.Float32, 2, 1))
	require.Equal(t, []float32{3, 5}, testkit.Elements[float32](t, x))
}

// TestOneHot makes every dtype of every integer dtype, of batch and feature shapes.
func TestOneHot(t *testing.T) {
	for _, from := range []tensor.DType{tensor.Uint8, tensor.Int32, tensor.Uint64, tensor.Int64} {
		for _, to := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Float16, tensor.Int32, tensor.Float64} {
			x := tensor.Must(tensor.Must(tensor.From([]int64{2, 0, 1, 1, 0, 2}, 3, 2)).Cast(from))
			got := tensor.Must(arith.OneHot(tensor.Must(x.Transpose(0, 1)), 3, to))
			require.Equal(t, shapeops.Shape{2, 3, 3}, got.Shape())
			want := []int64{0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}
			require.Equal(t, want, testkit.Elements[int64](t, tensor.Must(got.Cast(tensor.Int64))))
		}
	}
	empty := tensor.Must(arith.OneHot(tensor.Must(tensor.Zeros[int8](0, 2)), 0, tensor.Bool))
	require.Equal(t, shapeops.Shape{0, 2, 0}, empty.Shape())
}

// TestVerbsOnSeveralCores: what is large enough for several cores is the same on one.
func TestVerbsOnSeveralCores(t *testing.T) {
	n := 5<<20 + 7
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(math.Sin(float64(i)))
	}
	x := tensor.Must(tensor.From(s, n))
	several := tensor.Must(arith.Mul(tensor.Must(arith.Exp(x)), x))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := tensor.Must(arith.Mul(tensor.Must(arith.Exp(x)), x))
	require.True(t, one.Equal(several))
}

// TestTryingTakesABlock: what is tried before memory is written takes no memory like it.
func TestTryingTakesABlock(t *testing.T) {
	x := tensor.Must(tensor.Zeros[int32](4 << 20))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	most := uint64(x.ByteSize()) * 3 / 4 // under the race detector, pools forget
	testkit.MaxBytes(t, most, func() { require.NoError(t, arith.AddInto(x, x, 1)) })
}

// TestVerbsAllocate headers, blocks and the result's elements only.
func TestVerbsAllocate(t *testing.T) {
	allocations := func(leaves int) float64 {
		td := tdict.New(32)
		for i := range leaves {
			require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("leaf", i)), tensor.Must(tensor.Zeros[float32](32, 4))))
		}
		return testing.AllocsPerRun(20, func() { _, _ = arith.Add(td, 1) })
	}
	require.LessOrEqual(t, allocations(10), 22.0)
	require.LessOrEqual(t, allocations(1000), 24.0)
	x, dst := tensor.Must(tensor.Zeros[float32](1000)), tensor.Must(tensor.Zeros[float32](1000))
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { _ = arith.AddInto(dst, x, 1) }), 17.0)
}

// TestDictionariesBroadcast: the batch dims of an operand to batch dims, features to features.
func TestDictionariesBroadcast(t *testing.T) {
	x := tensor.Must(rows(0).Select("x", "d/y", "d/z")) // batch shapes [3] and [3 2]
	one := func(batch ...int) *tdict.TensorDict {
		td := tensor.Must(x.NewZeros(batch...))
		require.NoError(t, arith.FillInPlace(td, 7))
		return td
	}
	want := state(t, tensor.Must(arith.Add(x, 7)))
	for _, batch := range [][]int{{1}, {3}} {
		require.Equal(t, want, state(t, tensor.Must(arith.Add(x, one(batch...)))), batch)
	}
	into := tensor.Must(x.NewZeros(x.Shape()...))
	require.NoError(t, arith.AddInto(into, x, one(1)))
	require.Equal(t, want, state(t, into))
	require.ErrorIs(t, testkit.Err(arith.Add(x, one(2))), shapeops.ErrShape)
	require.ErrorIs(t, testkit.Err(arith.Where(mask3, x, one(1))), shapeops.ErrShape, "rows are picked")

	flat := dict([]int{3}, entry{"f", numbers(0, 3, 2)})
	perColumn := dict(nil, entry{"f", tensor.Vector[int64](10, 20)})
	sum := tensor.Must(arith.Add(flat, perColumn))
	require.Equal(t, []int64{10, 21, 12, 23, 14, 25}, tensor.Must(tdict.Slice[int64](sum, "f")))
	fewer := dict(nil, entry{"f", tensor.Scalar[int64](7)})
	require.ErrorIs(t, testkit.Err(arith.Add(flat, fewer)), shapeops.ErrShape, "features are as many")
}
