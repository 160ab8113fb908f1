package plan

// Verbs has what values of type T do by plans. Each kind of value has a method Plan that returns
// its Verbs; the operations in shapeops are written over them.
type Verbs[T any] interface {
	// Execute returns what p.Plan makes of the value.
	Execute(p *Pass) (T, error)

	// ExecuteInto is Execute into dst, which must have the shape of the result. On an error nothing
	// has changed.
	ExecuteInto(p *Pass, dst T) error

	// Write writes src, broadcast, to the part of the value that p.Plan selects. On an error
	// nothing has changed.
	Write(p *Pass, src T) error

	// Join lays xs side by side as p.Join says, into a new value. The leading dims of xs have been
	// checked against it, unless it pads: [Join.Joined] does. The value is xs[0].
	Join(p *Pass, xs []T) (T, error)

	// JoinInto is Join into dst. The shape of dst has been checked too, unless the plan pads. On an
	// error nothing has changed.
	JoinInto(p *Pass, dst T, xs []T) error
}

// Nested has further Verbs of values whose rows have rows, as a layout of type L says: those of a
// *ragged.Tensor. What is made in one pass of values that share a layout shares one.
type Nested[T, L any] interface {
	Verbs[T]

	// CloneIn is Clone in a pass.
	CloneIn(p *Pass) (T, error)

	// EmptyIn returns a value like this one with rows that are all empty, for a batch shape. With
	// depth 0 its elements are zero.
	EmptyIn(p *Pass, batch ...int) (T, error)

	// StraightIn returns the value, or, if it is a part of another or was permuted, one that says
	// the same with a layout of its own, over the same elements or copies.
	StraightIn(p *Pass) (T, error)

	// LayoutIn returns the layout of what StraightIn returns, or nil if the value is nil.
	LayoutIn(p *Pass) L

	// NestIn returns the value with its batch as the rows of a layout's last level:
	//
	//	[V * F...], outer [N *], V being the rows of its last level -> [N * * F...]
	NestIn(p *Pass, outer L) (T, error)

	// RowIn undoes NestIn for one row of the batch: it returns the rows that it has as a batch,
	// which shares memory. The value must be straight, and have a level.
	//
	//	[N * * F...] -> [Li * F...]
	RowIn(p *Pass, i int) (T, error)

	// Fixed returns the value as one whose rows keep their lengths. It shares memory.
	Fixed() T

	// ShapeText returns the batch shape, a star for each level, and the features: "[3 * * 2]".
	ShapeText() string
}

// DenseVerbs are the Verbs of values of which every dim has one size.
type DenseVerbs[T any] interface {
	Verbs[T]

	// ExecuteInPlace sets the value to what p.Plan, which keeps its shape, makes of it. On an error
	// nothing has changed.
	ExecuteInPlace(p *Pass) error

	// JoinMasks returns, for values joined as p.Join says, where the result holds an element of
	// them: true there, false where it is padded. The value is xs[0].
	JoinMasks(p *Pass, xs []T) (T, error)
}

// A BitDiffer compares values that must be one and the same.
type BitDiffer[T any] interface {
	// DiffBits describes the first difference between the value and x, or returns "" if their bits
	// are equal: NaN equals a NaN of the same sign and payload, and 0 differs from -0.
	DiffBits(x T) (string, error)
}
