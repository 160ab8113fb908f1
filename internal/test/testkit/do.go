package testkit

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Subject is a tensor or a dictionary.
type Subject[T any] interface {
	shapeops.Value[T]
	Movedim(from, to int) (T, error)
	Narrow(dim, start, n int) (T, error)
}

// Do applies the operation of a call to x. ok is false if the operation takes more than numbers.
func Do[T Subject[T]](x T, c naive.Call) (made T, ok bool, err error) {
	n := append(slices.Clone(c.N), 0, 0, 0)
	switch c.Op {
	case "flip":
		made, err = shapeops.Flip(x, c.N...)
	case "roll":
		made, err = shapeops.Roll(x, n[1], n[0])
	case "rot90":
		made, err = shapeops.Rot90(x, n[1], n[2], n[0])
	case "movedim":
		made, err = x.Movedim(n[0], n[1])
	case "at least":
		made, err = shapeops.AtLeast(x, n[0])
	case "narrow":
		made, err = x.Narrow(n[0], n[1], n[2])
	case "unfold":
		made, err = shapeops.Unfold(x, n[0], n[1], n[2])
	case "repeat":
		made, err = shapeops.Repeat(x, c.N...)
	case "tile":
		made, err = shapeops.Tile(x, c.N...)
	case "repeat interleave":
		made, err = shapeops.RepeatInterleave(x, n[1], n[0])
	case "repeat each":
		made, err = shapeops.RepeatEach(x, n[0], c.Index.At)
	default:
		return made, false, nil
	}
	return made, true, err
}
