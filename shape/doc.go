// Package shape has shapes and strided views: lists of sizes, and where in a buffer the elements of
// a shape lie. It holds numbers only and knows no operation.
//
//	s := shape.Shape{4, 3}
//	err := s.CheckPrefix(shape.Shape{4})               // nil: s begins with [4]
//	both, err := shape.Broadcast(shape.Shape{4, 1}, s) // [4 3]
//	v, err := shape.Contiguous(s)                      // strides 3 and 1
//	at, err := v.At(1, 2)                              // 5
//
// There are three types:
//
//   - A [Shape] lists the sizes of dims, outermost first. [Broadcast] finds the shape that several
//     have in common.
//   - A [View] locates the elements of a shape within a buffer: strides and an offset.
//   - A [Run] is a stretch of rows that is moved as one.
//
// The errors say what can be wrong with a shape, a dim or an index. Package shapeops has the same
// names, under which they appear in the signatures of the packages above.
//
// Everything here is safe for concurrent use.
package shape
