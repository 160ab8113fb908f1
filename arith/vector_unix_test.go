//go:build unix

package arith_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFilesThatAreCut cuts a mapped file short before functions of each kind read it or write to
// it: each returns memmap.ErrFault, with the name of the file.
func TestFilesThatAreCut(t *testing.T) {
	const n = 1 << 16
	whole := tensor.Must(tensor.Full(float32(1), n))
	fresh := func(d tensor.DType) *tensor.Tensor { return tensor.Must(tensor.New(d, n)) }
	for _, tt := range []struct {
		name  string
		dtype tensor.DType
		verb  func(cut *tensor.Tensor) error
	}{
		{"two slices", tensor.Float32, func(cut *tensor.Tensor) error { return arith.AddInto(fresh(tensor.Float32), whole, cut) }},
		{"a number", tensor.Float32, func(cut *tensor.Tensor) error { return arith.ClampInto(fresh(tensor.Float32), cut, 0, 1) }},
		{"into the file", tensor.Float32, func(cut *tensor.Tensor) error { return arith.MulInto(cut, whole, 2) }},
		{"marks", tensor.Float32, func(cut *tensor.Tensor) error { return arith.LessInto(fresh(tensor.Bool), cut, 1) }},
		{"a function", tensor.Float32, func(cut *tensor.Tensor) error { return arith.ExpInto(fresh(tensor.Float32), cut) }},
		{"a sum", tensor.Float32, func(cut *tensor.Tensor) error { _, err := arith.Sum(cut, arith.Whole); return err }},
		{"an extreme", tensor.Float32, func(cut *tensor.Tensor) error { _, err := arith.Max(cut, arith.Whole); return err }},
		{"rows", tensor.Float32, func(cut *tensor.Tensor) error {
			_, err := arith.Min(tensor.Must(cut.Reshape(-1, 64)), arith.Dims(0))
			return err
		}},
		{"float64", tensor.Float64, func(cut *tensor.Tensor) error { return arith.SqrtInto(fresh(tensor.Float64), cut) }},
		{"halves", tensor.Float16, func(cut *tensor.Tensor) error { return cut.CastInto(fresh(tensor.Float32)) }},
		{"narrowing", tensor.Float32, func(cut *tensor.Tensor) error { return cut.CastInto(fresh(tensor.BFloat16)) }},
		{"bytes", tensor.Uint8, func(cut *tensor.Tensor) error {
			_, err := arith.CastScale(cut, tensor.Float32, 2, 1)
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cut")
			x := tensor.Must(whole.Cast(tt.dtype))
			require.NoError(t, memmap.Save(dir, tensor.Must(tdict.FromMap([]int{n}, tdict.Entries{"x": x}))))
			ds, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
			require.NoError(t, err)
			cut := tensor.Must(ds.Tensor("x"))
			_ = tensor.Must(cut.Clone()) // it is mapped
			require.NoError(t, os.Truncate(filepath.Join(dir, "x.memmap"), 4096))
			err = tt.verb(cut)
			require.ErrorIs(t, err, memmap.ErrFault)
			require.ErrorContains(t, err, "x.memmap")
			_ = ds.Close() // its file is damaged
		})
	}
}
