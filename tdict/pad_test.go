package tdict_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// mixed returns a dictionary [2] of several dtypes and kinds:
//
//	i    int32 [2]
//	b    bool [2]
//	n/f  float32 [2 1]
//	n/i  int32 [2]
//	s    data ["a" "b"]
//	u    unbatched int64 [2]
func mixed() *tdict.TensorDict {
	full := func(d tensor.DType, shape ...int) *tensor.Tensor {
		return tensor.Must(tensor.Must(tensor.Full[uint8](1, shape...)).Cast(d))
	}
	return dict([]int{2}, entry{"i", full(tensor.Int32, 2)}, entry{"b", full(tensor.Bool, 2)}, entry{"n/f", full(tensor.Float32, 2, 1)},
		entry{"n/i", full(tensor.Int32, 2)}, entry{"s", texts("a", "b")}, entry{"u", unbatched(count(2))})
}

func TestPadValues(t *testing.T) {
	type vals = map[nestedkey.Key]any
	tests := []struct {
		name string
		opt  tdict.PadOptions
		want vals // what is before the first row
	}{
		{"zero of each dtype", tdict.PadOptions{}, vals{"i": "0", "b": "false", "n/f": "0", "n/i": "0"}},
		{"one value for all", tdict.PadOptions{Fill: 1}, vals{"i": "1", "b": "true", "n/f": "1", "n/i": "1"}},
		{"values of their own", tdict.PadOptions{Fill: 0, Fills: vals{"n/f": -0.5, "b": true}}, vals{"i": "0", "b": "true", "n/f": "-0.5", "n/i": "0"}},
		{"a value under one key only", tdict.PadOptions{Fills: vals{"n/i": 9}}, vals{"i": "0", "b": "false", "n/f": "0", "n/i": "9"}},
		{"nil is zero", tdict.PadOptions{Fill: 1, Fills: vals{"i": nil}}, vals{"i": "0", "b": "true", "n/f": "1", "n/i": "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := mixed()
			got := tensor.Must(td.Pad(tt.opt, 1, 1))
			require.Equal(t, shapeops.Shape{4}, got.Shape().Clone())
			consistent(t, got)
			for key, want := range tt.want {
				x := tensor.Must(got.Tensor(key))
				flat := tensor.Must(x.Reshape(4))
				first := tensor.Must(flat.Take(0, tensor.Scalar[int8](0)))
				require.Equal(t, fmt.Sprintf("%v [] %v", x.DType(), want), first.String(), key)
				require.True(t, tensor.Must(x.Narrow(0, 1, 2)).Equal(tensor.Must(td.Tensor(key))), key)
				require.True(t, tensor.Must(x.Narrow(0, 0, 1)).Equal(tensor.Must(x.Narrow(0, 3, 1))), key)
			}
			require.Equal(t, []any{nil, "a", "b", nil}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](got, "s")).All()))
			require.Equal(t, "0 1", fmt.Sprintf("%d %d", anyOf(t, got)...))
			dst := tensor.Must(tensor.Must(td.Pad(tdict.PadOptions{}, 1, 1)).Clone())
			require.NoError(t, td.PadInto(dst, tt.opt, 1, 1))
			require.True(t, dst.Equal(got))
		})
	}
}

// anyOf returns the elements of the unbatched tensor.
func anyOf(t *testing.T, td *tdict.TensorDict) (out []any) {
	u := tensor.Must(tdict.Get[*tdict.Unbatched](td, "u"))
	for _, v := range testkit.Elements[int64](t, u.Tensor()) {
		out = append(out, v)
	}
	return out
}

