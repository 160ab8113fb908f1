package inspect_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// differences returns all of Differences, which must not fail.
func differences(t testing.TB, a, b *tdict.TensorDict, opt inspect.DifferencesOptions) (all []tdict.Difference) {
	t.Helper()
	for d, err := range inspect.Differences(context.Background(), a, b, opt) {
		require.NoError(t, err)
		all = append(all, d)
	}
	return all
}

// of returns a dictionary with one leaf x.
func of(t testing.TB, v tdict.Value) *tdict.TensorDict {
	t.Helper()
	td := tdict.New()
	require.NoError(t, td.Set("x", v))
	return td
}

// farApart reports whether numbers differ, as torch's isclose says.
func farApart(a, b complex128, opt inspect.DifferencesOptions) bool {
	nan := func(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }
	switch {
	case nan(a) || nan(b):
		return !opt.Tolerance.EqualNaN || nan(a) != nan(b)
	case cmplx.IsInf(a) || cmplx.IsInf(b):
		return a != b
	}
	tolerance := opt.Tolerance.Absolute
	if opt.Tolerance.Relative != 0 && b != 0 {
		tolerance += opt.Tolerance.Relative * cmplx.Abs(b)
	}
	apart := cmplx.Abs(a - b)
	return apart > tolerance || math.IsInf(apart, 0)
}

// scattered returns x in a layout, with some elements changed.
func scattered(t testing.TB, r *rand.Rand, x *tensor.Tensor, layout string) *tensor.Tensor {
	other := randomLike(t, r, x.DType(), layout, x.Shape()...)
	if layout == "repeated" {
		return other
	}
	where := make([]bool, x.Size())
	for i := range where {
		where[i] = r.IntN(3) > 0
	}
	for i, keep := range where {
		if keep {
			at := tensorAt(t, other, x.Shape().Position(i))
			require.NoError(t, at.CopyFrom(tensorAt(t, x, x.Shape().Position(i))))
		}
	}
	return other
}

func TestDifferencesEqualLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, dtype := range tensor.DTypes() {
		for layout := range layouts {
			for _, shape := range [][]int{{}, {0}, {1}, {3, 0, 2}, {2, 3, 4}, {5, 7, 11}} {
				for _, opt := range []inspect.DifferencesOptions{
					{Tolerance: tensor.Tolerance{EqualNaN: true}}, {},
					{Tolerance: tensor.Tolerance{Absolute: 1, EqualNaN: true}, Most: 5},
					{Tolerance: tensor.Tolerance{Relative: 0.5, EqualNaN: true}, Most: -1},
					{Tolerance: tensor.Tolerance{Absolute: 0.1, Relative: 1}},
				} {
					a := randomLike(t, r, dtype, layout, shape...)
					b := scattered(t, r, a, "transposed")
					compareNaively(t, a, b, opt)
					compareNaively(t, a, scattered(t, r, a, layout), opt)
				}
			}
		}
	}
}

// tensorAt returns the element at a position.
func tensorAt(t testing.TB, x *tensor.Tensor, at []int) *tensor.Tensor {
	for _, i := range at {
		x = tensor.Must(x.Index(ix.At(i)))
	}
	return x
}

