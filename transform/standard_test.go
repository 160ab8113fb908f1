package transform_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// labs returns n rows of three columns as a dtype, a tenth of them NaN.
func labs(t testing.TB, n int, dtype tensor.DType) *tdict.TensorDict {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	values := make([]float64, 3*n)
	for i := range values {
		values[i] = []float64{5, -200, 1e4}[i%3] + r.NormFloat64()*[]float64{1, 30, 100}[i%3]
		if r.IntN(10) == 0 {
			values[i] = nan
		}
	}
	td := tdict.New(n)
	require.NoError(t, td.Set("labs", tensor.Must(tensor.Must(tensor.From(values, n, 3)).Cast(dtype))))
	return td
}

// naive returns the mean and deviation of each column of what is not NaN.
func naive(values []float64, columns int) (means, stds []float64) {
	for c := range columns {
		sum, n, squares := 0., 0., 0.
		for i := c; i < len(values); i += columns {
			if !math.IsNaN(values[i]) {
				sum, n = sum+values[i], n+1
			}
		}
		for i := c; i < len(values); i += columns {
			if !math.IsNaN(values[i]) {
				squares += (values[i] - sum/n) * (values[i] - sum/n)
			}
		}
		means, stds = append(means, sum/n), append(stds, math.Sqrt(squares/n))
	}
	return means, stds
}

// in64 returns the elements of the labs.
func in64(t testing.TB, td *tdict.TensorDict) []float64 {
	t.Helper()
	return tensor.Must(tensor.Of[float64](tensor.Must(tensor.Must(td.Tensor("labs")).Cast(tensor.Float64))))
}

// TestStandardMakesMeanZeroAndDeviationOne of every dtype, and back.
func TestStandardMakesMeanZeroAndDeviationOne(t *testing.T) {
	for dtype, within := range map[tensor.DType]float64{
		tensor.Float64: 1e-12, tensor.Float32: 1e-6, tensor.Float16: 2e-3, tensor.BFloat16: 2e-2,
	} {
		t.Run(dtype.String(), func(t *testing.T) {
			td := labs(t, 1000, dtype)
			s := tensor.Must(transform.FitStandard(td, nil))
			means, stds := naive(in64(t, td), 3)
			require.InEpsilonSlice(t, means, in64(t, s.Mean()), 1e-12)
			require.InEpsilonSlice(t, stds, in64(t, s.Std()), 1e-12)

			out := tensor.Must(s.Apply(td, transform.Draw{}))
			require.Equal(t, dtype, tensor.Must(out.Tensor("labs")).DType())
			means, stds = naive(in64(t, out), 3)
			require.InDeltaSlice(t, []float64{0, 0, 0}, means, within)
			require.InDeltaSlice(t, []float64{1, 1, 1}, stds, within)

			back := in64(t, tensor.Must(s.Invert(out)))
			for i, v := range in64(t, td) {
				require.Equal(t, math.IsNaN(v), math.IsNaN(back[i]))
				if v == v {
					require.InEpsilon(t, v, back[i], 10*within)
				}
			}
		})
	}
}

// TestStandardIsExact: each element is computed in float64 and rounded once, in every layout.
func TestStandardIsExact(t *testing.T) {
	td := labs(t, 50, tensor.Float32)
	s := tensor.Must(transform.FitStandard(td, nil))
	mean, std := in64(t, s.Mean()), in64(t, s.Std())
	for name, part := range map[string]*tdict.TensorDict{
		"whole":    td,
		"steps":    tensor.Must(td.Index(ix.Range(3, 40).Step(4))),
		"repeated": tensor.Must(tensor.Must(td.Index(ix.Range(2, 3))).Expand(6)),
		"no row":   tensor.Must(td.Index(ix.Range(2, 2))),
		"one row":  tensor.Must(td.Index(ix.At(7))),
		"a table":  tensor.Must(td.Reshape(5, 10)),
		"turned":   tensor.Must(tensor.Must(td.Reshape(5, 10)).Transpose(0, 1)),
	} {
		got, from := in64(t, tensor.Must(s.Apply(part, transform.Draw{}))), in64(t, part)
		require.Len(t, got, len(from))
		for i, v := range from {
			want := float64(float32((v - mean[i%3]) / std[i%3]))
			if want != got[i] && want == want {
				t.Fatalf("%s: element %d: got %v, want %v", name, i, got[i], want)
			}
		}
	}
}

