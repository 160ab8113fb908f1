package tensor_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// maskKinds are the bits of masks.
var maskKinds = map[string]func(r *rand.Rand, i int) bool{
	"true":      func(*rand.Rand, int) bool { return true },
	"false":     func(*rand.Rand, int) bool { return false },
	"random":    func(r *rand.Rand, _ int) bool { return r.IntN(2) == 0 },
	"few":       func(r *rand.Rand, _ int) bool { return r.IntN(40) == 0 },
	"most":      func(r *rand.Rand, _ int) bool { return r.IntN(40) > 0 },
	"runs":      func(_ *rand.Rand, i int) bool { return i/11%2 == 0 },
	"eights":    func(_ *rand.Rand, i int) bool { return i/8%3 == 0 },
	"last only": func(_ *rand.Rand, i int) bool { return i%97 == 96 },
}

func bitsOf(r *rand.Rand, n int, kind string) []bool {
	bits := make([]bool, n)
	for i := range bits {
		bits[i] = maskKinds[kind](r, i)
	}
	return bits
}

// kept returns the rows of content, each of so many bytes, where bits are true.
func kept(content []byte, bits []bool, width int) []byte {
	out := []byte{}
	for i, bit := range bits {
		if bit {
			out = append(out, content[i*width:(i+1)*width]...)
		}
	}
	return out
}

// TestMaskedSelectOfNarrowRows compares with a loop: rows of every width, masks of lengths around
// where a list is not made, and around eights, in all layouts and memories, at offsets.
func TestMaskedSelectOfNarrowRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []int{0, 1, 7, 8, 9, 63, 254, 255, 256, 257, 263, 264, 265, 300, 511, 512, 513, 600}
	for _, n := range lengths {
		for kind := range maskKinds {
			bits := bitsOf(r, n, kind)
			for _, d := range testkit.Widths {
				for _, wide := range []int{1, 2, 3, 4} {
					if !longtests.On() && wide != 1+r.IntN(4) {
						continue
					}
					m, l := oneOf(r, testkit.Memories), oneOf(r, testkit.Layouts)
					s := testkit.Make(t, d, []int{n + 3, wide}, l, m, 0)
					part := tensor.Must(s.Index(ix.Range(3, ix.End)))
					want := kept(testkit.Content(t, part), bits, wide*d.Size())
					about := fmt.Sprint(kind, n, d, wide, m.Name, l.Name)
					checkSelect(t, r, part, tensor.Vector(bits...), want, about)
				}
			}
		}
	}
}

// checkSelect selects by mask, by an index of it, and into memory that is there.
func checkSelect(t *testing.T, r *rand.Rand, x, mask *tensor.Tensor, want []byte, about string) {
	t.Helper()
	got, err := x.MaskedSelect(mask)
	require.NoError(t, err, about)
	require.Equal(t, want, testkit.Content(t, got), about)
	indexed, err := x.Index(tensor.Must(mask.AsMask()))
	require.NoError(t, err, about)
	require.Equal(t, want, testkit.Content(t, indexed), about)
	dst := testkit.Make(t, x.DType(), got.Shape(), oneOf(r, testkit.Layouts[:3]), oneOf(r, testkit.Memories[:3]), 9)
	after := dst.Written(dst.Array, want)
	require.NoError(t, x.MaskedSelectInto(dst.Tensor, mask), about)
	require.Equal(t, after, dst.Mem, about)
	for _, lent := range []tensor.Lender{x.Lender(), dst.Lender()} {
		if lent, ok := lent.(*testkit.Lender); ok {
			require.Zero(t, lent.Borrowed(), about)
		}
	}
}

// TestMaskedSelectBySeveralDims has masks over several dims, and elements that they make up.
func TestMaskedSelectBySeveralDims(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for kind := range maskKinds {
		for _, shape := range [][]int{{20, 15}, {16, 16, 1}, {3, 10, 10, 2}, {300, 0}} {
			for _, d := range testkit.Widths {
				s := testkit.Make(t, d, shape, testkit.Contiguous, oneOf(r, testkit.Memories), 5)
				for dims := 1; dims <= len(shape); dims++ {
					bits := bitsOf(r, shapeops.Shape(shape[:dims]).Size(), kind)
					mask := tensor.Must(tensor.From(bits, shape[:dims]...))
					width := shapeops.Shape(shape[dims:]).Size() * d.Size()
					want := kept(testkit.Content(t, s.Tensor), bits, width)
					checkSelect(t, r, s.Tensor, mask, want, fmt.Sprint(kind, shape, dims, d))
				}
			}
		}
	}
}