// compareNaively compares two tensors by Differences and in loops.
func compareNaively(t testing.TB, a, b *tensor.Tensor, opt inspect.DifferencesOptions) {
	t.Helper()
	var first []tensor.ElementDiff
	count := 0
	most := opt.Most
	if most == 0 {
		most = 3
	}
	wide := func(x *tensor.Tensor) []complex128 {
		return testkit.Elements[complex128](t, tensor.Must(x.Cast(tensor.Complex128)))
	}
	p, q := wide(a), wide(b)
	for i := range p {
		differ := farApart(p[i], q[i], opt)
		if a.DType() == tensor.Bool || a.DType().IsInteger() && opt.Tolerance.Absolute == 0 && opt.Tolerance.Relative == 0 { // which complex128 would round
			differ = !tensorAt(t, a, a.Shape().Position(i)).Equal(tensorAt(t, b, a.Shape().Position(i)))
		}
		if !differ {
			continue
		}
		if count++; count <= most {
			first = append(first, tensor.ElementDiff{Position: a.Shape().Position(i)})
		}
	}
	got := differences(t, of(t, a), of(t, b), opt)
	if count == 0 {
		require.Empty(t, got)
		return
	}
	require.Lenf(t, got, 1, "%v %v: want %d", a, b, count)
	require.Equal(t, tdict.DiffElements, got[0].Kind)
	require.Equal(t, count, got[0].Count, "%v %+v", a.DType(), opt)
	for i, e := range got[0].Elements {
		for _, text := range []struct {
			x    *tensor.Tensor
			text string
		}{{a, e.A}, {b, e.B}} {
			require.Contains(t, tensorAt(t, text.x, e.Position).String(), text.text)
		}
		got[0].Elements[i].A, got[0].Elements[i].B = "", ""
	}
	require.Equal(t, first, got[0].Elements)
}

// TestDifferencesInBlocks has leaves of several blocks in different layouts.
func TestDifferencesInBlocks(t *testing.T) {
	const rows, width = 1500, 701
	make1 := func() []float64 {
		x := make([]float64, rows*width)
		for i := range x {
			x[i] = float64(i)
		}
		return x
	}
	a, b := make1(), make1()
	changed := []int{0, 131071, 131072, 400000, rows*width - 1}
	for _, i := range changed {
		b[i] = -1
	}
	x := tensor.Must(tensor.From(a, rows, width))
	y := tensor.Must(tensor.From(b, rows, width))
	turned := tensor.Must(tensor.Must(tensor.Must(y.Transpose(0, 1)).Clone()).Transpose(0, 1))
	for name, y := range map[string]*tensor.Tensor{"contiguous": y, "transposed": turned} {
		for workers := 1; workers < 4; workers++ {
			got := differences(t, of(t, x), of(t, y), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, Most: 4, Workers: workers})
			require.Len(t, got, 1, name)
			require.Equal(t, 5, got[0].Count)
			for i, e := range got[0].Elements {
				require.Equal(t, x.Shape().Position(changed[i]), e.Position)
			}
			require.Len(t, got[0].Elements, 4)
		}
	}
}

func TestDifferencesOfStructure(t *testing.T) {
	a := tdict.New(2)
	b := tdict.New(2)
	set := func(td *tdict.TensorDict, key nestedkey.Key, v tdict.Value) { require.NoError(t, td.Set(key, v)) }
	set(a, "only/a", tensor.Vector[int8](1, 2))
	set(a, "kind", tensor.Vector[int8](1, 2))
	set(b, "kind", tensor.Must(tdict.NewData("x", 2)))
	set(a, "dtype", tensor.Vector[int8](1, 2))
	set(b, "dtype", tensor.Vector[uint8](1, 2))
	set(a, "in/shape", tensor.Must(tensor.New(tensor.Bool, 2, 3)))
	set(b, "in/shape", tensor.Must(tensor.New(tensor.Bool, 2, 4)))
	set(a, "batch", tdict.New(2, 1))
	set(b, "batch", tdict.New(2))
	set(a, "values", tensor.Must(tdict.DataFrom([]any{"a", int64(2)}, 2)))
	set(b, "values", tensor.Must(tdict.DataFrom([]any{"a", int64(3)}, 2)))
	set(a, "same", tensor.Vector[float32](1, 2))
	set(b, "same", tensor.Vector[float32](1, 2))
	set(b, "in/b", tensor.Vector[float32](1, 2))
	set(a, "one", tensor.Must(tdict.NewUnbatched(tensor.Vector[float32](1, 2, 3))))
	set(b, "one", tensor.Must(tdict.NewUnbatched(tensor.Vector[float32](1, 2, 4))))
	require.NoError(t, a.SetNames("time"))
	var got []string
	for _, d := range differences(t, a, b, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		got = append(got, fmt.Sprintf("%s %s", d.Kind, d.Text))
	}
	require.Equal(t, []string{
		`shape "": dims ["time"], other dims [""]`,
		`missing "only": dictionary [2], missing in the other`,
		`kind "kind": int8 [2], other data [2]`,
		`dtype "dtype": int8 [2], other uint8 [2]`,
		`shape "in": dims ["time"], other dims [""]`,
		`shape "in/shape": bool [2 3], other bool [2 4]`,
		`extra "in/b": float32 [2], only in the other`,
		`shape "batch": dictionary [2 1], other dictionary [2]`,
		`elements "values": 1 element differs: [1] is 2, other 3`,
		`elements "one": 1 element differs: [2] is 3, other 4`,
	}, got)

	opt := inspect.DifferencesOptions{Keys: []nestedkey.Key{"in", "dtype"}}
	got = nil
	for _, d := range differences(t, a, b, opt) {
		got = append(got, string(d.Key))
	}
	require.Equal(t, []string{"dtype", "in", "in/shape", "in/b"}, got)
}

