package plan

// Nested are further operations of values whose rows contain rows, as a layout of type L says: the
// Ops of a *ragged.Tensor have them. In one pass, results of values that share a layout share a
// layout too.
type Nested[T, L any] interface {
	// CloneIn is Clone within a pass.
	CloneIn(p *Pass) (T, error)

	// EmptyIn returns a value of the same kind and of the given batch shape, whose rows are all
	// empty. With depth 0 its elements are zero.
	EmptyIn(p *Pass, batch ...int) (T, error)

	// CompactIn returns the value itself, or, if it is a part of another or was permuted, an equal
	// value with its own layout, over the same elements or over copies.
	CompactIn(p *Pass) (T, error)

	// LayoutIn returns the layout of the result of CompactIn, or nil if the value is nil.
	LayoutIn(p *Pass) L

	// NestIn returns the value with its batch as the rows of the last level of a layout with V such
	// rows:
	//
	//	[V * F...], outer [N *] -> [N * * F...]
	NestIn(p *Pass, outer L) (T, error)

	// Fixed returns the value with rows that keep their lengths. It shares memory.
	Fixed() T

	// ShapeText returns the batch shape, a star for each level, and the features: "[3 * * 2]".
	ShapeText() string
}

// DenseOps is a further operation of values whose dims have one size each: the Ops of tensors and
// dictionaries have it.
type DenseOps[T any] interface {
	// JoinMasks returns, for values joined as p.Join says, a mask of the result: true where it
	// holds an element of a value, false where it is padded. The value is xs[0].
	JoinMasks(p *Pass, xs []T) (T, error)
}

// A BitDiffer compares values bit for bit.
type BitDiffer[T any] interface {
	// DiffBits describes the first difference between the value and x, or returns "" if their bits
	// are equal: NaN equals a NaN of the same sign and payload, and 0 differs from -0.
	DiffBits(x T) (string, error)
}
