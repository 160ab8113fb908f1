package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// views returns parts and repetitions of a tensor with one dim, in many layouts.
func views(t *testing.T, x *tensor.Tensor) map[string]*tensor.Tensor {
	n := x.Size()
	even := tensor.Must(x.Narrow(0, 0, n/2*2))
	content := testkit.Content(t, x)
	odd := append(make([]byte, 1, 1+len(content)), content...)[1:]
	lent := &testkit.Lender{Bytes: content}
	t.Cleanup(func() { require.Zero(t, lent.Borrowed()) })
	return map[string]*tensor.Tensor{
		"contiguous":     x,
		"part":           tensor.Must(x.Narrow(0, 1, n-1)),
		"transposed":     tensor.Must(tensor.Must(even.Reshape(2, n/2)).Transpose(0, 1)),
		"stepped":        tensor.Must(x.Index(ix.Range(0, ix.End).Step(2))),
		"rows repeated":  tensor.Must(x.Expand(3, n)),
		"each repeated":  tensor.Must(tensor.Must(x.Reshape(n, 1)).Expand(n, 3)),
		"steps repeated": tensor.Must(tensor.Must(tensor.Must(x.Index(ix.Range(0, ix.End).Step(2))).Reshape(1, -1, 1)).Expand(2, -1, 3)),
		"one repeated":   tensor.Must(tensor.Must(x.Index(ix.At(-1))).Expand(2, 3, 4)),
		"scalar":         tensor.Must(x.Index(ix.At(0))),
		"empty":          tensor.Must(x.Narrow(0, 1, 0)),
		"empty rows":     tensor.Must(tensor.Must(x.Narrow(0, 1, 0)).Expand(3, 0)),
		"unaligned":      tensor.Must(tensor.FromBytes(x.DType(), odd, n)),
		"lent":           tensor.Must(tensor.FromLender(x.DType(), lent, 0, n)),
		"many blocks":    tensor.Must(shapeops.Repeat(x, 1+50000/n)),
		"many blocks of parts": tensor.Must(
			tensor.Must(tensor.Must(shapeops.Repeat(x, 1+50000/n)).Reshape(-1, n)).Index(ix.All, ix.Range(0, n-1))),
	}
}

// TestCastOfAnyLayout casts edge values of every dtype, in any layout, to every dtype: into new
// memory, and into memory that is there, in order or not.
func TestCastOfAnyLayout(t *testing.T) {
	for _, from := range edges() {
		for name, x := range views(t, from) {
			values := numbers(t, tensor.Must(x.Clone()))
			if !longtests.On() && len(values) > 1000 && from.DType() > tensor.Uint8 {
				continue
			}
			for _, to := range tensor.DTypes() {
				about := fmt.Sprintf("%v to %v, %s", from.DType(), to, name)
				got, err := x.Cast(to)
				require.NoError(t, err, about)
				require.Equal(t, x.Shape(), got.Shape(), about)
				if len(values) < 1000 {
					checkCast(t, about, values, got)
				}
				for i, dst := range destinations(to, x.Shape()) {
					if !longtests.On() && i != (int(from.DType())+int(to)+len(name))%3 {
						continue
					}
					require.NoError(t, x.CastInto(dst), about)
					if !slices.Equal(testkit.Content(t, got), testkit.Content(t, dst)) {
						t.Fatalf("%s into destination %d: got %v, want %v", about, i, dst, got)
					}
				}
			}
		}
	}
}

// checkCast compares elements with what numbers become.
func checkCast(t *testing.T, about string, values []number, got *tensor.Tensor) {
	t.Helper()
	for i, n := range numbers(t, got) {
		want := values[i].cast(got.DType())
		if !same(n.re, want.re) || !same(n.im, want.im) {
			t.Fatalf("%s: %v: got %v, want %v", about, values[i], n, want)
		}
	}
}

// destinations returns tensors of a dtype and a shape: one in order, one with its dims turned
// round, and one with gaps.
func destinations(d tensor.DType, shape []int) []*tensor.Tensor {
	back, wide := slices.Clone(shape), []int{2}
	slices.Reverse(back)
	perm := make([]int, len(shape))
	for i := range perm {
		perm[i] = len(shape) - 1 - i
	}
	wide = append(slices.Clone(shape), wide...)
	return []*tensor.Tensor{
		tensor.Must(tensor.New(d, shape...)),
		tensor.Must(tensor.Must(tensor.New(d, back...)).Permute(perm...)),
		tensor.Must(tensor.Must(tensor.New(d, wide...)).Index(ix.Rest, ix.At(1))),
	}
}

