package tensor_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// sequences returns tensors of random layouts that differ in the size of a dim, and their arrays,
// numbered on.
func sequences(t *testing.T, r *rand.Rand, d tensor.DType, dim int, shape []int) (xs []*tensor.Tensor, arrays []naive.Array) {
	shapes := [][]int{}
	for range 1 + r.IntN(4) {
		s := slices.Clone(shape)
		s[dim] = r.IntN(4)
		shapes = append(shapes, s)
		x := testkit.Make(t, d, s, testkit.Layouts[r.IntN(4)], testkit.Memories[r.IntN(4)], r.IntN(50))
		xs = append(xs, x.Tensor)
	}
	return xs, naive.Number(shapes...)
}

// TestPadSequence compares PadSequence, plain, into memory that is there and with masks, with
// nested loops, for every width and layout.
func TestPadSequence(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		shape := append(naive.Shape(r, 2), 1)
		d, dim := testkit.Widths[r.IntN(5)], r.IntN(len(shape))
		xs, arrays := sequences(t, r, d, dim, shape)
		opt := shapeops.PadSequenceOptions{Fill: 7, Dim: dim - len(shape)*r.IntN(2), Left: r.IntN(2) == 0, Length: 4 * r.IntN(2)}
		all := []byte{}
		for _, x := range xs {
			all = append(all, testkit.Content(t, x)...)
		}
		array := naive.PadSequence(arrays, dim, opt.Length, opt.Left)
		whole := tensor.Must(tensor.FromBytes(d, all, len(all)/d.Size()))
		want := caller{fill: 7}.shown(t, whole, array)
		got, masks, err := shapeops.PadSequenceMasked(xs, opt)
		require.NoError(t, err)
		require.Equal(t, shapeops.Shape(array.Shape), got.Shape().Clone())
		require.Equal(t, want, testkit.Content(t, got), "%+v", opt)
		require.Equal(t, lengthsOf(arrays, dim, array.Shape[dim+1], opt.Left), testkit.Elements[bool](t, masks))
		require.True(t, got.Equal(tensor.Must(shapeops.PadSequence(xs, opt))))
		dst := testkit.Make(t, d, array.Shape, testkit.Layouts[r.IntN(3)], testkit.Memories[r.IntN(3)], 50)
		after := dst.Written(dst.Array, want)
		require.NoError(t, shapeops.PadSequenceInto(dst.Tensor, xs, opt))
		require.Equal(t, after, dst.Mem)
	}
}

// lengthsOf returns which of so many positions of each array are its own.
func lengthsOf(xs []naive.Array, dim, length int, left bool) []bool {
	out := []bool{}
	for _, x := range xs {
		for i := range length {
			out = append(out, !left && i < x.Shape[dim] || left && i >= length-x.Shape[dim])
		}
	}
	return out
}

