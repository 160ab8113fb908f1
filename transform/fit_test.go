package transform_test

import (
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

func TestFitOfSpecialColumns(t *testing.T) {
	tests := []struct {
		name      string
		column    []float64
		mean, std float64
	}{
		{"constant", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 0.1, 1},
		{"a single one", []float64{nan, 7, nan}, 7, 1},
		{"nothing present", []float64{nan, nan}, 0, 1},
		{"no rows", nil, 0, 1},
		{"two", []float64{1, nan, 3}, 2, 1},
		{"far from zero", []float64{1e9 + 1, 1e9 + 3, 1e9 + 5}, 1e9 + 3, math.Sqrt(8. / 3)},
		{"the largest", []float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tdict.New(len(tt.column))
			require.NoError(t, td.Set("x", tensor.Vector(tt.column...)))
			s := tensor.Must(transform.FitStandard(td, nil))
			require.Equal(t, tt.mean, tensor.Must(tensor.Item[float64](tensor.Must(s.Mean().Tensor("x")))))
			require.Equal(t, tt.std, tensor.Must(tensor.Item[float64](tensor.Must(s.Std().Tensor("x")))))
			require.Equal(t, "standard: 1 column", s.String())
		})
	}
}

// TestFitOfManyParts: over the parts in which a large leaf is read, a constant column stays exact
// and others right.
func TestFitOfManyParts(t *testing.T) {
	const n = 300_000
	values, wide := make([]float32, 2*n), make([]float64, 2*n)
	for i := range n {
		values[2*i], values[2*i+1] = 0.1, float32(i)
		wide[2*i], wide[2*i+1] = float64(float32(0.1)), float64(i)
	}
	td := tdict.New(n)
	require.NoError(t, td.Set("labs", tensor.Must(tensor.From(values, n, 2))))
	s := tensor.Must(transform.FitStandard(td, nil))
	means, stds := naive(wide, 2)
	mean, std := in64(t, s.Mean()), in64(t, s.Std())
	require.Equal(t, []float64{wide[0], 1}, []float64{mean[0], std[0]})
	require.InEpsilon(t, means[1], mean[1], 1e-13)
	require.InEpsilon(t, stds[1], std[1], 1e-13)
}

// TestFitDoesNotDependOnCores, nor on how the elements lie.
func TestFitDoesNotDependOnCores(t *testing.T) {
	const n = 200_000
	td, turned := labs(t, n, tensor.Float32), tdict.New(n)
	x := tensor.Must(tensor.Must(tensor.Must(td.Tensor("labs")).Permute(1, 0)).Clone())
	for key, x := range map[*tdict.TensorDict]*tensor.Tensor{td: tensor.Must(td.Tensor("labs")), turned: tensor.Must(x.Permute(1, 0))} {
		require.NoError(t, key.Set("labs", x))
		require.NoError(t, key.Set("more", x))
	}
	want := tensor.Must(tensor.Must(transform.FitStandard(td, nil)).Data())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 3} {
		runtime.GOMAXPROCS(cores)
		for _, td := range []*tdict.TensorDict{td, turned} {
			require.True(t, want.Equal(tensor.Must(tensor.Must(transform.FitStandard(td, nil)).Data())))
		}
	}
}

// TestFitOverWhatIsPresent compares the ways to say what counts.
func TestFitOverWhatIsPresent(t *testing.T) {
	td := labs(t, 120, tensor.Float64)
	rows, hidden := make([]bool, 120), slices.Clone(in64(t, td))
	for i := range rows {
		if rows[i] = i%3 != 1; !rows[i] {
			hidden[3*i], hidden[3*i+1], hidden[3*i+2] = nan, nan, nan
		}
	}
	means, stds := naive(hidden, 3)
	mask := tensor.Vector(rows...)
	wide := tensor.Must(tensor.Must(mask.Unsqueeze(1)).Expand(120, 3))
	dict := func(x *tensor.Tensor) *tdict.TensorDict {
		masks := tdict.New(120)
		require.NoError(t, masks.Set("labs", x))
		require.NoError(t, masks.Set("another", x))
		return masks
	}
	tests := []struct {
		name    string
		td      *tdict.TensorDict
		present any
	}{
		{"a mask of rows", td, mask},
		{"a mask of elements", td, wide},
		{"a dictionary of masks of rows", td, dict(mask)},
		{"a dictionary of masks of elements", td, dict(wide)},
		{"a table", tensor.Must(td.Reshape(10, 12)), tensor.Must(mask.Reshape(10, 12))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tensor.Must(transform.FitStandard(tt.td, tt.present))
			require.InEpsilonSlice(t, means, in64(t, s.Mean()), 1e-12)
			require.InEpsilonSlice(t, stds, in64(t, s.Std()), 1e-12)
		})
	}
}

