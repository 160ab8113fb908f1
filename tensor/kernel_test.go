package tensor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// element returns the bytes of an element of a lane at a row and a column of its block.
func element(b *tensor.Block, l tensor.Lane, row, x int) []byte {
	at := 0
	switch l.Per {
	case tensor.PerElement:
		at = row*b.Width + x
	case tensor.PerRow:
		at = row
	}
	return l.Bytes[at*l.DType.Size() : (at+1)*l.DType.Size()]
}

// bytewise makes a kernel whose elements are of a dtype, each the sums, byte by byte, of those of
// its operands: of the first bytes only, if an operand is narrower.
func bytewise(d tensor.DType) *tensor.Kernel {
	return &tensor.Kernel{
		Op:    "bytewise",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) { return d, xs[0].Shape(), nil },
		Elements: func(b *tensor.Block) error {
			sum := make([]byte, b.DType.Size())
			for row := range b.Rows {
				for x := range b.Width {
					clear(sum)
					for _, l := range b.Src {
						for i, v := range element(b, l, row, x) {
							sum[i%b.DType.Size()] += v
						}
					}
					copy(b.Dst[(row*b.Width+x)*b.DType.Size():], sum)
				}
			}
			return nil
		},
	}
}

// summed is what bytewise makes of the elements of operands.
func summed(width int, operands []testkit.Specimen, shape []int) []byte {
	out := make([]byte, naive.Size(shape)*width)
	for _, s := range operands {
		own := s.DType().Size()
		array := s.Array
		if !slices.Equal(array.Shape, shape) && len(out) > 0 {
			array = array.Expand(shape...)
		}
		content := s.Want(array)
		for i := 0; i < len(out)/width; i++ {
			for j := range own {
				out[i*width+j%width] += content[i*own+j]
			}
		}
	}
	return out
}

// TestKernelIsNaive compares a kernel on one to three operands of any widths, layouts, memories and
// shapes that broadcast, into new memory, memory that is there, and the first operand.
func TestKernelIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 4))
	shapes := append(slices.Clone(testkit.Shapes), []int{2, 3, 2, 2}, []int{3, 16500}, []int{16500, 2}, []int{5, 70, 60})
	for _, l := range testkit.Layouts {
		for _, shape := range shapes {
			for range longtests.Times(10_000, 40_000)/(naive.Size(shape)+1000) + longtests.Times(1, 2) {
				x := testkit.Make(t, oneOf(r, testkit.Widths), shape, l, oneOf(r, testkit.Memories), 1)
				operands, others := []testkit.Specimen{x}, []any{}
				for range r.IntN(3) {
					of := slices.Clone(shape[r.IntN(len(shape)+1):])
					for dim := range of {
						if r.IntN(3) == 0 && of[dim] > 0 {
							of[dim] = 1
						}
					}
					s := testkit.Make(t, oneOf(r, testkit.Widths), of, oneOf(r, testkit.Layouts), oneOf(r, testkit.Memories), 2)
					operands, others = append(operands, s), append(others, s.Tensor)
				}
				checkKernel(t, r, oneOf(r, testkit.Widths), operands, others)
			}
		}
	}
}

func checkKernel(t *testing.T, r *rand.Rand, d tensor.DType, operands []testkit.Specimen, others []any) {
	t.Helper()
	x := operands[0]
	shape := x.Array.Shape
	about := fmt.Sprint(operands, " to ", d)
	want := summed(d.Size(), operands, shape)
	got, err := x.Ops().Leafwise(bytewise(d), others...)
	require.NoError(t, err, about)
	require.Equal(t, d, got.DType())
	require.True(t, slices.Equal(want, testkit.Content(t, got)), about)
	dst := testkit.Make(t, d, shape, oneOf(r, testkit.Layouts[:3]), oneOf(r, testkit.Memories[:3]), 9)
	after := dst.Written(dst.Array, want)
	require.NoError(t, x.Ops().LeafwiseInto(dst.Tensor, bytewise(d), others...), about)
	require.True(t, slices.Equal(after, dst.Mem), about)
	if d == x.DType() && !x.Expanded && !x.ReadOnly {
		after := x.Written(x.Array, want)
		require.NoError(t, x.Ops().LeafwiseInto(x.Tensor, bytewise(d), others...), about)
		require.True(t, slices.Equal(after, x.Mem), about)
	}
	for _, s := range append(operands, dst) {
		if lent, ok := s.Lender().(*testkit.Lender); ok {
			require.Zero(t, lent.Borrowed(), about)
		}
	}
}