// Data that all rows share is nil where it is padded, once or again.
func TestPadData(t *testing.T) {
	td := dict([]int{2}, entry{"s", data("x", 2)})
	once := tensor.Must(td.Pad(tdict.PadOptions{Fill: 7}, 0, 1))
	twice := tensor.Must(once.Pad(tdict.PadOptions{}, 2, 0))
	require.Equal(t, []any{nil, nil, "x", "x", nil}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](twice, "s")).All()))
	require.Equal(t, []any{"x", "x"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](td, "s")).All()))
	all := tensor.Must(td.Pad(tdict.PadOptions{}, -2, 3))
	require.Equal(t, []any{nil, nil, nil}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](all, "s")).All()))
	require.NoError(t, all.SetIndex(td, ix.Range(1, 3)))
	require.Equal(t, []any{nil, "x", "x"}, slices.Collect(tensor.Must(tdict.Get[*tdict.Data](all, "s")).All()))
}

func TestPadRefusals(t *testing.T) {
	type (
		dictionary = *tdict.TensorDict
		opt        = tdict.PadOptions
		vals       = map[nestedkey.Key]any
	)
	pad := func(o opt, sizes ...int) func(dictionary) error {
		return func(td dictionary) error { return testkit.Err(td.Pad(o, sizes...)) }
	}
	into := func(o opt, sizes ...int) func(dictionary) error {
		return func(td dictionary) error { return td.PadInto(tensor.Must(td.Clone()), o, sizes...) }
	}
	refuse(t, mixed, []refusal{
		{"a value that a leaf does not hold", pad(opt{Fill: 7}, 1, 0), tensor.ErrDType},
		{"a value that a nested leaf does not hold", pad(opt{Fills: vals{"n/i": 0.5}}, 1, 0), tensor.ErrDType},
		{"a value of no kind", pad(opt{Fill: "x"}, 1, 0), tensor.ErrKind},
		{"a key that is not there", pad(opt{Fills: vals{"no": 1}}, 1, 0), tdict.ErrMissing},
		{"a nested key that is not there", pad(opt{Fills: vals{"n/no": 1}}, 1, 0), tdict.ErrMissing},
		{"a key that is ill-formed", pad(opt{Fills: vals{"~": 1}}, 1, 0), tdict.ErrMissing},
		{"a value for data", pad(opt{Fills: vals{"s": 1}}, 1, 0), tdict.ErrKind},
		{"a value for a dictionary", pad(opt{Fills: vals{"n": 1}}, 1, 0), tdict.ErrKind},
		{"a value for an unbatched tensor", pad(opt{Fills: vals{"u": 1}}, 1, 0), tdict.ErrKind},
		{"an odd number of sizes", pad(opt{}, 1), shapeops.ErrShape},
		{"sizes for a dim after the batch shape", pad(opt{}, 0, 0, 1, 1), shapeops.ErrShape},
		{"more taken than there is", pad(opt{}, -4, 0), shapeops.ErrShape},
		{"sizes that overflow", pad(opt{}, math.MaxInt, 1), shapeops.ErrShape},
		{"as much taken as can be", pad(opt{}, math.MinInt, math.MinInt), shapeops.ErrShape},
		{"into another batch shape", into(opt{}, 1, 0), shapeops.ErrShape},
		{"into another batch shape, with values", into(opt{Fills: vals{"i": 1}}, 1, 0), shapeops.ErrShape},
		{"into other keys", func(td dictionary) error { return td.PadInto(tdict.New(3), opt{}, 1, 0) }, tdict.ErrMissing},
		{"into other keys, with values", func(td dictionary) error { return td.PadInto(tdict.New(3), opt{Fills: vals{"i": 1}}, 1, 0) }, tdict.ErrMissing},
		{"into itself, a value that does not fit", func(td dictionary) error {
			return td.PadInto(tensor.Must(td.Clone()), opt{Fills: vals{"n/i": 0.5}}, -1, 1)
		}, tensor.ErrDType},
		{"a leaf where a dictionary goes", func(td dictionary) error {
			dst := tensor.Must(td.Pad(opt{}, 1, 0))
			return errors.Join(dst.Set("n", count(3)), td.PadInto(dst, opt{Fills: vals{"i": 1}}, 1, 0))
		}, tdict.ErrKind},
	})
}
