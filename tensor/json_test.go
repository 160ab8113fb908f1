package tensor_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// rawBits returns the bytes of the elements, row-major.
func rawBits(t testing.TB, x *tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := x.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

// sameBits checks that x reads back from its text with the same dtype, shape and bits.
func sameBits(t testing.TB, x *tensor.Tensor) {
	t.Helper()
	text, err := json.Marshal(x)
	require.NoError(t, err)
	var back tensor.Tensor
	require.NoError(t, json.Unmarshal(text, &back), string(text))
	require.Equal(t, x.DType(), back.DType())
	require.True(t, x.Shape().Equal(back.Shape()))
	require.Equal(t, rawBits(t, x), rawBits(t, &back), string(text))
}

// TestJSONKeepsEveryBit: of all values of the small dtypes, and of those at the edges of others.
func TestJSONKeepsEveryBit(t *testing.T) {
	inf := math.Inf(1)
	edges := []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1. / 3, 1e21, 1e-7, math.MaxFloat32, math.SmallestNonzeroFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 1<<53 + 2, inf, -inf}
	var narrow []float32
	var wide []complex128
	var narrower []complex64
	for _, v := range edges {
		narrow = append(narrow, float32(v))
		for _, w := range edges {
			wide = append(wide, complex(v, w))
			narrower = append(narrower, complex64(complex(v, w)))
		}
	}
	var f16 []tensor.F16
	var bf16 []tensor.BF16
	for bits := range 1 << 16 {
		if h := tensor.F16(bits); h.Float64() == h.Float64() {
			f16 = append(f16, h)
		}
		if h := tensor.BF16(bits); h.Float64() == h.Float64() {
			bf16 = append(bf16, h)
		}
	}
	all := []*tensor.Tensor{
		tensor.Vector(false, true), tensor.Vector[uint8](0, 255), tensor.Vector[int8](-128, 127),
		tensor.Vector[uint16](0, math.MaxUint16), tensor.Vector[int16](math.MinInt16, math.MaxInt16),
		tensor.Vector[uint32](0, math.MaxUint32), tensor.Vector[int32](math.MinInt32, math.MaxInt32),
		tensor.Vector[uint64](0, 1<<53+1, math.MaxUint64), tensor.Vector[int64](math.MinInt64, -1<<53-1, math.MaxInt64),
		tensor.Vector(f16...), tensor.Vector(bf16...), tensor.Vector(narrow...), tensor.Vector(edges...),
		tensor.Vector(narrower...), tensor.Vector(wide...),
	}
	require.Len(t, all, len(tensor.DTypes()))
	for _, x := range all {
		t.Run(x.DType().String(), func(t *testing.T) { sameBits(t, x) })
	}
}

// TestJSONKeepsNaN, but not its payload.
func TestJSONKeepsNaN(t *testing.T) {
	nan := math.NaN()
	for _, x := range []*tensor.Tensor{
		tensor.Vector(tensor.F16Of(nan)), tensor.Vector(tensor.BF16Of(nan)), tensor.Vector(float32(nan)), tensor.Vector(nan),
		tensor.Vector(complex64(complex(nan, 1))), tensor.Vector(complex(1, nan), complex(nan, nan)),
	} {
		text := tensor.Must(x.MarshalJSON())
		var back tensor.Tensor
		require.NoError(t, back.UnmarshalJSON(text))
		require.Equal(t, string(text), string(tensor.Must(back.MarshalJSON())))
		require.Contains(t, string(text), "NaN")
	}
}

// TestJSONOfEveryLayout writes tensors as they are seen, wherever their elements lie.
func TestJSONOfEveryLayout(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		sameBits(t, s.Tensor)
		for n := range 8 {
			var got struct{ First, Values json.RawMessage }
			require.NoError(t, json.Unmarshal(tensor.Must(s.Preview(n).MarshalJSON()), &got))
			if s.Size() <= n {
				require.Empty(t, got.First)
				continue
			}
			flat := tensor.Must(tensor.Must(s.Clone()).Reshape(s.Size()))
			var want struct{ Values json.RawMessage }
			require.NoError(t, json.Unmarshal(tensor.Must(tensor.Must(flat.Index(ix.Range(0, n))).MarshalJSON()), &want))
			require.Equal(t, string(want.Values), string(got.First), "%v, %d of it", s, n)
		}
	})
}

func TestJSONRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       error
	}{
		{"nothing", ``, tensor.ErrJSON},
		{"trailing data", `{"dtype":"int8","shape":[1],"values":[1]} 2`, tensor.ErrJSON},
		{"a ragged shape", `{"dtype":"int8","shape":"[1 *]","values":[[1]]}`, tensor.ErrJSON},
		{"an element beyond the dtype", `{"dtype":"uint8","shape":[2],"values":[1,256]}`, tensor.ErrJSON},
		{"a shape whose strides overflow", `{"dtype":"int8","shape":[4611686018427387904,4,0],"values":[]}`, shapeops.ErrShape},
		{"a preview", `{"preview":1,"dtype":"int8","shape":[1],"values":[1]}`, tensor.ErrJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x tensor.Tensor
			testkit.Fails(t, tt.want, x.UnmarshalJSON([]byte(tt.text)))
			require.Zero(t, x.DType(), "nothing has changed")
		})
	}
	x := tensor.Vector(1.0)
	testkit.Fails(t, tensor.ErrKind, x.UnmarshalJSON([]byte(`{"dtype":"int8","shape":[1],"values":[1]}`)))
	require.Equal(t, []float64{1}, testkit.Elements[float64](t, x), "a header never changes")
	require.NoError(t, x.UnmarshalJSON([]byte(`null`)))
	require.ErrorIs(t, (*tensor.Tensor)(nil).UnmarshalJSON([]byte(`{"dtype":"int8","shape":[1],"values":[1]}`)), tensor.ErrKind)
	require.Equal(t, "null", string(tensor.Must(new(tensor.Tensor).MarshalJSON())))
}

