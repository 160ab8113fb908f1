//go:build unix

package tensor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A cut lender lends a mapped file of two pages, of which another process cut the second. It knows
// of faults only.
type cut struct{ m *mapping.Mapping }

func (c cut) Borrow() ([]byte, error) { return c.m.Acquire() }
func (c cut) Return()                 { c.m.Release() }
func (c cut) Pin() ([]byte, error)    { return c.m.Pin() }
func (c cut) ReadOnly() bool          { return false }

// A wary lender lends a mapped file and knows of what does not fault, too.
type wary struct{ cut }

func (w wary) Intact() error { return w.m.Intact() }

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
		return runs(tensor.Must(dst.Reshape(page)), tensor.Must(src.Reshape(page)), shape.Run{To: 1, From: 1, Len: 1})
	}
	for name, err := range map[string]error{
		"read":           tensor.Read(x, count),
		"read, strided":  tensor.Read(tensor.Must(x.Transpose(0, 1)), count),
		"write":          tensor.Write(goneRow, func(s []uint8) { s[0] = 1 }),
		"write, strided": tensor.Write(tensor.Must(x.Index(ix.All, ix.At(0))), count),
		"read where it lies": tensor.ReadStrided(x, func(s []uint8, _ []int) error {
			count(s)
			return nil
		}),
		"read where it lies, within another": tensor.ReadStrided(x, func(s []uint8, _ []int) error {
			return tensor.WriteStrided(row, func([]uint8, []int) error { count(s); return nil })
		}),
		"runs":       runs(other, goneRow),
		"runs to it": runs(goneRow, other),
		"fill":       func() error { var tr tensor.Transfer; _ = tr.Fill(goneRow, tensor.Scalar[uint8](1)); return tr.Run() }(),
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

// What another process cut within a page reads as zeros; a lender that knows makes it an error.
func TestCutWithinAPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte{1, 2, 3, 4}, 0o666))
	f := tensor.Must(os.OpenFile(path, os.O_RDWR, 0))
	m := tensor.Must(mapping.Map(f, 4, mapping.ReadWrite))
	require.NoError(t, f.Close())
	of := func(l tensor.Lender) *tensor.Tensor {
		return tensor.Must(tensor.FromLender(tensor.Uint8, l, 0, 4))
	}
	unaware, aware := of(cut{m}), of(wary{cut{m}})
	require.Equal(t, []byte{1, 2, 3, 4}, testkit.Elements[uint8](t, aware))
	require.NoError(t, os.Truncate(path, 2))
	require.Equal(t, []byte{1, 2, 0, 0}, testkit.Elements[uint8](t, unaware))
	for name, err := range map[string]error{
		"clone":           testkit.Err(aware.Clone()),
		"elements":        testkit.Err(tensor.Elements[uint8](aware)),
		"read":            tensor.Read(aware, func([]uint8) {}),
		"copy to it":      aware.CopyFrom(tensor.Vector[uint8](5, 6, 7, 8)),
		"of what is left": testkit.Err(tensor.Must(aware.Index(ix.Range(0, 2))).Clone()),
	} {
		require.ErrorIs(t, err, mapping.ErrFault, name)
		require.EqualError(t, err, map[string]string{"copy to it": "copy from: "}[name]+"fault in mapped memory: the file was truncated: got 2 bytes, want 4", name)
	}
	require.NoError(t, m.Close(), "what was borrowed has been returned")
}
