package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A caller does calls with tensors for indices, padding with fill.
type caller struct {
	*rand.Rand
	fill any
}

// index returns an integer tensor of some dtype and layout.
func (k caller) index(a naive.Array) *tensor.Tensor {
	list := make([]int64, 0, 2*len(a.At))
	for _, at := range a.At {
		list = append(list, int64(at), 99)
	}
	x := tensor.Must(tensor.From(list, append(slices.Clone(a.Shape), 2)...))
	x = tensor.Must(x.Index(ix.Rest, ix.At(0)))
	dtypes := []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Int64}
	if !slices.ContainsFunc(a.At, func(at int) bool { return at < 0 }) {
		dtypes = append(dtypes, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64)
	}
	beyond := func(at int) bool { return at < math.MinInt8 || at > math.MaxInt8 }
	if d := dtypes[k.IntN(len(dtypes))]; d.Size() > 1 || !slices.ContainsFunc(a.At, beyond) {
		x = tensor.Must(x.Cast(d))
	}
	return x
}

// do returns what a call makes of x.
func (k caller) do(x *tensor.Tensor, c naive.Call) (*tensor.Tensor, error) {
	if made, ok, err := testkit.Do(x, c); ok {
		return made, err
	}
	switch c.Op {
	case "gather":
		return x.Gather(c.N[0], k.index(c.Index))
	case "take":
		return x.Take(c.N[0], k.index(c.Index))
	case "window":
		return shapeops.Window(x, k.index(c.Index), c.Dims, c.Sizes)
	}
	return x.Pad(k.fill, c.N...)
}

// into does a call into dst; an operation without such a form by a plan.
func (k caller) into(dst, x *tensor.Tensor, c naive.Call) error {
	n := append(slices.Clone(c.N), 0, 0, 0)
	var p *plan.Plan
	switch c.Op {
	case "flip":
		return shapeops.FlipInto(dst, x, c.N...)
	case "gather":
		return x.GatherInto(dst, n[0], k.index(c.Index))
	case "take":
		return x.TakeInto(dst, n[0], k.index(c.Index))
	case "pad":
		return x.PadInto(dst, k.fill, c.N...)
	case "roll":
		p = tensor.Must(plan.Roll(x.Shape(), n[1], n[0]))
	case "rot90":
		p = tensor.Must(plan.Rot90(x.Shape(), n[1], n[2], n[0]))
	case "repeat":
		p = tensor.Must(plan.Repeat(x.Shape(), c.N...))
	case "repeat interleave":
		p = tensor.Must(plan.RepeatInterleave(x.Shape(), n[1], n[0]))
	case "tile":
		p = tensor.Must(plan.Tile(x.Shape(), c.N...))
	case "repeat each":
		p = tensor.Must(plan.RepeatEach(x.Shape(), n[0], c.Index.At))
	}
	var tr tensor.Transfer
	if err := x.Ops().AddExecute(&tr, dst, plan.NewPass(p)); err != nil {
		return err
	}
	return tr.Run()
}

// shown returns the bytes of elements that an array names of x's own, fill where it has a gap.
func (k caller) shown(t testing.TB, x *tensor.Tensor, a naive.Array) []byte {
	t.Helper()
	b, width, out := testkit.Content(t, x), x.DType().Size(), []byte{}
	pad := make([]byte, width)
	if k.fill != nil {
		pad = testkit.Content(t, tensor.Must(tensor.Scalar(int64(k.fill.(int))).Cast(x.DType())))
	}
	for _, at := range a.At {
		if at == naive.Gap {
			out = append(out, pad...)
		} else {
			out = append(out, b[at*width:(at+1)*width]...)
		}
	}
	return out
}