// TestKernelBlocks: blocks cover each element once, on several cores, with Dst and lanes of the
// sizes that they say.
func TestKernelBlocks(t *testing.T) {
	for _, shape := range [][]int{{9 << 20}, {3, 1<<20 + 7}, {1 << 20, 3}, {1, 1}, {0, 5}, {}} {
		var covered atomic.Int64
		k := bytewise(tensor.Float32)
		k.Elements = func(b *tensor.Block) error {
			covered.Add(int64(b.Rows * b.Width))
			if len(b.Dst) != b.Rows*b.Width*b.DType.Size() || len(b.Src) != 2 || b.Rows < 1 || b.Width < 1 {
				panic(fmt.Sprint(b.Rows, b.Width, len(b.Dst)))
			}
			for _, l := range b.Src {
				n := map[tensor.Per]int{tensor.PerElement: b.Rows * b.Width, tensor.PerRow: b.Rows, tensor.PerBlock: 1}[l.Per]
				if len(l.Bytes) != n*l.DType.Size() {
					panic(fmt.Sprint(l.Per, len(l.Bytes)))
				}
			}
			return nil
		}
		x := tensor.Must(tensor.Zeros[float32](shape...))
		require.NoError(t, testkit.Err(x.Ops().Leafwise(k, 1)))
		require.Equal(t, int64(x.Size()), covered.Load(), shape)
	}
}

// TestKernelRefuses: what a kernel says, and what it makes that cannot be, is an error.
func TestKernelRefuses(t *testing.T) {
	no := errors.New("no")
	makes := func(d tensor.DType, shape shapeops.Shape, err error) *tensor.Kernel {
		k := bytewise(tensor.Int64)
		k.Check = func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) { return d, shape, err }
		return k
	}
	k := bytewise(tensor.Int64)
	state := func(t testing.TB, x *tensor.Tensor) string { return fmt.Sprint(testkit.Content(t, x)) }
	fresh := func() *tensor.Tensor { return tensor.Vector[int64](1, 2, 3) }
	var none *tensor.Tensor
	type X = *tensor.Tensor
	testkit.Refuse(t, fresh, state, []testkit.Refusal[X]{
		{"the kernel's own error", func(x X) error { return x.Ops().LeafwiseInto(x, makes(0, nil, no)) }, no},
		{"no dtype", func(x X) error { return testkit.Err(x.Ops().Leafwise(makes(0, x.Shape(), nil))) }, tensor.ErrDType},
		{"a shape that is none", func(x X) error { return testkit.Err(x.Ops().Leafwise(makes(tensor.Int8, shapeops.Shape{-1}, nil))) }, shapeops.ErrShape},
		{"fewer elements", func(x X) error { return testkit.Err(x.Ops().Leafwise(makes(tensor.Int8, shapeops.Shape{2}, nil))) }, shapeops.ErrShape},
		{"more elements", func(x X) error { return testkit.Err(x.Ops().Leafwise(makes(tensor.Int8, shapeops.Shape{4}, nil))) }, shapeops.ErrShape},
		{"more elements into a destination", func(x X) error {
			return x.Ops().LeafwiseInto(tensor.Must(tensor.Zeros[int8](4)), makes(tensor.Int8, shapeops.Shape{4}, nil))
		}, shapeops.ErrShape},
		{"other elements of a large tensor", func(x X) error {
			big := tensor.Must(tensor.Zeros[int8](9<<20, 1))
			return testkit.Err(big.Ops().Leafwise(makes(tensor.Int8, shapeops.Shape{1, 9 << 20}, nil)))
		}, shapeops.ErrShape},
		{"a nil operand", func(x X) error { return testkit.Err(x.Ops().Leafwise(k, none)) }, tensor.ErrKind},
		{"an operand of no kind", func(x X) error { return testkit.Err(x.Ops().Leafwise(k, struct{}{})) }, tensor.ErrKind},
		{"an operand that does not broadcast", func(x X) error { return x.Ops().LeafwiseInto(x, k, tensor.Vector[int8](1, 2)) }, shapeops.ErrShape},
		{"a nil destination", func(x X) error { return x.Ops().LeafwiseInto(nil, k) }, tensor.ErrKind},
		{"a destination of another dtype", func(x X) error { return x.Ops().LeafwiseInto(x, bytewise(tensor.Int8)) }, tensor.ErrDType},
		{"a destination of another shape", func(x X) error { return x.Ops().LeafwiseInto(tensor.Must(tensor.Zeros[int64](2)), k) }, shapeops.ErrShape},
	})
}

