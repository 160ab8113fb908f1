package transform_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// listsOf returns a ragged tensor of random values, a tenth of them NaN, a quarter of the rows
// empty: [B... * * F...].
func listsOf(t testing.TB, dtype tensor.DType, batch shapeops.Shape, depth int, features ...int) *ragged.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(depth), uint64(batch.Size())))
	layout, rows := tensor.Must(ragged.NewLayout(batch)), batch.Size()
	for range depth {
		offsets := make([]int64, rows+1)
		for i := range rows {
			offsets[i+1] = offsets[i] + int64(max(0, r.IntN(8)-1))
		}
		layout, rows = tensor.Must(layout.Nest(offsets)), int(offsets[rows])
	}
	shape := append(shapeops.Shape{rows}, features...)
	values := make([]float64, shape.Size())
	for i := range values {
		if values[i] = 3 + 2*r.NormFloat64(); r.IntN(10) == 0 {
			values[i] = nan
		}
	}
	x := tensor.Must(tensor.Must(tensor.From(values, shape...)).Cast(dtype))
	return tensor.Must(ragged.New(x, layout))
}

// with returns a dictionary with one leaf, called labs.
func with(t testing.TB, x tdict.Value, batch ...int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(batch...)
	require.NoError(t, td.Set("labs", x))
	return td
}

// wide returns the values of x, row by row, by way of Row and Index only.
func wide(t testing.TB, x *ragged.Tensor) (values []float64) {
	t.Helper()
	if len(x.Shape()) == 0 {
		x := tensor.Must(tensor.Must(tensor.Must(x.Values()).Cast(tensor.Float64)).Contiguous())
		return slices.Clone(tensor.Must(tensor.Of[float64](x)))
	}
	for i := range x.Shape()[0] {
		values = append(values, wide(t, tensor.Must(x.Index(ix.At(i))))...)
	}
	return values
}

// requireNaive fails the test unless s has the statistics of values, NaN not counting.
func requireNaive(t testing.TB, values []float64, columns shapeops.Shape, s *transform.Standard) {
	t.Helper()
	require.Equal(t, fmt.Sprint(columns), fmt.Sprint(tensor.Must(s.Mean().Tensor("labs")).Shape()))
	means, stds := naive(values, columns.Size())
	mean, std := in64(t, s.Mean()), in64(t, s.Std())
	for c := range means {
		if math.IsNaN(means[c]) {
			means[c], stds[c] = 0, 1
		}
		if stds[c] == 0 {
			stds[c] = 1
		}
		if math.Abs(mean[c]-means[c]) > 1e-12 || math.Abs(std[c]-stds[c]) > 1e-12 {
			t.Fatalf("column %d: got %v and %v, want %v and %v", c, mean[c], std[c], means[c], stds[c])
		}
	}
}

// TestFitOfRaggedLeaves: their columns are the features, whatever the batch, the levels and the
// layout.
func TestFitOfRaggedLeaves(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.BFloat16} {
		for _, batch := range []shapeops.Shape{{9}, {3, 4}, {2, 3, 2}, {0}, {3, 0}} {
			for depth := range 4 {
				for _, features := range []shapeops.Shape{{}, {3}, {2, 2}} {
					x := listsOf(t, dtype, batch, depth, features...)
					t.Run(x.Text(), func(t *testing.T) {
						s := tensor.Must(transform.FitStandard(with(t, x, batch[0]), nil))
						requireNaive(t, wide(t, x), features, s)
					})
				}
			}
		}
	}
}

// TestFitOfRaggedViews: values that do not follow one another count once for each row that shows
// them, in the order of the rows: a copy has the same statistics, bit for bit.
func TestFitOfRaggedViews(t *testing.T) {
	testViews(t, listsOf(t, tensor.Float32, shapeops.Shape{4, 6}, 2, 3), 500)
	testViews(t, listsOf(t, tensor.Float32, shapeops.Shape{4, 6}, 1, 1<<13), 2) // a row may fill a block
}