// TestFitUnderMasksOfPadding: what PadSequenceMasked padded does not count.
func TestFitUnderMasksOfPadding(t *testing.T) {
	td := labs(t, 60, tensor.Float32)
	parts := tensor.Must(shapeops.Split(td, 0, 10, 30, 20))
	batch, masks, err := shapeops.PadSequenceMasked(parts, shapeops.PadSequenceOptions{Fill: 99})
	require.NoError(t, err)
	want, got := tensor.Must(transform.FitStandard(td, nil)), tensor.Must(transform.FitStandard(batch, masks))
	require.InEpsilonSlice(t, in64(t, want.Mean()), in64(t, got.Mean()), 1e-12)
	require.InEpsilonSlice(t, in64(t, want.Std()), in64(t, got.Std()), 1e-12)
}

func TestFitRefuses(t *testing.T) {
	td := labs(t, 4, tensor.Float32)
	masks := func(key nestedkey.Key, shape ...int) *tdict.TensorDict {
		m := tdict.New(shape[0])
		require.NoError(t, m.Set(key, tensor.Must(tensor.Zeros[bool](shape...))))
		return m
	}
	column := func(v ...float64) *tdict.TensorDict {
		td := tdict.New(len(v))
		require.NoError(t, td.Set("x", tensor.Vector(v...)))
		return td
	}
	var noMask *tensor.Tensor
	var noMasks *tdict.TensorDict
	tests := []struct {
		name    string
		td      *tdict.TensorDict
		present any
		is      error
	}{
		{"no dictionary", nil, nil, tdict.ErrKind},
		{"no rows", tdict.New(), nil, shapeops.ErrDim},
		{"a nil mask", td, noMask, tdict.ErrKind},
		{"nil masks", td, noMasks, tdict.ErrKind},
		{"another type", td, true, tdict.ErrKind},
		{"a mask of integers", td, tensor.Vector[int64](1, 1, 1, 1), tensor.ErrDType},
		{"a mask for all", td, tensor.Scalar(true), shapeops.ErrShape},
		{"a mask of other rows", td, tensor.Vector(true, false), shapeops.ErrShape},
		{"a mask of more dims", td, masks("labs", 4, 3, 2), shapeops.ErrShape},
		{"masks without the key", td, masks("else", 4), tdict.ErrMissing},
		{"an infinity", column(1, math.Inf(1)), nil, transform.ErrNumber},
		{"both infinities", column(math.Inf(1), math.Inf(-1)), nil, transform.ErrNumber},
		{"a schema whose mask does not fit", td, tdict.Schema{{Key: "labs", Mask: "labs"}}, tensor.ErrDType},
		{"no elements", tensor.Must(td.ToMeta()), nil, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.is, testkit.Err(transform.FitStandard(tt.td, tt.present)))
		})
	}
}

