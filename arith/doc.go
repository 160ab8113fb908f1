// Package arith has the verbs that look at elements, or at a mask of them: Where, MaskedFill, Sort,
// GroupBy. What only moves whole rows is a method of tensors and dictionaries.
//
// Most verbs are generic over what they work on, an [Operand]: *tensor.Tensor and
// *tdict.TensorDict, on each leaf of which they do the same. Each is a tensor.Kernel that Leafwise
// applies.
//
//	clean, err := arith.MaskedFill(td, missing, 0)      // a copy of td
//	err = arith.MaskedFillInPlace(td, missing, 0)       // td itself
//	mixed, err := arith.Where(mask, a, b)               // rows of a where mask is true, else of b
//
// [Lexsort], [GroupBy] and [Unique] work on columns, tensors with one row for each row of a
// dictionary, and return numbers of rows, which Take and shapeops.Split take.
//
// # Masks
//
// A mask is a bool tensor over the leading dims of what it is about, the batch dims of a
// dictionary: mask [M...] on [M... F...]. Features follow.
//
// # Scalars
//
// A number or bool among the operands becomes an element of each leaf's dtype, which must hold it:
// tensor.ScalarOf says when it does.
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