func TestDifferencesOfRagged(t *testing.T) {
	lists := func(x any) *ragged.Tensor { return tensor.Must(ragged.From[int32](x)) }
	texts := func(s ...string) *ragged.Tensor { return tensor.Must(ragged.FromStrings(s)) }
	tests := []struct {
		name string
		a, b *ragged.Tensor
		want string // "" for none
	}{
		{"equal", lists([][]int32{{1}, {2, 3}}), lists([][]int32{{1}, {2, 3}}), ""},
		{"lengths", lists([][]int32{{1}, {2, 3}, {}}), lists([][]int32{{1}, {2}, {4, 5}}), `shape "x": lengths of 2 rows differ: [1] is 2, other 1; [2] is 0, other 2`},
		{"values", lists([][]int32{{1}, {2, 3}}), lists([][]int32{{1}, {2, 4}}), `elements "x": 1 element differs: [1 1] is 3, other 4`},
		{"inner lengths", lists([][][]int32{{{1}, {2}}, {}, {{3, 4}}}), lists([][][]int32{{{1}, {2}}, {}, {{3}}}), `shape "x": lengths of 1 row differ: [2 0] is 2, other 1`},
		{"inner values", lists([][][]int32{{{1}, {2}}, {}, {{3, 4}}}), lists([][][]int32{{{1}, {2}}, {}, {{3, 5}}}), `elements "x": 1 element differs: [2 0 1] is 4, other 5`},
		{"texts", texts("a", "bc\x1b", "d"), texts("a", "b", "e"), `elements "x": 2 elements differ: [1] is "bc\x1b", other "b"; [2] is "d", other "e"`},
		{"equal texts", texts("a", "", "d"), texts("a", "", "d"), ""},
		{"no rows", texts(), texts(), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := differences(t, of(t, tt.a), of(t, tt.b), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}})
			if tt.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, tt.want, fmt.Sprintf("%s %s", got[0].Kind, got[0].Text))
		})
	}
	turned := tensor.Must(lists([][]int32{{1}, {2, 3}}).Index(ix.Range(1, 2)))
	require.Empty(t, differences(t, of(t, turned), of(t, lists([][]int32{{2, 3}})), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}))
}

