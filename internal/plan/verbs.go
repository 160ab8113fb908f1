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
