//go:build unix

package tensor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A cut lender lends a mapped file of two pages, of which another process cut the second.
type cut struct{ *mapping.Mapping }

func (c cut) Borrow() ([]byte, error) { return c.Acquire() }
func (c cut) Return()                 { c.Release() }
func (c cut) ReadOnly() bool          { return false }

func cutFile(t *testing.T) (x *tensor.Tensor, page int) {
	t.Helper()
	page = os.Getpagesize()
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, make([]byte, 2*page), 0o666))
	f := tensor.Must(os.OpenFile(path, os.O_RDWR, 0))
	m := tensor.Must(mapping.Map(f, 2*page, mapping.ReadWrite))
	require.NoError(t, f.Truncate(int64(page)))
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.NoError(t, m.Close(), "what was borrowed has been returned")
	})
	return tensor.Must(tensor.FromLender(tensor.Uint8, cut{m}, 0, 2, page)), page
}

// A fault in lent memory is an error of whatever meets it, and what is left of the file still
// serves.
func TestFaults(t *testing.T) {
	x, page := cutFile(t)
	goneRow, row := tensor.Must(x.Index(ix.At(1))), tensor.Must(x.Index(ix.At(0)))
	other := tensor.Must(tensor.Full[uint8](3, page))
	sum := 0
	count := func(s []uint8) {
		for _, v := range s {
			sum += int(v)
		}
	}
	runs := func(dst, src *tensor.Tensor) error {
		return runs(tensor.Must(dst.Reshape(page)), tensor.Must(src.Reshape(page)), shapeops.Run{To: 1, From: 1, Len: 1})
	}
	for name, err := range map[string]error{
		"read":           tensor.Read(x, count),
		"read, strided":  tensor.Read(tensor.Must(x.Transpose(0, 1)), count),
		"write":          tensor.Write(goneRow, func(s []uint8) { s[0] = 1 }),
		"write, strided": tensor.Write(tensor.Must(x.Index(ix.All, ix.At(0))), count),
		"runs":           runs(other, goneRow),
		"runs to it":     runs(goneRow, other),
		"fill":           func() error { var tr tensor.Transfer; _ = tr.Fill(goneRow, tensor.Scalar[uint8](1)); return tr.Run() }(),
		"fill from it": func() error {
			var tr tensor.Transfer
			_ = tr.Fill(other, tensor.Must(goneRow.Index(ix.At(0))))
			return tr.Run()
		}(),
		"clone":    testkit.Err(goneRow.Clone()),
		"take":     testkit.Err(x.Index(ix.Take(1, 0))),
		"elements": testkit.Err(tensor.Elements[uint8](x)),
	} {
		require.ErrorIs(t, err, mapping.ErrFault, name)
	}
	require.NoError(t, tensor.Write(row, func(s []uint8) { s[0] = 5 }))
	sum = 0
	require.NoError(t, tensor.Read(row, count))
	require.Equal(t, 5, sum)
}
