package arith

import (
	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/tensor"
)

// A runner computes an op on a block of one dtype.
type runner func(b *tensor.Block, o op) error

// run computes an op on a block, with the runner for the op and dtype.
func (o op) run(b *tensor.Block) error {
	d := b.Src[0].DType
	switch f := ops[o].family; {
	case f == ofBits && d != tensor.Bool:
		return logics[d.Size()](b, o)
	case f >= ofComparisons:
		return comparisons[d](b, o)
	}
	return computations[d](b, o)
}

// computations are the runners of ops that return numbers.
var computations = [...]runner{
	tensor.Uint8:      func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[uint8]) },
	tensor.Uint16:     func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[uint16]) },
	tensor.Uint32:     func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[uint32]) },
	tensor.Uint64:     func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[uint64]) },
	tensor.Int8:       func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[int8]) },
	tensor.Int16:      func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[int16]) },
	tensor.Int32:      func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[int32]) },
	tensor.Int64:      func(b *tensor.Block, o op) error { return byChunk(b, o, integerOps[int64]) },
	tensor.Float16:    func(b *tensor.Block, o op) error { return byChunk(b, o, halves(float16)) },
	tensor.BFloat16:   func(b *tensor.Block, o op) error { return byChunk(b, o, halves(bfloat16)) },
	tensor.Float32:    func(b *tensor.Block, o op) error { return atOnce(b, o, floatOps[float32]) },
	tensor.Float64:    func(b *tensor.Block, o op) error { return atOnce(b, o, floatOps[float64]) },
	tensor.Complex64:  func(b *tensor.Block, o op) error { return byChunk(b, o, complexOps[complex64]) },
	tensor.Complex128: func(b *tensor.Block, o op) error { return byChunk(b, o, complexOps[complex128]) },
}

// comparisons are the runners of ops that return bools, and of ops on bools.
var comparisons = [...]runner{
	tensor.Bool:       func(b *tensor.Block, o op) error { return byChunk(b, o, boolOps) },
	tensor.Uint8:      func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[uint8]) },
	tensor.Uint16:     func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[uint16]) },
	tensor.Uint32:     func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[uint32]) },
	tensor.Uint64:     func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[uint64]) },
	tensor.Int8:       func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[int8]) },
	tensor.Int16:      func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[int16]) },
	tensor.Int32:      func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[int32]) },
	tensor.Int64:      func(b *tensor.Block, o op) error { return byChunk(b, o, compareOps[int64]) },
	tensor.Float16:    func(b *tensor.Block, o op) error { return byChunk(b, o, halvesCompare(float16)) },
	tensor.BFloat16:   func(b *tensor.Block, o op) error { return byChunk(b, o, halvesCompare(bfloat16)) },
	tensor.Float32:    func(b *tensor.Block, o op) error { return atOnce(b, o, compareFloats[float32]) },
	tensor.Float64:    func(b *tensor.Block, o op) error { return atOnce(b, o, compareFloats[float64]) },
	tensor.Complex64:  func(b *tensor.Block, o op) error { return byChunk(b, o, complexCompareOps[complex64]) },
	tensor.Complex128: func(b *tensor.Block, o op) error { return byChunk(b, o, complexCompareOps[complex128]) },
}

// logics are the runners of ops on the bits of integers, by width in bytes.
var logics = [...]runner{
	1: func(b *tensor.Block, o op) error { return byChunk(b, o, logicOps[uint8]) },
	2: func(b *tensor.Block, o op) error { return byChunk(b, o, logicOps[uint16]) },
	4: func(b *tensor.Block, o op) error { return byChunk(b, o, logicOps[uint32]) },
	8: func(b *tensor.Block, o op) error { return byChunk(b, o, logicOps[uint64]) },
}

var (
	float16  = widening{vector.WidenF16, vector.NarrowF16}
	bfloat16 = widening{vector.WidenBF16, vector.NarrowBF16}
)
