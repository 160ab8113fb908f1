package tensor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
)

// TestMeetAlike compares the arithmetic of overlaps with looking at every byte: two views of one
// buffer with the same strides, at random, of elements of several widths, the second of them also
// out of step with the first.
func TestMeetAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	met := 0
	for range 20_000 {
		n := 1 + rng.IntN(3)
		to := shapeops.View{Offset: rng.IntN(20)}
		for range n {
			to.Shape = append(to.Shape, 1+rng.IntN(4))
			to.Strides = append(to.Strides, 1+rng.IntN(7))
		}
		from := to
		from.Offset = rng.IntN(20)
		m := &move{}
		m.all([]int{1, 2, 4}[rng.IntN(3)], memory{}, memory{}, to, from)
		shift := rng.IntN(9) - 4
		hit, known := m.meetAlike(shift)
		require.True(t, known)
		require.Equal(t, meet(m.region(true), m.region(false), shift), hit, "%+v %+v, %d bytes apart", to, from, shift)
		if hit {
			met++
		}
	}
	require.Greater(t, met, 2000)
	require.Less(t, met, 18_000)
}
