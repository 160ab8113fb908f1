//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package pickstack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// special returns numbers of which the machine's own minimum, maximum or comparison is not that of
// Go, or that are at an edge. A NaN has either sign, and is quiet or signalling.
func special() []float32 {
	inf := float32(math.Inf(1))
	list := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1.5, inf, -inf}
	for _, bits := range []uint32{1, 1<<31 | 1, 0x7f7fffff, 0xff7fffff, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fc00000, 0xffc00000} {
		list = append(list, math.Float32frombits(bits))
	}
	return list
}

// requireSame fails unless two rows are equal bit for bit, but for the bits of NaN.
func requireSame(t *testing.T, want, got []float32, about ...any) {
	t.Helper()
	for c, v := range want {
		same := got[c] == v && math.Signbit(float64(got[c])) == math.Signbit(float64(v))
		if !same && (v == v || got[c] == got[c]) {
			t.Fatalf("channel %d: got %v, want %v: %v", c, got[c], v, fmt.Sprint(about...))
		}
	}
	require.Len(t, got, len(want))
}

// random returns n numbers, of which many are special or tie.
func random(rng *rand.Rand, n int) []float32 {
	list, x := special(), make([]float32, n)
	for i := range x {
		switch rng.IntN(3) {
		case 0:
			x[i] = list[rng.IntN(len(list))]
		case 1:
			x[i] = float32(rng.IntN(5) - 2)
		default:
			x[i] = float32(rng.NormFloat64())
		}
	}
	return x
}

// needsVectors skips a test on a machine that does not have them, where it would compare nothing.
func needsVectors(t *testing.T) {
	t.Helper()
	if fastFolder[float32](Max) == nil {
		t.Skip("this machine has no AVX2: the build does without vectors there")
	}
}

// TestFastFoldersOfAllPairs has each pair of special numbers in each lane, as a row and one folded
// into it, and as two rows, beside others.
func TestFastFoldersOfAllPairs(t *testing.T) {
	needsVectors(t)
	for _, a := range special() {
		for _, b := range special() {
			for lane := range 16 {
				x := make([]float32, 48)
				fill(x, 0.5)
				x[lane], x[16+lane] = a, b
				compareFolders(t, x[:16], x, []int{16})
				compareFolders(t, x[32:], x, []int{0, 16})
				compareFolders(t, x[32:], x, []int{16, 0, 32})
			}
		}
	}
}

// plainFolders are those that the fast ones must equal.
func plainFolders() map[Reduction]folder[float32] {
	return map[Reduction]folder[float32]{
		Max: foldMax[float32], Min: foldMin[float32], Sum: foldSum[float32], Mean: foldSum[float32], LogSumExp: foldMax[float32],
	}
}

// compareFolders folds rows of x into one like from.
func compareFolders(t *testing.T, from, x []float32, at []int) {
	t.Helper()
	for r, plain := range plainFolders() {
		want, got := slices.Clone(from), slices.Clone(from)
		plain(want, x, at)
		fastFolder[float32](r)(got, x, at)
		requireSame(t, want, got, r, from, x, at)
	}
}

func TestFastFoldersOfAllSizes(t *testing.T) {
	needsVectors(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for channels := range 41 {
		for entries := 1; entries <= 20; entries++ {
			x := random(rng, 7*channels+3)
			at := make([]int, entries)
			for i := range at {
				at[i] = rng.IntN(7)*channels + rng.IntN(4)
			}
			compareFolders(t, random(rng, channels), x, at)
		}
	}
}

func TestFastFoldersLeaveNeighboursAlone(t *testing.T) {
	needsVectors(t)
	for r := range plainFolders() {
		d := make([]float32, 40)
		fill(d, float32(math.NaN()))
		fill(d[8:27], 7)
		fastFolder[float32](r)(d[8:27], make([]float32, 19), []int{0})
		for i, v := range d {
			require.Equal(t, i < 8 || i >= 27, v != v, "%v: element %d", r, i)
		}
	}
}

// TestFastSpread compares all that the gradient of an extreme does to a strip, which may have got
// something before.
func TestFastSpread(t *testing.T) {
	needsVectors(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for channels := range 41 {
		for entries := 1; entries <= 20; entries++ {
			for _, reduction := range []Reduction{Max, Min} {
				for _, ties := range []Ties{TieEven, TieFirst, TieAll} {
					for _, least := range []*float64{nil, new(0.0), new(-1.0), new(math.Inf(1))} {
						rule := PoolOptions{Reduction: reduction, Ties: ties, MinValue: least}
						compareSpreads(t, rng, rule, channels, entries)
					}
				}
			}
		}
	}
}

func compareSpreads(t *testing.T, rng *rand.Rand, rule PoolOptions, channels, entries int) {
	t.Helper()
	c := newCall[float32, float32, int32](&Plan{rule: rule})
	const rows = 9
	w := newWorker(c)
	w.at = make([]int, entries)
	for e := range w.at {
		w.at[e] = rng.IntN(rows) * channels
	}
	s := &w.strip
	s.x, s.g, s.got = random(rng, rows*channels), random(rng, channels), random(rng, rows*channels)
	s.keys, s.won = make([]int32, len(s.x)), make([]winner[int32], channels)
	c.order.keys(s.keys, s.x)
	start := slices.Clone(s.got)
	w.spreadExtreme(0)
	want := slices.Clone(s.got)
	copy(s.got, start)
	done := fastSpread[float32, int32]()(s, w.at, rule.Ties, c.lowest, c.highest)
	require.Equal(t, channels/8*8, done)
	w.spreadExtreme(done)
	requireSame(t, want, s.got, rule, w.at, s.x)
}

func TestFastKeys(t *testing.T) {
	needsVectors(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, opposite := range []bool{false, true} {
		for n := range 200 {
			x := append(random(rng, n), special()...)
			want, got := make([]int32, len(x)), make([]int32, len(x))
			keys32(opposite)(want, x)
			fastKeys32(opposite)(got, x)
			require.Equal(t, want, got, "%v, opposite %v", x, opposite)
		}
	}
}

func TestFastLoopsDoNotAllocate(t *testing.T) {
	needsVectors(t)
	x, keys := make([]float32, 400), make([]int32, 400)
	s := strip[float32, int32]{x: x, keys: keys, got: make([]float32, 400), g: make([]float32, 40)}
	at := []int{0, 40, 80}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		foldMax32(s.got[:40], x, at)
		foldSum32(s.got[:40], x, at)
		spread32(&s, at, TieEven, 1, 0)
	}))
}
