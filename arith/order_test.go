package arith

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// unsignedOf returns the number that an element's bytes are.
func unsignedOf(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// floatOf returns the number that an element of a floating-point dtype is.
func floatOf(d tensor.DType, b []byte) float64 {
	u := unsignedOf(b)
	switch d {
	case tensor.Float16:
		return tensor.F16(u).Float64()
	case tensor.BFloat16:
		return tensor.BF16(u).Float64()
	case tensor.Float32:
		return float64(math.Float32frombits(uint32(u)))
	}
	return math.Float64frombits(u)
}

// compareElements is the order of elements, told naively.
func compareElements(d tensor.DType, a, b []byte, descending bool) int {
	way := 1
	if descending {
		way = -1
	}
	switch shift := 64 - 8*len(a); {
	case d.IsFloat():
		x, y := floatOf(d, a), floatOf(d, b)
		switch {
		case x != x || y != y: // NaN is last either way
			return cmp.Compare(fmt.Sprint(x != x), fmt.Sprint(y != y))
		case x < y:
			return -way
		case x > y:
			return way
		}
		return 0
	case d >= tensor.Int8 && d <= tensor.Int64:
		return way * cmp.Compare(int64(unsignedOf(a)<<shift), int64(unsignedOf(b)<<shift))
	}
	return way * cmp.Compare(unsignedOf(a), unsignedOf(b))
}

// ordered lists the dtypes that have an order.
func ordered() []tensor.DType {
	return slices.DeleteFunc(tensor.DTypes(), tensor.DType.IsComplex)
}

// specials are the bits of numbers that a sort may get wrong, from which those of every width are
// cut: extremes, zeros, ones, infinities and NaNs of either sign.
var specials = []uint64{
	0, 0, 1, 1, math.MaxUint64, math.MaxUint64 - 1, math.MaxInt64, 1 << 63, 1<<63 + 1,
	0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0xfff8 << 48, 0x7ff0<<48 + 1, 0xfff0<<48 + 9, 0x3ff0 << 48, 0xbff0 << 48,
	0x7f80 << 48, 0xff80 << 48, 0x7fc0 << 48, 0xffc1 << 48, 0x7f80<<48 + 1<<32, 0x3f80 << 48, 0xbf80 << 48,
	0x7c00 << 48, 0xfc00 << 48, 0x7e00 << 48, 0xfe01 << 48, 0x3c00 << 48, 0xbc00 << 48, 0x8000 << 48,
}

// fill sets the elements in mem to specials, and to numbers with or without much in common.
func fill(r *rand.Rand, d tensor.DType, mem []byte) {
	width := d.Size()
	for at := 0; at+width <= len(mem); at += width {
		u := specials[r.IntN(len(specials))]
		switch r.IntN(4) {
		case 0:
			u = r.Uint64()
		case 1:
			u = r.Uint64N(5) << (64 - 8*width)
		}
		if d == tensor.Bool {
			u = r.Uint64N(2) << 56
		}
		for i := range width { // the upper bytes of u
			mem[at+i] = byte(u >> (64 - 8*(width-i)))
		}
		if width > 1 && binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
			slices.Reverse(mem[at : at+width])
		}
	}
}

// naive returns the elements of a tensor with each line sorted, and the positions they had.
func naive(d tensor.DType, content []byte, shape []int, dim int, descending bool) (sorted []byte, positions []int64) {
	s, width := shapeops.Shape(shape), d.Size()
	inner := s[dim+1:].Size()
	sorted, positions = slices.Clone(content), make([]int64, s.Size())
	for first := range positions {
		if first/inner%s[dim] != 0 {
			continue // a line begins at 0
		}
		element := func(i int64) []byte { return content[(first+int(i)*inner)*width:][:width] }
		order := make([]int64, s[dim])
		for i := range order {
			order[i] = int64(i)
		}
		slices.SortStableFunc(order, func(a, b int64) int { return compareElements(d, element(a), element(b), descending) })
		for i, from := range order {
			positions[first+i*inner] = from
			copy(sorted[(first+i*inner)*width:][:width], element(from))
		}
	}
	return sorted, positions
}