// TestFitWithSchema: a schema says which leaves have masks, of elements, of values and of rows.
// Names do not.
func TestFitWithSchema(t *testing.T) {
	lists := tensor.Must(ragged.From[float64]([][]float64{{1, 6}, {0, 3}, {5}}))
	td := tensor.Must(tdict.FromMap(shapeops.Shape{3}, tdict.Entries{
		"x": tensor.Vector(1.5, 99, 0.5), "x_mask": tensor.Vector(true, false, true), "y": tensor.Vector(1., 2, 3),
		"pairs": tensor.Must(tensor.From([]float64{1, 2, 3, math.NaN(), 5, 6}, 3, 2)), "there": tensor.Must(tensor.From([]bool{true, false, true, false, false, true}, 3, 2)),
		"lists": lists, "rows": lists, "each": tensor.Must(ragged.From[bool]([][]bool{{true, false}, {false, true}, {true}})),
	}))
	schema := tdict.SchemaOf(td)
	for i := range schema {
		schema[i].Mask = map[nestedkey.Key]nestedkey.Key{"x": "x_mask", "pairs": "there", "lists": "each", "rows": "x_mask"}[schema[i].Key]
	}
	path := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.SaveWith(t.Context(), path, td, memmap.SaveOptions{Schema: schema}))
	ds := tensor.Must(memmap.Open(path))
	defer func() { require.NoError(t, ds.Close()) }()
	for name, s := range map[string]*transform.Standard{
		"a schema": tensor.Must(transform.FitStandard(td, schema)), "a dataset": tensor.Must(transform.FitStandard(ds, nil)),
		"both": tensor.Must(transform.FitStandard(ds, schema)),
	} {
		mean := func(key nestedkey.Key) []float64 {
			return testkit.Elements[float64](t, tensor.Must(s.Mean().Tensor(key)))
		}
		require.Equal(t, []float64{1}, mean("x"), name)
		require.Equal(t, []float64{2}, mean("y"), name)
		require.Equal(t, []float64{2, 6}, mean("pairs"), name)
		require.Equal(t, []float64{3}, mean("lists"), name)
		require.Equal(t, []float64{4}, mean("rows"), name)
	}
	s := tensor.Must(transform.FitStandard(ds.TensorDict, nil))
	require.Equal(t, []float64{101. / 3}, testkit.Elements[float64](t, tensor.Must(s.Mean().Tensor("x"))), "a name makes no mask")
	s = tensor.Must(transform.FitStandard(ds, tdict.Schema{}))
	require.Equal(t, []float64{101. / 3}, testkit.Elements[float64](t, tensor.Must(s.Mean().Tensor("x"))), "another schema")
}

// TestFitOfMappedFilesKeepsNoCopy: for 64 times the bytes, it allocates headers only.
func TestFitOfMappedFilesKeepsNoCopy(t *testing.T) {
	if !longtests.On() {
		t.Skip("writes 64 MiB")
	}
	open := func(n int) *memmap.Dataset {
		dir, td := filepath.Join(t.TempDir(), "ds"), tdict.New(n)
		require.NoError(t, td.Set("x", tensor.Must(tensor.Must(tensor.Zeros[float32](1, 256)).Expand(n, 256))))
		require.NoError(t, memmap.Save(dir, td))
		ds := tensor.Must(memmap.Open(dir))
		t.Cleanup(func() { require.NoError(t, ds.Close()) })
		return ds
	}
	little, much := open(1<<10), open(64<<10)
	for name, masked := range map[string]bool{"everything": false, "under a mask": true} {
		t.Run(name, func(t *testing.T) {
			fit := func(td *memmap.Dataset) func() {
				var present any
				if masked {
					present = tensor.Must(tensor.Full(true, td.Shape()...))
				}
				return func() { _ = tensor.Must(transform.FitStandard(td.TensorDict, present)) }
			}
			testkit.Near(t, 6, fit(little), fit(much))
		})
	}
}

// TestFitOfAnyRange scales numbers whose squares are out of the range of float64, beside others. An
// infinity is an error as before.
func TestFitOfAnyRange(t *testing.T) {
	sizes := []float64{1, 1e-160, 1e-200, 5e-324, 1e-300, 1e155, 1e200, 1.7e308}
	rows := []float64{}
	for _, sign := range []float64{1, -1, 1, -1} {
		for _, v := range sizes {
			rows = append(rows, sign*v)
		}
		rows = append(rows, 1e-200, 0) // constant
	}
	td := tdict.New(4)
	require.NoError(t, td.Set("x", tensor.Must(tensor.From(rows, 4, len(sizes)+2))))
	s := tensor.Must(transform.FitStandard(td, nil))
	got := testkit.Elements[float64](t, tensor.Must(tensor.Must(s.Apply(td, transform.Draw{})).Tensor("x")))
	for i, v := range got {
		want := float64(1 - i/(len(sizes)+2)%2*2)
		if i%(len(sizes)+2) >= len(sizes) {
			want = 0
		}
		require.InDelta(t, want, v, 1e-12, "%d: %v", i, rows[i])
	}
}
