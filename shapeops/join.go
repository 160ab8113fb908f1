package shapeops

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A JoinPlan says how values are laid side by side along one dim. [Stack] and [Cat] make JoinPlans
// and hand them to the values in a [Pass]. Safe for concurrent use.
type JoinPlan struct {
	shape Shape
	dim   int
	stack bool
	pad   *padding // of values that differ along a dim, or nil
	few   [4]int   // room for shape
}

// Shape returns the shape of the result; values may go on after it with dims that are equal. The
// caller must not change it.
func (j *JoinPlan) Shape() Shape { return j.shape }

// Dim returns the dim of Shape along which the values lie.
func (j *JoinPlan) Dim() int { return j.dim }

// New reports whether the values do not have that dim, each filling one position of it: a stack.
func (j *JoinPlan) New() bool { return j.stack }

// Op returns the name of the operation, for errors: "stack", "cat" or "pad sequence".
func (j *JoinPlan) Op() string {
	switch {
	case j.pad != nil:
		return "pad sequence"
	case j.stack:
		return "stack"
	}
	return "cat"
}

// Rank returns how many leading dims of a value the plan is about.
func (j *JoinPlan) Rank() int {
	if j.stack {
		return len(j.shape) - 1
	}
	return len(j.shape)
}

// Positions returns how many positions of Dim a value of shape s fills.
func (j *JoinPlan) Positions(s Shape) int {
	if j.stack {
		return 1
	}
	return s[j.dim]
}

// Part plans to select what a value of shape s fills, from position start of Dim on:
//
//	Shape -> s, as far as the plan is about it
//
// It returns [ErrShape] if s has too few dims, and [ErrIndex] if there are no such positions.
func (j *JoinPlan) Part(start int, s Shape) (*Plan, error) {
	if len(j.shape) == 0 {
		return nil, errNoJoin
	}
	if err := j.checkRank(s); err != nil {
		return nil, err
	}
	if n := j.Positions(s); start < 0 || start > j.shape[j.dim]-n {
		return nil, fmt.Errorf("%w: got %d positions from %d of dim %d, want some of its %d",
			ErrIndex, n, start, j.dim, j.shape[j.dim])
	}
	var few [4]ix.Index
	expr := append(few[:0], make([]ix.Index, j.dim)...)
	if j.stack {
		expr = append(expr, ix.At(start))
	} else {
		expr = append(expr, ix.Range(start, start+s[j.dim]))
	}
	return j.shape.Index(expr...)
}

// Extend returns the shape of values of shape s joined.
func (j *JoinPlan) Extend(s Shape) Shape {
	trailing := s[j.Rank():]
	return append(append(make(Shape, 0, len(j.shape)+len(trailing)), j.shape...), trailing...)
}

// Check returns [ErrShape] unless values of these shapes fill Shape, and have the same dims after
// those that the plan is about.
func (j *JoinPlan) Check(n int, shape func(i int) Shape) error {
	first, filled := shape(0), 0
	for i := range n {
		s := shape(i)
		if i > 0 && s.Equal(first) {
			filled += j.Positions(s)
			continue
		}
		if err := j.checkRank(s); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		if !s[j.Rank():].Equal(first[j.Rank():]) {
			return fmt.Errorf("value %d: %w: got %v, want %v after the dims joined",
				i, ErrShape, s[j.Rank():], first[j.Rank():])
		}
		if !j.beside(s) {
			return fmt.Errorf("value %d: %w: got %v, want one that joins to %v", i, ErrShape, s, j.shape)
		}
		filled += j.Positions(s)
	}
	if filled != j.shape[j.dim] {
		return fmt.Errorf("%w: got %d positions to join, want the %d of %v", ErrShape, filled, j.shape[j.dim], j.shape)
	}
	return nil
}

// CheckAlike is [JoinPlan.Check] of n values of one shape.
func (j *JoinPlan) CheckAlike(n int, s Shape) error {
	if err := j.checkRank(s); err != nil {
		return err
	}
	if filled := n * j.Positions(s); !j.beside(s) || filled != j.shape[j.dim] {
		return fmt.Errorf("%w: got %d times %v to join, want %v", ErrShape, n, s, j.shape)
	}
	return nil
}

// beside reports whether s has the plan's dims, but for the one along which values lie.
func (j *JoinPlan) beside(s Shape) bool {
	after := j.dim
	if !j.stack {
		after++
	}
	return s[:j.dim].Equal(j.shape[:j.dim]) && s[after:j.Rank()].Equal(j.shape[j.dim+1:])
}

func (j *JoinPlan) checkRank(s Shape) error {
	if len(s) < j.Rank() {
		return fmt.Errorf("%w: got %v, want a shape with at least %d dims", ErrShape, s, j.Rank())
	}
	return nil
}

// A Joiner is what [Stack], [Cat] and [PadSequence] need of a value. Each kind of value satisfies
// it.
type Joiner[T any] interface {
	comparable
	Shape() Shape

	// Join lays xs side by side as p.Join says, into a new value. The leading dims of xs have been
	// checked against it, unless it pads: [JoinPlan.Joined] does. The receiver is xs[0].
	Join(p *Pass, xs []T) (T, error)
}