// TestSortIsNaive compares with naive over dtypes, shapes, layouts, memories and dims.
func TestSortIsNaive(t *testing.T) {
	shapes := [][]int{{0}, {1}, {5}, {3, 0, 2}, {1, 7}, {7, 1}, {2, 3, 4}, {40, 3}, {3, 40}, {33, 70}, {2, fewKeys + 1}, {1500}}
	for i, d := range ordered() {
		t.Run(d.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for j, l := range testkit.Layouts {
				for k, m := range testkit.Memories {
					if !longtests.On() && k != (i+j)%len(testkit.Memories) {
						continue
					}
					for _, shape := range shapes {
						s := testkit.Make(t, d, shape, l, m, 0)
						fill(r, d, s.Mem)
						for dim := range shape {
							for _, descending := range []bool{false, true} {
								checkSort(t, s, dim, descending, testkit.Layouts[(j+k)%3])
							}
						}
					}
				}
			}
		})
	}
}

func sortInto(dst, src *tensor.Tensor, dim int, descending bool) error {
	return SortInto(dst, src, dim, SortOptions{Descending: descending})
}

func argSortInto(dst, src *tensor.Tensor, dim int, descending bool) error {
	positions, err := ArgSort(src, dim, SortOptions{Descending: descending})
	if err != nil {
		return err
	}
	return dst.CopyFrom(positions)
}

// checkSort checks what sortInto and argSortInto write to a tensor of the given layout, and to s.
func checkSort(t *testing.T, s testkit.Specimen, dim int, descending bool, l testkit.Layout) {
	t.Helper()
	what := fmt.Sprintf("%v along %d, descending %v", s, dim, descending)
	before := testkit.Content(t, s.Tensor)
	sorted, positions := naive(s.DType(), before, s.Shape(), dim, descending)
	dst := testkit.Make(t, s.DType(), s.Shape(), l, testkit.Lent, 0)
	require.NoError(t, sortInto(dst.Tensor, s.Tensor, dim, descending), what)
	require.Equal(t, sorted, testkit.Content(t, dst.Tensor), what)
	require.Equal(t, before, testkit.Content(t, s.Tensor), "src: %s", what)

	dst = testkit.Make(t, tensor.Int64, s.Shape(), l, testkit.Go, 0)
	require.NoError(t, argSortInto(dst.Tensor, s.Tensor, dim-len(s.Shape()), descending), what)
	require.Equal(t, positions, testkit.Elements[int64](t, dst.Tensor), what)
	if s.Expanded || s.ReadOnly {
		return
	}
	mem, want := slices.Clone(s.Mem), s.Written(s.Array, sorted)
	require.NoError(t, sortInto(s.Tensor, s.Tensor, dim, descending))
	require.Equal(t, want, s.Mem, "in place, and nothing beside it: %s", what)
	copy(s.Mem, mem)
}

// TestSortManyLines has enough work for several cores, and lines that do not fill a block.
func TestSortManyLines(t *testing.T) {
	dtypes := []tensor.DType{tensor.Float32, tensor.Bool, tensor.Int16, tensor.Float64}
	for _, d := range dtypes[:longtests.Times(1, 4)] {
		for _, shape := range [][]int{{2, 600, 37}, {3, 300, 20}, {3, 100, 70}, {5000, 9}, {9, 5000}, {60_000}} {
			s := testkit.Make(t, d, shape, testkit.Contiguous, testkit.Go, 0)
			fill(rand.New(rand.NewPCG(5, 6)), d, s.Mem)
			for dim := range shape {
				checkSort(t, s, dim, false, testkit.Contiguous)
			}
		}
	}
}

func bits32(bits ...uint32) *tensor.Tensor {
	s := make([]float32, len(bits))
	for i, b := range bits {
		s[i] = math.Float32frombits(b)
	}
	return tensor.Vector(s...)
}

func bits16[T tensor.F16 | tensor.BF16](x ...T) *tensor.Tensor { return tensor.Vector(x...) }

