// Package shape has shapes and strided views: lists of sizes, and the places of a shape's elements
// in a buffer. It holds numbers only and has no operations on elements.
//
//	s := shape.Shape{4, 3}
//	err := s.CheckPrefix(shape.Shape{4})               // nil: s begins with [4]
//	both, err := shape.Broadcast(shape.Shape{4, 1}, s) // [4 3]
//	v, err := shape.Contiguous(s)                      // strides 3 and 1
//	at, err := v.At(1, 2)                              // 5
//
// There are three types:
//
//   - A [Shape] lists the sizes of dims, outermost first. [Broadcast] returns the shape that
//     several shapes broadcast to.
//   - A [View] locates the elements of a shape in a buffer: strides and an offset.
//   - A [Run] is a stretch of rows that is moved as one.
//
// The error variables say what is wrong with a shape, a dim or an index. Package shapeops has the
// same names; the signatures of the packages above use those.
//
// Everything here is safe for concurrent use.
package shape