// testViews fits views of x [4 6 ...], of which one repeats rows.
func testViews(t *testing.T, x *ragged.Tensor, times int) {
	index := func(expr ...ix.Index) *ragged.Tensor { return tensor.Must(x.Index(expr...)) }
	moved := func(x *ragged.Tensor, p *plan.Plan, err error) *ragged.Tensor {
		require.NoError(t, err)
		return tensor.Must(x.Ops().Execute(plan.NewPass(p)))
	}
	permute, err := plan.Permute(x.Shape(), 1, 0)
	permuted := moved(x, permute, err)
	expand, err := plan.Expand(shapeops.Shape{6, 1}, 6, times)
	repeated := moved(index(ix.At(1), ix.All, ix.New), expand, err)
	for name, part := range map[string]*ragged.Tensor{
		"a range":  index(ix.Range(1, 3)),
		"a row":    index(ix.At(2)),
		"steps":    index(ix.All, ix.Range(1, 6).Step(2)),
		"a column": index(ix.All, ix.At(3)),
		"a list":   index(ix.Take(3, 0, 3)),
		"a mask":   index(ix.Mask([]bool{true, false, false, true})),
		"permuted": permuted,
		"repeated": repeated,
		"no row":   index(ix.Range(2, 2)),
	} {
		t.Run(x.Text()+"/"+name, func(t *testing.T) {
			td := with(t, part, part.Shape()[0])
			s := tensor.Must(transform.FitStandard(td, nil))
			requireNaive(t, wide(t, part), x.Features(), s)
			requireSame(t, tensor.Must(transform.FitStandard(tensor.Must(td.Clone()), nil)), s)

			out := tensor.Must(tdict.Get[*ragged.Tensor](standardise(t, s, td), "labs"))
			requireStandardised(t, s, wide(t, part), wide(t, out), tensor.Float32)
		})
	}
}

// standardise applies s, which must not change its argument, locked or not.
func standardise(t testing.TB, s *transform.Standard, td *tdict.TensorDict) *tdict.TensorDict {
	t.Helper()
	td.Lock()
	before := contentOf(t, td)
	out, err := s.Apply(td, transform.Draw{})
	require.NoError(t, err)
	require.Equal(t, before, contentOf(t, td), "the argument has changed")
	return out
}

// contentOf returns the bytes of the labs.
func contentOf(t testing.TB, td *tdict.TensorDict) []byte {
	t.Helper()
	if x, err := tdict.Get[*ragged.Tensor](td, "labs"); err == nil {
		return testkit.Content(t, tensor.Must(x.Values()))
	}
	return testkit.Content(t, tensor.Must(td.Tensor("labs")))
}

// requireStandardised fails the test unless got is, bit for bit, what s makes of values.
func requireStandardised(t testing.TB, s *transform.Standard, values, got []float64, dtype tensor.DType) {
	t.Helper()
	require.Len(t, got, len(values))
	mean, std := in64(t, s.Mean()), in64(t, s.Std())
	for i, v := range values {
		want := (v - mean[i%len(mean)]) / std[i%len(mean)]
		if dtype != tensor.Float64 {
			want = float64(float32(want))
		}
		if want != got[i] && want == want {
			t.Fatalf("element %d: got %v, want %v", i, got[i], want)
		}
	}
}

// requireSame fails the test unless two Standards have the same numbers, bit for bit.
func requireSame(t testing.TB, want, got *transform.Standard) {
	t.Helper()
	require.Equal(t, []nestedkey.Key{"labs"}, testkit.Keys(want.Mean().Leaves()))
	require.Equal(t, want.String(), got.String())
	for _, of := range []func(*transform.Standard) *tdict.TensorDict{(*transform.Standard).Mean, (*transform.Standard).Std} {
		for key, x := range of(want).Tensors() {
			require.Equal(t, testkit.Content(t, x), testkit.Content(t, tensor.Must(of(got).Tensor(key))), "%s", key)
		}
	}
}

