//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package pickstack

import (
	"math"
	"simd/archsimd"
)

// fastFolder returns a folder that folds several channels at a time, to the same results, or nil if
// the machine cannot.
func fastFolder[T number](r Reduction) folder[T] {
	if !archsimd.X86.AVX2() {
		return nil
	}
	f, _ := any(folder32(r)).(folder[T]) // nil for float64
	return f
}

func folder32(r Reduction) folder[float32] {
	switch r {
	case Max, LogSumExp:
		return foldMax32
	case Min:
		return foldMin32
	}
	return foldSum32
}

// foldMax32 is foldMax. The maximum of two numbers is either of them if one is NaN or both are
// zeros; which one is not known, as the compiler may swap them. So two more things are kept beside
// it: the sign of the result, which is negative if all are, and whether any is NaN.
func foldMax32(d, x []float32, at []int) {
	c := 0
	for ; c+8 <= len(d); c += 8 {
		best := archsimd.LoadFloat32x8Slice(d[c : c+8 : c+8])
		sign, nan := best.AsInt32x8(), best.NotEqual(best).ToInt32x8()
		for _, o := range at {
			v := archsimd.LoadFloat32x8Slice(x[o+c : o+c+8 : o+c+8])
			best, sign = best.Max(v), sign.And(v.AsInt32x8())
			nan = nan.Or(v.NotEqual(v).ToInt32x8())
		}
		joined32(best, sign, nan).StoreSlice(d[c : c+8 : c+8])
	}
	foldRest(foldMax[float32], d, x, at, c)
}

// foldMin32 is foldMin, likewise. A minimum is negative if any number is.
func foldMin32(d, x []float32, at []int) {
	c := 0
	for ; c+8 <= len(d); c += 8 {
		best := archsimd.LoadFloat32x8Slice(d[c : c+8 : c+8])
		sign, nan := best.AsInt32x8(), best.NotEqual(best).ToInt32x8()
		for _, o := range at {
			v := archsimd.LoadFloat32x8Slice(x[o+c : o+c+8 : o+c+8])
			best, sign = best.Min(v), sign.Or(v.AsInt32x8())
			nan = nan.Or(v.NotEqual(v).ToInt32x8())
		}
		joined32(best, sign, nan).StoreSlice(d[c : c+8 : c+8])
	}
	foldRest(foldMin[float32], d, x, at, c)
}

// joined32 returns best with the given signs, or NaN where all bits of nan are set.
func joined32(best archsimd.Float32x8, sign, nan archsimd.Int32x8) archsimd.Float32x8 {
	mask := archsimd.BroadcastInt32x8(math.MinInt32)
	return best.AsInt32x8().AndNot(mask).Or(sign.And(mask)).Or(nan).AsFloat32x8()
}

// foldSum32 is foldSum.
func foldSum32(d, x []float32, at []int) {
	c := 0
	for ; c+8 <= len(d); c += 8 {
		sum := archsimd.LoadFloat32x8Slice(d[c : c+8 : c+8])
		for _, o := range at {
			sum = sum.Add(archsimd.LoadFloat32x8Slice(x[o+c : o+c+8 : o+c+8]))
		}
		sum.StoreSlice(d[c : c+8 : c+8])
	}
	foldRest(foldSum[float32], d, x, at, c)
}

// foldRest folds the channels from c on, without vectors.
func foldRest(fold folder[float32], d, x []float32, at []int, c int) {
	archsimd.ClearAVXUpperBits()
	if c < len(d) && len(at) > 0 {
		fold(d[c:], x[c:], at)
	}
}
