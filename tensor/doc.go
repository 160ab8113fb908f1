// Package tensor has arrays of numbers with a shape and a dtype. It gives typed access to their
// elements and copies them.
//
//	x, err := tensor.From([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
//	col, err := x.Index(ix.All, ix.At(-1))      // [2], shares memory with x
//	rows, err := x.Index(ix.Take(1, 1, 0))      // [3 3], a copy
//	all, err := tensor.Of[float32](rows)        // a []float32
//	half, err := x.Cast(tensor.Float16)
//
// The Go type of a [Tensor] does not depend on its dtype: a Tensor has a [DType], a shape with
// strides, and memory. [From], [Vector], [Scalar] and [Full] make tensors from Go values, [New] and
// [Zeros] make zeros, [Arange] a range, [ScalarOf] a number of any type; [FromBytes] and
// [FromLender] use memory that is there. [Read], [Write], [Of], [Slice], [Item], [Elements] and
// [Map] give access to elements as Go values. Most of these are generic over the types of [Elem],
// of which [Number] and [Real] are parts; access returns [ErrDType] if the type does not match the
// dtype. [DTypeOf], [ParseDType] and [DTypes] name dtypes; [F16] and [BF16] are the 16-bit floats
// of Go, which [F16Of] and [BF16Of] make. A [Tolerance] says how far numbers may differ, and an
// [ElementDiff] where they do. [Must] is for examples and tests.
//
// Package shapeops joins tensors (Stack, Cat, PadSequence) and splits them (Split, SplitBy,
// SplitAt, TensorSplit, Chunk, Unbind). Operations that compute with elements are in package arith.
//
// # Memory
//
// Index without lists and masks, Reshape where strides allow, Permute, Movedim, Squeeze, Expand,
// Narrow, Unfold and Reinterpret return views: writing to a view changes the original, and vice
// versa. Index with lists or masks, Take, Gather, Window, Flip, Roll, Repeat, Pad, Clone, Cast,
// Map, Stack and Cat return copies. Methods whose names end in Into copy to a tensor that the
// caller passes. A copy treats elements as bytes: it uses their size, never their values, and moves
// whole rows at a time. Large copies use several cores, at most GOMAXPROCS, unless they write to
// listed positions.
//
// Source and destination may overlap. If an element may be overwritten before it is read, the
// source is first copied to new memory. Whether an element may be overwritten too early is computed
// from bounds, strides and lists of rows, never from the bytes. A copy returns [ErrOverlap] if more
// than 64 MiB would have to be copied first. If both sides have equal strides, each stride spans
// the dims after it (not so in transposed views) and there is no list of rows, elements are copied
// in an order that reads each before it is overwritten, and no new memory is needed. Two mappings
// of one file are an exception: there the source may be copied to new memory first. Operations that
// compute, such as [Tensor.CastInto], state their own rules.
//
// Memory that Go does not manage, such as a mapped file, belongs to a [Lender]. Each operation
// borrows it and returns it at its end. Only [Of] returns a slice of it that outlives the call; its
// documentation says how long the slice is valid.
//
// A tensor on the [Device] [Meta], as [NewMeta] makes it, has a dtype and a shape and no memory:
// operations on shape, casts and kernels can be planned with it.
//
// # For packages that implement operations
//
// A program does not need the names of this section; packages above this one do.
//
//   - [Ops]: shapeops and arith call these methods of tensors, ragged tensors and dictionaries
//   - [Transfer]: tdict, ragged and arith check copies between many tensors before the first;
//     [Transfer.FillRuns] pads rows that differ in length
//   - [Kernel], with [Block], [Lane] and [Per]: operations of arith and transform that compute with
//     elements
//   - [KernelPass], by [NewKernelPass]: tdict and ragged carry a kernel over leaves
//   - [CheckApart] and [CheckOnto]: tdict and pickstack check what their own loops write
//   - [CheckBools]: arith, tensorclass and readers of files check bytes that become bools
//   - [ReadStrided] and [WriteStrided]: pickstack works row by row, in memory with strides
//   - [LengthMask]: tdict makes masks of padded rows
//
// # Concurrency
//
// A Tensor is safe for concurrent readers; a writer needs exclusive access, as with a map.
package tensor
