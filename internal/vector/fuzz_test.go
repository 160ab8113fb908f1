package vector

import (
	"testing"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// FuzzVectors compares every function with its definition, on slices made of any bytes.
func FuzzVectors(f *testing.F) {
	f.Add([]byte("some bytes of which numbers are made, of both formats, for two operands and a few rows"), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, at uint8) {
		if len(b) > 8<<10 {
			return
		}
		fuzzNumbers(t, b, at, singles())
		fuzzNumbers(t, b, at, numbers[float32]())
		fuzzNumbers(t, b, at, numbers[float64]())
		fuzzMarks[float32](t, b)
		fuzzMarks[float64](t, b)
	})
}

// operands returns two slices of numbers that are made of bytes.
func operands[T Float](b []byte) (x, y []T) {
	room := make([]T, len(b)/cast.Size[T]()&^1)
	copy(cast.Bytes(room), b)
	return room[:len(room)/2], room[len(room)/2:]
}

func fuzzNumbers[T Float](t *testing.T, b []byte, at uint8, all map[string]func(dst, a, b []T)) {
	x, y := operands[T](b)
	if len(x) == 0 {
		return
	}
	for name, f := range all {
		want, room := make([]T, len(x)), make([]T, len(x)+int(at))
		plainly(func() { f(want, x, y) })
		f(room[at:], x, y)
		requireSame(t, want, room[at:], name)
	}
}

func fuzzMarks[T Float](t *testing.T, b []byte) {
	x, y := operands[T](b)
	if len(x) == 0 {
		return
	}
	for name, f := range marks[T]() {
		want, got := make([]uint8, len(x)), make([]uint8, len(x))
		plainly(func() { f(want, x, y) })
		f(got, x, y)
		requireSame(t, want, got, name)
	}
	var least, greatest T
	plainly(func() { least, greatest = Least(y[0], x), Greatest(y[0], x) })
	requireSame(t, []T{least, greatest}, []T{Least(y[0], x), Greatest(y[0], x)})
}
