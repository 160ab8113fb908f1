package shapeops

import "fmt"

// A JoinPlan is a plan to lay values side by side along one dim. Safe for concurrent use.
type JoinPlan struct {
	Dim   int   // of Shape: along which the values lie
	New   bool  // the values do not have Dim: each fills one position of it (stack)
	Shape Shape // of the result; values may go on behind it with dims that are equal
}

// Rank returns how many leading dims of a value the JoinPlan is about.
func (j JoinPlan) Rank() int {
	if j.New {
		return len(j.Shape) - 1
	}
	return len(j.Shape)
}

// Positions returns how many positions of Dim a value of shape s fills.
func (j JoinPlan) Positions(s Shape) int {
	if j.New {
		return 1
	}
	return s[j.Dim]
}

// A Joiner is what [Stack] and [Cat] need of a value. *tensor.Tensor and *tdict.TensorDict satisfy it.
type Joiner[T any] interface {
	comparable
	Shape() Shape

	// Join lays xs side by side as j says, into a new value, or into the given one unless it is zero. The shapes
	// of xs have been checked against j; that of into has not. The receiver is xs[0].
	Join(j JoinPlan, xs []T, into T) (T, error)
}

// Stack lays xs side by side along a new dim, which becomes dim dim of the result: N times [A B] -> [A N B]. The
// result is a copy. Stack returns [ErrShape] if there is no value or their shapes differ, [ErrDim] if the result
// has no such dim, and what the values say about their contents.
func Stack[T Joiner[T]](xs []T, dim int) (T, error) {
	var none T
	j, err := stackJoint(xs, dim)
	if err != nil {
		return none, err
	}
	return xs[0].Join(j, xs, none)
}

// StackInto is [Stack] into a value that the caller owns, which must have the shape of the result and share no
// memory with xs. On an error nothing has changed.
func StackInto[T Joiner[T]](dst T, xs []T, dim int) error {
	j, err := stackJoint(xs, dim)
	if err != nil {
		return err
	}
	return joinInto(dst, j, xs)
}

// Cat lays xs side by side along a dim that they have: [A Ni B] -> [A N1+N2+... B]. The result is a copy. Cat
// returns [ErrShape] if there is no value or their shapes differ elsewhere, [ErrDim] if they have no such dim, and
// what the values say about their contents.
func Cat[T Joiner[T]](xs []T, dim int) (T, error) {
	var none T
	j, err := catJoint(xs, dim)
	if err != nil {
		return none, err
	}
	return xs[0].Join(j, xs, none)
}

// CatInto is [Cat] into a value that the caller owns, which must have the shape of the result and share no memory
// with xs. On an error nothing has changed.
func CatInto[T Joiner[T]](dst T, xs []T, dim int) error {
	j, err := catJoint(xs, dim)
	if err != nil {
		return err
	}
	return joinInto(dst, j, xs)
}

func joinInto[T Joiner[T]](dst T, j JoinPlan, xs []T) error {
	var none T
	if dst == none {
		return fmt.Errorf("%w: got no destination", ErrShape)
	}
	if err := dst.Shape().CheckEqual(j.Shape); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	_, err := xs[0].Join(j, xs, dst)
	return err
}

func stackJoint[T Joiner[T]](xs []T, dim int) (JoinPlan, error) {
	if len(xs) == 0 {
		return JoinPlan{}, fmt.Errorf("%w: got nothing to stack, want at least one value", ErrShape)
	}
	first := xs[0].Shape()
	at, err := first.place(dim)
	if err != nil {
		return JoinPlan{}, err
	}
	for i, x := range xs {
		if err := x.Shape().CheckEqual(first); err != nil {
			return JoinPlan{}, fmt.Errorf("value %d: %w", i, err)
		}
	}
	to := make(Shape, 0, len(first)+1)
	to = append(append(append(to, first[:at]...), len(xs)), first[at:]...)
	return JoinPlan{Dim: at, New: true, Shape: to}, to.Check()
}

func catJoint[T Joiner[T]](xs []T, dim int) (JoinPlan, error) {
	if len(xs) == 0 {
		return JoinPlan{}, fmt.Errorf("%w: got nothing to cat, want at least one value", ErrShape)
	}
	to := xs[0].Shape().Clone()
	at, err := to.Dim(dim)
	if err != nil {
		return JoinPlan{}, err
	}
	for i, x := range xs[1:] {
		s := x.Shape()
		if len(s) != len(to) || !s[:at].Equal(to[:at]) || !s[at+1:].Equal(to[at+1:]) {
			return JoinPlan{}, fmt.Errorf("value %d: %w: got %v, want %v but for dim %d", i+1, ErrShape, s, xs[0].Shape(), at)
		}
		if to[at] += s[at]; to[at] < 0 {
			return JoinPlan{}, fmt.Errorf("value %d: %w: dim %d overflows", i+1, ErrShape, at)
		}
	}
	return JoinPlan{Dim: at, Shape: to}, to.Check()
}
