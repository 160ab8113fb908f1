package arith_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// writable are the layouts and memories that a destination can have.
var (
	writableLayouts  = testkit.Layouts[:3]
	writableMemories = testkit.Memories[:3]
)

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// someMask returns a mask of any layout in any memory: random, or all alike.
func someMask(t testing.TB, r *rand.Rand, shape []int) testkit.Specimen {
	mask := testkit.Make(t, tensor.Bool, shape, one(r, testkit.Layouts), one(r, testkit.Memories), 0)
	kind := r.IntN(4)
	for i := range mask.Mem {
		mask.Mem[i] = byte(kind)
		if kind > 1 {
			mask.Mem[i] = byte(r.IntN(2))
		}
	}
	return mask
}

// picked returns the elements of yes where mask is true, and those of no where it is not.
func picked(t testing.TB, mask *tensor.Tensor, yes, no []byte, shape []int, width int) []byte {
	out, bits := slices.Clone(no), testkit.Elements[bool](t, mask)
	per := naive.Size(shape[len(mask.Shape()):]) * width
	for i, bit := range bits {
		if bit {
			copy(out[i*per:(i+1)*per], yes[i*per:])
		}
	}
	return out
}

// An operand is the value that operations take besides x and mask, with its elements broadcast to
// x's shape.
type operand struct {
	any
	content []byte
}

// someOperand returns a tensor of the shape, one that broadcasts to it, or a scalar.
func someOperand(t testing.TB, r *rand.Rand, d tensor.DType, shape []int) operand {
	of := slices.Clone(shape)
	switch r.IntN(4) {
	case 0:
		v := any(1)
		if d == tensor.Bool {
			v = true
		}
		one := testkit.Content(t, tensor.Must(tensor.ScalarOf(d, v)))
		return operand{v, slices.Repeat(one, naive.Size(shape))}
	case 1:
		of = of[r.IntN(len(of)+1):]
		for dim := range of {
			if r.IntN(2) == 0 {
				of[dim] = 1
			}
		}
	}
	s := testkit.Make(t, d, of, one(r, testkit.Layouts), one(r, testkit.Memories), 50)
	return operand{s.Tensor, s.Want(expanded(s.Array, shape))}
}

// expanded is a broadcast to a shape, that of no element included.
func expanded(a naive.Array, shape []int) naive.Array {
	if naive.Size(shape) == 0 {
		return naive.Build(shape, func([]int) int { return 0 })
	}
	return a.Expand(shape...)
}

// A operation is Where or MaskedFill with all that comes with it.
type verb struct {
	name string
	of   func(mask any, x *tensor.Tensor, other any) (*tensor.Tensor, error)
	into func(dst *tensor.Tensor, mask any, x *tensor.Tensor, other any) error
	want func(t testing.TB, mask *tensor.Tensor, x, other []byte, shape []int, width int) []byte
}

var verbs = []verb{
	{
		"where",
		func(mask any, x *tensor.Tensor, other any) (*tensor.Tensor, error) {
			return arith.Where(mask, x, other)
		},
		func(dst *tensor.Tensor, mask any, x *tensor.Tensor, other any) error {
			return arith.WhereInto(dst, mask, x, other)
		},
		picked,
	},
	{
		"masked fill",
		func(mask any, x *tensor.Tensor, v any) (*tensor.Tensor, error) { return arith.MaskedFill(x, mask, v) },
		func(dst *tensor.Tensor, mask any, x *tensor.Tensor, v any) error {
			return arith.MaskedFillInto(dst, x, mask, v)
		},
		func(t testing.TB, mask *tensor.Tensor, x, other []byte, shape []int, width int) []byte {
			return picked(t, mask, other, x, shape, width)
		},
	},
}

// TestWhereIsNaive compares with loops over dtypes, shapes, ranks of masks, layouts and memories of
// all operands and of the destination.
func TestWhereIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range testkit.Memories {
		for _, l := range testkit.Layouts {
			t.Run(m.Name+"/"+l.Name, func(t *testing.T) {
				for _, d := range tensor.DTypes() {
					for _, shape := range testkit.Shapes {
						for rank := range len(shape) + 1 {
							for range longtests.Times(1, 5) {
								x := testkit.Make(t, d, shape, l, m, 3)
								checkVerb(t, r, one(r, verbs), x, someMask(t, r, shape[:rank]))
							}
						}
					}
				}
			})
		}
	}
}

