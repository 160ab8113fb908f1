package shapeops_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// small returns the sizes as a shape of up to three dims, a negative size ending it, or false if
// one is too large for a fuzz test.
func small(sizes ...int) (shapeops.Shape, bool) {
	if i := slices.IndexFunc(sizes, func(n int) bool { return n < 0 }); i >= 0 {
		sizes = sizes[:i]
	}
	return sizes, !slices.ContainsFunc(sizes, func(n int) bool { return n > 9 })
}

// classified fails unless err is one of the three that this package has.
func classified(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, shapeops.ErrShape) && !errors.Is(err, shapeops.ErrDim) && !errors.Is(err, shapeops.ErrIndex) {
		t.Fatalf("unclassified error %v", err)
	}
}

// countable reports whether a shape has few enough elements to look at each.
func countable(s shapeops.Shape) bool { return s.Check() == nil && s.Size() < 1<<16 }

// FuzzIndex checks that, whatever the expression, the View or the rows of the Frame that a plan
// leads to are the elements that nested loops find, on the planned shape and on a leaf that has a
// dim more; and so that nothing reaches outside of the buffer.
func FuzzIndex(f *testing.F) {
	for _, expr := range []string{
		"1:3, -1", "..., new, ::2", "[0, -1]@2x1, [1, 0, 2]", "[1], :, [0]", "mask[TFFT]@2x2, new", "mask[T]@, 0:0",
		"[0], 1, [1]", "mask[FFF]", "[]@0x3", ":9223372036854775807:4611686018427387904",
	} {
		f.Add(expr, 2, 2, 3)
		f.Add(expr, 3, 0, -1)
	}
	f.Fuzz(func(t *testing.T, text string, a, b, c int) {
		expr, err := ix.Parse(text)
		shape, ok := small(a, b, c)
		if err != nil || !ok {
			return
		}
		p, err := shape.Index(expr...)
		switch {
		case err != nil:
			classified(t, err)
		case !countable(p.Shape()):
			return
		}
		checkIndex(t, shape, expr)
	})
}

// FuzzReshape checks that a reshape of a view that may be sliced, stepped and permuted reaches the
// same elements in the same order.
func FuzzReshape(f *testing.F) {
	f.Add("::2", 4, 2, 3, false, 2, -1, 1)
	f.Add("1:, :, 0", 3, 2, 2, true, 4, 1, 1)
	f.Add("..., new", 3, 0, 2, true, 0, 5, 1)
	f.Fuzz(func(t *testing.T, text string, a, b, c int, turned bool, x, y, z int) {
		shape, ok := small(a, b, c)
		from, made := viewOf(shape, text, turned)
		if !ok || !made {
			return
		}
		p, err := from.Shape.Reshape(x, y, z)
		if err != nil {
			classified(t, err)
			return
		}
		to, ok, err := p.View(from)
		require.NoError(t, err)
		if !ok || from.Shape.Size() == 0 {
			require.Equal(t, from.Shape.Size(), p.Shape().Size())
			return
		}
		require.Equal(t, slices.Collect(from.Offsets()), slices.Collect(to.Offsets()))
	})
}

// viewOf returns what an expression selects of a row-major buffer, with its dims reversed if turned
// is set.
func viewOf(shape shapeops.Shape, text string, turned bool) (shapeops.View, bool) {
	expr, err := ix.Parse(text)
	whole, bad := shapeops.Contiguous(shape)
	if err != nil || bad != nil {
		return shapeops.View{}, false
	}
	p, err := shape.Index(expr...)
	if err != nil || p.Pick() != nil {
		return shapeops.View{}, false
	}
	v, ok, err := p.View(whole)
	if turned {
		v = shapeops.View{Shape: reversed(v.Shape), Strides: reversed(v.Strides), Offset: v.Offset}
	}
	return v, ok && err == nil && countable(v.Shape)
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}
