package vector

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

// compare requires that a function sets the same elements with assembly as without, and none beside
// them, for slices of all lengths to 200 that begin anywhere in a vector.
func compare[D, A element](t *testing.T, f func(dst []D, a, b []A), values func(r *rand.Rand, n int) []A) {
	t.Helper()
	needsAssembly(t)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 201 {
		for range longtests.Times(3, 8) {
			a, b := values(r, n+8)[r.IntN(8):][:n], values(r, n+10)[r.IntN(8):][:n+2]
			if n > 0 {
				b = b[:n]
			}
			at := r.IntN(8)
			want, got := make([]D, n+16), make([]D, n+16)
			for i := range want {
				want[i], got[i] = D(i%7), D(i%7)
			}
			plainly(func() { f(want[at:][:n], a, b) })
			f(got[at:][:n], a, b)
			requireSame(t, want, got, "length ", n, " at ", at)
		}
	}
}

// compareInPlace is compare where dst is an operand.
func compareInPlace[T Float](t *testing.T, f func(dst, a, b []T)) {
	t.Helper()
	needsAssembly(t)
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 200; n++ {
		a, b := random[T](r, n), random[T](r, n)
		want, got := make([]T, n), append([]T{}, a...)
		plainly(func() { f(want, a, b) })
		f(got, got, b)
		requireSame(t, want, got, "a, length ", n)
	}
}

// TestPastTheCache has results written past the cache, wherever they begin, or to an operand.
func TestPastTheCache(t *testing.T) {
	needsAssembly(t)
	was := largeBytes
	largeBytes = 1 << 10
	defer func() { largeBytes = was }()
	r := rand.New(rand.NewPCG(11, 12))
	for range longtests.Times(10, 50) {
		testPast(t, r, numbers[float32](), random[float32])
		testPast(t, r, numbers[float64](), random[float64])
		testPast(t, r, singles(), random[float32])
		testPast(t, r, map[string]func(dst []float32, a, b []uint16){
			"WidenF16":  func(dst []float32, a, _ []uint16) { WidenF16(dst, a) },
			"WidenBF16": func(dst []float32, a, _ []uint16) { WidenBF16(dst, a) },
		}, integers[uint16])
		testPast(t, r, map[string]func(dst []float32, a, b []uint8){
			"OfBytes":    func(dst []float32, a, _ []uint8) { OfBytes(dst, a) },
			"ScaleBytes": func(dst []float32, a, _ []uint8) { ScaleBytes(dst, a, 0.3, -1) },
		}, integers[uint8])
	}
}

func testPast[D, A element](t *testing.T, r *rand.Rand, all map[string]func(dst []D, a, b []A), values func(r *rand.Rand, n int) []A) {
	t.Helper()
	n, at := 1100+r.IntN(70000), r.IntN(16)
	a, b := values(r, n), values(r, n)
	want, room := make([]D, n), make([]D, n+32)
	got := room[at:][:n]
	for name, f := range all {
		plainly(func() { f(want, a, b) })
		f(got, a, b)
		requireSame(t, want, got, name, n, at)
		if operand, ok := any(got).([]A); ok {
			copy(operand, a)
			f(got, operand, b)
			requireSame(t, want, got, name, " in place ", n, at)
		}
	}
	require.Equal(t, make([]D, 32), append(room[:at:at], room[at+n:]...))
}

func compareNumbers[T Float](t *testing.T, all map[string]func(dst, a, b []T)) {
	for name, f := range all {
		t.Run(fmt.Sprintf("%s/%T", name, T(0)), func(t *testing.T) {
			compare(t, f, random[T])
			compareInPlace(t, f)
		})
	}
}

func TestNumbers(t *testing.T) {
	compareNumbers(t, numbers[float32]())
	compareNumbers(t, numbers[float64]())
	compareNumbers(t, singles())
}

func compareMarks[T Float](t *testing.T) {
	for name, f := range marks[T]() {
		t.Run(fmt.Sprintf("%s/%T", name, T(0)), func(t *testing.T) { compare(t, f, random[T]) })
	}
}

func TestMarks(t *testing.T) {
	compareMarks[float32](t)
	compareMarks[float64](t)
}

// TestPairs has each pair of odd numbers in each lane.
func TestPairs(t *testing.T) {
	needsAssembly(t)
	testPairs[float32](t)
	testPairs[float64](t)
}

