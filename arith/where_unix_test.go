//go:build unix

package arith_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// guarded returns memory of so many pages, of which only the first can be written.
func guarded(t *testing.T, pages int) []byte {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	require.NoError(t, syscall.Mprotect(b[page:], syscall.PROT_READ))
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(b)) })
	return b
}

// TestWhereInPlaceKeepsPages: what an operation in place keeps is not written, not even with what
// it is.
func TestWhereInPlaceKeepsPages(t *testing.T) {
	page := os.Getpagesize()
	for _, d := range testkit.Widths {
		n := page / d.Size() // elements of a page
		for name, op := range map[string]func(x *tensor.Tensor, first, rest *tensor.Tensor) error{
			"fill elements":  func(x, first, _ *tensor.Tensor) error { return arith.MaskedFillInto(x, x, first, 1) },
			"where a scalar": func(x, _, rest *tensor.Tensor) error { return arith.WhereInto(x, rest, x, 1) },
			"where a tensor": func(x, _, rest *tensor.Tensor) error {
				return arith.WhereInto(x, rest, x, tensor.Must(tensor.New(d, x.Shape()...)))
			},
			"fill rows": func(x, first, _ *tensor.Tensor) error {
				rows := tensor.Must(tensor.Must(first.Reshape(-1, 2)).Index(ix.All, ix.At(0)))
				pairs := tensor.Must(x.Reshape(-1, 2))
				return arith.MaskedFillInto(pairs, pairs, rows, 1)
			},
		} {
			t.Run(d.String()+"/"+name, func(t *testing.T) {
				lender := &testkit.Lender{Bytes: guarded(t, 3)}
				x := lent(d, lender, 3*n)
				first, rest := make([]bool, 3*n), make([]bool, 3*n)
				for i := range first {
					first[i], rest[i] = i < n && i%3 == 0, i >= n || i%3 > 0
				}
				require.NoError(t, op(x, tensor.Vector(first...), tensor.Vector(rest...)))
				require.Zero(t, lender.Borrowed())
			})
		}
	}
}
