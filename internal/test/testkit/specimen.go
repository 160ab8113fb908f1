package testkit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// The cases of [Specimens]. There is one dtype for each width of an element.
var (
	Shapes = [][]int{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {2, 1, 3}, {2, 3, 4}}
	Widths = []tensor.DType{tensor.Uint8, tensor.BFloat16, tensor.Float32, tensor.Int64, tensor.Complex128}
)

// A Layout makes a view of a shape within a larger buffer: as a tensor, and as an array.
type Layout struct {
	Name  string
	base  func(shape []int) []int // the shape of the buffer
	view  func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error)
	array func(a naive.Array, shape []int) naive.Array
}

// The layouts. Only Broadcast shows an element of the buffer more than once, along dim 0.
var (
	Contiguous = Layout{
		"contiguous", slices.Clone[[]int],
		func(x *tensor.Tensor, _ []int) (*tensor.Tensor, error) { return x, nil },
		func(a naive.Array, _ []int) naive.Array { return a },
	}
	Stepped = Layout{
		"stepped",
		func(shape []int) []int { return mapped(shape, func(_, n int) int { return 2*n + 1 }) },
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) { return x.Index(odd(shape)...) },
		func(a naive.Array, shape []int) naive.Array { a, _ = a.Index(odd(shape)...); return a },
	}
	Transposed = Layout{
		"transposed",
		func(shape []int) []int { return mapped(shape, func(dim, _ int) int { return shape[len(shape)-1-dim] }) },
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) { return x.Permute(backwards(shape)...) },
		func(a naive.Array, shape []int) naive.Array { return a.Permute(backwards(shape)...) },
	}
	Broadcast = Layout{
		"broadcast",
		oneRow,
		func(x *tensor.Tensor, shape []int) (*tensor.Tensor, error) { return x.Expand(shape...) },
		func(a naive.Array, shape []int) naive.Array { return a.Expand(shape...) },
	}
	Layouts = []Layout{Contiguous, Stepped, Transposed, Broadcast}
)

// oneRow returns the shape with size 1 for dim 0, if there is one.
func oneRow(shape []int) []int {
	shape = slices.Clone(shape)
	if len(shape) > 0 {
		shape[0] = 1
	}
	return shape
}

func mapped(s []int, fn func(dim, v int) int) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = fn(i, v)
	}
	return out
}

// odd is an expression for every second position of each dim, beginning with 1.
func odd(shape []int) []ix.Index {
	return slices.Repeat([]ix.Index{ix.Range(1, ix.End).Step(2)}, len(shape))
}

// backwards is the permutation that reverses the dims.
func backwards(shape []int) []int {
	return mapped(shape, func(dim, _ int) int { return len(shape) - 1 - dim })
}

// A Memory is a kind of memory for elements.
type Memory struct {
	Name   string
	lent   bool
	locked bool
	shift  int // offset from an aligned address, in bytes
}

// The kinds of memory.
var (
	Go         = Memory{Name: "go"}
	Unaligned  = Memory{Name: "unaligned", shift: 1}
	Lent       = Memory{Name: "lent", lent: true}
	LentLocked = Memory{Name: "lent read-only", lent: true, locked: true}
	Memories   = []Memory{Go, Unaligned, Lent, LentLocked}
)

func (m Memory) tensor(d tensor.DType, b []byte, shape []int) (*tensor.Tensor, error) {
	if m.lent {
		return tensor.FromLender(d, &Lender{Bytes: b, Locked: m.locked}, 0, shape...)
	}
	return tensor.FromBytes(d, b, shape...)
}

// A Specimen is a tensor, and an array with the position of each of its elements in their memory.
type Specimen struct {
	*tensor.Tensor
	Array    naive.Array
	Mem      []byte
	Expanded bool // some elements share memory
	ReadOnly bool
}

// Make makes a specimen of the given shape. Its bytes are valid bools, and never part of a NaN;
// they depend on seed.
func Make(t testing.TB, d tensor.DType, shape []int, l Layout, m Memory, seed int) Specimen {
	t.Helper()
	base := l.base(shape)
	n, most := naive.Size(base)*d.Size(), 113
	if d == tensor.Bool {
		most = 2
	}
	mem := cast.Bytes(make([]uint64, n/8+2))[m.shift : m.shift+n]
	for i := range mem {
		mem[i] = byte((i + seed) % most)
	}
	whole, err := m.tensor(d, mem, base)
	if err != nil {
		t.Fatal(err)
	}
	x, err := l.view(whole, shape)
	if err != nil {
		t.Fatal(err)
	}
	expanded := l.Name == Broadcast.Name && len(shape) > 0 && shape[0] > 1 && !slices.Contains(shape, 0)
	return Specimen{x, l.array(naive.New(base...), shape), mem, expanded, m.locked}
}

// Want returns the bytes of the elements of an array over s's memory.
func (s Specimen) Want(a naive.Array) []byte { return Gather(s.Mem, s.DType().Size(), a) }

// Written returns s's memory after the elements of a were set, in order, to value.
func (s Specimen) Written(a naive.Array, value []byte) []byte {
	return Scatter(s.Mem, s.DType().Size(), a, value)
}

// String returns a name of s for messages.
func (s Specimen) String() string { return fmt.Sprintf("%v %v", s.DType(), s.Array.Shape) }

// Specimens runs a test on a specimen of every shape, layout, memory and width. When it ends, all
// lent memory must have been returned.
func Specimens(t *testing.T, test func(t *testing.T, s Specimen)) {
	for _, m := range Memories {
		for _, l := range Layouts {
			t.Run(m.Name+"/"+l.Name, func(t *testing.T) { specimens(t, l, m, test) })
		}
	}
}

func specimens(t *testing.T, l Layout, m Memory, test func(t *testing.T, s Specimen)) {
	for _, d := range Widths {
		for _, shape := range Shapes {
			s := Make(t, d, shape, l, m, 0)
			test(t, s)
			if lent, ok := s.Lender().(*Lender); ok && lent.Borrowed() != 0 {
				t.Fatalf("%v: what was borrowed has not been returned", s)
			}
		}
	}
}