// TestFitAsNumPy does on [3 * 2] has the figures of numpy.nanmean and numpy.nanstd.
func TestFitAsNumPy(t *testing.T) {
	x := tensor.Must(tensor.From([]float64{1, 10, 2, nan, 4, 40, 7, 10, nan, 25}, 5, 2))
	td := with(t, tensor.Must(ragged.FromLengths(x, []int64{2, 0, 3})), 3)
	s := tensor.Must(transform.FitStandard(td, nil))
	require.Equal(t, "standard: 2 columns", s.String())
	require.Equal(t, []float64{0x1.cp+1, 0x1.54p+4}, in64(t, s.Mean()))
	require.Equal(t, []float64{0x1.2548eb9151e85p+1, 0x1.8dfeb6abd9841p+3}, in64(t, s.Std()))
	padded := td.Copy()
	require.NoError(t, padded.Set("labs", tensor.Must(tensor.Must(tdict.Get[*ragged.Tensor](td, "labs")).Densify(ragged.DensifyOptions{}))))
	require.InDeltaSlice(t, []float64{
		-1.09108945, -0.90453403, -0.65465367, 0, -1.52752523, -1.70856429,
		-1.52752523, -1.70856429, -1.52752523, -1.70856429, -1.52752523, -1.70856429,
		0.21821789, 1.50755672, 1.52752523, -0.90453403, 0, 0.30151134,
	}, in64(t, tensor.Must(transform.Compose(s, transform.FillNaN(0)).Apply(padded, transform.Draw{}))), 1e-8)
}

// TestFitOfRaggedUnderMasks compares masks of each kind with values that are NaN.
func TestFitOfRaggedUnderMasks(t *testing.T) {
	testMasks(t, listsOf(t, tensor.Float64, shapeops.Shape{5, 3}, 2, 3, 2))
	testMasks(t, listsOf(t, tensor.Float64, shapeops.Shape{5, 3}, 2, 1<<11, 2)) // a row may fill a block
}

// testMasks fits x [5 3 * * F 2], and views of it, under masks of each kind.
func testMasks(t *testing.T, x *ragged.Tensor) {
	for name, mask := range masksOf(t, x) {
		for _, view := range []string{"whole", "a range", "steps", "permuted"} {
			if !longtests.On() && view != "whole" && x.NumValues() > 1<<10 {
				continue
			}
			t.Run(x.Text()+"/"+name+"/"+view, func(t *testing.T) {
				td := with(t, x, 5, 3)
				require.NoError(t, td.Set("hidden", hide(t, x, mask)))
				require.NoError(t, td.Set("mask", mask))
				switch view {
				case "a range":
					td = tensor.Must(td.Index(ix.Range(1, 4)))
				case "steps":
					td = tensor.Must(td.Index(ix.Range(0, 5).Step(2)))
				case "permuted":
					if len(mask.Shape()) > 1 {
						td = tensor.Must(td.Permute(1, 0))
					}
				}
				hidden := tensor.Must(tdict.Get[*ragged.Tensor](td, "hidden"))
				want := tensor.Must(transform.FitStandard(with(t, hidden, td.Shape()...), nil))
				requireNaive(t, wide(t, hidden), x.Features(), want)

				labs, mask := tensor.Must(td.Select("labs")), tensor.Must(td.Get("mask"))
				requireSame(t, want, tensor.Must(transform.FitStandard(labs, mask)))
				requireSame(t, want, tensor.Must(transform.FitStandard(labs, with(t, mask, td.Shape()...))))
			})
		}
	}
}

