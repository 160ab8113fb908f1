package tensor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A lens is a view of a buffer that operations made, beside the position of each of its elements.
type lens struct {
	window
	crossed bool // windows that overlap are among what made it
}

// through applies the same operation to both sides, or leaves them if it is refused.
func (l *lens) through(op func(x *tensor.Tensor) (*tensor.Tensor, error)) bool {
	x, err := op(l.x)
	if err != nil {
		return false
	}
	l.x, l.at = x, tensor.Must(op(l.at))
	return true
}

// step makes a random view of the view.
func (l *lens) step(r *rand.Rand) {
	type tens = *tensor.Tensor
	shape := l.x.Shape()
	if len(shape) == 0 || len(shape) > 5 {
		return
	}
	dim := r.IntN(len(shape))
	n := shape[dim]
	switch r.IntN(8) {
	case 0:
		order := r.Perm(len(shape))
		l.through(func(x tens) (tens, error) { return x.Permute(order...) })
	case 1:
		expr := append(slices.Repeat([]ix.Index{ix.All}, dim), ix.Range(r.IntN(n+1), ix.End).Step(1+r.IntN(3)))
		l.through(func(x tens) (tens, error) { return x.Index(expr...) })
	case 2:
		if cut := naive.Factors(r, n); n > 0 {
			l.through(func(x tens) (tens, error) { return x.Unflatten(dim, cut...) })
		}
	case 3:
		l.through(func(x tens) (tens, error) { return x.Unsqueeze(dim) })
	case 4:
		start := r.IntN(n + 1)
		size := r.IntN(n - start + 1)
		l.through(func(x tens) (tens, error) { return x.Narrow(dim, start, size) })
	case 5:
		if sizes := shape.Clone(); n == 1 {
			sizes[dim] = 1 + r.IntN(2)
			l.through(func(x tens) (tens, error) { return x.Expand(sizes...) })
		}
	case 6:
		size, by := 1+r.IntN(max(1, n)), 1+r.IntN(5)
		if l.through(func(x tens) (tens, error) { return shapeops.Unfold(x, dim, size, by) }) {
			l.crossed = l.crossed || by < size && size+by <= n
		}
	case 7:
		if n > 0 {
			expr := append(slices.Repeat([]ix.Index{ix.All}, dim), ix.At(r.IntN(n)))
			l.through(func(x tens) (tens, error) { return x.Index(expr...) })
		}
	}
}

// What may be written is what shows no element twice; only views of windows that overlap may be
// refused though they show none twice. What is written reaches the buffer, and nothing beside it.
func TestWritableIsWhatAliasesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var free, aliased, cautious int
	rounds := longtests.Times(15_000, 60_000)
	for range rounds {
		n := 1 + r.IntN(36)
		buffer := tensor.Must(tensor.Zeros[uint8](n))
		l := &lens{window: window{buffer, tensor.Must(tensor.Arange(0, int64(n), 1))}}
		for range 1 + r.IntN(6) {
			l.step(r)
		}
		at := testkit.Elements[int64](t, l.at)
		want := make([]uint8, n)
		for _, i := range at {
			want[i]++
		}
		err := l.x.SetIndex(tensor.Scalar[uint8](1), ix.Rest)
		switch injective := slices.Max(want) <= 1; {
		case err == nil:
			require.True(t, injective, "%+v", l.x.View())
			require.Equal(t, want, testkit.Elements[uint8](t, buffer))
			free++
		case injective:
			require.True(t, l.crossed, "refused %+v", l.x.View())
			cautious++
			fallthrough
		default:
			require.ErrorIs(t, err, tensor.ErrLayout)
			require.Equal(t, make([]uint8, n), testkit.Elements[uint8](t, buffer))
			aliased++
		}
	}
	t.Log("free", free, "aliased", aliased, "of which refused without need", cautious)
	require.Greater(t, free, rounds/6)
	require.Greater(t, aliased, rounds/30)
	require.Less(t, cautious, rounds/500)
}

func TestUnfold(t *testing.T) {
	x := tensor.Must(tensor.Arange[int16](0, 7, 1))
	over, apart := tensor.Must(shapeops.Unfold(x, 0, 3, 2)), tensor.Must(shapeops.Unfold(x, 0, 2, 3))
	require.Equal(t, "int16 [3 3]\n[[0 1 2]\n [2 3 4]\n [4 5 6]]", over.String())
	testkit.Fails(t, tensor.ErrLayout, over.CopyFrom(tensor.Scalar[int16](9)))
	require.NoError(t, apart.CopyFrom(tensor.Must(tensor.From([]int16{-1, -2, -3, -4}, 2, 2))))
	require.Equal(t, []int16{-1, -2, 2, -3, -4, 5, 6}, testkit.Elements[int16](t, x))
	first := tensor.Must(over.Narrow(0, 1, 1))
	require.NoError(t, first.CopyFrom(tensor.Scalar[int16](0)), "one window by itself")
	require.NoError(t, tensor.Must(over.Index(ix.All, ix.At(0))).CopyFrom(tensor.Scalar[int16](5)), "one position of each")
	require.Equal(t, []int16{5, -2, 5, 0, 5, 5, 6}, testkit.Elements[int16](t, x))
	require.ErrorIs(t, shapeops.FlipInto(over, over), tensor.ErrLayout)
	require.NoError(t, shapeops.FlipInto(apart, apart))
	require.Equal(t, []int16{5, 0, 5, -2, 5, 5, 6}, testkit.Elements[int16](t, x))
}

