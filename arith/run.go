package arith

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// runners compute an op on a block, for each dtype of its operands.
var runners = [...]func(b *tensor.Block, o op) error{
	tensor.Bool:       func(b *tensor.Block, o op) error { return byChunk(b, o, chunk, boolOps) },
	tensor.Uint8:      runIntegers[uint8],
	tensor.Uint16:     runIntegers[uint16],
	tensor.Uint32:     runIntegers[uint32],
	tensor.Uint64:     runIntegers[uint64],
	tensor.Int8:       runIntegers[int8],
	tensor.Int16:      runIntegers[int16],
	tensor.Int32:      runIntegers[int32],
	tensor.Int64:      runIntegers[int64],
	tensor.Float16:    func(b *tensor.Block, o op) error { return runHalves(b, o, vector.WidenF16, vector.NarrowF16) },
	tensor.BFloat16:   func(b *tensor.Block, o op) error { return runHalves(b, o, vector.WidenBF16, vector.NarrowBF16) },
	tensor.Float32:    runFloats[float32],
	tensor.Float64:    runFloats[float64],
	tensor.Complex64:  runComplex[complex64],
	tensor.Complex128: runComplex[complex128],
}

func runIntegers[T integers](b *tensor.Block, o op) error {
	switch f := ops[o].family; {
	case f == ofBits:
		return byChunk(b, o, chunk, logicOps[T])
	case f >= ofComparisons:
		return byChunk(b, o, chunk, compareOps[T])
	}
	return byChunk(b, o, chunk, integerOps[T])
}

func runFloats[T ordinary](b *tensor.Block, o op) error {
	if ops[o].family >= ofComparisons {
		return byChunk(b, o, math.MaxInt, compareFloats[T])
	}
	return byChunk(b, o, math.MaxInt, floatOps[T])
}

func runComplex[T complex64 | complex128](b *tensor.Block, o op) error {
	if ops[o].family >= ofComparisons {
		return byChunk(b, o, chunk, complexCompareOps[T])
	}
	return byChunk(b, o, chunk, complexOps[T])
}

// runHalves computes ops on 16-bit floats in float32.
func runHalves(b *tensor.Block, o op, widen func([]float32, []uint16), narrow func([]uint16, []float32)) error {
	room := scratches.Get().(*scratch)
	defer scratches.Put(room)
	wider := func(x [3][]uint16) (wide [3][]float32) {
		for i, s := range x {
			wide[i], _ = cast.Slice[float32](room[i][:4*len(s)])
			widen(wide[i], s)
		}
		return wide
	}
	if ops[o].family >= ofComparisons {
		return byChunk(b, o, chunk, func(o op, dst []uint8, x [3][]uint16) error { return compareFloats(o, dst, wider(x)) })
	}
	return byChunk(b, o, chunk, func(o op, dst []uint16, x [3][]uint16) error {
		to, _ := cast.Slice[float32](room[3][:4*len(dst)])
		err := floatOps(o, to, wider(x))
		narrow(dst, to)
		return err
	})
}