// masksOf returns masks of each kind for a ragged tensor [B C * * F G].
func masksOf(t testing.TB, x *ragged.Tensor) map[string]tdict.Value {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 8))
	bits := func(shape ...int) *tensor.Tensor {
		b := make([]bool, shapeops.Shape(shape).Size())
		for i := range b {
			b[i] = r.IntN(3) > 0
		}
		return tensor.Must(tensor.From(b, shape...))
	}
	at := func(depth int, features ...int) *ragged.Tensor {
		l := tensor.Must(x.Layout().At(depth))
		return tensor.Must(ragged.New(bits(append(shapeops.Shape{tensor.Must(l.NumRows(-1))}, features...)...), l))
	}
	batch := x.Shape()
	return map[string]tdict.Value{
		"rows of the batch":           bits(batch...),
		"rows of the batch, no level": at(0),
		"rows of level 1":             at(1),
		"values":                      at(2),
		"values and a feature":        at(2, x.Features()[0]),
		"elements":                    at(2, x.Features()...),
		"an equal layout":             tensor.Must(at(1).Clone()),
	}
}

// hide returns a copy of x with NaN where a mask is false.
func hide(t testing.TB, x *ragged.Tensor, mask tdict.Value) *ragged.Tensor {
	t.Helper()
	x = tensor.Must(x.Clone())
	values := tensor.Must(tensor.Of[float64](tensor.Must(x.ValuesView())))
	size, at := x.Features().Size(), 0
	each := func(n int, keep bool) {
		for end := at + n; at < end; at++ {
			if !keep {
				values[at] = nan
			}
		}
	}
	lists, ok := mask.(*ragged.Tensor)
	if !ok {
		bits := mask.(*tensor.Tensor)
		lists = tensor.Must(ragged.New(tensor.Must(bits.Reshape(-1)), tensor.Must(ragged.NewLayout(bits.Shape()))))
	}
	bits := tensor.Must(tensor.Of[bool](tensor.Must(lists.Values())))
	if lists.Depth() == x.Depth() {
		for _, keep := range bits {
			each(size/lists.Features().Size(), keep)
		}
		return x
	}
	for i, n := range tensor.Must(x.Layout().Lengths(lists.Depth() + 1)) {
		if lists.Depth()+1 == x.Depth() {
			each(int(n)*size, bits[i])
			continue
		}
		first := tensor.Must(x.Layout().Offsets(1))[i]
		for _, m := range tensor.Must(x.Layout().Lengths(2))[first : first+n] {
			each(int(m)*size, bits[i])
		}
	}
	return x
}

// TestPadAndFitInAnyOrder: ragged leaves have, bit for bit, the statistics of padded leaves under
// the masks of padding, and values come out the same.
func TestPadAndFitInAnyOrder(t *testing.T) {
	tests := []struct {
		name     string
		rows     int
		depth    int
		features shapeops.Shape
	}{
		{"one level", 20, 1, shapeops.Shape{3}},
		{"one level, one column", 20, 1, shapeops.Shape{}},
		{"two levels", 9, 2, shapeops.Shape{2, 2}},
		{"three levels", 4, 3, shapeops.Shape{2}},
		{"blocks of two rows", 3, 1, shapeops.Shape{1 << 16}},
		{"blocks of one row", 2, 1, shapeops.Shape{1 << 17}},
		{"many blocks", 50_000, 1, shapeops.Shape{3}},
		{"many blocks of one column", 30_000, 2, shapeops.Shape{}},
	}
	fills := map[string]ragged.DensifyOptions{"after": {}, "before": {Left: true, Fill: 99}}
	for _, tt := range tests {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			x := listsOf(t, dtype, shapeops.Shape{tt.rows}, tt.depth, tt.features...)
			td := with(t, x, tt.rows)
			s := tensor.Must(transform.FitStandard(td, nil))
			want := tensor.Must(tdict.Get[*ragged.Tensor](standardise(t, s, td), "labs"))
			for fill, opt := range fills {
				t.Run(fmt.Sprintf("%s/%v/%s", tt.name, dtype, fill), func(t *testing.T) {
					dense, masks, err := x.DensifyMasked(opt)
					require.NoError(t, err)
					last := masks[tt.depth-1]
					batch := last.Shape() // [N L M]
					requireSame(t, s, tensor.Must(transform.FitStandard(with(t, dense, batch...), last)))
					requireSame(t, s, tensor.Must(transform.FitStandard(with(t, dense, batch...), with(t, last, batch...))))

					out := tensor.Must(standardise(t, s, with(t, dense, tt.rows)).Tensor("labs"))
					requireBits(t, want, out, masks)
					back := tensor.Must(tensor.Must(s.Invert(with(t, out, tt.rows))).Tensor("labs"))
					requireBits(t, tensor.Must(tdict.Get[*ragged.Tensor](tensor.Must(s.Invert(with(t, want, tt.rows))), "labs")), back, masks)
				})
			}
			t.Run(fmt.Sprintf("%s/%v/NaN without masks", tt.name, dtype), func(t *testing.T) {
				dense, masks, err := x.DensifyMasked(ragged.DensifyOptions{Fill: nan})
				require.NoError(t, err)
				requireSame(t, s, tensor.Must(transform.FitStandard(with(t, dense, masks[tt.depth-1].Shape()...), nil)))
			})
		}
	}
}

