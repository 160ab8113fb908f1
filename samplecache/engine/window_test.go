package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// TestWindow adds numbers in random order, within reach, and compares with a set.
func TestWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var w engine.Window
		set := map[uint64]bool{}
		for range 300 {
			n := w.Floor + rng.Uint64N(engine.WindowSize)
			require.True(t, w.Reaches(n))
			w = w.With(n)
			set[n] = true
			for set[w.Floor] {
				t.Fatalf("%d is the first that is not in %v", w.Floor, set)
			}
			for n := range w.Floor + 2*engine.WindowSize {
				if set[n] != w.Has(n) {
					t.Fatalf("%d: got %v, want %v", n, w.Has(n), set[n])
				}
			}
		}
	}
}

func TestWindowReaches(t *testing.T) {
	w := engine.Window{Floor: 10}
	require.True(t, w.Reaches(3))
	require.True(t, w.Reaches(73))
	require.False(t, w.Reaches(74))
	require.Equal(t, w, w.With(74), "what it does not reach is not added")
	require.Equal(t, w, w.With(3), "what it has is not added again")
}

func TestConfigFilled(t *testing.T) {
	c, err := engine.Config{Samples: 7}.Filled()
	require.NoError(t, err)
	require.Equal(t, 1, c.Retain)
	require.Equal(t, 2, c.MaxHeld)
	require.Zero(t, c.MaxHold)
	c, err = engine.Config{Samples: 7, Retain: -1, MaxHeld: -1}.Filled()
	require.NoError(t, err)
	again, err := c.Filled()
	require.NoError(t, err)
	require.Equal(t, c, again, "none stays none")
}
