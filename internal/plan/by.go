package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// Integers is a tensor of integers, which may be nil.
type Integers interface {
	comparable
	Shape() shape.Shape
	Ints() ([]int, error)
}

// GatherBy is [Gather] with a tensor as the index. It reads the elements only if the shape fits. It
// also returns [shape.ErrKind] if index is nil.
func GatherBy[I Integers](s shape.Shape, dim int, index I) (*Plan, error) {
	if err := checkThere(index); err != nil {
		return nil, err
	}
	if err := CheckGather(s, dim, index.Shape()); err != nil {
		return nil, err
	}
	list, err := index.Ints()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return Gather(s, dim, list, index.Shape())
}

// TakeBy is [Take] with a tensor as the list. It also returns [shape.ErrKind] if index is nil.
func TakeBy[I Integers](s shape.Shape, dim int, index I) (*Plan, error) {
	if err := checkThere(index); err != nil {
		return nil, err
	}
	if _, err := s.Dim(dim); err != nil {
		return nil, err
	}
	list, err := index.Ints()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return Take(s, dim, list, index.Shape())
}

func checkThere[I Integers](index I) error {
	var none I
	if index == none {
		return fmt.Errorf("index: %w: got a nil tensor", shape.ErrKind)
	}
	return nil
}
