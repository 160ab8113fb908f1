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
	"github.com/go-tensordict/tensordict/tensor"
)

// A shuffle is the elements of a buffer that an operation copies: bytes to bytes, in order, from -1
// for padding.
type shuffle struct {
	to, from []int64
	width    int
	pad      []byte
}

// judge reports whether an element is read that is written from elsewhere, and what the buffer
// holds after all is read before any is written.
func (s shuffle) judge(b []byte) (harmful bool, after []byte) {
	after = slices.Clone(b)
	writers := make([][]int, len(b))
	for i, to := range s.to {
		for j := range s.width {
			writers[int(to)+j] = append(writers[int(to)+j], i)
			if s.from[i] < 0 {
				after[int(to)+j] = s.pad[j]
			} else {
				after[int(to)+j] = b[int(s.from[i])+j]
			}
		}
	}
	for _, from := range s.from {
		for j := range s.width {
			if from < 0 {
				continue
			}
			for _, w := range writers[int(from)+j] {
				harmful = harmful || s.to[w] != s.from[w]
			}
		}
	}
	return harmful, after
}

// picked returns the positions of elements, -1 for a gap.
func picked(at []int64, of naive.Array) []int64 {
	out := make([]int64, len(of.At))
	for i, n := range of.At {
		if out[i] = -1; n != naive.Gap {
			out[i] = at[n]
		}
	}
	return out
}

// within does a call within a buffer: into a view of it, or scattering if write.
func (f *feeding) within(t *testing.T, k caller, c naive.Call, shape []int, write bool) (shuffle, error) {
	src, dst := f.window(shape...), f.window(c.Want.Shape...)
	if f.rng.IntN(3) == 0 && slices.Equal(shape, c.Want.Shape) {
		dst = src
	}
	at, out := src.positions(t, shape...), dst.positions(t, c.Want.Shape...)
	pad := testkit.Content(t, tensor.Must(tensor.ScalarOf(f.dtype, k.fill)))
	s := shuffle{out, picked(at, c.Want), f.dtype.Size(), pad}
	if !write {
		return s, k.into(dst.x, src.x, c)
	}
	s.to, s.from = s.from, s.to
	if c.Op == "window" {
		return s, shapeops.SetWindow(src.x, dst.x, k.index(c.Index), c.Dims, c.Sizes)
	}
	return s, src.x.Scatter(c.N[0], k.index(c.Index), dst.x)
}

// Operations within one buffer do what they would if all were read before any is written.
func TestCallsWithinABuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	counts := map[string]*[2]int{}
	for i := range longtests.Times(8000, 40_000) {
		f := &feeding{rng: rng, bytes: make([]byte, 700)}
		for i := range f.bytes {
			f.bytes[i] = byte(rng.IntN(256))
		}
		if rng.IntN(2) == 0 {
			f.lender = &testkit.Lender{Bytes: f.bytes}
		}
		f.dtype = []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float32}[rng.IntN(3)]
		verb, write := naive.Copies[i%len(naive.Copies)], rng.IntN(2) == 0
		shape := f.shape(1 + rng.IntN(3))
		c, ok := naive.Random(rng, verb, shape)
		if !ok || len(c.Want.At)*f.dtype.Size() > 80 {
			continue
		}
		if write = write && (verb == "gather" || verb == "window"); write {
			verb = "write " + verb
		}
		before := slices.Clone(f.bytes)
		s, err := f.within(t, caller{rng, 7}, c, shape, write)
		harmful, after := s.judge(before)
		if counts[verb] == nil {
			counts[verb] = new([2]int)
		}
		require.NoError(t, err, "%v of %v", c, shape)
		require.Equal(t, after, f.bytes, "%v of %v", c, shape)
		if harmful {
			counts[verb][1]++
		} else {
			counts[verb][0]++
		}
	}
	for verb, n := range counts {
		t.Log(verb, ": apart, overlapping: ", *n)
		require.Positive(t, n[0], verb)
		require.Positive(t, n[1], verb)
	}
}

// What Gather took, Scatter puts back; what it takes twice, the last stays.
func TestScatter(t *testing.T) {
	x := tensor.Must(tensor.From([]int16{1, 2, 3, 4, 5, 6}, 2, 3))
	index := tensor.Must(tensor.From([]int32{2, 0, -2, 1}, 2, 2))
	got := tensor.Must(x.Gather(1, index))
	require.Equal(t, "int16 [2 2]\n[[3 1]\n [5 5]]", got.String())
	require.NoError(t, x.Scatter(1, index, tensor.Must(tensor.From([]int16{30, 10, 50, 51}, 2, 2))))
	require.Equal(t, []int16{10, 2, 30, 4, 51, 6}, testkit.Elements[int16](t, x))
	require.NoError(t, x.Scatter(1, index, tensor.Scalar[int16](0)), "broadcast")
	require.Equal(t, []int16{0, 2, 0, 4, 0, 6}, testkit.Elements[int16](t, x))
	none := tensor.Must(tensor.Zeros[int64](2, 0))
	require.Equal(t, shapeops.Shape{2, 0}, tensor.Must(x.Gather(1, none)).Shape().Clone())
	require.NoError(t, x.Scatter(1, none, tensor.Scalar[int16](9)))
}