// TestMaskedSelectOfManyRows uses several cores.
func TestMaskedSelectOfManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, d := range testkit.Widths[:longtests.Times(2, 4)] {
		n := 9<<20/d.Size() + 5
		content := make([]byte, n*d.Size())
		for i := range content {
			content[i] = byte(i * 7 >> 3)
		}
		for _, kind := range []string{"random", "runs", "few"} {
			bits := bitsOf(r, n, kind)
			want := kept(content, bits, d.Size())
			x := tensor.Must(tensor.FromBytes(d, content, n))
			got := tensor.Must(x.MaskedSelect(tensor.Vector(bits...)))
			require.True(t, slices.Equal(want, testkit.Content(t, got)), "%v %s", d, kind)
			lender := &testkit.Lender{Bytes: make([]byte, len(want))}
			dst := tensor.Must(tensor.FromLender(d, lender, 0, len(want)/d.Size()))
			require.NoError(t, x.MaskedSelectInto(dst, tensor.Vector(bits...)))
			require.True(t, slices.Equal(want, lender.Bytes), "%v %s", d, kind)
		}
	}
}

// TestMaskedSelectOverlapping has destinations in the memory of the source: apart, or refused.
func TestMaskedSelectOverlapping(t *testing.T) {
	bits := make([]bool, 300)
	for i := range bits {
		bits[i] = i%3 == 1
	}
	for start := 0; start <= 500; start += 20 {
		whole := tensor.Must(tensor.Arange[int32](0, 600, 1))
		x := tensor.Must(whole.Index(ix.Range(100, 400)))
		dst := tensor.Must(whole.Index(ix.Range(start, start+100)))
		want := kept(testkit.Content(t, x), bits, 4)
		require.NoError(t, x.MaskedSelectInto(dst, tensor.Vector(bits...)), start)
		require.Equal(t, want, testkit.Content(t, dst), start)
	}
}

// TestMaskedSelectOfLentMemory: an error of either lender is that of the operation, the destination
// is told before it is written, and what was borrowed is returned.
func TestMaskedSelectOfLentMemory(t *testing.T) {
	no := errors.New("no")
	mask := tensor.Must(tensor.Full(true, 300))
	tests := []struct {
		name     string
		from, to testkit.Lender
		want     error
	}{
		{"both there", testkit.Lender{}, testkit.Lender{}, nil},
		{"source gone", testkit.Lender{Fail: no}, testkit.Lender{}, no},
		{"destination gone", testkit.Lender{}, testkit.Lender{Fail: no}, no},
		{"destination refuses", testkit.Lender{}, testkit.Lender{Refuse: no}, no},
		{"source was cut", testkit.Lender{Cut: no}, testkit.Lender{}, no},
		{"destination was cut", testkit.Lender{}, testkit.Lender{Cut: no}, no},
		{"destination locked", testkit.Lender{}, testkit.Lender{Locked: true}, tensor.ErrReadOnly},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			tt.from.Bytes, tt.to.Bytes = slices.Repeat([]byte{7}, 300), make([]byte, 300)
			x := tensor.Must(tensor.FromLender(tensor.Uint8, &tt.from, 0, 300))
			dst := tensor.Must(tensor.FromLender(tensor.Uint8, &tt.to, 0, 300))
			require.ErrorIs(t, x.MaskedSelectInto(dst, mask), tt.want)
			if tt.want == nil || tt.to.Cut != nil {
				require.Equal(t, tt.from.Bytes, tt.to.Bytes)
				require.Positive(t, tt.to.Touched())
			}
			if tt.from.Fail != nil || tt.from.Cut != nil {
				require.ErrorIs(t, testkit.Err(x.MaskedSelect(mask)), no)
			}
			require.Zero(t, tt.from.Touched())
			require.Zero(t, tt.from.Borrowed()+tt.to.Borrowed())
		})
	}
}

// A destination may lie in the memory of the mask: the mask is what it was when the call began.
func TestMaskedSelectIntoTheMask(t *testing.T) {
	const n = 600
	bits := make([]bool, n)
	for i := range bits {
		bits[i] = i%3 != 0
	}
	want := tensor.Must(tensor.Vector(bits...).Clone())
	mask := tensor.Vector(bits...)
	x := tensor.Must(shapeops.Flip(want, 0))
	expected := tensor.Must(x.MaskedSelect(want))
	dst := tensor.Must(mask.Narrow(0, 0, expected.Size()))
	require.NoError(t, x.MaskedSelectInto(dst, mask))
	require.True(t, expected.Equal(dst))
}