func TestOrder(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	zero := math.Copysign(0, -1)
	tests := []struct {
		name       string
		x          *tensor.Tensor
		ascending  []int64
		descending []int64
	}{
		{"integers by value", tensor.Vector[int64](3, math.MinInt64, -1, math.MaxInt64), []int64{1, 2, 0, 3}, []int64{3, 0, 2, 1}},
		{"unsigned above the signed ones", tensor.Vector[uint64](1<<63, 5, math.MaxUint64), []int64{1, 0, 2}, []int64{2, 0, 1}},
		{"false before true", tensor.Vector(true, false, true), []int64{1, 0, 2}, []int64{0, 2, 1}},
		{"equal ones keep their order", tensor.Vector[int8](1, -1, 1, -1), []int64{1, 3, 0, 2}, []int64{0, 2, 1, 3}},
		{"NaN last either way", tensor.Vector(nan, 1, -inf, inf), []int64{2, 1, 3, 0}, []int64{3, 1, 2, 0}},
		{"-0 is 0", tensor.Vector(0, zero, 0, -1, zero), []int64{3, 0, 1, 2, 4}, []int64{0, 1, 2, 4, 3}},
		{"NaNs are equal whatever their bits", bits32(0x7fc00000, 0xffc00001, 0x7f800001, 0), []int64{3, 0, 1, 2}, []int64{3, 0, 1, 2}},
		{"subnormal numbers", bits32(2, 0x80000001, 1, 0x80000002), []int64{3, 1, 2, 0}, []int64{0, 2, 1, 3}},
		{"float16", bits16[tensor.F16](0x3c00, 0x7e00, 0xfc00, 0x8000, 0x7c00), []int64{2, 3, 0, 4, 1}, []int64{4, 0, 3, 2, 1}},
		{"bfloat16 beyond float16", bits16[tensor.BF16](0x7f80, 0x7f7f, 0xffff, 0xbf80), []int64{3, 1, 0, 2}, []int64{0, 1, 3, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst := tensor.Must(tensor.Zeros[int64](tt.x.Size()))
			require.NoError(t, argSortInto(dst, tt.x, 0, false))
			require.Equal(t, tt.ascending, testkit.Elements[int64](t, dst))
			require.NoError(t, argSortInto(dst, tt.x, 0, true))
			require.Equal(t, tt.descending, testkit.Elements[int64](t, dst))
		})
	}
}

// TestSortPatterns has long lines that take a way of their own: sorted, constant, few values, wide
// keys of which most share the upper bits.
func TestSortPatterns(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(7, 8))
	tests := []struct {
		name string
		at   func(i int) uint64
	}{
		{"sorted", func(i int) uint64 { return uint64(i) << 40 }},
		{"sorted backwards", func(i int) uint64 { return uint64(n-i) << 40 }},
		{"constant", func(int) uint64 { return 1 << 62 }},
		{"two values far apart", func(i int) uint64 { return uint64(i%2) << 63 }},
		{"close to two values far apart", func(i int) uint64 { return uint64(i%2)<<62 + r.Uint64N(3000) }},
		{"upper bits almost equal", func(int) uint64 { return r.Uint64N(2)<<61 + r.Uint64N(1<<20) }},
		{"sorted but for the last", func(i int) uint64 { return uint64((i + 1) % n) }},
		{"a digit that is the same", func(int) uint64 { return r.Uint64N(99) + r.Uint64N(99)<<30 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			numbers := make([]uint64, n)
			for i := range numbers {
				numbers[i] = tt.at(i)
			}
			x := tensor.Vector(numbers...)
			for _, descending := range []bool{false, true} {
				sorted, positions := naive(tensor.Uint64, testkit.Content(t, x), []int{n}, 0, descending)
				dst, order := tensor.Must(tensor.Zeros[uint64](n)), tensor.Must(tensor.Zeros[int64](n))
				require.NoError(t, sortInto(dst, x, 0, descending))
				require.Equal(t, sorted, testkit.Content(t, dst))
				require.NoError(t, argSortInto(order, x, 0, descending))
				require.Equal(t, positions, testkit.Elements[int64](t, order))
			}
		})
	}
}

// TestSortOverlapping has a dst that shares memory with src without being it.
func TestSortOverlapping(t *testing.T) {
	all := tensor.Vector[int64](5, 3, 9, 1, 7)
	src, dst := tensor.Must(all.Index(ix.Range(0, 4))), tensor.Must(all.Index(ix.Range(1, 5)))
	require.NoError(t, sortInto(dst, src, 0, false))
	require.Equal(t, []int64{5, 1, 3, 5, 9}, testkit.Elements[int64](t, all))

	require.NoError(t, argSortInto(src, src, 0, true))
	require.Equal(t, []int64{0, 3, 2, 1, 9}, testkit.Elements[int64](t, all))
}

