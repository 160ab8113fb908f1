package vector

import (
	"fmt"
	"testing"
)

// BenchmarkSlices times functions on 4,096 numbers, which stay in the nearest cache, with assembly
// and without.
func BenchmarkSlices(b *testing.B) {
	const n = 4096
	x, y, dst, marked, sums := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint8, n), make([]float32, n/64)
	halves, wide := make([]uint16, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float32(i%200)/20-5, float32(i%7)+6
	}
	for name, fn := range map[string]func(){
		"Add": func() { Do(Add, dst, x, y) }, "Maximum": func() { Do(Maximum, dst, x, y) }, "Relu": func() { Do(Relu, dst, x, nil) },
		"Clamp": func() { Clamp(dst, x, -1, 1) }, "Sqrt": func() { Do(Sqrt, dst, y, nil) }, "LessNumber": func() { MarkNumber(Less, marked, x, 0) },
		"WidenF16": func() { WidenF16(dst, halves) }, "NarrowF16": func() { NarrowF16(halves, x) }, "NarrowBF16": func() { NarrowBF16(halves, x) },
		"Sums of blocks": func() { Sums(sums, x, 64, 64) }, "Greatest": func() { dst[0] = Greatest(x[0], x) },
		"Exp": func() { Exp(dst, x) }, "Log": func() { Log(dst, y) }, "Tanh": func() { Tanh(dst, x) }, "Sigmoid": func() { Sigmoid(dst, x) },
		"WeightRows": func() { WeightRows(wide, x, []int{0}, y) },
	} {
		run := func(b *testing.B) {
			for b.Loop() {
				fn()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
		}
		b.Run(fmt.Sprintf("of=%s/assembly=true", name), run)
		b.Run(fmt.Sprintf("of=%s/assembly=false", name), func(b *testing.B) { plainly(func() { run(b) }) })
	}
}

// BenchmarkRows folds five rows, as pools do, of some widths.
func BenchmarkRows(b *testing.B) {
	x := make([]float32, 1024)
	at := []int{0, 200, 100, 400, 300}
	for name, fold := range map[string]func(dst, x []float32, at []int){"add": AddRows[float32], "maximum": MaximumRows[float32]} {
		for _, width := range []int{4, 8, 12, 16, 32, 64} {
			dst := make([]float32, width)
			run := func(b *testing.B) {
				for b.Loop() {
					fold(dst, x, at)
				}
			}
			b.Run(fmt.Sprintf("fold=%s/width=%d/assembly=true", name, width), run)
			b.Run(fmt.Sprintf("fold=%s/width=%d/assembly=false", name, width), func(b *testing.B) { plainly(func() { run(b) }) })
		}
	}
}
