package nrt_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fromList returns the tensor of one list, as a schema says.
func fromList(list any, dtype tensor.DType, depth int) (*ragged.Tensor, error) {
	j, err := nrt.FromLists(map[string]any{"x": list}, tdict.Schema{{Key: "x", Kind: tdict.KindRagged, DType: dtype, Depth: depth}})
	if err != nil {
		return nil, err
	}
	return j.Tensor("x")
}

// Numbers of a JSON text are what they spell, or an error: nothing is rounded to become an integer.
func TestJSONNumbers(t *testing.T) {
	tests := []struct {
		text  string
		dtype tensor.DType
		err   error
		want  string
	}{
		{"7", tensor.Int64, nil, "int64 [1]\n[7]"},
		{"-9223372036854775808", tensor.Int64, nil, "int64 [1]\n[-9223372036854775808]"},
		{"18446744073709551615", tensor.Uint64, nil, "uint64 [1]\n[18446744073709551615]"},
		{"1e3", tensor.Int16, nil, "int16 [1]\n[1000]"},
		{"5.0", tensor.Uint8, nil, "uint8 [1]\n[5]"},
		{"0.0e-400", tensor.Int8, nil, "int8 [1]\n[0]"},
		{"0.5", tensor.Float32, nil, "float32 [1]\n[0.5]"},
		{"0.1", tensor.Complex64, nil, "complex64 [1]\n[(0.1+0i)]"},
		{"-9223372036854775809", tensor.Int64, tensor.ErrDType, ""},
		{"18446744073709551617", tensor.Float64, tensor.ErrDType, ""},
		{"9007199254740993.0", tensor.Int64, nil, "int64 [1]\n[9007199254740993]"},
		{"9007199254740992.5", tensor.Int64, tensor.ErrDType, ""},
		{"1.0000000000000000000001", tensor.Int64, tensor.ErrDType, ""},
		{"1e-400", tensor.Int64, tensor.ErrDType, ""},
		{"300", tensor.Uint8, tensor.ErrDType, ""},
		{"NaN", tensor.Float32, shapeops.ErrKind, ""},
		{"0x1p3", tensor.Float32, shapeops.ErrKind, ""},
		{"1_0", tensor.Int64, shapeops.ErrKind, ""},
		{"+5.0", tensor.Float32, shapeops.ErrKind, ""},
		{"1e400", tensor.Float64, shapeops.ErrKind, ""},
		{"", tensor.Float64, shapeops.ErrKind, ""},
	}
	for _, tt := range tests {
		t.Run(tt.text+" as "+tt.dtype.String(), func(t *testing.T) {
			x, err := fromList([]any{json.Number(tt.text)}, tt.dtype, 0)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, tensor.Must(x.Values()).String())
		})
	}
	_, err := fromList([]any{json.Number("18446744073709551617")}, 0, tdict.Any)
	require.ErrorIs(t, err, tensor.ErrDType, "beyond 64 bits")
	_, err = fromList([]any{}, tensor.Int8, 1<<40)
	require.ErrorIs(t, err, ragged.ErrLengths)
}