// TestColumnsOfEveryRank: leaves [N], [N 1], [N F] and [N F G], with rows repeated or not.
func TestColumnsOfEveryRank(t *testing.T) {
	for _, columns := range []shapeops.Shape{{}, {1}, {4}, {4, 1}, {2, 3}, {1, 3}} {
		const n = 20
		size := columns.Size()
		values := make([]float64, n*size)
		for i := range values {
			values[i] = float64(i*i%17) + float64(i%size)*100
		}
		td := tdict.New(n)
		require.NoError(t, td.Set("labs", tensor.Must(tensor.From(values, slices.Concat(shapeops.Shape{n}, columns)...))))
		s := tensor.Must(transform.FitStandard(td, nil))
		means, stds := naive(values, size)
		got := in64(t, tensor.Must(s.Apply(td, transform.Draw{})))
		for i, v := range values {
			require.InDelta(t, (v-means[i%size])/stds[i%size], got[i], 1e-12, "%v", columns)
		}
		again := tensor.Must(tensor.Must(td.Index(ix.Range(3, 4))).Expand(n))
		for i, v := range in64(t, tensor.Must(s.Apply(again, transform.Draw{}))) {
			require.Equal(t, got[3*size+i%size], v, "%v", columns)
		}
	}
}

// TestStandardKeepsOtherLeaves: integers, bools, data, and what it was not fitted on.
func TestStandardKeepsOtherLeaves(t *testing.T) {
	td := images(t, 4)
	s := tensor.Must(transform.FitStandard(td, nil))
	require.Equal(t, []nestedkey.Key{"obs/depth"}, testkit.Keys(s.Mean().Leaves()))
	require.True(t, apply(t, s, td, transform.Draw{}).Exclude("obs").Equal(td.Exclude("obs")))
	require.True(t, apply(t, &transform.Standard{}, td, transform.Draw{}).Equal(td))
}

func TestStandardRefuses(t *testing.T) {
	s := tensor.Must(transform.FitStandard(labs(t, 4, tensor.Float32), nil))
	with := func(key nestedkey.Key, x *tensor.Tensor) *tdict.TensorDict {
		td := tdict.New(2)
		require.NoError(t, td.Set(key, x))
		return td
	}
	tests := []struct {
		name string
		td   *tdict.TensorDict
		is   error
	}{
		{"no leaf", tdict.New(2), tdict.ErrMissing},
		{"integers", with("labs", tensor.Must(tensor.Zeros[int64](2, 3))), tensor.ErrDType},
		{"bytes", with("labs", tensor.Must(tensor.Zeros[uint8](2, 3))), tensor.ErrDType},
		{"other columns", with("labs", tensor.Must(tensor.Zeros[float32](2, 4))), shapeops.ErrShape},
		{"no columns", with("labs", tensor.Must(tensor.Zeros[float32](2))), shapeops.ErrShape},
		{"a dictionary", with("labs/x", tensor.Vector(1., 2)), tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.is, testkit.Err(s.Apply(tt.td, transform.Draw{})))
		})
	}
	_, err := s.Invert(nil)
	require.ErrorIs(t, err, tdict.ErrKind)
}

// TestStatisticsAreLocked: nobody may add to them.
func TestStatisticsAreLocked(t *testing.T) {
	s := tensor.Must(transform.FitStandard(labs(t, 4, tensor.Float32), nil))
	require.ErrorIs(t, s.Mean().Set("x", tensor.Scalar(1.)), tdict.ErrLocked)
	require.ErrorIs(t, s.Std().Set("x", tensor.Scalar(1.)), tdict.ErrLocked)
}