// TestKernelWithoutAKernel: a pass of none is an error.
func TestKernelWithoutAKernel(t *testing.T) {
	x := tensor.Vector[int64](1, 2, 3)
	for _, p := range []*tensor.KernelPass{new(tensor.KernelPass), tensor.NewKernelPass(nil), tensor.NewKernelPass(new(tensor.Kernel))} {
		for _, others := range [][]any{nil, {1}, {tensor.Vector[int64](1)}} {
			var tr tensor.Transfer
			require.ErrorIs(t, testkit.Err(p.Make(x, 0, others)), tensor.ErrKind)
			require.ErrorIs(t, p.To(&tr, x, x, 0, others), tensor.ErrKind)
		}
	}
}

// TestKernelWorkers: a kernel with Elements that may fail runs on as many cores as its Transfer
// says, when it is tried too.
func TestKernelWorkers(t *testing.T) {
	x := tensor.Must(tensor.Zeros[uint8](20 << 20))
	var running, most atomic.Int32
	var once sync.Once
	k := bytewise(tensor.Uint8)
	k.Fails = func([]*tensor.Tensor) bool { return true }
	k.Elements = func(b *tensor.Block) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		once.Do(func() { time.Sleep(20 * time.Millisecond) }) // others come, if there are any
		running.Add(-1)
		return nil
	}
	tr := tensor.Transfer{Workers: 1}
	require.NoError(t, tensor.NewKernelPass(k).To(&tr, x, x, 0, nil))
	require.NoError(t, tr.Run())
	require.Equal(t, int32(1), most.Load())
}

// TestKernelWithinAMemory: operands in the memory of the destination are read as they were, and
// refused if they are large.
func TestKernelWithinAMemory(t *testing.T) {
	k, x := bytewise(tensor.Int64), tensor.Vector[int64](1, 2, 3)
	part := func(from, to int) *tensor.Tensor { return tensor.Must(x.Index(ix.Range(from, to))) }
	require.NoError(t, part(0, 2).Ops().LeafwiseInto(part(1, 3), k))
	require.Equal(t, []int64{1, 1, 2}, testkit.Elements[int64](t, x))
	require.NoError(t, part(0, 2).Ops().LeafwiseInto(part(0, 2), k, part(1, 3)))
	require.Equal(t, []int64{2, 3, 2}, testkit.Elements[int64](t, x))
	require.NoError(t, x.Ops().LeafwiseInto(x, k, tensor.Must(x.Index(ix.At(0)))))
	require.Equal(t, []int64{4, 5, 4}, testkit.Elements[int64](t, x))

	const n = 64<<20 + 1
	large := tensor.Must(tensor.Zeros[int8](n + 1))
	low, high := tensor.Must(large.Narrow(0, 0, n)), tensor.Must(large.Narrow(0, 1, n))
	require.ErrorIs(t, low.Ops().LeafwiseInto(high, bytewise(tensor.Int8)), tensor.ErrOverlap)
}

// TestKernelOfAnotherWidth reads an operand of another width in the memory of the destination as it
// was.
func TestKernelOfAnotherWidth(t *testing.T) {
	bytes := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	whole := tensor.Vector(bytes...)
	wide := tensor.Must(whole.Reinterpret(tensor.Uint32))
	require.NoError(t, wide.Ops().LeafwiseInto(wide, bytewise(tensor.Uint32), tensor.Must(whole.Index(ix.Range(3, 5)))))
	require.Equal(t, []byte{5, 2, 3, 4, 10, 6, 7, 8}, bytes)
}