// TestJSONOfTooMuch: the limit is one of elements, and is told before any is read.
func TestJSONOfTooMuch(t *testing.T) {
	most := tensor.Must(tensor.Scalar[int8](1).Expand(1 << 24))
	require.Len(t, tensor.Must(most.MarshalJSON()), len(`{"dtype":"int8","shape":[16777216],"values":[]}`)+2<<24-1)
	large := tensor.Must(tensor.Scalar[int8](1).Expand(1<<24 + 1))
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(large.MarshalJSON()))
	testkit.MaxBytes(t, 1<<12, func() { _, _ = large.MarshalJSON() })
	require.Equal(t, `{"preview":2,"dtype":"int8","shape":[16777217],"first":[1,1]}`, string(tensor.Must(json.Marshal(large.Preview(2)))))
	require.Equal(t, `{"preview":0,"dtype":"int8","shape":[16777217],"first":[]}`, string(tensor.Must(json.Marshal(large.Preview(-1)))))
	deep := tensor.Must(tensor.Scalar[int8](1).Reshape(make1(401)...))
	require.ErrorIs(t, testkit.Err(deep.MarshalJSON()), shapeops.ErrShape)
	sameBits(t, tensor.Must(tensor.Scalar[int8](1).Reshape(make1(400)...)))
}

// make1 returns a shape of n dims of size 1.
func make1(n int) []int {
	shape := make([]int, n)
	for i := range shape {
		shape[i] = 1
	}
	return shape
}

// TestJSONAppends leaves what precedes it, also on an error.
func TestJSONAppends(t *testing.T) {
	b, err := tensor.Scalar(true).Ops().AppendJSON([]byte("x"))
	require.NoError(t, err)
	require.Equal(t, `x{"dtype":"bool","shape":[],"values":true}`, string(b))
	broken := tensor.Must(tensor.FromBytes(tensor.Bool, []byte{1, 2}, 2))
	b, err = broken.Ops().AppendJSON([]byte("x"))
	require.ErrorIs(t, err, tensor.ErrDType)
	require.Equal(t, "x", string(b))
}

// TestJSONAllocatesLittle: what a text claims takes no memory, and lists take no more than their
// elements.
func TestJSONAllocatesLittle(t *testing.T) {
	claim := []byte(`{"dtype":"complex128","shape":[1099511627776],"values":["(0+1i)"]}`)
	testkit.MaxBytes(t, 1<<13, func() { _ = new(tensor.Tensor).UnmarshalJSON(claim) })
	for _, n := range []int{100, 1000, 10_000} {
		text := []byte(`{"dtype":"int64","shape":[` + string(tensor.Must(json.Marshal(n))) + `,2],"values":[[1,2]` + strings.Repeat(",[1,2]", n-1) + `]}`)
		require.Less(t, testing.AllocsPerRun(3, func() { _ = new(tensor.Tensor).UnmarshalJSON(text) }), 60.0, n)
		x := new(tensor.Tensor)
		require.NoError(t, x.UnmarshalJSON(text))
		b := make([]byte, 0, len(text))
		require.LessOrEqual(t, testing.AllocsPerRun(3, func() { b, _ = x.Ops().AppendJSON(b[:0]) }), 12.0, n)
	}
}

// FuzzJSON: what is read is written as a text that reads back as the same bits, and takes memory in
// proportion to the text.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"dtype":"float32","shape":[2,2],"values":[[0,1],[2,-0]]}`, `{"dtype":"complex64","shape":[1],"values":["(NaN-Infi)"]}`,
		`{"values":["+Inf"],"shape":[1],"dtype":"bfloat16"}`, `{"dtype":"int8","shape":[3,0],"values":[]}`, `null`,
		`{"dtype":"uint64","shape":[1],"values":[18446744073709551615]}`, `{"dtype":"bool","shape":[],"values":true}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var x tensor.Tensor
		if err := x.UnmarshalJSON(text); err != nil {
			if x.DType() != 0 {
				t.Fatalf("%v: the receiver has changed", err)
			}
			return
		}
		if x.DType() == 0 { // null
			return
		}
		if n := x.ByteSize(); n > 16*len(text) {
			t.Fatalf("%d bytes of a text of %d", n, len(text))
		}
		first := tensor.Must(x.MarshalJSON())
		var back tensor.Tensor
		if err := back.UnmarshalJSON(first); err != nil {
			t.Fatalf("%s of %q: %v", first, text, err)
		}
		if again := tensor.Must(back.MarshalJSON()); !bytes.Equal(again, first) {
			t.Fatalf("%s, then %s", first, again)
		}
		if !strings.Contains(string(first), "NaN") && !bytes.Equal(rawBits(t, &x), rawBits(t, &back)) {
			t.Fatalf("%s: other bits", first)
		}
	})
}
