package vector_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// TestTranspose compares each width with a loop, in memory of just the bytes that it needs. A byte
// less is a panic, and nothing is written between the rows of dst.
func TestTranspose(t *testing.T) {
	for width := 1; width <= 8; width++ {
		for _, n := range []int{1, 2, 5} {
			from, to := 37, 8*width*n+3
			x := make([]byte, (8*n-1)*from+32)
			for i := range x {
				x[i] = byte(i * 7)
			}
			dst := make([]byte, (32/width-1)*to+8*width*n)
			want := make([]byte, len(dst))
			for i := range 32 / width {
				for j := range 8 * n {
					copy(want[i*to+j*width:][:width], x[j*from+i*width:])
				}
			}
			if !vector.Transpose(width, dst, x, to, from, n) {
				require.Equal(t, make([]byte, len(dst)), dst, "nothing is written without a kernel")
				continue
			}
			require.Equal(t, want, dst, "%d blocks of items of %d bytes", n, width)
			require.Panics(t, func() { vector.Transpose(width, dst[:len(dst)-1:len(dst)-1], x, to, from, n) })
			require.Panics(t, func() { vector.Transpose(width, dst, x[:len(x)-1:len(x)-1], to, from, n) })
		}
	}
	require.False(t, vector.Transpose(4, nil, nil, 0, 0, 0))
}
