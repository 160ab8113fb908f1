package transpose

import (
	"fmt"
	"testing"
)

func BenchmarkPlane(b *testing.B) {
	for _, w := range []int{1, 2, 4, 8, 12, 16} {
		for _, odd := range []int{0, 1} {
			rows := 4096 + 3*odd
			cols := (64<<20)/w/4096 + 5*odd
			from, to := make([]byte, rows*cols*w), make([]byte, rows*cols*w)
			for i := range from {
				from[i] = byte(i * 7)
			}
			p := Plane{Side{to, 0, cols * w}, Side{from, 0, rows * w}, rows, cols, w}
			b.Run(fmt.Sprintf("width=%d/odd=%d/how=plane", w, odd), func(b *testing.B) {
				b.SetBytes(int64(len(to)))
				for b.Loop() {
					p.Copy()
				}
			})
			b.Run(fmt.Sprintf("width=%d/odd=%d/how=copy", w, odd), func(b *testing.B) {
				b.SetBytes(int64(len(to)))
				for b.Loop() {
					copy(to, from)
				}
			})
		}
	}
}
