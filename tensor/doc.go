// Package tensor has arrays of numbers with a shape and a dtype. It gives typed access to their
// elements and copies them.
//
//	x, err := tensor.From([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
//	col, err := x.Index(ix.All, ix.At(-1))      // [2], shares memory with x
//	rows, err := x.Index(ix.Take(1, 1, 0))      // [3 3], a copy
//	all, err := tensor.Of[float32](rows)        // a []float32
//	half, err := x.Cast(tensor.Float16)
//
// A [Tensor] is dtype-erased: a [DType], a shape with strides, and memory. Typed access is at the
// edge: [From], [Vector] and [Full] make tensors from Go values, [Read], [Write], [Of], [Item],
// [Elements] and [Map] give access to them, each checked against the closed list of types [Elem];
// [ReadStrided] and [WriteStrided] give memory as it lies, to code that works row by row.
//
// Several tensors are put together and cut apart by shapeops.Stack, Cat, PadSequence, Split,
// SplitBy, SplitAt, TensorSplit, Chunk and Unbind. What looks at elements is a [Kernel], which
// [Ops] apply; package arith has the operations.
//
// # Memory
//
// Index without lists and masks, Reshape where strides allow, Permute, Movedim, Squeeze, Expand,
// Narrow, Unfold and Reinterpret return views: writing through one writes the other. Index with
// lists or masks, Take, Gather, Window, Flip, Roll, Repeat, Pad, Clone, Cast, Map, Stack and Cat
// copy; the methods called Into copy to a tensor that the caller owns. Copying looks at the width
// of an element, never at its value, and moves whole rows; what is large is spread over the cores
// that GOMAXPROCS allows, unless it writes to listed positions.
//
// A copy reads what was there before it, also where source and destination overlap: what may be
// overwritten too early is copied first. Whether it may is worked out from bounds, strides and
// lists of rows, never by looking at bytes. At most 64 MiB are copied first; more is [ErrOverlap].
// Only shifts, with equal strides on both sides, need no such copy.
//
// Memory that Go does not manage, such as a mapped file, belongs to a [Lender]. It is borrowed for
// the time of each operation; only [Of] hands out a slice of it, and says until when.
//
// A tensor on device [Meta] has a dtype and a shape and no memory: operations on shape, casts and
// kernels can be planned with it.
//
// A [Transfer] checks copies between many tensors before it does the first of them. Package tdict
// is built on it. [Transfer.FillRuns] pads rows that differ in length.
//
// # Concurrency
//
// A Tensor is safe for concurrent readers; a writer needs exclusive access, as with a map.
package tensor
