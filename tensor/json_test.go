package tensor_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestJSONAndLog(t *testing.T) {
	gone := tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: errors.New("closed")}, 0, 2))
	tests := []struct {
		name      string
		x         *tensor.Tensor
		json, log string
	}{
		{"a scalar", tensor.Scalar(true), `{"dtype":"bool","shape":[],"values":true}`, "bool [] true"},
		{"nested lists", tensor.Must(tensor.From([]int64{1, 2, 3, 4}, 2, 2)), `{"dtype":"int64","shape":[2,2],"values":[[1,2],[3,4]]}`, "int64 [2 2] [[1,2],[3,4]]"},
		{"what is not a number", tensor.Vector(math.NaN(), math.Inf(-1)), `{"dtype":"float64","shape":[2],"values":["NaN","-Inf"]}`, `float64 [2] ["NaN","-Inf"]`},
		{"complex numbers", tensor.Vector(complex64(1i)), `{"dtype":"complex64","shape":[1],"values":["(0+1i)"]}`, `complex64 [1] ["(0+1i)"]`},
		{"no element", tensor.Must(tensor.Zeros[int8](0, 2)), `{"dtype":"int8","shape":[0,2],"values":[]}`, "int8 [0 2] []"},
		{"too many elements", tensor.Must(tensor.Zeros[int8](1001)), `{"dtype":"int8","shape":[1001]}`, "int8 [1001]"},
		{"too many to log", tensor.Must(tensor.Zeros[int8](17)), `{"dtype":"int8","shape":[17],"values":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}`, "int8 [17]"},
		{"memory that is gone", gone, "", "int8 [2]: closed"},
		{"no tensor", nil, "null", "<nil>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(tt.x)
			require.Equal(t, tt.json == "", err != nil)
			require.Equal(t, tt.json, string(text))
			require.Equal(t, tt.log, tt.x.LogValue().String())
		})
	}
}

func TestDiff(t *testing.T) {
	x := tensor.Must(tensor.From([]float32{0, 1, 2, 3}, 2, 2))
	turned := tensor.Must(x.Transpose(0, 1))
	tests := []struct {
		name string
		a, b *tensor.Tensor
		want string
	}{
		{"itself", x, x, ""},
		{"a copy", turned, tensor.Must(turned.Clone()), ""},
		{"an element", x, turned, "element [0 1] is 1, other 2"},
		{"a scalar", tensor.Scalar[int8](1), tensor.Scalar[int8](2), "element [] is 1, other 2"},
		{"NaN is not itself", tensor.Vector(math.NaN()), tensor.Vector(math.NaN()), "element [0] is NaN, other NaN"},
		{"wide elements", tensor.Vector[int64](1, 256), tensor.Vector[int64](1, 512), "element [1] is 256, other 512"},
		{"late elements", tensor.Must(tensor.Zeros[uint8](10_000)), tensor.Must(last(10_000)), "element [9999] is 0, other 1"},
		{"a shape", x, tensor.Vector[float32](0, 1, 2, 3), "float32 [2 2], other float32 [4]"},
		{"a dtype", tensor.Vector[int8](1), tensor.Vector[uint8](1), "int8 [1], other uint8 [1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.a.Diff(tt.b)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want == "", tt.a.Equal(tt.b))
		})
	}
	gone := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: errors.New("closed")}, 0, 2, 2))
	for _, err := range []error{testkit.Err(x.Diff(gone)), testkit.Err(gone.Diff(x))} {
		require.EqualError(t, err, "closed", "what cannot be read is not unequal")
	}
}

// last returns n bytes of which the last is 1.
func last(n int) (*tensor.Tensor, error) {
	s := make([]uint8, n)
	s[n-1] = 1
	return tensor.From(s, n)
}
