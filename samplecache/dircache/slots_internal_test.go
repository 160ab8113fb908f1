package dircache

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// slotsOf returns the words of a control file in which a generation is being filled.
func slotsOf(samples int, generation uint64) (layout, words) {
	l := newLayout(samples)
	w := words(make([]atomic.Uint64, l.end))
	for i := range w {
		w.store(i, 0)
	}
	l.begin(w, generation)
	return l, w
}

// reserveAll reserves slots until there is none, and returns how many.
func reserveAll(l layout, w words, generation uint64) (n int) {
	for {
		if _, ok := l.reserve(w, generation, 1, l.samples); !ok {
			return n
		}
		n++
	}
}

// TestReserveOfAnEarlierGeneration is a process that has read which generation is being filled, and
// asks for a slot when the next one is.
func TestReserveOfAnEarlierGeneration(t *testing.T) {
	l, w := slotsOf(5, 2)
	_, ok := l.reserve(w, 1, 1, l.samples)
	require.False(t, ok)
	require.Equal(t, 5, reserveAll(l, w, 2), "the slots of the next one are found")
}

func TestReserveFindsWhatIsFreeAgain(t *testing.T) {
	l, w := slotsOf(5, 1)
	require.Equal(t, 5, reserveAll(l, w, 1))
	require.False(t, l.free(w, 1, 2, 3), "of another holder")
	require.True(t, l.free(w, 1, 1, 3))
	require.True(t, l.free(w, 1, 1, 1))
	slot, ok := l.reserve(w, 1, 1, 1)
	require.False(t, ok, "slot %d is beyond the bound", slot)
	require.Equal(t, 2, reserveAll(l, w, 1))
}

// TestReserveInterrupted frees a slot between any two steps of a reservation that finds none.
func TestReserveInterrupted(t *testing.T) {
	l, w := slotsOf(4, 1)
	require.Equal(t, 4, reserveAll(l, w, 1))
	before := w.load(freeWord)
	require.True(t, l.free(w, 1, 1, 2))
	require.False(t, w.cas(freeWord, before, hint(hintTag(before), 4)), "who found none cannot say so any more")
	require.Equal(t, 1, reserveAll(l, w, 1))
}

func TestFullCountsWhatIsCommitted(t *testing.T) {
	l, w := slotsOf(3, 7)
	for _, slot := range []int{2, 0, 1} {
		require.False(t, l.full(w, 7))
		w.store(l.slots+slot, slotWord(7, 1, slotReserved))
		require.True(t, l.commit(w, 7, 1, slot))
		require.False(t, l.commit(w, 7, 1, slot), "twice")
	}
	require.True(t, l.full(w, 7))
	require.False(t, l.full(w, 8))
	require.Equal(t, 3, l.committed(w, 7))
}
