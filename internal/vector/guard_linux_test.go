package vector

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// guarded returns memory between two pages that cannot be touched.
func guarded(t *testing.T, size int) []byte {
	t.Helper()
	page := unix.Getpagesize()
	size = (size + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(m)) })
	require.NoError(t, unix.Mprotect(m[:page], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(m[page+size:], unix.PROT_NONE))
	return m[page : page+size]
}

// ends returns n elements at the beginning and at the end of memory.
func ends[T cast.Fixed](b []byte, n int) [2][]T {
	s, _ := cast.Slice[T](b)
	return [2][]T{s[:n:n], s[len(s)-n:]}
}

// atEnds calls a function with slices that begin or end where memory does: what is read or written
// beyond ends the test.
func atEnds[D, A cast.Fixed](t *testing.T, f func(dst []D, a, b []A)) {
	t.Helper()
	dst, a, b := guarded(t, 8<<10), guarded(t, 8<<10), guarded(t, 8<<10)
	r := rand.New(rand.NewPCG(9, 10))
	for n := 1; n <= 200; n += 1 + r.IntN(3) {
		for end := range 2 {
			f(ends[D](dst, n)[end], ends[A](a, n)[1-end], ends[A](b, n)[end])
			f(ends[D](dst, n)[end], ends[A](a, n)[end], ends[A](b, n)[1-end])
		}
	}
}

// TestGuardPages: no function reads or writes beyond its slices.
func TestGuardPages(t *testing.T) {
	for _, all := range []map[string]func(dst, a, b []float32){numbers[float32](), singles()} {
		for _, f := range all {
			atEnds(t, f)
		}
	}
	for _, f := range numbers[float64]() {
		atEnds(t, f)
	}
	for _, f := range marks[float32]() {
		atEnds(t, f)
	}
	for _, f := range marks[float64]() {
		atEnds(t, f)
	}
	atEnds(t, func(dst []float32, a, _ []uint16) { WidenF16(dst, a) })
	atEnds(t, func(dst []float32, a, _ []uint16) { WidenBF16(dst, a) })
	atEnds(t, func(dst []uint16, a, _ []float32) { NarrowF16(dst, a) })
	atEnds(t, func(dst []uint16, a, _ []float32) { NarrowBF16(dst, a) })
	atEnds(t, func(dst []float32, a, _ []uint8) { OfBytes(dst, a) })
	atEnds(t, func(dst []float32, a, _ []uint8) { ScaleBytes(dst, a, 2, 1) })
	atEnds(t, func(dst []uint8, a, _ []float32) { ToBytes(dst, a) })
	atEnds(t, func(dst []int32, a, _ []float32) { Keys(dst, a, true) })
	atEnds(t, func(dst []float64, a, b []float32) {
		n := len(a) / 2
		WeightRows(dst[len(dst)-n/2*2:], a, []int{0, len(a) - n/2}, b[len(b)-n/2:])
	})
	atEnds(t, func(dst []float64, a, b []float32) {
		n := len(a) / 2
		AddWeightRows(dst[len(dst)-n:], a, []int{0, len(a) - n}, b[len(b)-n:])
	})
	atEnds(t, func(dst []float32, a, _ []uint8) { Blend(dst, dst, a, 1) })
	atEnds(t, func(dst []float64, a, _ []uint8) { Blend(dst, dst, a, 1) })
	atEnds(t, func(dst []float32, a, _ []float32) { dst[0] = Least(0, a) + Greatest(0, a) })
	atEnds(t, func(dst []float64, a, _ []float64) { dst[0] = Least(0, a) + Greatest(0, a) })
	for _, fold := range []func(dst, x []float32, at []int){AddRows[float32], MinimumRows[float32], MaximumRows[float32]} {
		atEnds(t, func(dst []float32, a, _ []float32) { n := len(a) / 2; fold(dst[len(dst)-n:], a, []int{0, len(a) - n}) })
	}
	atEnds(t, func(dst []float32, a, _ []float32) {
		n := len(a) / 9
		Sums(dst[:min(9, len(dst))], a, n, n)
	})
}