// checkVerb checks what an operation makes of x and another operand, into new memory, into memory
// that is there, and in place.
func checkVerb(t *testing.T, r *rand.Rand, v verb, x, mask testkit.Specimen) {
	t.Helper()
	d, shape := x.DType(), x.Array.Shape
	other := someOperand(t, r, d, shape)
	dst := testkit.Make(t, d, shape, one(r, writableLayouts), one(r, writableMemories), 90)
	about := []any{"%s of %v, mask %v, other %v", v.name, x, mask, other.any}
	want := v.want(t, mask.Tensor, x.Want(x.Array), other.content, shape, d.Size())
	before := slices.Clone(x.Mem)

	got, err := v.of(mask.Tensor, x.Tensor, other.any)
	require.NoError(t, err, about...)
	require.Equal(t, d, got.DType())
	require.Equal(t, shape, []int(got.Shape().Clone()))
	require.Equal(t, want, testkit.Content(t, got), about...)
	require.False(t, got.SharesMemory(x.Tensor))

	after := dst.Written(dst.Array, want)
	require.NoError(t, v.into(dst.Tensor, mask.Tensor, x.Tensor, other.any), about...)
	require.Equal(t, after, dst.Mem, about...)
	require.Equal(t, before, x.Mem, about...)
	if u, ok := other.any.(*tensor.Tensor); ok && !x.Expanded && u.Shape().Equal(shape) && u.View().IsContiguous() && u.Lender() == nil {
		require.NoError(t, v.into(u, mask.Tensor, x.Tensor, u), about...)
		require.Equal(t, want, testkit.Content(t, u), "into the operand")
		other.any = tensor.Must(tensor.FromBytes(d, other.content, shape...))
	}
	if !x.Expanded && !x.ReadOnly {
		after := x.Written(x.Array, want)
		require.NoError(t, v.into(x.Tensor, mask.Tensor, x.Tensor, other.any), about...)
		require.Equal(t, after, x.Mem, about...)
	}
	for _, s := range []testkit.Specimen{x, mask, dst} {
		if lent, ok := s.Lender().(*testkit.Lender); ok {
			require.Zero(t, lent.Borrowed())
		}
	}
}

// TestWhereOfManyElements has more than a block, and more than a core's share; the last block is
// smaller.
func TestWhereOfManyElements(t *testing.T) {
	shapes := [][]int{{16385}, {2, 16385}, {16385, 2}, {40, 1025}, {3, 130, 127}, {1<<18 + 9}, {513, 520}}
	if !longtests.On() {
		shapes = [][]int{{2, 16385}, {1<<18 + 9}}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, shape := range shapes {
		for rank := range len(shape) + 1 {
			for _, l := range testkit.Layouts {
				d := one(r, testkit.Widths)
				if naive.Size(shape) > 1<<18 {
					d = tensor.Complex128
				}
				x := testkit.Make(t, d, shape, l, one(r, testkit.Memories), 3)
				checkVerb(t, r, one(r, verbs), x, someMask(t, r, shape[:rank]))
			}
		}
	}
}

// TestWhereAllocations: what is allocated does not grow with the rows.
func TestWhereAllocations(t *testing.T) {
	count := func(n int, fn func(mask, x, y *tensor.Tensor) error) float64 {
		x, y := tensor.Must(tensor.Zeros[float32](n, 3)), tensor.Must(tensor.Zeros[float32](n, 3))
		mask := tensor.Must(tensor.Full(true, n))
		return testing.AllocsPerRun(20, func() { require.NoError(t, fn(mask, x, y)) })
	}
	ops := map[string]func(mask, x, y *tensor.Tensor) error{
		"where into":  func(mask, x, y *tensor.Tensor) error { return arith.WhereInto(y, mask, x, 1) },
		"masked fill": func(mask, x, _ *tensor.Tensor) error { return arith.MaskedFillInto(x, x, mask, 1) },
		"sort":        func(_, x, _ *tensor.Tensor) error { return arith.SortInto(x, x, 1, arith.SortOptions{}) },
		"sort rows":   func(_, x, _ *tensor.Tensor) error { return arith.SortInto(x, x, 0, arith.SortOptions{}) },
	}
	for name, op := range ops {
		require.LessOrEqual(t, count(1000, op), count(10, op)+1, name)
	}
}