// requireBits fails the test unless dense has, bit for bit, the rows of want where masks say so.
func requireBits(t testing.TB, want *ragged.Tensor, dense *tensor.Tensor, masks []*tensor.Tensor) {
	t.Helper()
	got := tensor.Must(ragged.FromMasks(dense, masks...))
	require.True(t, want.Layout().Equal(got.Layout()))
	require.Equal(t, testkit.Content(t, tensor.Must(want.Values())), testkit.Content(t, tensor.Must(got.Values())))
}

// TestRowsThatDoNotCountChangeNothing: rows of a dense leaf that are hidden, or NaN, do not move
// those of other rows from one block to another.
func TestRowsThatDoNotCountChangeNothing(t *testing.T) {
	const n = 150_000
	td := labs(t, n, tensor.Float64)
	want := tensor.Must(transform.FitStandard(td, nil))
	rows, mask := make([]int, 0, 2*n), make([]bool, 0, 2*n)
	for i := range n {
		for range i % 3 {
			rows, mask = append(rows, (i*7)%n), append(mask, false)
		}
		rows, mask = append(rows, i), append(mask, true)
	}
	more := tensor.Must(td.Index(ix.Take(rows...)))
	requireSame(t, want, tensor.Must(transform.FitStandard(more, tensor.Vector(mask...))))
	for _, shape := range []shapeops.Shape{{1, n}, {n, 1}, {3, n / 3}, {1, 1, n}, {n / 2, 2}} {
		table := tensor.Must(td.Reshape(shape...))
		requireSame(t, want, tensor.Must(transform.FitStandard(table, nil)))
		requireSame(t, want, tensor.Must(transform.FitStandard(table, tensor.Must(tensor.Full(true, shape[0])))))
		requireSame(t, want, tensor.Must(transform.FitStandard(table, tensor.Must(tensor.Full(true, shape...)))))
	}
}

