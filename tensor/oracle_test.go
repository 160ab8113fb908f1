package tensor_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// What the oracle tests go over. The dtypes are one for each width of an element.
var (
	shapes = [][]int{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {2, 1, 3}, {2, 3, 4}}
	widths = []tensor.DType{tensor.Uint8, tensor.BFloat16, tensor.Float32, tensor.Int64, tensor.Complex128}
)

// An array is the naive twin of a tensor: a shape and, row-major, the number of each element in the memory.
type array struct{ shape, at []int }

// each calls fn with every position of a shape, row-major. fn must not keep it.
func each(shape []int, fn func(pos []int)) {
	var walk func(pos []int)
	walk = func(pos []int) {
		if len(pos) == len(shape) {
			fn(pos)
			return
		}
		for i := range shape[len(pos)] {
			walk(append(pos, i))
		}
	}
	walk(make([]int, 0, len(shape)))
}

// flat returns the row-major number of a position.
func flat(shape, pos []int) int {
	n := 0
	for dim, size := range shape {
		n = n*size + pos[dim]
	}
	return n
}

func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// build returns the array whose element at each position is what fn says.
func build(shape []int, fn func(pos []int) int) array {
	a := array{slices.Clone(shape), []int{}}
	each(shape, func(pos []int) { a.at = append(a.at, fn(pos)) })
	return a
}

func (a array) get(pos []int) int { return a.at[flat(a.shape, pos)] }

// A layout shows a shape within a buffer of another: where each position lies, and the same as a view.
type layout struct {
	name  string
	base  func(shape []int) []int // the shape of the buffer
	place func(pos []int) []int   // the position within the buffer
	view  func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error)
}

var contiguous = layout{
	"contiguous",
	slices.Clone[[]int],
	slices.Clone[[]int],
	func(x *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return x, nil },
}

var layouts = []layout{
	contiguous,
	{
		"stepped",
		func(shape []int) []int { return mapped(shape, func(_, n int) int { return 2*n + 1 }) },
		func(pos []int) []int { return mapped(pos, func(_, i int) int { return 2*i + 1 }) },
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) {
			return x.Index(slices.Repeat([]ix.Index{ix.Range(1, ix.End).Step(2)}, len(shape))...)
		},
	},
	{
		"transposed",
		reversed,
		reversed,
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) {
			return x.Permute(mapped(shape, func(dim, _ int) int { return -1 - dim })...)
		},
	},
	{
		"broadcast",
		func(shape []int) []int { return mapped(shape, func(dim, n int) int { return pick(dim == 0, 1, n) }) },
		func(pos []int) []int { return mapped(pos, func(dim, i int) int { return pick(dim == 0, 0, i) }) },
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) { return x.Expand(shape...) },
	},
}

func mapped(s []int, fn func(dim, v int) int) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = fn(i, v)
	}
	return out
}

func reversed(s []int) []int { return mapped(s, func(i, _ int) int { return s[len(s)-1-i] }) }

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// expanded reports whether a layout shows an element of the buffer more than once.
func (l layout) expanded(shape []int) bool {
	return l.name == "broadcast" && len(shape) > 0 && shape[0] > 1
}

// A memory is a place where elements lie.
type memory struct {
	name     string
	readOnly bool
	tensor   func(d tensor.DType, b []byte, shape []int) (*tensor.Tensor, error)
	shift    int // bytes from an aligned address
}

var memories = []memory{
	{"go", false, fromBytes, 0},
	{"unaligned", false, fromBytes, 1},
	{"lent", false, func(d tensor.DType, b []byte, shape []int) (*tensor.Tensor, error) {
		return tensor.FromLender(d, &lender{bytes: b}, shape...)
	}, 0},
	{"lent read-only", true, func(d tensor.DType, b []byte, shape []int) (*tensor.Tensor, error) {
		return tensor.FromLender(d, &lender{bytes: b, readOnly: true}, shape...)
	}, 0},
}

func fromBytes(d tensor.DType, b []byte, shape []int) (*tensor.Tensor, error) {
	return tensor.FromBytes(d, b, shape...)
}

// A lender lends a slice of Go memory, and counts.
type lender struct {
	bytes            []byte
	readOnly         bool
	fail             error
	borrowed, pinned atomic.Int64
}

func (l *lender) Borrow() ([]byte, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	l.borrowed.Add(1)
	return l.bytes, nil
}

func (l *lender) Return() { l.borrowed.Add(-1) }

func (l *lender) Pin() ([]byte, error) {
	l.pinned.Add(1)
	return l.bytes, l.fail
}

func (l *lender) ReadOnly() bool { return l.readOnly }

// A specimen is a tensor beside its naive twin and the memory that both show.
type specimen struct {
	*tensor.Tensor
	array
	mem      []byte
	expanded bool
	readOnly bool
}

// specimenOf makes a tensor of the given shape. No byte of its memory is part of a NaN, and seed shifts them all.
func specimenOf(t testing.TB, d tensor.DType, shape []int, l layout, m memory, seed int) specimen {
	t.Helper()
	base := l.base(shape)
	n := size(base) * d.Size()
	mem := cast.Bytes(make([]uint64, n/8+2))[m.shift : m.shift+n]
	for i := range mem {
		mem[i] = byte((i + seed) % 113)
	}
	whole, err := m.tensor(d, mem, base)
	require.NoError(t, err)
	x, err := l.view(whole, shape)
	require.NoError(t, err)
	a := build(shape, func(pos []int) int { return flat(base, l.place(pos)) })
	return specimen{x, a, mem, l.expanded(shape), m.readOnly}
}

// want returns the bytes of the elements of an array over s's memory.
func (s specimen) want(a array) []byte {
	w, out := s.DType().Size(), []byte{}
	for _, at := range a.at {
		out = append(out, s.mem[at*w:(at+1)*w]...)
	}
	return out
}

// content returns the bytes of x's elements, row-major.
func content(t testing.TB, x *tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := x.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return append([]byte{}, b.Bytes()...)
}

// written returns what s's memory should hold after the elements of a, in order, became value.
func (s specimen) written(a array, value []byte) []byte {
	w, mem := s.DType().Size(), slices.Clone(s.mem)
	for i, at := range a.at {
		copy(mem[at*w:(at+1)*w], value[i*w:])
	}
	return mem
}

// specimens runs a test on every shape, layout, memory and width.
func specimens(t *testing.T, test func(t *testing.T, s specimen)) {
	for _, m := range memories {
		for _, l := range layouts {
			t.Run(m.name+"/"+l.name, func(t *testing.T) {
				for _, d := range widths {
					for _, shape := range shapes {
						s := specimenOf(t, d, shape, l, m, 0)
						test(t, s)
						if lent, ok := s.Lender().(*lender); ok {
							require.Zero(t, lent.borrowed.Load(), "what was borrowed is returned")
						}
					}
				}
			})
		}
	}
}

func (s specimen) String() string { return fmt.Sprintf("%v %v", s.DType(), s.array.shape) }
