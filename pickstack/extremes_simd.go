//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package pickstack

import (
	"math"
	"simd/archsimd"
)

// fastSpread returns a spread that does several channels at a time, to the same results, or nil if
// the machine cannot.
func fastSpread[T number, K key]() spread[T, K] {
	if !archsimd.X86.AVX2() {
		return nil
	}
	f, _ := any(spread[float32, int32](spread32)).(spread[T, K]) // nil for float64
	return f
}

func spread32(s *strip[float32, int32], at []int, ties Ties, lowest, highest int32) (c int) {
	for ; c+8 <= len(s.g); c += 8 {
		g := archsimd.LoadFloat32x8Slice(s.g[c : c+8 : c+8])
		keys, got := s.keys[c:], s.got[c:]
		best := greatest32(keys, at)
		best = best.Merge(archsimd.BroadcastInt32x8(math.MinInt32), outside32(best, lowest, highest))
		switch ties {
		case TieEven:
			giveAll32(got, keys, at, best, g.Div(count32(keys, at, best)))
		case TieFirst:
			giveFirst32(got, keys, at, best, g)
		default:
			giveAll32(got, keys, at, best, g)
		}
	}
	archsimd.ClearAVXUpperBits()
	return c
}

// greatest32 returns the greatest keys of a pool.
func greatest32(keys []int32, at []int) archsimd.Int32x8 {
	best := archsimd.BroadcastInt32x8(math.MinInt32)
	for _, o := range at {
		best = best.Max(archsimd.LoadInt32x8Slice(keys[o : o+8 : o+8]))
	}
	return best
}

// outside32 reports which of keys are not in a range.
func outside32(keys archsimd.Int32x8, lowest, highest int32) archsimd.Mask32x8 {
	below := archsimd.BroadcastInt32x8(lowest).Greater(keys)
	return below.Or(keys.Greater(archsimd.BroadcastInt32x8(highest)))
}

// count32 returns how many entries have the greatest key.
func count32(keys []int32, at []int, best archsimd.Int32x8) archsimd.Float32x8 {
	n := archsimd.BroadcastInt32x8(0)
	for _, o := range at {
		n = n.Sub(best.Equal(archsimd.LoadInt32x8Slice(keys[o : o+8 : o+8])).ToInt32x8())
	}
	return n.ConvertToFloat32()
}

// giveAll32 adds g to what the entries with the greatest key got. To the others it adds nothing, by
// subtracting 0 there, and -g here: that changes no number, not -0 either.
func giveAll32(got []float32, keys []int32, at []int, best archsimd.Int32x8, g archsimd.Float32x8) {
	minus := g.AsInt32x8().Xor(archsimd.BroadcastInt32x8(math.MinInt32))
	for _, o := range at {
		attains := best.Equal(archsimd.LoadInt32x8Slice(keys[o : o+8 : o+8])).ToInt32x8()
		row := got[o : o+8 : o+8]
		archsimd.LoadFloat32x8Slice(row).Sub(minus.And(attains).AsFloat32x8()).StoreSlice(row)
	}
}

// giveFirst32 adds g to what the first entry with the greatest key got, likewise.
func giveFirst32(got []float32, keys []int32, at []int, best archsimd.Int32x8, g archsimd.Float32x8) {
	minus := g.AsInt32x8().Xor(archsimd.BroadcastInt32x8(math.MinInt32))
	for _, o := range at {
		attains := best.Equal(archsimd.LoadInt32x8Slice(keys[o : o+8 : o+8])).ToInt32x8()
		row := got[o : o+8 : o+8]
		archsimd.LoadFloat32x8Slice(row).Sub(minus.And(attains).AsFloat32x8()).StoreSlice(row)
		minus = minus.AndNot(attains)
	}
}

// fastKeys32 returns a function that does what keys32 does.
func fastKeys32(opposite bool) func(dst []int32, src []float32) {
	plain := keys32(opposite)
	if !archsimd.X86.AVX2() {
		return plain
	}
	flip := int32(0)
	if opposite {
		flip = math.MinInt32
	}
	return func(dst []int32, src []float32) {
		n := keysOf32(dst, src, flip)
		plain(dst[n:], src[n:])
	}
}

// keysOf32 sets keys, of numbers with the bits of flip flipped. It returns how many it has set.
func keysOf32(dst []int32, src []float32, flip int32) (i int) {
	bits, zero := archsimd.BroadcastInt32x8(flip), archsimd.BroadcastFloat32x8(0)
	largest := archsimd.BroadcastInt32x8(math.MaxInt32)
	for ; i+8 <= len(src); i += 8 {
		v := archsimd.LoadFloat32x8Slice(src[i : i+8 : i+8]).AsInt32x8().Xor(bits).AsFloat32x8().Add(zero)
		key := v.AsInt32x8()
		key = key.Xor(key.ShiftAllRight(31).And(largest))
		largest.Merge(key, v.NotEqual(v)).StoreSlice(dst[i : i+8 : i+8])
	}
	archsimd.ClearAVXUpperBits()
	return i
}