// TestStandardOfRaggedLeaves says to which leaves the statistics of a ragged leaf apply.
func TestStandardOfRaggedLeaves(t *testing.T) {
	x := listsOf(t, tensor.Float64, shapeops.Shape{6}, 2, 3)
	td := with(t, x, 6)
	s := tensor.Must(transform.FitStandard(td, nil))
	same := tensor.Must(transform.StandardFrom(tensor.Must(s.Data())))
	dense := tensor.Must(tensor.Must(tensor.From(make([]float64, 6*5*4*3), 6, 5, 4, 3)).Clone())
	at := func(expr ...ix.Index) *tensor.Tensor { return tensor.Must(dense.Index(expr...)) }
	tests := []struct {
		name string
		td   *tdict.TensorDict
		is   error
	}{
		{"all levels padded", with(t, dense, 6), nil},
		{"one level of two", with(t, at(ix.All, ix.At(0)), 6), nil},
		{"no level", with(t, at(ix.All, ix.At(0), ix.At(0)), 6), nil},
		{"a row", with(t, at(ix.At(0))), nil},
		{"levels as batch dims", with(t, dense, 6, 5, 4), nil},
		{"one of them", with(t, dense, 6, 5), nil},
		{"another depth", with(t, listsOf(t, tensor.Float64, shapeops.Shape{6}, 1, 3), 6), nil},
		{"another batch", with(t, listsOf(t, tensor.Float64, shapeops.Shape{2, 2}, 3, 3), 2, 2), nil},
		{"a dim too many", with(t, tensor.Must(dense.Unsqueeze(1)), 6), shapeops.ErrShape},
		{"other columns", with(t, at(ix.All, ix.All, ix.All, ix.Range(0, 2)), 6), shapeops.ErrShape},
		{"no columns", with(t, at(ix.All, ix.At(0), ix.At(0), ix.At(0)), 6), shapeops.ErrShape},
		{"other columns of a ragged leaf", with(t, listsOf(t, tensor.Float64, shapeops.Shape{6}, 2, 2), 6), shapeops.ErrShape},
		{"a ragged leaf of integers", with(t, tensor.Must(ragged.From[int64]([][]int64{{1}, {}})), 2), shapeops.ErrShape},
		{"integers", with(t, tensor.Must(listsOf(t, tensor.Float64, shapeops.Shape{6}, 0, 3).Cast(tensor.Int64)), 6), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range []*transform.Standard{s, same} {
				out, err := s.Apply(tt.td, transform.Draw{})
				if tt.is != nil {
					testkit.Fails(t, tt.is, err)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, tensor.Must(tt.td.Get("labs")).Shape(), tensor.Must(out.Get("labs")).Shape())
			}
		})
	}
}

// TestDenseColumnsAreNotLevels: statistics of L*F columns stay those of L*F columns.
func TestDenseColumnsAreNotLevels(t *testing.T) {
	dense := tensor.Must(tensor.Must(tensor.Arange[float64](0, 24, 1)).Reshape(2, 4, 3))
	s := tensor.Must(transform.FitStandard(with(t, dense, 2), nil))
	require.Equal(t, "standard: 12 columns", s.String())
	refuses := func(name string, td *tdict.TensorDict) {
		t.Run(name, func(t *testing.T) { testkit.Fails(t, shapeops.ErrShape, testkit.Err(s.Apply(td, transform.Draw{}))) })
	}
	refuses("a ragged leaf of F columns", with(t, listsOf(t, tensor.Float64, shapeops.Shape{2}, 1, 3), 2))

	s = tensor.Must(transform.FitStandard(with(t, dense, 2, 4), nil))
	require.Equal(t, "standard: 3 columns", s.String())
	x := listsOf(t, tensor.Float64, shapeops.Shape{5}, 2, 3)
	out := standardise(t, s, with(t, x, 5))
	requireStandardised(t, s, wide(t, x), wide(t, tensor.Must(tdict.Get[*ragged.Tensor](out, "labs"))), tensor.Float64)
	refuses("a dense leaf of rows of F columns", with(t, dense, 2))
}

// TestApplySharesLayouts: leaves that share a layout do so in the result, also of a view.
func TestApplySharesLayouts(t *testing.T) {
	x := listsOf(t, tensor.Float32, shapeops.Shape{8}, 2, 3)
	td := with(t, x, 8)
	require.NoError(t, td.Set("obs/more", tensor.Must(x.MapValues((*tensor.Tensor).Clone))))
	s := tensor.Must(transform.FitStandard(td, nil))
	require.Equal(t, []nestedkey.Key{"labs", "obs/more"}, testkit.Keys(s.Mean().Leaves()))
	for _, td := range []*tdict.TensorDict{td, tensor.Must(td.Index(ix.Range(1, 7).Step(2)))} {
		out := standardise(t, s, td)
		a, b := tensor.Must(tdict.Get[*ragged.Tensor](out, "labs")), tensor.Must(tdict.Get[*ragged.Tensor](out, "obs/more"))
		require.Same(t, a.Layout(), b.Layout())
		require.Equal(t, testkit.Content(t, tensor.Must(a.Values())), testkit.Content(t, tensor.Must(b.Values())))
	}
}