// TestCastOnAnyCores casts what is worth several cores with one and with three.
func TestCastOnAnyCores(t *testing.T) {
	for _, from := range edges() {
		to := tensor.Float64
		if from.DType() == to {
			to = tensor.Int16
		}
		x := tensor.Must(shapeops.Repeat(from, 1+13<<20/to.Size()/from.Size()))
		half := tensor.Must(x.Narrow(0, 1, x.Size()/2*2-2))
		turned := tensor.Must(tensor.Must(half.Reshape(2, -1)).Transpose(0, 1))
		for _, x := range []*tensor.Tensor{x, turned} {
			one, three := castOn(t, 1, x, to), castOn(t, 3, x, to)
			require.True(t, slices.Equal(one, three), "%v", from.DType())
		}
		require.True(t, slices.Equal(castOn(t, 3, x, to), slices.Repeat(castOn(t, 1, from, to), x.Size()/from.Size())), "%v", from.DType())
		if !longtests.On() {
			break
		}
	}
}

// castOn returns the bytes of a cast that uses so many cores.
func castOn(t *testing.T, cores int, x *tensor.Tensor, to tensor.DType) []byte {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	return testkit.Content(t, tensor.Must(x.Cast(to)))
}

// TestCastIntoItsOwnMemory: elements that are as wide are cast in place, others from a copy.
func TestCastIntoItsOwnMemory(t *testing.T) {
	x := tensor.Vector(1.5, -2, math.NaN(), 1e300, math.Inf(-1), 7)
	ints := tensor.Must(x.Reinterpret(tensor.Int64))
	require.NoError(t, x.CastInto(ints))
	require.Equal(t, []int64{1, -2, 0, math.MaxInt64, math.MinInt64, 7}, testkit.Elements[int64](t, ints))

	f := tensor.Vector[float32](1.5, -2, float32(math.NaN()), 1e30, -1e30, 300)
	narrow := tensor.Must(f.Reinterpret(tensor.Uint32))
	require.NoError(t, f.CastInto(narrow))
	require.Equal(t, []uint32{1, 0, 0, math.MaxUint32, 0, 300}, testkit.Elements[uint32](t, narrow))

	h := tensor.Vector(tensor.F16Of(1.5), tensor.F16Of(-2), tensor.F16Of(1e9))
	brain := tensor.Must(h.Reinterpret(tensor.BFloat16))
	require.NoError(t, h.CastInto(brain))
	require.Equal(t, []tensor.BF16{0x3fc0, 0xc000, 0x7f80}, testkit.Elements[tensor.BF16](t, brain))

	whole := tensor.Vector[uint8](3, 1, 4, 1, 5, 9, 2, 6)
	wide := tensor.Must(tensor.Must(whole.Reinterpret(tensor.Uint16)).Narrow(0, 0, 4))
	part := tensor.Must(whole.Narrow(0, 2, 4))
	require.NoError(t, part.CastInto(wide))
	require.Equal(t, []uint16{4, 1, 5, 9}, testkit.Elements[uint16](t, wide))

	shifted := tensor.Vector[int32](1, 2, 3, 4)
	floats := tensor.Must(shifted.Reinterpret(tensor.Float32))
	require.NoError(t, tensor.Must(shifted.Narrow(0, 0, 3)).CastInto(tensor.Must(floats.Narrow(0, 1, 3))))
	require.Equal(t, []float32{1, 2, 3}, testkit.Elements[float32](t, floats)[1:])

	same := tensor.Vector[int8](1, 2)
	require.NoError(t, same.CastInto(same))
	require.Equal(t, []int8{1, 2}, testkit.Elements[int8](t, same))
}