// TestDifferencesTrustSums changes an element behind the back of the checksums.
func TestDifferencesTrustSums(t *testing.T) {
	for _, suffix := range []string{"", ".tdz"} {
		top := testkit.TempDir(t)
		td := tdict.New(3)
		require.NoError(t, td.Set("x", tensor.Vector[float32](1, 2, 3)))
		require.NoError(t, td.Set("t", tensor.Must(ragged.FromStrings([]string{"a", "bb", ""}))))
		var ds [3]*memmap.Dataset
		for i := range ds {
			if i == 2 {
				require.NoError(t, td.Set("x", tensor.Vector[float32](1, 2, 4)))
			}
			path := filepath.Join(top, fmt.Sprint(i)+suffix)
			require.NoError(t, memmap.Save(path, td))
			if i == 1 {
				damage(t, path)
			}
			d, err := memmap.Open(path)
			require.NoError(t, err)
			defer d.Close()
			ds[i] = d
		}
		for i, want := range []int{0, 1, 1} {
			got := differences(t, ds[0].TensorDict, ds[i].TensorDict, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}})
			require.Len(t, got, want)
		}
		for i, want := range []int{0, 0, 1} {
			got := differences(t, ds[0].TensorDict, ds[i].TensorDict, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, TrustSums: true})
			require.Len(t, got, want, "trusted")
		}
		got := differences(t, ds[0].TensorDict, ds[1].TensorDict, inspect.DifferencesOptions{TrustSums: true})
		require.Len(t, got, 1, "a sum does not say that there is no NaN")
		part := func(d *memmap.Dataset) *tdict.TensorDict { return tensor.Must(d.Index(ix.Range(1, 3))) }
		require.Len(t, differences(t, part(ds[0]), part(ds[1]), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, TrustSums: true}), 1, "a part of a leaf has no sum")
	}
}

func TestDifferencesErrors(t *testing.T) {
	td := of(t, tensor.Vector[float32](1))
	meta := of(t, tensor.Must(tensor.NewMeta(tensor.Float32, 1)))
	tests := []struct {
		name string
		a, b *tdict.TensorDict
		opt  inspect.DifferencesOptions
		want error
	}{
		{"no dictionary", td, nil, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}, tdict.ErrKind},
		{"a tolerance below 0", td, td, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Absolute: -1, EqualNaN: true}}, tdict.ErrKind},
		{"a tolerance that is NaN", td, td, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Relative: math.NaN(), EqualNaN: true}}, tdict.ErrKind},
		{"a key that neither has", td, td, inspect.DifferencesOptions{Keys: []nestedkey.Key{"x", "y"}}, tdict.ErrMissing},
		{"elements that are nowhere", td, meta, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var errs []error
			for d, err := range inspect.Differences(context.Background(), tt.a, tt.b, tt.opt) {
				require.Zero(t, d)
				errs = append(errs, err)
			}
			require.Len(t, errs, 1)
			testkit.Fails(t, tt.want, errs[0])
		})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(shapeops.ErrDim)
	for _, err := range inspect.Differences(ctx, td, td, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		require.ErrorIs(t, err, shapeops.ErrDim)
	}
}

func TestDifferencesEndEarly(t *testing.T) {
	a, b := tdict.New(), tdict.New()
	for _, key := range []nestedkey.Key{"x", "y", "z"} {
		require.NoError(t, a.Set(key, tensor.Scalar(1.)))
		require.NoError(t, b.Set(key, tensor.Scalar(2.)))
	}
	require.NoError(t, b.Set("extra", tensor.Scalar(2.)))
	for most := 1; most <= 4; most++ {
		var got []string
		for d := range inspect.Differences(context.Background(), a, b, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
			if got = append(got, string(d.Key)); len(got) == most {
				break
			}
		}
		require.Equal(t, []string{"extra", "x", "y", "z"}[:most], slices.Clone(got))
	}
}

// TestOverlappingKeys: a key with another one below it selects nothing by itself, as in Select.
func TestOverlappingKeys(t *testing.T) {
	of := func(v int64) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"a/b": tensor.Scalar(v), "a/c": tensor.Scalar(v)}))
	}
	keys := []nestedkey.Key{"a", "a/b"}
	var got []nestedkey.Key
	for d, err := range inspect.Differences(t.Context(), of(1), of(2), inspect.DifferencesOptions{Keys: keys}) {
		require.NoError(t, err)
		got = append(got, d.Key)
	}
	require.Equal(t, []nestedkey.Key{"a/b"}, got)
	require.Len(t, describe(t, of(1), inspect.DescribeOptions{Keys: keys}), 1)
}
