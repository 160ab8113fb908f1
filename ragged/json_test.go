package ragged_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// sameText checks that x reads back from its text as a tensor with the same layout and bits.
func sameText(t testing.TB, x *ragged.Tensor) {
	t.Helper()
	text, err := json.Marshal(x)
	require.NoError(t, err)
	var back ragged.Tensor
	require.NoError(t, json.Unmarshal(text, &back), string(text))
	require.Equal(t, x.Text(), back.Text())
	require.Equal(t, x.Depth(), back.Depth())
	require.True(t, x.Shape().Equal(back.Shape()))
	require.True(t, x.Features().Equal(back.Features()))
	require.True(t, x.Layout().Equal(back.Layout()), string(text))
	var a, b bytes.Buffer
	_, err = tensor.Must(x.Values()).WriteTo(&a)
	require.NoError(t, err)
	_, err = tensor.Must(back.Values()).WriteTo(&b)
	require.NoError(t, err)
	require.Equal(t, a.Bytes(), b.Bytes())
}

// shaped returns a ragged tensor with features over a layout.
func shaped(l *ragged.Layout, dtype tensor.DType, features ...int) *ragged.Tensor {
	shape := append([]int{tensor.Must(l.NumRows(-1))}, features...)
	x := tensor.Must(tensor.New(tensor.Int64, shape...))
	if x.Size() > 0 {
		x = tensor.Must(tensor.Must(tensor.Arange[int64](0, int64(x.Size()), 1)).Reshape(shape...))
	}
	return tensor.Must(ragged.New(tensor.Must(x.Cast(dtype)), l))
}

// TestJSONOfEveryShape: any batch shape, depth and features, with and without a row or an element.
func TestJSONOfEveryShape(t *testing.T) {
	layouts := []*ragged.Layout{visits, codes}
	for _, batch := range []shapeops.Shape{{}, {0}, {3}, {2, 2}, {2, 0}, {1 << 40, 0}} {
		l := tensor.Must(ragged.NewLayout(batch))
		layouts = append(layouts, l)
		for range 3 {
			lengths := make([]int64, tensor.Must(l.NumRows(-1)))
			for i := range lengths {
				lengths[i] = int64(i % 3)
			}
			l = tensor.Must(ragged.LayoutOf(batch, append(lengthsOf(l), lengths)...))
			layouts = append(layouts, l)
		}
	}
	for _, l := range layouts {
		for _, features := range [][]int{nil, {2}, {2, 1}, {0}, {1 << 40, 0}} {
			sameText(t, shaped(l, tensor.Int64, features...))
		}
	}
	for _, d := range tensor.DTypes() {
		if d != tensor.Bool { // which Arange goes beyond
			sameText(t, shaped(codes, d, 2))
		}
	}
	sameText(t, of(visits, true, false, true, true, false, true))
	sameText(t, of(visits, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, 1, 2))
}

func lengthsOf(l *ragged.Layout) (all [][]int64) {
	for level := range l.Depth() {
		all = append(all, tensor.Must(l.Lengths(level+1)))
	}
	return all
}

// TestJSONOfViews writes rows as they are seen.
func TestJSONOfViews(t *testing.T) {
	for _, expr := range [][]ix.Index{{ix.At(1)}, {ix.Range(1, 3)}, {ix.Take(2, 0, 0)}, {ix.New, ix.All}} {
		sameText(t, tensor.Must(deep().Index(expr...)))
		sameText(t, tensor.Must(pairs().Index(expr...)))
	}
	deepest := shaped(tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, slices.Repeat([][]int64{{1}}, 399)...)), tensor.Int8)
	sameText(t, deepest)
	deeper := shaped(tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, slices.Repeat([][]int64{{1}}, 400)...)), tensor.Int8)
	require.ErrorIs(t, testkit.Err(deeper.MarshalJSON()), shapeops.ErrShape)
}

func TestJSONRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", ``, tensor.ErrJSON},
		{"trailing data", `{"dtype":"int8","shape":"[1 *]","values":[[1]]}]`, tensor.ErrJSON},
		{"a dense shape", `{"dtype":"int8","shape":[1],"values":[1]}`, tensor.ErrJSON},
		{"too few rows", `{"dtype":"int8","shape":"[2 *]","values":[[1]]}`, tensor.ErrJSON},
		{"a batch that cannot be counted", `{"dtype":"int8","shape":"[4611686018427387904 4 0 *]","values":[]}`, shapeops.ErrShape},
		{"features that cannot be counted", `{"dtype":"int8","shape":"[1 * 4611686018427387904 4 0]","values":[[]]}`, shapeops.ErrShape},
		{"a preview", `{"preview":1,"dtype":"int8","shape":"[1 *]","first":[1]}`, tensor.ErrJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x ragged.Tensor
			testkit.Fails(t, tt.want, x.UnmarshalJSON([]byte(tt.text)))
			require.Zero(t, x.DType(), "nothing has changed")
		})
	}
	x := days()
	testkit.Fails(t, shapeops.ErrKind, x.UnmarshalJSON([]byte(`{"dtype":"int8","shape":"[1 *]","values":[[1]]}`)))
	require.True(t, x.Equal(days()))
	require.NoError(t, x.UnmarshalJSON([]byte(`null`)))
	require.Equal(t, "null", string(tensor.Must(new(ragged.Tensor).MarshalJSON())))
}