func TestCastIntoRefuses(t *testing.T) {
	type X = *tensor.Tensor
	fresh := func() X { return tensor.Vector[int32](1, 2, 3, 4) }
	state := func(t testing.TB, x X) string { return fmt.Sprint(testkit.Content(t, x)) }
	locked := &testkit.Lender{Bytes: make([]byte, 16), Locked: true}
	gone := errors.New("closed")
	closed := &testkit.Lender{Fail: gone}
	var none X
	bools := func(b ...byte) X { return tensor.Must(tensor.FromBytes(tensor.Bool, b, len(b))) }
	testkit.Refuse(t, fresh, state, []testkit.Refusal[X]{
		{"a nil destination", func(x X) error { return x.CastInto(none) }, tensor.ErrKind},
		{"a destination of no dtype", func(x X) error { return x.CastInto(new(tensor.Tensor)) }, tensor.ErrKind},
		{"a source of no dtype", func(x X) error { return new(tensor.Tensor).CastInto(x) }, tensor.ErrKind},
		{"another shape", func(x X) error { return tensor.Vector(1.0, 2).CastInto(x) }, shapeops.ErrShape},
		{"a shape that broadcasts", func(x X) error { return tensor.Vector(1.0).CastInto(x) }, shapeops.ErrShape},
		{"another shape of the same dtype", func(x X) error { return tensor.Vector[int32](1).CastInto(x) }, shapeops.ErrShape},
		{"read-only memory", func(x X) error { return x.CastInto(tensor.Must(tensor.FromLender(tensor.Float32, locked, 0, 4))) }, tensor.ErrReadOnly},
		{"memory that is gone", func(x X) error { return tensor.Must(tensor.FromLender(tensor.Float32, closed, 0, 4)).CastInto(x) }, gone},
		{"an expanded destination", func(x X) error { return x.CastInto(tensor.Must(tensor.Vector(1.0).Expand(4))) }, tensor.ErrLayout},
		{"a byte that is no bool", func(x X) error { return bools(1, 0, 1, 7).CastInto(x) }, tensor.ErrDType},
		{"a byte far back that is no bool", func(x X) error {
			y := bools(append(make([]byte, 9<<20), 2)...)
			dst := tensor.Must(tensor.Full[int8](9, y.Size()))
			err := y.CastInto(dst)
			require.True(t, dst.Equal(tensor.Must(tensor.Full[int8](9, y.Size()))), "nothing has changed")
			return err
		}, tensor.ErrDType},
		{"device meta", func(x X) error { return tensor.Must(tensor.NewMeta(tensor.Int8, 4)).CastInto(x) }, tensor.ErrMeta},
		{"a destination on device meta", func(x X) error { return x.CastInto(tensor.Must(tensor.NewMeta(tensor.Int8, 4))) }, tensor.ErrMeta},
	})
}

// TestCastNamesTheBool: the position of a byte that is not a bool is that in the tensor, wherever
// blocks begin.
func TestCastNamesTheBool(t *testing.T) {
	const n = 300
	b := make([]byte, n*n)
	b[7*n+250] = 3
	x := tensor.Must(tensor.FromBytes(tensor.Bool, b, n, n))
	for _, tt := range []struct {
		x  *tensor.Tensor
		at int
	}{
		{x, 7*n + 250},
		{tensor.Must(x.Transpose(0, 1)), 250*n + 7},
		{tensor.Must(x.Narrow(1, 250, 50)), 7 * 50},
	} {
		text := fmt.Sprintf("cast: dtype mismatch: got byte 3 for bool element %d, want 0 or 1", tt.at)
		_, err := tt.x.Cast(tensor.Float64)
		require.EqualError(t, err, text)
		require.EqualError(t, tt.x.CastInto(tensor.Must(tensor.New(tensor.Int32, tt.x.Shape()...))), text)
	}
}

// TestCastOfLent: what was borrowed is returned, memory that is written is touched once, and its
// lender is asked once whether all was there.
func TestCastOfLent(t *testing.T) {
	from, to := &testkit.Lender{Bytes: []byte{1, 2, 3, 4}}, &testkit.Lender{Bytes: make([]byte, 16)}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, from, 0, 4))
	dst := tensor.Must(tensor.FromLender(tensor.Float32, to, 0, 4))
	require.NoError(t, x.CastInto(dst))
	require.Equal(t, []float32{1, 2, 3, 4}, testkit.Elements[float32](t, dst))
	require.Zero(t, from.Borrowed()+to.Borrowed())
	require.Zero(t, from.Touched())
	gone := errors.New("cut")
	for _, l := range []*testkit.Lender{from, to} {
		l.Cut = gone
		require.ErrorIs(t, x.CastInto(dst), gone)
		l.Cut = nil
	}
	to.Refuse = gone
	require.ErrorIs(t, x.CastInto(dst), gone)
	require.Zero(t, from.Borrowed()+to.Borrowed())
}