// A copy that the doc promises shares no memory.
func TestTakeOfOneIsACopy(t *testing.T) {
	x := tensor.Vector[int16](1, 2, 3)
	got := tensor.Must(x.Take(0, tensor.Scalar[int64](1)))
	require.NoError(t, got.CopyFrom(tensor.Scalar[int16](9)))
	require.Equal(t, []int16{1, 2, 3}, testkit.Elements[int16](t, x))
}

func TestGatherRefusals(t *testing.T) {
	type tens = *tensor.Tensor
	two := func(v ...int64) tens { return tensor.Must(tensor.From(v, 1, len(v))) }
	mask := tensor.Vector(true, false)
	bad := tensor.Must(tensor.FromBytes(tensor.Bool, []byte{1, 2}, 2))
	dst := tensor.Must(tensor.Zeros[float32](1, 2))
	refuseTensor(t, []testkit.Refusal[tens]{
		{"scatter to a position that is not there", func(x tens) error { return x.Scatter(1, two(1, -4), dst) }, shapeops.ErrIndex},
		{"gather into from a position that is not there", func(x tens) error { return x.GatherInto(dst, 1, two(-5, 3)) }, shapeops.ErrIndex},
		{"a position that no int holds", func(x tens) error {
			return testkit.Err(x.Gather(1, tensor.Must(tensor.From([]uint64{0, math.MaxUint64}, 1, 2))))
		}, shapeops.ErrIndex},
		{"an index of floats", func(x tens) error { return testkit.Err(x.Gather(1, dst)) }, tensor.ErrDType},
		{"an index of bools", func(x tens) error { return testkit.Err(x.Take(0, mask)) }, tensor.ErrDType},
		{"no index", func(x tens) error { return testkit.Err(x.Gather(1, nil)) }, tensor.ErrKind},
		{"no index to take", func(x tens) error { return testkit.Err(x.Take(1, nil)) }, tensor.ErrKind},
		{"no index to scatter", func(x tens) error { return x.Scatter(1, nil, dst) }, tensor.ErrKind},
		{"nothing to scatter", func(x tens) error { return x.Scatter(1, two(0), nil) }, tensor.ErrKind},
		{"scatter another dtype", func(x tens) error { return x.Scatter(1, two(0), two(1)) }, tensor.ErrDType},
		{"scatter what does not broadcast", func(x tens) error { return x.Scatter(1, two(0, 1, 2), dst) }, shapeops.ErrShape},
		{"scatter to what repeats", func(x tens) error {
			return tensor.Must(tensor.Must(x.Narrow(0, 0, 1)).Expand(2, 3)).Scatter(1, two(0, 1), dst)
		}, tensor.ErrLayout},
		{"a mask of another dtype", func(x tens) error { return testkit.Err(x.MaskedSelect(tensor.Vector[uint8](1, 0))) }, tensor.ErrDType},
		{"a mask of another size", func(x tens) error { return testkit.Err(x.MaskedSelect(tensor.Vector(true, true, true))) }, shapeops.ErrIndex},
		{"a mask of more dims", func(x tens) error { return testkit.Err(x.MaskedSelect(tensor.Must(mask.Reshape(2, 1, 1)))) }, shapeops.ErrIndex},
		{"no mask", func(x tens) error { return testkit.Err(x.MaskedSelect(nil)) }, tensor.ErrKind},
		{"a mask that holds 2", func(x tens) error { return testkit.Err(x.MaskedSelect(bad)) }, tensor.ErrDType},
		{"no mask to select into", func(x tens) error { return x.MaskedSelectInto(dst, nil) }, tensor.ErrKind},
		{"nothing to select into", func(x tens) error { return x.MaskedSelectInto(nil, mask) }, tensor.ErrKind},
		{"a mask for another destination", func(x tens) error { return x.MaskedSelectInto(dst, mask) }, shapeops.ErrShape},
	})
}

// refuseTensor runs operations on a float32 tensor [2 3] that must fail.
func refuseTensor(t *testing.T, rows []testkit.Refusal[*tensor.Tensor]) {
	t.Helper()
	fresh := func() *tensor.Tensor { return tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)) }
	testkit.Refuse(t, fresh, func(_ testing.TB, x *tensor.Tensor) string { return x.String() }, rows)
}

// A mask stays as it was when it was asked for.
func TestMaskThatChanges(t *testing.T) {
	l := &testkit.Lender{Bytes: []byte{1, 0, 1}}
	mask := tensor.Must(tensor.FromLender(tensor.Bool, l, 0, 3))
	x := tensor.Must(mask.AsMask())
	copy(l.Bytes, []byte{0, 255, 1})
	require.Equal(t, []int{0, 2}, x.List())
	require.ErrorIs(t, testkit.Err(mask.AsMask()), tensor.ErrDType)
}
