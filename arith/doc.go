// Package arith computes with elements: arithmetic, comparisons, reductions, sorting, masks. Its
// functions work on tensors, ragged tensors and dictionaries alike.
//
//	scaled, err := arith.Mul(td, 2)                           // a copy of td
//	err = arith.MulInto(td, td, 2)                            // td itself
//	high, err := arith.Greater(x, y)                          // a mask
//	clean, err := arith.MaskedFill(td, missing, 0)            // td with 0 where missing is true
//	mean, err := arith.Mean(td, arith.Dims(0).Where(present)) // of the rows where present is true
//	mean, err = arith.Mean(td, arith.ByGroups(groups))        // of each group of rows
//
// Operations that only move whole rows are methods of tensors and dictionaries.
//
// Most functions are generic over the type of their first operand:
//
//   - An operation on each element by itself takes an [Elementwise]: *tensor.Tensor,
//     *ragged.Tensor or *tdict.TensorDict. It works on the values of a ragged tensor, and on each
//     leaf of a dictionary.
//   - An operation along dims, such as Mean and Sort, takes a [Reducible]: *tensor.Tensor or
//     *tdict.TensorDict. A ragged tensor has methods for these, such as Reduce.
//
// A function whose name ends in Into writes to a destination, which may be an operand:
//
//	err = arith.MulInto(dst, td, 2)
//
// [Lexsort], [GroupBy] and [Unique] work on columns: tensors with one row for each row of a
// dictionary. They return numbers of rows, which Take and shapeops.Split accept, in [Groups] and
// [Uniques].
//
// # Operands
//
// An operand after the first is one of these:
//
//   - It may have the type of the first. A tensor must broadcast to the shape of the first. A
//     dictionary must have the same keys, and its batch shape must broadcast to the first's. Each
//     of its leaves must have as many feature dims (dims after the batch dims) as the first
//     operand's leaf of that key, and these dims must broadcast to that leaf's feature dims. The
//     result of Mean with Keep, for example, fits the operand of Mean.
//   - If the first is a dictionary, it may be a tensor that broadcasts to the batch shape. Each of
//     its elements applies to all features of its row: [N] on leaves [N F...].
//   - If the first is ragged, it may be a tensor that broadcasts to the batch shape. Each of its
//     elements applies to all values of its row: [N] on [N * F...]. A ragged operand must have the
//     same lengths.
//   - It may be a number or bool, which the dtype of each leaf must hold: see tensor.ScalarOf.
//
// The kinds of the operands decide at which dim they are aligned:
//
//	first        second       aligned at               [N] on [N F]
//	tensor       tensor       the last dim, as torch   does not: Unsqueeze(-1), or Keep
//	dictionary   tensor       the batch dims           fits
//	ragged       tensor       the batch dims           fits
//	any          mask         the first dim            fits
//
// An operation applies to all leaves of a dictionary that are tensors or ragged tensors; unbatched
// tensors and Data (see package tdict) stay as they are. An operation along dims is tensor.ErrKind
// for a dictionary with ragged leaves, unless it is over [Features]. If an operation does not take
// some leaves, Select the others first. The selection shares leaves with the dictionary, so an
// operation in place on the selection changes the dictionary too.
//
// A *memmap.Dataset has the methods of a dictionary but is not an [Elementwise]: Add(ds, 1) does
// not compile. Pass its field TensorDict:
//
//	sum, err := arith.Add(ds.TensorDict, 1)             // in memory; the files stay as they are
//	td := ds.TensorDict
//	err = arith.AddInto(td, td, 1)                      // in the files, if ds is writable
//
// An operation returns tensor.ErrDType for a dtype that it does not take, or if operands differ in
// dtype; shapeops.ErrShape if an operand does not broadcast; tdict.ErrMissing if dictionaries
// differ in keys; ragged.ErrLengths if the lengths of ragged operands differ; tensor.ErrKind for
// nil, or an operand of another type.
//
// # Dtypes
//
// Results have the dtype of the operands, unless this table says otherwise. Nothing wraps around:
// if an integer dtype does not hold a result, the operation returns tensor.ErrDType, and the
// message of an operation on an [Elementwise] names the operands.
//
//	operation                   integers            floating-point          complex   bool
//	Add Sub Mul Neg AddCMul     error if the result as IEEE 754 says        yes       no
//	                            is out of range
//	Div                         no                  x/0 is infinite or NaN  yes       no
//	FloorDiv                    x/0: ErrDivide      x/0 is infinite or NaN  no        no
//	Mod                         x mod 0: ErrDivide  x mod 0 is NaN          no        no
//	Pow                         error if the result math.Pow                no        no
//	                            is out of range, or
//	                            an exponent below 0
//	Abs                         error if out of     yes                     no        no
//	                            range (least signed
//	                            integer)
//	Minimum Maximum Clamp Relu  yes                 NaN if an operand is    no        no
//	Sign Floor Ceil Round Trunc yes                 yes                     no        no
//	Sqrt Exp Log Tanh Sigmoid   no                  in float64, rounded     no        no
//	                                                once (1)
//	Lerp                        no                  yes                     no        no
//	CastScale                   to floating-point   yes                     no        no
//	OneHot                      to any but complex  no                      no        no
//	Equal NotEqual              -> bool             NaN equals nothing      -> bool   -> bool
//	Less LessEqual Greater      -> bool             NaN is never less       no        no
//	GreaterEqual
//	IsNaN IsFinite              -> bool             -> bool                 -> bool   -> bool
//	And Or Xor Not              their bits          no                      no        yes
//	Sort ArgSort                yes                 NaN last                no        yes
//	ScatterAdd                  error if a sum is   added in the order of   yes       no
//	                            out of range        index
//
// (1) Results of float32 are the same on every machine. Results of float64 are from package math,
// which differs between machines.
//
// Float16 and bfloat16 are computed in float32, and the result is rounded. Real numbers are
// computed without fused multiply-add: a product is rounded before it is added to another number.
// So every machine has the same result, except for the functions of (1). Complex numbers are
// multiplied and divided as Go does it on the machine. On amd64, Log and Pow of package math are
// wrong for subnormal numbers, and Exp of package math is wrong above 709.43. For these numbers
// Log, Pow, Exp and Sigmoid of this package scale or shift the argument before they call package
// math, and are right. Elsewhere Pow is math.Pow, with the errors that [Pow] states. The bits of a
// NaN are unspecified.
//
// On amd64 with AVX2, floating-point operations work on eight float32 at a time. Elsewhere, and
// with the build tag noasm, they have the same results.
//
// # Reductions
//
// An [Over] selects the elements that a reduction combines: Dims, Features, Whole, BySplits or
// ByGroups. Its method Keep keeps reduced dims with size 1. Where adds a mask of the elements that
// count, and Masked a dictionary of masks that only some leaves have, as tdict.Schema.Masks returns
// it for the missing values of a table.
// [Sum] states the order in which floating-point numbers are added, which is the same for any
// layout and any number of cores. In the table, the columns are the dtypes of the operand and the
// entries are the dtypes of the result, "same" being the dtype of the operand. The last column is
// the result for no elements.
//
//	              bool      integers            floats        complex   no element
//	Sum           int64     int64 (1)           same          same      0
//	Prod          no        int64 (1)           same          same      1
//	Mean          float64   float64             same          same      NaN
//	Var Std       no        float64             same          no        NaN
//	Norm          no        float64             same          no        0
//	Quantile      no        float64             same          no        NaN
//	Min Max       no        same                same          no        NaN; integers ErrEmpty
//	ArgMin ArgMax no        int64               int64         no        ErrEmpty
//	Count         int64     int64               int64         int64     0
//	All Any       bool      no                  no            no        true, false
//	CumSum        int64     int64 (1)           same          same
//
// (1) The result for uint64 is uint64. Sum, Prod and CumSum return tensor.ErrDType if the dtype of
// the result, int64 or uint64, does not hold a result. On the way to the result of Sum or Prod,
// sums and products may exceed that dtype. For CumSum each running sum is a result.
//
// Float16 and bfloat16 are added in float32 and rounded once; Var, Std, Norm and Quantile are
// computed in float64. If batch dims are reduced, each Data must be the same for all rows that are
// combined, and no leaf may be ragged; otherwise the operation returns tensor.ErrKind. Exclude such
// values first.
//
// # The order of sums
//
// Floating-point and complex numbers are added in one order, whatever the layout, the memory and
// the number of cores:
//
//   - The elements, in row-major order of the reduced dims, are divided into blocks of 64; the last
//     may be shorter. An element that does not count is 0, whatever it holds.
//   - In a block they are added one after the other, starting from 0.
//   - The sums of full blocks are added in pairs of neighbours, from the first block on; the sums
//     of pairs are again added in pairs, and so on. A sum without a neighbour of equally many
//     blocks is set aside: 7 full blocks leave the sums s(1-4), s(5-6) and s(7).
//   - Last, the sums set aside are added. In order, they cover fewer and fewer blocks; the sum of a
//     shorter last block, if there is one, follows them. They are added from the end: the last to
//     the one before it, and so on up to the first. With a shorter block 8 the example gives
//     s(1-4) + (s(5-6) + (s(7) + s(8))).
//
// So a sum with a mask may differ in its last bits from the sum of only the elements that count,
// which lie in other blocks.
//
// # In place
//
// A function whose name ends in Into writes to a value that has the dtypes and shapes of the
// result. The destination may be an operand: AddInto(x, x, y) changes x. [FillInPlace]
// changes its operand.
//
// On an error nothing has changed. For this, an operation that may fail on its elements is computed
// twice, the first time without writing.
//
// # Masks
//
// A mask is a bool tensor over the leading dims of a value, or over the batch dims of a dictionary:
// mask [M...] on [M... F...]. Each of its elements applies to all features.
//
// # Order
//
// Elements are ordered by value, false before true, NaN last; zeros of both signs are equal, and so
// are all NaN. Equal elements keep their order. Complex numbers have no order.
//
// # Errors and concurrency
//
// An operation that returns an error has changed nothing. Operations on the same operands may run
// concurrently. An operation that writes to a destination needs exclusive access to it, as for any
// tensor.
package arith
