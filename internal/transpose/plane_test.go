package transpose

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlane compares planes of all widths, of sizes beside each multiple of a block and of a tile,
// with a loop. Items lie between bytes that must not change, at addresses that no word is aligned
// to, with rows in either order.
func TestPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := 1; width <= MaxWidth; width++ {
		for range 24 {
			rows, cols := size(r, fromBytes/width), size(r, toBytes/width)
			to, want := side(r, rows, cols, width)
			from, _ := side(r, cols, rows, width)
			for i := range rows {
				for j := range cols {
					copy(want[to.At+i*to.Pitch+j*width:][:width], from.row(j, i*width, width))
				}
			}
			Plane{to, from, rows, cols, width}.Copy()
			require.True(t, string(want) == string(to.Bytes), "%d rows, %d columns of %d bytes", rows, cols, width)
		}
	}
}

// size returns a size near a multiple of a block or of n.
func size(r *rand.Rand, n int) int {
	return max(0, []int{0, 8, 16, n, 2 * n}[r.IntN(5)]+r.IntN(7)-3)
}

// side returns random memory for a plane, and a copy of it.
func side(r *rand.Rand, rows, cols, width int) (Side, []byte) {
	pitch := cols*width + r.IntN(40)
	s := Side{make([]byte, rows*pitch+64), r.IntN(32), pitch}
	if r.IntN(2) == 0 && rows > 0 {
		s.At, s.Pitch = s.At+(rows-1)*pitch, -pitch
	}
	for i := range s.Bytes {
		s.Bytes[i] = byte(r.Uint32())
	}
	return s, append([]byte(nil), s.Bytes...)
}