// TestJSONOfTooMuch: rows count with elements.
func TestJSONOfTooMuch(t *testing.T) {
	wide := tensor.Must(tensor.Scalar[int8](1).Expand(6, 1<<22))
	large := tensor.Must(ragged.New(wide, visits))
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(large.MarshalJSON()))
	require.Equal(t, `{"preview":2,"dtype":"int8","shape":"[3 * 4194304]","first":[1,1]}`, string(tensor.Must(json.Marshal(large.Preview(2)))))
	require.Equal(t, `{"preview":2,"dtype":"int64","shape":"[3 *]","first":[1,2]}`, string(tensor.Must(json.Marshal(days().Preview(2)))))
	require.Equal(t, `{"preview":0,"dtype":"int64","shape":"[3 * 2]","first":[]}`, string(tensor.Must(json.Marshal(pairs().Preview(0)))))
	require.Equal(t, `{"preview":9,"dtype":"int64","shape":"[3 *]","values":[[1,2],[3],[4,5,6]]}`, string(tensor.Must(json.Marshal(days().Preview(9)))))
	require.Equal(t, `{"preview":7,"dtype":"int64","shape":"[3 *]","first":[1,2,3,4,5,6]}`, string(tensor.Must(json.Marshal(days().Preview(7)))))
}

// TestJSONRefusesBadBools, which a file can hold.
func TestJSONRefusesBadBools(t *testing.T) {
	x := tensor.Must(ragged.New(tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 1, 2, 0, 0, 0}, 6)), visits))
	b, err := x.Ops().AppendJSON([]byte("x"))
	require.ErrorIs(t, err, tensor.ErrDType)
	require.Equal(t, "x", string(b))
}

// TestJSONAllocatesLittle: a text that claims rows takes no memory for them, and lists cost no
// more than their elements.
func TestJSONAllocatesLittle(t *testing.T) {
	claim := []byte(`{"dtype":"complex128","shape":"[1099511627776 *]","values":[["(0+1i)"]]}`)
	testkit.MaxBytes(t, 1<<13, func() { _ = new(ragged.Tensor).UnmarshalJSON(claim) })
	for _, n := range []int{100, 1000, 10_000} {
		text := []byte(`{"dtype":"int64","shape":"[` + string(tensor.Must(json.Marshal(n))) + ` *]","values":[[1,2]` + strings.Repeat(",[1,2]", n-1) + `]}`)
		require.Less(t, testing.AllocsPerRun(3, func() { _ = new(ragged.Tensor).UnmarshalJSON(text) }), 100.0, n)
	}
}

// FuzzJSON: what is read is written as a text that reads back equal, and takes memory in proportion
// to the text.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"dtype":"int64","shape":"[3 * *]","values":[[[],[0,3]],[[3,4,5]],[[],[],[2]]]}`,
		`{"dtype":"float16","shape":"[2 * 2]","values":[[],[[1,"NaN"]]]}`,
		`{"values":[[1,2]],"feature_dims":1,"dtype":"uint8","shape":"[1 2]"}`, `{"dtype":"bool","shape":"[0 *]","values":[]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var x ragged.Tensor
		if err := x.UnmarshalJSON(text); err != nil || x.DType() == 0 {
			if x.DType() != 0 {
				t.Fatalf("%v: the receiver has changed", err)
			}
			return
		}
		if n := x.NumValues(); n > len(text) || n*x.Features().Size() > len(text) {
			t.Fatalf("%d values of %v of a text of %d", n, x.Features(), len(text))
		}
		if !strings.Contains(string(text), "NaN") {
			sameText(t, &x)
			return
		}
		first := tensor.Must(x.MarshalJSON())
		var back ragged.Tensor
		if err := back.UnmarshalJSON(first); err != nil {
			t.Fatalf("%s of %q: %v", first, text, err)
		}
		if diff, err := x.DiffWithin(&back, tensor.Tolerance{EqualNaN: true}); diff != "" || err != nil {
			t.Fatalf("%s: %s %v", first, diff, err)
		}
	})
}

// TestPreviewOfRepeatedRows looks at a few rows of many that an expansion repeats.
func TestPreviewOfRepeatedRows(t *testing.T) {
	row := tensor.Must(ragged.From[float32]([][]float32{{1, 2, 3}}))
	for _, shape := range []shapeops.Shape{{1 << 34}, {3, 1 << 30}, {1 << 17, 1 << 17}} {
		x := row
		if len(shape) == 2 {
			x = tensor.Must(row.Index(ix.All, ix.New))
		}
		p := tensor.Must(plan.Expand(x.Shape(), shape...))
		x = tensor.Must(x.Ops().Execute(plan.NewPass(p)))
		testkit.MaxBytes(t, 1<<20, func() {
			text, err := json.Marshal(x.Preview(4))
			require.NoError(t, err)
			require.Contains(t, string(text), `"first":[1,2,3,1]`)
		})
	}
	none := tensor.Must(ragged.From[float32]([][]float32{{}, {}, {7}}))
	require.Contains(t, string(tensor.Must(json.Marshal(none.Preview(2)))), `"first":[7]`)
	require.Contains(t, string(tensor.Must(json.Marshal(none.Preview(0)))), `"first":[]`)
}