func testPairs[T Float](t *testing.T) {
	for _, x := range odd[T]() {
		for _, y := range odd[T]() {
			for lane := range longtests.Times(9, 40) {
				a, b := make([]T, 40), make([]T, 40)
				for i := range a {
					a[i], b[i] = 0.5, 0.25
				}
				a[lane], b[lane] = x, y
				for name, f := range numbers[T]() {
					want, got := make([]T, 40), make([]T, 40)
					plainly(func() { f(want, a, b) })
					f(got, a, b)
					requireSame(t, want, got, name, x, y)
				}
				for _, f := range []func(m T, x []T) T{Least[T], Greatest[T]} {
					row := append(append([]T{}, a...), b...)
					var want T
					plainly(func() { want = f(row[0], row) })
					requireSame(t, []T{want}, []T{f(row[0], row)}, x, y)
				}
			}
		}
	}
}

func TestExtremes(t *testing.T) {
	needsAssembly(t)
	testExtremes[float32](t)
	testExtremes[float64](t)
}

func testExtremes[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 400 {
		for _, values := range []func(*rand.Rand, int) []T{random[T], func(r *rand.Rand, n int) []T {
			x := make([]T, n)
			for i := range x {
				x[i] = T(math.Copysign(float64(r.IntN(2)), float64(r.IntN(2))-0.5))
			}
			return x
		}} {
			x := values(r, n+1)
			for name, f := range map[string]func(m T, x []T) T{"Least": Least[T], "Greatest": Greatest[T]} {
				var want T
				plainly(func() { want = f(x[0], x[1:]) })
				requireSame(t, []T{want}, []T{f(x[0], x[1:])}, name, n)
			}
		}
	}
}

func TestBlend(t *testing.T) {
	needsAssembly(t)
	testBlend[float32](t)
	testBlend[float64](t)
}

func testBlend[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for n := range 300 {
		if n > 290 {
			n *= 100
		}
		x, marks := random[T](r, n+3)[3:], make([]uint8, n)
		for i := range marks {
			marks[i] = uint8(r.IntN(2))
		}
		want, got := make([]T, n), make([]T, n)
		plainly(func() { Blend(want, x, marks, -2) })
		Blend(got, x, marks, -2)
		requireSame(t, want, got, n)
		Blend(x, x, marks, -2)
		requireSame(t, want, x, n, " in place")
		if n > 0 {
			requirePanic(t, func() { Blend(got, x, marks[:n-1], 0) }, n)
			requirePanic(t, func() { Blend(got, x[:n-1], marks, 0) }, n)
		}
	}
}