func TestSetWindow(t *testing.T) {
	x := tensor.Must(tensor.Zeros[int16](2, 4, 3))
	starts := tensor.Must(tensor.From([]int32{0, 1, 2, 0}, 2, 2))
	value := tensor.Must(tensor.From([]int16{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2))
	require.NoError(t, shapeops.SetWindow(x, value, starts, []int{1, -1}, []int{2, 2}))
	require.True(t, value.Equal(tensor.Must(shapeops.Window(x, starts, []int{1, 2}, []int{2, 2}))))
	require.Equal(t, []int16{0, 1, 2, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 7, 8, 0}, testkit.Elements[int16](t, x))
	far := tensor.Vector[uint64](0, math.MaxUint64)
	require.ErrorIs(t, shapeops.SetWindow(x, tensor.Scalar[int16](9), far, []int{1}, []int{1}), shapeops.ErrIndex, "no int holds it")
	require.NoError(t, shapeops.SetWindow(x, tensor.Scalar[int16](9), tensor.Vector[uint8](3, 0), []int{1}, []int{1}), "broadcast")
	require.Equal(t, []int16{9, 9, 9, 9, 9, 9}, testkit.Elements[int16](t, tensor.Must(shapeops.Window(x, tensor.Vector[int8](3, 0), []int{1}, []int{1}))))
}

// Windows of no rows are none, along one dim as along two.
func TestWindowOfNoRows(t *testing.T) {
	x := tensor.Must(tensor.Zeros[int16](0, 4, 3))
	for _, dims := range [][]int{{1}, {1, 2}} {
		starts := tensor.Must(tensor.Must(tensor.Zeros[int64](0, 2)).Narrow(1, 0, len(dims)))
		if len(dims) == 1 {
			starts = tensor.Must(starts.Flatten(0, 1))
		}
		require.NotPanics(t, func() {
			require.NoError(t, testkit.Err(shapeops.Window(x, starts, dims, []int{2, 2}[:len(dims)])))
		})
	}
}

func TestWindowRefusals(t *testing.T) {
	type (
		tens = *tensor.Tensor
		list = []int
	)
	at := tensor.Vector[int64]
	dst, long := tensor.Must(tensor.Zeros[float32](2, 2)), tensor.Must(tensor.Zeros[int64](3))
	refuseTensor(t, []testkit.Refusal[tens]{
		{"set a window that leaves the dim", func(x tens) error { return shapeops.SetWindow(x, dst, at(-1, 0), list{1}, list{2}) }, shapeops.ErrIndex},
		{"starts of another dtype", func(x tens) error {
			return testkit.Err(shapeops.Window(x, tensor.Vector[float32](0, 0), list{1}, list{2}))
		}, tensor.ErrDType},
		{"starts that are bools", func(x tens) error {
			return testkit.Err(shapeops.Window(x, tensor.Vector(true, true), list{1}, list{2}))
		}, tensor.ErrDType},
		{"starts of other rows", func(x tens) error { return testkit.Err(shapeops.Window(x, long, list{1}, list{2})) }, shapeops.ErrShape},
		{"a start for all rows", func(x tens) error { return testkit.Err(shapeops.Window(x, tensor.Scalar[int64](0), list{1}, list{2})) }, shapeops.ErrDim},
		{"starts of one dim for two", func(x tens) error { return testkit.Err(shapeops.Window(x, at(0, 0), list{0, 1}, list{1, 1})) }, shapeops.ErrDim},
		{"no starts", func(x tens) error { return testkit.Err(shapeops.Window(x, nil, list{1}, list{2})) }, tensor.ErrKind},
		{"no starts to set", func(x tens) error { return shapeops.SetWindow(x, dst, nil, list{1}, list{2}) }, tensor.ErrKind},
		{"no value", func(x tens) error { return shapeops.SetWindow(x, nil, at(0, 0), list{1}, list{2}) }, tensor.ErrKind},
		{"a value of another dtype", func(x tens) error { return shapeops.SetWindow(x, long, at(0, 0), list{1}, list{2}) }, tensor.ErrDType},
		{"a value that does not broadcast", func(x tens) error { return shapeops.SetWindow(x, x, at(0, 0), list{1}, list{2}) }, shapeops.ErrShape},
	})
}
