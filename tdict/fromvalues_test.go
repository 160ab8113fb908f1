package tdict_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each Go type has one kind of value, whatever the batch shape.
func TestFromValues(t *testing.T) {
	rows := tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}}))
	inner := dict([]int{2}, entry{"y", count(2)})
	tests := []struct {
		name  string
		batch shapeops.Shape
		value any
		want  tdict.Value
	}{
		{"a number", nil, float32(0.5), tensor.Scalar[float32](0.5)},
		{"a bool", nil, true, tensor.Scalar(true)},
		{"a byte", nil, byte(1), tensor.Scalar[uint8](1)},
		{"a number of 16 bits", nil, tensor.BF16Of(1.5), tensor.Scalar(tensor.BF16Of(1.5))},
		{"features of one sample", nil, []float64{1, 2, 3}, tensor.Vector(1.0, 2, 3)},
		{"no features", nil, []int32(nil), tensor.Must(tensor.Zeros[int32](0))},
		{"a number for each row", shapeops.Shape{3}, []int64{0, 1, 2}, count(3)},
		{"a tensor", shapeops.Shape{2}, count(2, 3), count(2, 3)},
		{"ragged rows", shapeops.Shape{2}, rows, rows},
		{"a dictionary", shapeops.Shape{2}, inner, inner},
		{"data", shapeops.Shape{2}, texts("a", "b"), texts("a", "b")},
		{"an unbatched tensor", shapeops.Shape{2}, unbatched(count(3)), tensor.Must(dict([]int{2}, entry{"v", unbatched(count(3))}).Get("v"))},
		{"a text of one sample", nil, "reach", data("reach")},
		{"a text of all rows", shapeops.Shape{2, 1}, "reach", data("reach", 2, 1)},
		{"a text for each row", shapeops.Shape{2}, []string{"a", "b"}, texts("a", "b")},
		{"texts of one sample", nil, []string{"a", "b"}, texts("a", "b")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := tensor.Must(tdict.FromValues(tt.batch, tdict.Values{"a/v": tt.value}))
			consistent(t, td)
			require.True(t, td.Equal(tensor.Must(tdict.FromMap(tt.batch, tdict.Entries{"a/v": tt.want}))), "%v", td)
		})
	}
	var dtypes []tensor.DType
	for _, v := range []any{
		false, uint8(1), uint16(1), uint32(1), uint64(1), int8(1), int16(1), int32(1), int64(1),
		tensor.F16Of(1), tensor.BF16Of(1), float32(1), 1.0, complex64(1), 1i,
	} {
		x := tensor.Must(tensor.Must(tdict.FromValues(nil, tdict.Values{"x": v})).Tensor("x"))
		require.Empty(t, x.Shape(), "%T", v)
		dtypes = append(dtypes, x.DType())
	}
	require.Equal(t, tensor.DTypes(), dtypes)
}

// Entries come in the order of their keys; a slice is shared, and so is a value.
func TestFromValuesSharesAndOrders(t *testing.T) {
	pos, x := []float32{1, 2}, count(2)
	td := tensor.Must(tdict.FromValues(nil, tdict.Values{"b": true, "a/d": pos, "a/c": x, "A": "text"}))
	require.Equal(t, "[A a a/c a/d b]", fmt.Sprint(keys(td)))
	pos[0] = 9
	require.Equal(t, float32(9), tensor.Must(tdict.Item[float32](td, "a/d", 0)))
	require.Same(t, x, tensor.Must(td.Tensor("a/c")))
	require.Zero(t, tensor.Must(tdict.FromValues(shapeops.Shape{2}, nil)).NumEntries())
}

func TestFromValuesRefuses(t *testing.T) {
	two := shapeops.Shape{2}
	tests := []struct {
		name   string
		batch  shapeops.Shape
		values tdict.Values
		want   error
	}{
		{"an int", nil, tdict.Values{"a/n": 1}, tdict.ErrKind},
		{"ints", nil, tdict.Values{"a/n": []int{1}}, tdict.ErrKind},
		{"a uint", nil, tdict.Values{"a/n": uint(1)}, tdict.ErrKind},
		{"nested slices", two, tdict.Values{"a": [][]float32{{1}, {2}}}, tdict.ErrKind},
		{"a map", nil, tdict.Values{"a": map[string]any{"lr": 0.1}}, tdict.ErrKind},
		{"text that is not UTF-8", nil, tdict.Values{"a": "\xff"}, tdict.ErrKind},
		{"the first of several", nil, tdict.Values{"c": 1, "b": 'x', "a": 2, "d": nil}, tdict.ErrKind},
		{"a number for several rows", two, tdict.Values{"a": float32(1)}, shapeops.ErrShape},
		{"another number of rows", two, tdict.Values{"a": []int64{1, 2}, "b": []int64{1, 2, 3}}, shapeops.ErrShape},
		{"texts of another number of rows", two, tdict.Values{"a": []string{"x"}}, shapeops.ErrShape},
		{"a leaf where a key needs a dictionary", nil, tdict.Values{"a": true, "a/b": true}, tdict.ErrNotDict},
		{"a negative size", shapeops.Shape{-1}, nil, shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, testkit.Err(tdict.FromValues(tt.batch, tt.values))) })
	}
}

// What a sample costs grows with its entries, and not with the bytes in them.
func TestFromValuesCosts(t *testing.T) {
	many := func(n, size int) func() {
		values := tdict.Values{}
		for i := range n {
			values[nestedkey.Of(fmt.Sprint("leaf", i))] = make([]float32, size)
		}
		return func() { tensor.Must(tdict.FromValues(nil, values)) }
	}
	many(1, 1)()
	testkit.Near(t, 12, many(100, 1), many(1000, 1))
	testkit.Near(t, 12, many(1000, 1), many(10000, 1))
	testkit.Near(t, 1.1, many(10, 1), many(10, 1<<20))
}