func TestSums(t *testing.T) {
	needsAssembly(t)
	r := rand.New(rand.NewPCG(7, 8))
	for lines := range 20 {
		for _, n := range []int{0, 1, 7, 8, 9, 16, 63, 64, 100, 20000} {
			step := n + r.IntN(5)
			x := make([]float32, lines*step+n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			want, got := make([]float32, lines), make([]float32, lines)
			plainly(func() { Sums(want, x, step, n) })
			Sums(got, x, step, n)
			requireSame(t, want, got, lines, n)
		}
	}
}

// TestAtOnce: assembly is given at most runBytes at once.
func TestAtOnce(t *testing.T) {
	needsAssembly(t)
	own := kernels
	defer func() { kernels = own }()
	most := 0
	kernels.sums = func(dst, x []byte, step, n int) {
		most = max(most, len(dst)*n) // a sum takes 4 bytes, and so does an element
		own.sums(dst, x, step, n)
	}
	kernels.addRows.f64 = func(dst, x []byte, at []int) {
		most = max(most, len(dst)*len(at))
		own.addRows.f64(dst, x, at)
	}
	kernels.slices[Add].f64 = func(dst, a, b []byte, x, y uint64, past bool) int {
		most = max(most, len(dst))
		return own.slices[Add].f64(dst, a, b, x, y, past)
	}
	kernels.weightRows = func(dst, x []byte, at []int, b []byte) {
		most = max(most, 2*len(b)*len(at))
		own.weightRows(dst, x, at, b)
	}
	for _, n := range []int{1, 64, 2047, 2048, 2049, 20_000, 40_000} {
		Sums(make([]float32, 24), make([]float32, 24*n), n, n)
		AddRows(make([]float64, n), make([]float64, n), make([]int, 12))
		Do(Add, make([]float64, n), make([]float64, n), make([]float64, n))
		WeightRows(make([]float64, 12*n), make([]float32, n), make([]int, 12), make([]float32, n))
	}
	require.LessOrEqual(t, most, runBytes)
	require.Greater(t, most, runBytes/2)
}

func TestRows(t *testing.T) {
	needsAssembly(t)
	testRows[float32](t)
	testRows[float64](t)
}

func testRows[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for name, f := range map[string]func(dst, x []T, at []int){"add": AddRows[T], "minimum": MinimumRows[T], "maximum": MaximumRows[T]} {
		for n := range 300 {
			width := n
			if n > 290 {
				width = n * 30
			}
			x, dst, at := random[T](r, 3*width+20), random[T](r, width), []int{}
			for range r.IntN(12) {
				at = append(at, r.IntN(2*width+20))
			}
			want, got := append([]T{}, dst...), append([]T{}, dst...)
			plainly(func() { f(want, x, at) })
			f(got, x, at)
			requireSame(t, want, got, name, width, at)
		}
		require.Panics(t, func() { f(make([]T, 40), make([]T, 60, 100), []int{0, 21}) })
	}
}

func TestConversions(t *testing.T) {
	compare(t, func(dst []float32, a, _ []uint16) { WidenF16(dst, a) }, integers[uint16])
	compare(t, func(dst []float32, a, _ []uint16) { WidenBF16(dst, a) }, integers[uint16])
	compare(t, func(dst []uint16, a, _ []float32) { NarrowF16(dst, a) }, random[float32])
	compare(t, func(dst []uint16, a, _ []float32) { NarrowBF16(dst, a) }, random[float32])
	compare(t, func(dst []float32, a, _ []uint8) { OfBytes(dst, a) }, integers[uint8])
	compare(t, func(dst []float32, a, _ []uint8) { ScaleBytes(dst, a, 0.3, -1) }, integers[uint8])
	compare(t, func(dst []uint8, a, _ []float32) { ToBytes(dst, a) }, random[float32])
	compare(t, func(dst []int32, a, _ []float32) { Keys(dst, a, false) }, random[float32])
	compare(t, func(dst []int32, a, _ []float32) { Keys(dst, a, true) }, random[float32])
}

// TestEveryHalf widens all numbers of 16 bits, and narrows them, the float32 halfway between two of
// them, and those next to either.
func TestEveryHalf(t *testing.T) {
	needsAssembly(t)
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	for name, f := range map[string]struct {
		widen  func(dst []float32, src []uint16)
		narrow func(dst []uint16, src []float32)
		middle uint32 // the bits of the float32 halfway to the next number, less those of a number
	}{"float16": {WidenF16, NarrowF16, 1 << 12}, "bfloat16": {WidenBF16, NarrowBF16, 1 << 15}} {
		want, got := make([]float32, len(all)), make([]float32, len(all))
		plainly(func() { f.widen(want, all) })
		f.widen(got, all)
		requireSame(t, want, got, name)
		for _, beside := range []uint32{0, 1, f.middle - 1, f.middle, f.middle + 1, 2*f.middle - 1} {
			for i, v := range want {
				got[i] = math.Float32frombits(math.Float32bits(v) + beside)
				// Subnormal float16 have steps of their own.
				if m := all[i] & 0x7fff; name == "float16" && m < 1<<10 {
					got[i] = float32(math.Copysign((float64(m)+float64(beside)/float64(2*f.middle))*0x1p-24, float64(v)))
				}
			}
			plain, own := make([]uint16, len(all)), make([]uint16, len(all))
			plainly(func() { f.narrow(plain, got) })
			f.narrow(own, got)
			requireSame(t, plain, own, name, beside)
		}
	}
}

func TestWeights(t *testing.T) {
	needsAssembly(t)
	r := rand.New(rand.NewPCG(15, 16))
	for n := range 100 {
		width := n
		if n > 90 {
			width = n * 30
		}
		x, b, at := random[float32](r, 3*width+20), random[float32](r, width), []int{}
		for range r.IntN(12) {
			at = append(at, r.IntN(2*width+20))
		}
		MaximumRows(b, x, at) // weights are at most 1
		for name, f := range map[string]func(dst []float64, x []float32, at []int, b []float32){"set": WeightRows, "add": AddWeightRows} {
			want := random[float64](r, width*(len(at)+1))
			got := append([]float64{}, want...)
			plainly(func() { f(want, x, at, b) })
			f(got, x, at, b)
			requireSame(t, want, got, name, width, at)
		}
	}
}

// all has TestFunctions take all inputs.
var all = flag.Bool("all", false, "compare all float32, for some minutes")

// TestFunctions compares the functions of float32 with those of package math, rounded once.
func TestFunctions(t *testing.T) {
	step := uint64(longtests.Times(1031, 257))
	if *all {
		step = 1
	}
	for name, f := range map[string]struct {
		own  func(dst, a []float32)
		math func(float64) float64
	}{"Exp": {Exp, math.Exp}, "Log": {Log, math.Log}, "Tanh": {Tanh, math.Tanh}, "Sigmoid": {Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }}} {
		t.Run(name, func(t *testing.T) {
			eachFloat(step, func(x []float32) {
				got := make([]float32, len(x))
				f.own(got, x)
				for i, v := range x {
					if want := float32(f.math(float64(v))); !same(want, got[i]) {
						t.Errorf("%v (%#x): got %v, want %v", v, math.Float32bits(v), got[i], want)
						return
					}
				}
			})
		})
	}
}

