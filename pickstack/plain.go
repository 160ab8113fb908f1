//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package pickstack

// fastFolder returns nil: without vectors there is no folder faster than that of folder.go.
func fastFolder[T number](Reduction) folder[T] { return nil }

// fastSpread returns nil likewise.
func fastSpread[T number, K key]() spread[T, K] { return nil }

// fastKeys32 returns keys32.
func fastKeys32(opposite bool) func(dst []int32, src []float32) { return keys32(opposite) }