func TestFitOfRaggedRefuses(t *testing.T) {
	x := tensor.Must(ragged.From[float64]([][][]float64{{{1, 2}, {}}, {}, {{3}}})) // [3 * *]
	td := with(t, x, 3)
	dense := labs(t, 3, tensor.Float32)
	apart := ix.Range(0, 3).Step(2)
	lists := func(v any) *ragged.Tensor { return tensor.Must(ragged.From[bool](v)) }
	infinite := with(t, tensor.Must(ragged.From[float64]([][]float64{{1}, {math.Inf(1)}})), 2)
	var none *ragged.Tensor
	tests := []struct {
		name    string
		td      *tdict.TensorDict
		present any
		is      error
	}{
		{"a nil mask", td, none, tdict.ErrKind},
		{"a mask of no rows", td, new(ragged.Tensor), tdict.ErrKind},
		{"a mask of integers", td, tensor.Must(x.Cast(tensor.Int64)), tensor.ErrDType},
		{"a dense mask of integers", td, tensor.Vector[int64](1, 1, 1), tensor.ErrDType},
		{"a dense mask of other rows", td, tensor.Vector(true, false), shapeops.ErrShape},
		{"a dense mask of padded rows", td, tensor.Must(tensor.Zeros[bool](3, 2)), shapeops.ErrShape},
		{"a dense mask for all", td, tensor.Scalar(true), shapeops.ErrShape},
		{"a mask of other rows", td, lists([][]bool{{true}, {}}), shapeops.ErrShape},
		{"a mask of other lengths", td, lists([][]bool{{true}, {}, {true}}), ragged.ErrLengths},
		{"a mask of other values", td, lists([][][]bool{{{true, true}, {}}, {}, {{}}}), ragged.ErrLengths},
		{"a mask of other values of a view", tensor.Must(td.Index(apart)), tensor.Must(lists([][][]bool{{{true, true}, {}}, {}, {{}}}).Index(apart)), ragged.ErrLengths},
		{"a mask of more levels", td, lists([][][][]bool{{{{}, {}}, {}}, {}, {{{}}}}), shapeops.ErrShape},
		{"a mask with features that the leaf has not", td, tensor.Must(listsOf(t, tensor.Float64, shapeops.Shape{3}, 2, 3).Cast(tensor.Bool)), shapeops.ErrShape},
		{"rows with features of the leaf", with(t, listsOf(t, tensor.Float64, shapeops.Shape{3}, 2, 3), 3), tensor.Must(listsOf(t, tensor.Float64, shapeops.Shape{3}, 1, 3).Cast(tensor.Bool)), shapeops.ErrShape},
		{"rows with features", td, tensor.Must(listsOf(t, tensor.Float64, shapeops.Shape{3}, 1, 3).Cast(tensor.Bool)), shapeops.ErrShape},
		{"a ragged mask of a dense leaf", dense, lists([][]bool{{true}, {}, {true}}), tdict.ErrKind},
		{"data as a mask", td, with(t, tensor.Must(tdict.NewData("all")), 3), tdict.ErrKind},
		{"masks without the key", td, tdict.New(3), tdict.ErrMissing},
		{"an infinity", infinite, nil, transform.ErrNumber},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.is, testkit.Err(transform.FitStandard(tt.td, tt.present)))
		})
	}
	allowed := tensor.Must(transform.FitStandard(infinite, lists([][]bool{{true}, {false}})))
	require.Equal(t, []float64{1}, in64(t, allowed.Mean()))
}

