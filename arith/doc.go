// Package arith computes with elements: arithmetic, comparisons, reductions, sorting, masks. Its
// functions work on tensors, ragged tensors and dictionaries alike.
//
//	scaled, err := arith.Mul(td, 2)                           // a copy of td
//	err = arith.MulInto(td, td, 2)                            // td itself
//	high, err := arith.Greater(x, y)                          // a mask
//	clean, err := arith.MaskedFill(td, missing, 0)            // with 0 where the mask says
//	mean, err := arith.Mean(td, arith.Dims(0).Where(present)) // of the rows that count
//
// The documentation calls an operation a verb. What only moves whole rows is a method of tensors
// and dictionaries.
//
// Most verbs are generic over what they work on. Those that look at each element by itself take an
// [Elementwise]: *tensor.Tensor, *ragged.Tensor, on whose values they work, and *tdict.TensorDict,
// on each leaf of which they do the same. Those that work along dims, as Mean and Sort, take a
// [Reducible], which a ragged tensor is not: it takes them as a Reducer in its method Reduce. Each
// is a tensor.Kernel that Leafwise applies.
//
// A form with Into writes to a destination, which is memory that the caller owns, or an operand:
//
//	err = arith.MulInto(dst, td, 2)
//
// [Lexsort], [GroupBy] and [Unique] work on columns, tensors with one row for each row of a
// dictionary, and return numbers of rows, which Take and shapeops.Split take.
//
// # Operands
//
// Operands besides the first are
//
//   - of its type: a tensor that broadcasts to its shape, a dictionary with the same keys, whose
//     batch dims broadcast to batch dims, and features to as many features: what Mean with Keep
//     makes,
//   - for a dictionary, a tensor that broadcasts to the batch shape, for features to follow: [N] on
//     leaves [N F...],
//   - a number or bool, which each leaf's dtype must hold; tensor.ScalarOf says when it does.
//
// A verb is for all leaves of a dictionary: of one with several dtypes, Select those that it is
// for. Leaves are shared, so that what is done in place to a selection is done to the whole.
//
// A *memmap.Dataset has the methods of a dictionary but is no [Elementwise]: Add(ds, 1) does not
// compile. Pass its field TensorDict:
//
//	sum, err := arith.Add(ds.TensorDict, 1)             // in memory; the files stay as they are
//	td := ds.TensorDict
//	err = arith.AddInto(td, td, 1)                      // in the files, if ds is writable
//
// Data and unbatched tensors in a dictionary stay as they are. A verb returns tensor.ErrDType for a
// dtype that it does not take, or if operands differ in dtype; shapeops.ErrShape if an operand does
// not broadcast; tdict.ErrMissing if dictionaries differ in keys; tensor.ErrKind for nil, or an
// operand of another type.
//
// # Dtypes
//
// Results have the dtype of the operands, unless this table says otherwise. Nothing wraps around:
// a result that an integer dtype does not hold is tensor.ErrDType, and names it.
//
//	verb                        integers            floating-point          complex   bool
//	Add Sub Mul Neg AddCMul     error if it is      as IEEE 754 says        yes       no
//	                            beyond the dtype
//	Div                         no                  x/0 is infinite or NaN  yes       no
//	FloorDiv Mod                by 0: ErrDivide     by 0: infinite, NaN     no        no
//	Pow                         error beyond the    math.Pow                no        no
//	                            dtype, or below 0
//	Abs                         as Neg              yes                     no        no
//	Minimum Maximum Clamp Relu  yes                 NaN wins                no        no
//	Sign Floor Ceil Round Trunc yes                 yes                     no        no
//	Sqrt Exp Log Tanh Sigmoid   no                  in float64, rounded     no        no
//	                                                once (1)
//	Lerp                        no                  yes                     no        no
//	CastScale                   to floating-point   yes                     no        no
//	OneHot                      to any but complex  no                      no        no
//	Equal NotEqual              -> bool             NaN equals nothing      -> bool   -> bool
//	Less ... GreaterEqual       -> bool             NaN is never less       no        no
//	IsNaN IsFinite              -> bool             -> bool                 -> bool   -> bool
//	And Or Xor Not              their bits          no                      no        yes
//	Sort ArgSort                yes                 NaN last                no        yes
//	ScatterAdd                  error beyond the    in order                yes       no
//	                            dtype
//
// (1) Of float32 the same on every machine; of float64 by package math, whose results are not.
//
// Float16 and bfloat16 are computed as float32, and rounded from that. No product of real numbers
// is fused with a sum, so that every machine has the same result, but for the functions of (1);
// complex numbers are multiplied and divided as Go does it there. Where math.Log and math.Pow (of
// subnormal numbers) and math.Exp (above 709.43) are wrong on amd64, Log, Pow, Exp and Sigmoid of
// float64 are right. The bits of a NaN may be any.
//
// On amd64 with AVX2, floating-point verbs work on eight float32 at a time; elsewhere, and with the
// build tag noasm, they have the same results.
//
// # Reductions
//
// An [Over] says over what: Dims, Features, Whole, BySplits. Keep keeps dims with size 1, Where
// says what counts. [Sum] states the order of floating-point sums, which is one for any layout and
// any number of cores.
//
//	              bool      integers            floats        complex   of nothing
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
// (1) uint64 stays uint64. A result that does not fit is tensor.ErrDType, whatever partial sums do.
// Float16 and bfloat16 are added in float32 and rounded once; Var, Std, Norm and Quantile go by way
// of float64. Where batch dims are reduced, data must be the same for all rows: Exclude other data.
//
// # In place
//
// Forms called Into write to a value of the result's dtypes and shapes, which may be an operand
// itself: AddInto(x, x, y) changes x. [FillInPlace] and [CastScaleInPlace] have no such form and
// change their operand. None changes anything if there is an error: integers on which it may fail
// are computed twice, the first time for nothing.
//
// # Masks
//
// A mask is a bool tensor over the leading dims of what it is about, the batch dims of a
// dictionary: mask [M...] on [M... F...]. Features follow.
//
// # Order
//
// Elements are ordered by value, false before true, NaN last; zeros of both signs are equal, and so
// are all NaN. Equal elements keep their order. Complex numbers have no order.
//
// # Errors and concurrency
//
// An operation that returns an error has changed nothing. Functions read their operands, and write
// destinations, as tensors allow: any number of readers, or one writer.
package arith