// eachFloat calls fn with every step-th float32, some at a time, on all cores.
func eachFloat(step uint64, fn func(x []float32)) {
	const n = 1 << 12
	cores := uint64(runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			x := make([]float32, n)
			for from := core * n * step; from < 1<<32; from += cores * n * step {
				for i := range x {
					x[i] = math.Float32frombits(uint32(from + uint64(i)*step))
				}
				fn(x)
			}
		})
	}
	wg.Wait()
}

// TestAllocations: nothing is allocated.
func TestAllocations(t *testing.T) {
	a, b, marked := make([]float32, 1000), make([]float32, 1000), make([]uint8, 1000)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		Do(Add, a, a, b)
		DoNumber(Add, a, a, 1)
		Mark(Less, marked, a, b)
		Exp(a, b)
		Sums(a[:8], b, 100, 100)
		_ = Greatest(0, a)
	}))
}

// requirePanic requires that fn panics with a bounds error, as plain Go does.
func requirePanic(t *testing.T, fn func(), about ...any) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(runtime.Error)
		require.ErrorContains(t, err, "out of range", fmt.Sprint(about...))
	}()
	fn()
}

// testShort requires that a function panics if an operand is shorter than dst, even where its
// capacity is not, and leaves dst alone.
func testShort[D, A element](t *testing.T, name string, f func(dst []D, a, b []A), pairs bool) {
	for _, n := range []int{1, 7, 100, 40000} {
		dst, long := make([]D, n), make([]A, n+1)
		for _, short := range [][]A{nil, {}, long[:0], long[:n-1], long[: n-1 : n-1], long[:n/2]} {
			requirePanic(t, func() { f(dst, short, long) }, name, n, len(short))
			if pairs {
				requirePanic(t, func() { f(dst, long, short) }, name, n, len(short))
			}
		}
		require.Equal(t, make([]D, n), dst, name)
	}
}

// TestShortOperands: slices that are too short are not read, nor is anything set.
func TestShortOperands(t *testing.T) {
	pair := map[string]bool{}
	for o, name := range opNames {
		pair[name] = !Op(o).alone()
	}
	run := func() {
		for name, f := range numbers[float32]() {
			testShort(t, name, f, pair[name])
		}
		for name, f := range numbers[float64]() {
			testShort(t, name, f, pair[name])
		}
		for name, f := range singles() {
			testShort(t, name, f, false)
		}
		for name, f := range marks[float32]() {
			testShort(t, name, f, pair[name])
		}
		type weigher = func(dst []float64, x []float32, at []int, b []float32)
		for name, f := range map[string]weigher{"WeightRows": WeightRows, "AddWeightRows": AddWeightRows} {
			b := make([]float32, 40)
			requirePanic(t, func() { f(make([]float64, 80), make([]float32, 60, 100), []int{0, 21}, b) }, name)
			requirePanic(t, func() { f(make([]float64, 39, 80), make([]float32, 60), []int{0}, b) }, name)
		}
		testShort(t, "WidenF16", func(dst []float32, a, _ []uint16) { WidenF16(dst, a) }, false)
		testShort(t, "NarrowBF16", func(dst []uint16, a, _ []float32) { NarrowBF16(dst, a) }, false)
		testShort(t, "ToBytes", func(dst []uint8, a, _ []float32) { ToBytes(dst, a) }, false)
		testShort(t, "Keys", func(dst []int32, a, _ []float32) { Keys(dst, a, false) }, false)
	}
	run()
	plainly(run)
}

// TestLinesBeyond: Sums panics if a line is not in x, whatever the step.
func TestLinesBeyond(t *testing.T) {
	run := func() {
		const n = 64
		x := make([]float32, 8*n)
		for _, step := range []int{-1, -n, n + 1, math.MaxInt, math.MaxInt - n, math.MinInt, (1<<63-1)/7*2 + 1} {
			requirePanic(t, func() { Sums(make([]float32, 8), x, step, n) }, step)
		}
		for _, count := range []int{-1, n + 1, math.MaxInt, math.MinInt} {
			requirePanic(t, func() { Sums(make([]float32, 8), x, n, count) }, count)
		}
	}
	run()
	plainly(run)
}