// TestFitWithoutColumnsListsTheLeaves: it is an error, not a Standard that does nothing.
func TestFitWithoutColumnsListsTheLeaves(t *testing.T) {
	many := tdict.New(2)
	for i := range 11 {
		require.NoError(t, many.Set(nestedkey.Key(fmt.Sprintf("n/%d", i)), tensor.Vector[int64](1, 2)))
	}
	ints := with(t, tensor.Must(ragged.From[int32]([][]int32{{1}, {}})), 2)
	require.NoError(t, ints.Set("text", tensor.Must(tdict.NewData("a"))))
	require.NoError(t, ints.Set("one", tensor.Must(tdict.NewUnbatched(tensor.Vector(1., 2)))))
	for name, td := range map[string]*tdict.TensorDict{
		"no leaf":                  tdict.New(2),
		"integers":                 images(t, 4).Exclude("obs"),
		"other kinds":              ints,
		"more than can be listed":  many,
		"features of no size":      with(t, tensor.Must(tensor.Zeros[float32](2, 0)), 2),
		"ragged values of no size": with(t, listsOf(t, tensor.Float32, shapeops.Shape{2}, 1, 0), 2),
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, tdict.ErrKind, testkit.Err(transform.FitStandard(td, nil)))
		})
	}
}

// TestFitOfLongRowsOfAViewKeepsNoCopy: repeated rows are read where they lie. A copy of 100 would
// take 60 MB.
func TestFitOfLongRowsOfAViewKeepsNoCopy(t *testing.T) {
	x := tensor.Must(ragged.FromLengths(tensor.Must(tensor.Zeros[float32](150_000)), []int64{150_000}))
	fit := func(times int) func() {
		p := tensor.Must(plan.Expand(x.Shape(), times))
		td := with(t, tensor.Must(x.Ops().Execute(plan.NewPass(p))), times)
		return func() { _ = tensor.Must(transform.FitStandard(td, nil)) }
	}
	testkit.Near(t, 3, fit(10), fit(100))
}

// TestFitOfMappedRaggedFilesKeepsNoCopy: for 16 times the bytes, in few or many rows, under masks
// or not, it allocates headers only.
func TestFitOfMappedRaggedFilesKeepsNoCopy(t *testing.T) {
	if !longtests.On() {
		t.Skip("writes 34 MiB")
	}
	open := func(rows, length int) *memmap.Dataset {
		dir, lengths := filepath.Join(t.TempDir(), "ds"), slices.Repeat([]int64{int64(length)}, rows)
		x := tensor.Must(tensor.Must(tensor.Zeros[float32](1, 64)).Expand(rows*length, 64))
		require.NoError(t, memmap.Save(dir, with(t, tensor.Must(ragged.FromLengths(x, lengths)), rows)))
		ds := tensor.Must(memmap.Open(dir))
		t.Cleanup(func() { require.NoError(t, ds.Close()) })
		return ds
	}
	for name, sizes := range map[string][2][2]int{ // rows and their length, of little and much
		"long rows": {{2, 2 << 10}, {2, 32 << 10}},
		"many rows": {{128, 32}, {2 << 10, 32}},
	} {
		little, much := open(sizes[0][0], sizes[0][1]), open(sizes[1][0], sizes[1][1])
		masks := map[string]func(td *tdict.TensorDict) any{
			"everything": func(*tdict.TensorDict) any { return nil },
			"rows":       func(td *tdict.TensorDict) any { return tensor.Must(tensor.Full(true, td.Shape()...)) },
		}
		for under, mask := range masks {
			t.Run(name+"/"+under, func(t *testing.T) {
				fit := func(ds *memmap.Dataset) func() {
					present := mask(ds.TensorDict)
					return func() { _ = tensor.Must(transform.FitStandard(ds.TensorDict, present)) }
				}
				testkit.Near(t, 6, fit(little), fit(much))
			})
		}
	}
}