func TestSortRefuses(t *testing.T) {
	x := tensor.Vector[float32](2, 1)
	pair := tensor.Vector[complex64](2, 1)
	badBool := tensor.Must(tensor.FromBytes(tensor.Bool, []byte{1, 0, 7}, 3))
	lost := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Fail: errors.ErrUnsupported}, 0, 2))
	cut := tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Bytes: make([]byte, 8), Cut: errors.ErrUnsupported}, 0, 2))
	float := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Full[float32](9, shape...)) }
	tests := []struct {
		name     string
		dst, src *tensor.Tensor
		dim      int
		is       error
		text     string
	}{
		{"complex numbers", pair, pair, 0, tensor.ErrDType, "sort: dtype mismatch: got complex64, which has no order"},
		{"another dtype", pair, x, 0, tensor.ErrDType, "sort: destination: dtype mismatch: got complex64, want float32"},
		{"another shape", float(3), x, 0, shapeops.ErrShape, "sort: destination: shape mismatch: got [3], want [2]"},
		{"no such dim", float(2), x, 1, shapeops.ErrDim, "sort: no such dim: got dim 1 of shape [2], want -1 to 0"},
		{"a scalar", float(), float(), 0, shapeops.ErrDim, "sort: no such dim: got dim 0 of shape [], which has no dims"},
		{"a bool that is neither 0 nor 1", tensor.Must(tensor.Full(true, 3)), badBool, 0, tensor.ErrDType, "sort: dtype mismatch: got byte 7 for bool element 2, want 0 or 1"},
		{"memory that is gone", float(2), lost, 0, errors.ErrUnsupported, "sort: unsupported operation"},
		{"memory that was cut", float(2), cut, 0, errors.ErrUnsupported, "sort: unsupported operation"},
		{"read-only memory", tensor.Must(tensor.FromLender(tensor.Float32, &testkit.Lender{Bytes: make([]byte, 8), Locked: true}, 0, 2)), x, 0, tensor.ErrReadOnly, "sort: destination: read-only memory: Clone the tensor, or open the dataset with Writable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := testkit.Content(t, tt.dst)
			err := sortInto(tt.dst, tt.src, tt.dim, false)
			require.ErrorIs(t, err, tt.is)
			require.EqualError(t, err, tt.text)
			require.Equal(t, before, testkit.Content(t, tt.dst))
		})
	}
	expanded := tensor.Must(tensor.Scalar[float32](1).Expand(2))
	require.ErrorIs(t, sortInto(expanded, x, 0, false), tensor.ErrLayout)
	require.ErrorIs(t, argSortInto(float(2), x, 0, false), tensor.ErrDType, "want int64")
}

// FuzzSort checks that a line is permuted, in order, and stable.
func FuzzSort(f *testing.F) {
	f.Add([]byte{3, 1, 2, 1, 0, 0x80, 0, 0, 0xff, 0x7f, 0xc0, 0x7f}, uint8(0), uint8(1), false)
	f.Add(slices.Repeat([]byte{0, 0, 0, 0x80, 0, 0, 0xc0, 0xff}, 500), uint8(11), uint8(3), true)
	f.Fuzz(func(t *testing.T, data []byte, pick, columns uint8, descending bool) {
		d := ordered()[int(pick)%len(ordered())]
		wide := max(1, int(columns)%40)
		n := len(data) / d.Size() / wide
		data = slices.Clone(data[:n*wide*d.Size()])
		for i := range data {
			if d == tensor.Bool {
				data[i] &= 1
			}
		}
		x := tensor.Must(tensor.FromBytes(d, data, n, wide))
		order, sorted := tensor.Must(tensor.Zeros[int64](n, wide)), tensor.Must(tensor.New(d, n, wide))
		require.NoError(t, argSortInto(order, x, 0, descending))
		require.NoError(t, sortInto(sorted, x, 0, descending))
		at, out := testkit.Elements[int64](t, order), testkit.Content(t, sorted)
		for column := range wide {
			checkLine(t, d, data, out, at, n, wide, column, descending)
		}
	})
}

// checkLine checks a column of a matrix: in order, out has the elements of data at positions.
func checkLine(t *testing.T, d tensor.DType, data, out []byte, positions []int64, n, wide, column int, descending bool) {
	element := func(b []byte, row int) []byte { return b[(row*wide+column)*d.Size():][:d.Size()] }
	seen, last := make([]bool, n), -1
	for i := range n {
		from := int(positions[i*wide+column])
		switch {
		case seen[from]:
			t.Fatalf("column %d: row %d is there twice", column, from)
		case !bytes.Equal(element(data, from), element(out, i)):
			t.Fatalf("column %d: got %x at %d, want row %d, %x", column, element(out, i), i, from, element(data, from))
		case last < 0:
		case compareElements(d, element(data, last), element(data, from), descending) > 0:
			t.Fatalf("column %d: row %d comes before %d", column, last, from)
		case compareElements(d, element(data, last), element(data, from), descending) == 0 && last > from:
			t.Fatalf("column %d: rows %d and %d are equal and have been swapped", column, last, from)
		}
		seen[from], last = true, from
	}
}