func TestLengthMask(t *testing.T) {
	type shape = shapeops.Shape
	list := []int{0, 2, 3}
	tests := []struct {
		name string
		mask func() (*tensor.Tensor, error)
		want string
	}{
		{"the first positions", func() (*tensor.Tensor, error) { return tensor.LengthMask(list, shape{3, 3}, 1, false) },
			"bool [3 3]\n[[false false false]\n [ true  true false]\n [ true  true  true]]"},
		{"the last positions", func() (*tensor.Tensor, error) { return tensor.LengthMask(list, shape{3, 3}, -1, true) },
			"bool [3 3]\n[[false false false]\n [false  true  true]\n [ true  true  true]]"},
		{"a dim in between", func() (*tensor.Tensor, error) { return tensor.LengthMask([]int{1}, shape{1, 2, 2}, 1, false) },
			"bool [1 2 2]\n[[[ true  true]\n  [false false]]]"},
		{"for each position before it", func() (*tensor.Tensor, error) { return tensor.LengthMask([]int{1}, shape{1, 2, 2}, 2, false) },
			"bool [1 2 2]\n[[[ true false]\n  [ true false]]]"},
		{"no row", func() (*tensor.Tensor, error) { return tensor.LengthMask(nil, shape{0, 2}, 1, false) }, "bool [0 2]\n[]"},
		{"no position", func() (*tensor.Tensor, error) { return tensor.LengthMask([]int{0}, shape{1, 0}, 1, true) }, "bool [1 0]\n[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tensor.Must(tt.mask()).String()) })
	}
}

func TestPadSequenceRefusals(t *testing.T) {
	type (
		tens  = *tensor.Tensor
		opt   = shapeops.PadSequenceOptions
		shape = shapeops.Shape
	)
	gone := errors.New("closed")
	lent := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: gone}, 0, 1, 3))
	dst, long := tensor.Must(tensor.Zeros[float32](2, 2, 3)), tensor.Must(tensor.Zeros[float32](4, 3))
	pad := func(o opt, xs ...tens) error { return testkit.Err(shapeops.PadSequence(xs, o)) }
	mask := func(lengths []int, s shape, dim int) func(tens) error {
		return func(tens) error { return testkit.Err(tensor.LengthMask(lengths, s, dim, false)) }
	}
	refuseTensor(t, []testkit.Refusal[tens]{
		{"scalars", func(tens) error { return pad(opt{}, tensor.Scalar(1.0)) }, shapeops.ErrDim},
		{"no such dim", func(x tens) error { return pad(opt{Dim: 2}, x, x) }, shapeops.ErrDim},
		{"no such dim from the end", func(x tens) error { return pad(opt{Dim: math.MinInt}, x) }, shapeops.ErrDim},
		{"another dtype", func(x tens) error { return pad(opt{}, x, tensor.Must(tensor.Zeros[float64](1, 3))) }, tensor.ErrDType},
		{"a length of more bytes than there are", func(x tens) error { return pad(opt{Length: 1 << 50}, x) }, shapeops.ErrShape},
		{"a value that does not fit", func(x tens) error { return pad(opt{Fill: 1e300}, x, long) }, tensor.ErrDType},
		{"a value that does not fit, without need", func(x tens) error { return pad(opt{Fill: 1e300}, x) }, tensor.ErrDType},
		{"memory that is gone", func(x tens) error { return pad(opt{}, x, lent) }, gone},
		{"masks of nothing", func(tens) error {
			_, _, err := shapeops.PadSequenceMasked([]tens{}, opt{})
			return err
		}, shapeops.ErrShape},
		{"into no destination", func(x tens) error { return shapeops.PadSequenceInto(nil, []tens{x}, opt{}) }, tensor.ErrKind},
		{"nothing into", func(tens) error { return shapeops.PadSequenceInto(dst, nil, opt{}) }, shapeops.ErrShape},
		{"into another shape", func(x tens) error { return shapeops.PadSequenceInto(dst, []tens{x}, opt{}) }, shapeops.ErrShape},
		{"into another dtype", func(x tens) error {
			return shapeops.PadSequenceInto(tensor.Must(tensor.Zeros[int32](1, 2, 3)), []tens{x}, opt{})
		}, tensor.ErrDType},
		{"memory that is gone, into", func(x tens) error { return shapeops.PadSequenceInto(dst, []tens{x, lent}, opt{Fill: 3}) }, gone},
		{"a mask of dim 0", mask([]int{1}, shape{1, 2}, 0), shapeops.ErrDim},
		{"a mask of no dim", mask(nil, shape{}, 0), shapeops.ErrDim},
		{"a mask of no such dim", mask([]int{1}, shape{1, 2}, math.MinInt), shapeops.ErrDim},
		{"lengths of other rows", mask([]int{1}, shape{2, 2}, 1), shapeops.ErrShape},
		{"a length beyond the dim", mask([]int{1, 3}, shape{2, 2}, 1), shapeops.ErrShape},
		{"a negative length", mask([]int{1, -1}, shape{2, 2}, 1), shapeops.ErrShape},
		{"the largest length", mask([]int{math.MaxInt}, shape{1, 2}, 1), shapeops.ErrShape},
		{"a mask of a negative size", mask([]int{1}, shape{1, -2}, 1), shapeops.ErrShape},
		{"a mask of more bytes than there are", mask([]int{1}, shape{1, math.MaxInt}, 1), shapeops.ErrShape},
	})
	require.Equal(t, make([]float32, 12), testkit.Elements[float32](t, dst))
}

// Without elements there is nothing to do, however large the other dims are.
func TestPadSequenceOfNoElementsTakesNoTime(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float32](1<<34, 2, 0))
	done := make(chan error, 2)
	go func() {
		done <- testkit.Err(shapeops.PadSequence([]*tensor.Tensor{x, x}, shapeops.PadSequenceOptions{Dim: 1}))
	}()
	go func() { done <- testkit.Err(tensor.LengthMask([]int{0}, shapeops.Shape{1, 1 << 34, 0}, 2, false)) }()
	for range 2 {
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(time.Minute): // it would take hours
			t.Fatal("takes its time for no element")
		}
	}
}

// PadSequenceInto within one buffer does what it would if all were read before any is written.
func TestPadSequenceWithinABuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	var apart, overlapping int
	rounds := longtests.Times(3000, 10_000)
	for range rounds {
		f := &feeding{rng: rng, bytes: make([]byte, 400), dtype: []tensor.DType{tensor.Uint8, tensor.Float32}[rng.IntN(2)]}
		for i := range f.bytes {
			f.bytes[i] = byte(rng.IntN(256))
		}
		shape, at, xs, arrays := f.shape(1+rng.IntN(2)), []int64{}, []*tensor.Tensor{}, [][]int{}
		dim := rng.IntN(len(shape))
		for range 1 + rng.IntN(3) {
			shape = slices.Clone(shape)
			shape[dim] = 1 + rng.IntN(4)
			w := f.window(shape...)
			xs, arrays, at = append(xs, w.x), append(arrays, shape), append(at, w.positions(t, shape...)...)
		}
		opt := shapeops.PadSequenceOptions{Fill: 7, Dim: dim, Left: rng.IntN(2) == 0}
		want := naive.PadSequence(naive.Number(arrays...), dim, 0, opt.Left)
		dst, before := f.window(want.Shape...), slices.Clone(f.bytes)
		pad := testkit.Content(t, tensor.Must(tensor.ScalarOf(f.dtype, 7)))
		s := shuffle{dst.positions(t, want.Shape...), picked(at, want), f.dtype.Size(), pad}
		harmful, after := s.judge(before)
		require.NoError(t, shapeops.PadSequenceInto(dst.x, xs, opt), "%v %+v", arrays, opt)
		require.Equal(t, after, f.bytes, "%v %+v", arrays, opt)
		if harmful {
			overlapping++
		} else {
			apart++
		}
	}
	t.Log("apart", apart, "overlapping", overlapping)
	require.Greater(t, apart, rounds/10)
	require.Greater(t, overlapping, rounds/10)
}