// verify does a call on a specimen, plainly and into a destination of another layout, and compares
// with nested loops.
func (k caller) verify(t testing.TB, s testkit.Specimen, c naive.Call, l testkit.Layout, m testkit.Memory) {
	t.Helper()
	about := fmt.Sprintf("%v of %v into %s %s", c, s, m.Name, l.Name)
	before, want := slices.Clone(s.Mem), k.shown(t, s.Tensor, c.Want)
	got, err := k.do(s.Tensor, c)
	require.NoError(t, err, about)
	require.Equal(t, shapeops.Shape(c.Want.Shape), got.Shape().Clone(), about)
	require.Equal(t, s.DType(), got.DType(), about)
	require.Equal(t, want, testkit.Content(t, got), about)
	if slices.Contains(naive.Copies, c.Op) {
		dst := testkit.Make(t, s.DType(), c.Want.Shape, l, m, 50)
		after := dst.Written(dst.Array, want)
		require.NoError(t, k.into(dst.Tensor, s.Tensor, c), about)
		require.Equal(t, after, dst.Mem, about)
	}
	require.Equal(t, before, s.Mem, about)
}

// TestCalls compares every operation on shapes with nested loops, for every layout, memory and
// width, of what is read and of where it goes.
func TestCalls(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		k := caller{rand.New(rand.NewPCG(uint64(s.Size()), uint64(s.DType()))), nil}
		for _, verb := range naive.Ops {
			for i := range longtests.Times(3, 6) {
				if c, ok := naive.Random(k.Rand, verb, s.Array.Shape); ok {
					k.fill = []any{nil, 0, 7}[i%3]
					k.verify(t, s, c, testkit.Layouts[i%3], testkit.Memories[k.IntN(3)])
				}
			}
		}
	})
}

// In place is what a copy has, beside it nothing changes; what cannot be written is left.
func TestCallsInPlace(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		k := caller{rand.New(rand.NewPCG(uint64(s.Size()), 3)), nil}
		for range 4 {
			c, ok := naive.Random(k.Rand, "flip", s.Array.Shape)
			if !ok {
				continue
			}
			after := s.Written(s.Array, k.shown(t, s.Tensor, c.Want))
			err := shapeops.FlipInto(s.Tensor, s.Tensor, c.N...)
			switch {
			case s.ReadOnly:
				require.ErrorIs(t, err, tensor.ErrReadOnly)
			case s.Expanded:
				require.ErrorIs(t, err, tensor.ErrLayout)
			default:
				require.NoError(t, err)
				require.Equal(t, after, s.Mem, "%v of %v", c, s)
			}
		}
	})
}

// volume returns the product of sizes, those of 0 left out.
func volume(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= max(1, size)
	}
	return n
}

// FuzzLayouts does operations on what operations made, which equals nested loops at every step.
func FuzzLayouts(f *testing.F) {
	f.Add([]byte{0, 1, 2}, uint64(1))
	f.Add([]byte{6, 3, 0, 14}, uint64(2))
	f.Add([]byte{11, 12, 13}, uint64(3))
	f.Add([]byte{7, 8, 9, 10}, uint64(4))
	f.Add([]byte{14, 14, 4, 5, 6, 1}, uint64(5))
	f.Add([]byte{6, 6, 13}, uint64(6))
	f.Fuzz(func(t *testing.T, verbs []byte, seed uint64) {
		k := caller{rand.New(rand.NewPCG(seed, 7)), 7}
		s := testkit.Make(t, testkit.Widths[k.IntN(5)], naive.Shape(k.Rand, 4), testkit.Layouts[k.IntN(4)], testkit.Memories[k.IntN(4)], 0)
		x := s.Tensor
		for _, b := range verbs[:min(len(verbs), 8)] {
			if volume(x.Shape()) > 1<<10 { // nested loops take their time
				break
			}
			c, ok := naive.Random(k.Rand, naive.Ops[int(b)%len(naive.Ops)], x.Shape())
			if !ok || len(c.Want.At) > 1<<12 || len(c.Want.Shape) > 8 {
				continue
			}
			part := testkit.Specimen{Tensor: x, Array: naive.New(x.Shape()...), Mem: s.Mem}
			k.verify(t, part, c, testkit.Layouts[k.IntN(3)], testkit.Memories[k.IntN(3)])
			x = tensor.Must(k.do(x, c))
		}
	})
}
