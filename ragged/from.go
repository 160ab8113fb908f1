package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// From returns the tensor of nested slices: a []T has depth 0, a [][]T depth 1, a [][][]T depth 2,
// a [][][][]T depth 3. The outermost slice is the batch. A []any may stand for any of these slices;
// it holds values of type T, such slices, or further []any, all values at the same depth.
//
//	visits, err := ragged.From[int64]([][]int64{{1, 2}, {}, {3}}) // [3 *]
//
// From copies. It returns shapeops.ErrKind for another type, and [ErrLengths] if values are at
// different depths, or if there is only an empty []any: see [FromDepth].
func From[T tensor.Elem](lists any) (*Tensor, error) { return FromDepth[T](lists, -1) }

// FromDepth is [From] with the depth given, so that empty lists are possible. It returns
// [ErrLengths] for slices of another depth.
func FromDepth[T tensor.Elem](lists any, depth int) (*Tensor, error) {
	n := nest[T]{depth: depth}
	if err := n.add(lists, 0); err != nil {
		return nil, err
	}
	l, err := n.layout()
	if err != nil {
		return nil, err
	}
	return New(tensor.Vector(n.values...), l)
}

// mostLevels is the largest depth of lists.
const mostLevels = 1000

// A nest collects the values of nested slices, and the lengths of the slices.
type nest[T tensor.Elem] struct {
	values  []T
	lengths [][]int64 // for each level; the batch is level 0
	depth   int       // -1 until known
}

// layout returns the layout of the slices that were added.
func (n *nest[T]) layout() (*Layout, error) {
	if n.depth > mostLevels {
		return nil, fmt.Errorf("%w: got depth %d, want at most %d", ErrLengths, n.depth, mostLevels)
	}
	if n.depth < 0 && len(n.lengths) < 2 {
		return nil, fmt.Errorf("%w: got an empty list, which does not say how deep it is: see FromDepth", ErrLengths)
	}
	if n.depth < 0 {
		n.depth = len(n.lengths) - 1
	}
	if len(n.lengths) > n.depth+1 {
		return nil, fmt.Errorf("%w: got lists at depth %d, want values at depth %d", ErrLengths, len(n.lengths)-1, n.depth)
	}
	for len(n.lengths) <= n.depth {
		n.lengths = append(n.lengths, nil)
	}
	return LayoutOf(shapeops.Shape{int(n.lengths[0][0])}, n.lengths[1:]...)
}

// add adds a slice that is a row of a level.
func (n *nest[T]) add(list any, level int) error {
	switch list := list.(type) {
	case []T:
		return n.row(list, level)
	case [][]T:
		return each(n, list, level, 1)
	case [][][]T:
		return each(n, list, level, 2)
	case [][][][]T:
		return each(n, list, level, 3)
	case []any:
		if n.depth >= 0 && level > n.depth {
			return fmt.Errorf("%w: got a list at depth %d, want depth %d", ErrLengths, level, n.depth)
		}
		n.length(level, len(list))
		for i, x := range list {
			var err error
			if v, ok := x.(T); !ok {
				err = n.add(x, level+1)
			} else if err = n.at(level); err == nil {
				n.values = append(n.values, v)
			}
			if err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
	return fmt.Errorf("%w: got %T, want slices of %T, nested up to 4 deep, or []any of them", shapeops.ErrKind, list, *new(T))
}

// each adds a slice of slices. Its values are deeper levels below level.
func each[T tensor.Elem, S any](n *nest[T], list []S, level, deeper int) error {
	if err := n.at(level + deeper); err != nil {
		return err
	}
	n.length(level, len(list))
	for i, x := range list {
		if err := n.add(x, level+1); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// row adds a slice of values.
func (n *nest[T]) row(values []T, level int) error {
	if err := n.at(level); err != nil {
		return err
	}
	n.length(level, len(values))
	n.values = append(n.values, values...)
	return nil
}

// at records that there are values at a level. It returns ErrLengths if others are at another
// level.
func (n *nest[T]) at(level int) error {
	if n.depth >= 0 && n.depth != level {
		return fmt.Errorf("%w: got values at depth %d, want depth %d", ErrLengths, level, n.depth)
	}
	n.depth = level
	return nil
}

// length records the length of a row of a level.
func (n *nest[T]) length(level, length int) {
	for len(n.lengths) <= level {
		n.lengths = append(n.lengths, nil)
	}
	n.lengths[level] = append(n.lengths[level], int64(length))
}
