package shapeops

import "github.com/go-tensordict/tensordict/shape"

// Names of package shape under which shapes appear in the signatures of packages above this one.
type (
	Shape = shape.Shape
	View  = shape.View
)

// Infer, as one of the sizes of a reshape, is computed from the number of elements; in an
// expand it keeps a dim as it is.
const Infer = shape.Infer

// The errors of package shape.
var (
	ErrShape = shape.ErrShape
	ErrDim   = shape.ErrDim
	ErrIndex = shape.ErrIndex
	ErrKind  = shape.ErrKind
)