// An IntoJoiner is what [StackInto], [CatInto] and [PadSequenceInto] need of a value.
// *tensor.Tensor and *tdict.TensorDict satisfy it.
type IntoJoiner[T any] interface {
	Joiner[T]

	// JoinInto lays xs side by side as p.Join says, in dst. The shapes of xs and of dst have been
	// checked against it, unless it pads. The receiver is xs[0]. On an error nothing has changed.
	JoinInto(p *Pass, dst T, xs []T) error
}

// Batched is what a kind of value implements on its own type, as far as it concerns shapes: the
// verbs that work on the leading dims of any value. A dictionary holds every kind that does.
type Batched[T any] interface {
	Joiner[T]

	// Execute returns what p.Plan makes of the value.
	Execute(p *Pass) (T, error)
	// Clone returns a copy that shares nothing with the value.
	Clone() (T, error)
	// Equal reports whether x has the same shape and content.
	Equal(x T) bool
}

// Stack lays xs side by side along a new dim, which becomes dim dim of the result:
//
//	N times [A B] -> [A N B]
//
// The result is a copy. Stack returns [ErrKind] if a value is nil, [ErrShape] if there is no value
// or their shapes differ, [ErrDim] if the result has no such dim, and what the values say about
// their contents.
func Stack[T Joiner[T]](xs []T, dim int) (T, error) { return join(xs, dim, true) }

// StackInto is [Stack] into a value that the caller owns, which must have the shape of the result
// and share no memory with xs. On an error nothing has changed.
func StackInto[T IntoJoiner[T]](dst T, xs []T, dim int) error { return joinInto(dst, xs, dim, true) }

// Cat lays xs side by side along a dim that they have:
//
//	[A Ni B] -> [A N1+N2+... B]
//
// The result is a copy. Cat returns [ErrKind] if a value is nil, [ErrShape] if there is no value or
// their shapes differ elsewhere, [ErrDim] if they have no such dim, and what the values say about
// their contents.
func Cat[T Joiner[T]](xs []T, dim int) (T, error) { return join(xs, dim, false) }

// CatInto is [Cat] into a value that the caller owns, which must have the shape of the result and
// share no memory with xs. On an error nothing has changed.
func CatInto[T IntoJoiner[T]](dst T, xs []T, dim int) error { return joinInto(dst, xs, dim, false) }

func join[T Joiner[T]](xs []T, dim int, stack bool) (T, error) {
	var none T
	j, err := planJoin(xs, dim, stack)
	if err != nil {
		return none, named(j.Op(), err)
	}
	out, err := xs[0].Join(&Pass{Join: j}, xs)
	return out, named(j.Op(), err)
}

func joinInto[T IntoJoiner[T]](dst T, xs []T, dim int, stack bool) error {
	var none T
	j, err := planJoin(xs, dim, stack)
	switch {
	case err != nil:
		return named(j.Op(), err)
	case dst == none:
		return named(j.Op(), fmt.Errorf("%w: got no destination", ErrKind))
	}
	if err := dst.Shape().CheckEqual(j.shape); err != nil {
		return named(j.Op(), fmt.Errorf("destination: %w", err))
	}
	return named(j.Op(), xs[0].JoinInto(&Pass{Join: j}, dst, xs))
}

// named names the operation of an error, unless the error does so itself.
func named(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(interface{ Operation() string }); ok {
		return err
	}
	return fmt.Errorf("%s: %w", op, err)
}

// planJoin plans to join xs. With an error, the plan knows only its name.
func planJoin[T Joiner[T]](xs []T, dim int, stack bool) (*JoinPlan, error) {
	var none T
	j := &JoinPlan{stack: stack}
	if len(xs) == 0 {
		return j, fmt.Errorf("%w: got nothing to %s, want at least one value", ErrShape, j.Op())
	}
	for i, x := range xs {
		if x == none {
			return j, fmt.Errorf("value %d: %w: got nil", i, ErrKind)
		}
	}
	if stack {
		return j, j.planStack(len(xs), func(i int) Shape { return xs[i].Shape() }, dim)
	}
	return j, j.planCat(len(xs), func(i int) Shape { return xs[i].Shape() }, dim)
}

func (j *JoinPlan) planStack(n int, shape func(i int) Shape, dim int) error {
	first := shape(0)
	at, err := first.place(dim)
	if err != nil {
		return err
	}
	for i := range n {
		if err := shape(i).CheckEqual(first); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	j.dim, j.shape = at, append(append(append(j.few[:0], first[:at]...), n), first[at:]...)
	return j.shape.Check()
}

func (j *JoinPlan) planCat(n int, shape func(i int) Shape, dim int) error {
	first := shape(0)
	to := Shape(append(j.few[:0], first...))
	at, err := to.Dim(dim)
	if err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		s := shape(i)
		if len(s) != len(to) || !s[:at].Equal(to[:at]) || !s[at+1:].Equal(to[at+1:]) {
			return fmt.Errorf("value %d: %w: got %v, want %v but for dim %d", i, ErrShape, s, first, at)
		}
		if to[at] += s[at]; to[at] < 0 {
			return fmt.Errorf("value %d: %w: dim %d overflows", i, ErrShape, at)
		}
	}
	j.dim, j.shape = at, to
	return to.Check()
}
