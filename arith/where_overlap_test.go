package arith_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A part is a view of a buffer of bools beside the position of each of its elements there.
type part struct {
	*tensor.Tensor
	at naive.Array
}

// parts returns views of a buffer that have a shape: at every position, with and without gaps,
// turned, and repeated.
func parts(buffer *tensor.Tensor, shape []int) (out []part) {
	size := naive.Size(shape)
	numbers := naive.New(buffer.Size())
	add := func(start, stop, step int, arrange func(x *tensor.Tensor) (*tensor.Tensor, error), array func(a naive.Array) naive.Array) {
		expr := []ix.Index{ix.Range(start, stop).Step(step)}
		a, _ := numbers.Index(expr...)
		out = append(out, part{tensor.Must(arrange(tensor.Must(buffer.Index(expr...)))), array(a)})
	}
	plain := func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Reshape(shape...) }
	for start := range buffer.Size() - size + 1 {
		add(start, start+size, 1, plain, func(a naive.Array) naive.Array { return a.Reshape(shape...) })
	}
	if len(shape) != 2 {
		return out
	}
	back := []int{shape[1], shape[0]}
	for start := range 3 {
		add(start, start+size, 1, func(x *tensor.Tensor) (*tensor.Tensor, error) {
			return tensor.Must(x.Reshape(back...)).Permute(1, 0)
		}, func(a naive.Array) naive.Array { return a.Reshape(back...).Permute(1, 0) })
		add(start, start+2*size, 2, plain, func(a naive.Array) naive.Array { return a.Reshape(shape...) })
	}
	return out
}

// TestWhereOverlapping has a mask, x, other and a destination in one small buffer: the result is as
// if all were read before any is written.
func TestWhereOverlapping(t *testing.T) {
	start := []bool{true, false, false, true, true, true, false, true, false, false, true}
	for _, lent := range []bool{false, true} {
		for _, shape := range [][]int{{3}, {2, 2}} {
			buffer := tensor.Must(tensor.From(slices.Clone(start), len(start)))
			if lent {
				bytes := slices.Clone(testkit.Content(t, buffer))
				buffer = tensor.Must(tensor.FromLender(tensor.Bool, &testkit.Lender{Bytes: bytes}, 0, len(start)))
			}
			all, rows := parts(buffer, shape), parts(buffer, shape[:1])
			for i, p := range rows { // masks of rows
				rows[i].at = p.at.Reshape(append(slices.Clone(p.at.Shape), slices.Repeat([]int{1}, len(shape)-1)...)...).Expand(shape...)
			}
			for _, mask := range slices.Concat(all, rows) {
				for i, x := range all {
					checkOverlap(t, buffer, start, all[(3*i+1)%len(all)], mask, x, all[(2*i)%len(all)])
					for _, dst := range all {
						checkOverlap(t, buffer, start, dst, mask, x, x)
					}
				}
			}
		}
	}
}

func checkOverlap(t *testing.T, buffer *tensor.Tensor, start []bool, dst, mask, x, other part) {
	t.Helper()
	require.NoError(t, buffer.CopyFrom(tensor.Vector(start...)))
	want := slices.Clone(start)
	for i, at := range dst.at.At {
		want[at] = start[other.at.At[i]]
		if start[mask.at.At[i]] {
			want[at] = start[x.at.At[i]]
		}
	}
	about := fmt.Sprint("dst ", dst.at, " mask ", mask.at, " x ", x.at, " other ", other.at)
	require.NoError(t, arith.WhereInto(dst.Tensor, mask.Tensor, x.Tensor, other.Tensor), about)
	require.Equal(t, want, testkit.Elements[bool](t, buffer), about)
}

// TestWhereMaskOfAnotherWidth has a mask in the memory of the destination, whose elements are
// wider.
func TestWhereMaskOfAnotherWidth(t *testing.T) {
	bytes := []byte{1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1}
	for start := range 10 {
		buffer := slices.Clone(bytes)
		mask := tensor.Must(tensor.FromBytes(tensor.Bool, buffer[start:start+3], 3))
		x := tensor.Must(tensor.FromBytes(tensor.Float32, buffer, 3))
		bits := testkit.Elements[bool](t, mask)
		require.NoError(t, arith.MaskedFillInto(x, x, mask, 7))
		for i, v := range testkit.Elements[float32](t, x) {
			require.Equal(t, bits[i], v == 7, "mask at %d, element %d", start, i)
		}
	}
}

// TestWhereCrossesLeaves has destinations of leaves that are the sources of others.
func TestWhereCrossesLeaves(t *testing.T) {
	pair := func(a, b *tensor.Tensor) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap([]int{3}, tdict.Entries{"a": a, "b": b}))
	}
	a, b := tensor.Vector[int64](1, 2, 3), tensor.Vector[int64](4, 5, 6)
	td, mask := pair(a, b), tensor.Vector(true, false, true)
	other := pair(tensor.Vector[int64](7, 7, 7), tensor.Vector[int64](8, 8, 8))
	unchanged := func() {
		require.Equal(t, "[1 2 3] [4 5 6]", fmt.Sprint(testkit.Elements[int64](t, a), testkit.Elements[int64](t, b)))
	}
	for name, err := range map[string]error{
		"x":           arith.WhereInto(pair(b, a), mask, td, other),
		"other":       arith.WhereInto(pair(b, a), mask, other, td),
		"fill":        arith.MaskedFillInto(pair(b, a), td, mask, 1),
		"sort":        arith.SortInto(pair(b, a), td, 0, arith.SortOptions{}),
		"added, both": arith.ScatterAddInto(td, td, 0, tensor.Vector[int64](0, 1, 2), pair(b, a)),
	} {
		require.ErrorIs(t, err, tensor.ErrOverlap, name)
		unchanged()
	}
	require.NoError(t, arith.WhereInto(td, mask, td, td), "each onto itself")
	unchanged()
	require.NoError(t, arith.WhereInto(td, mask, other, td), "into the other")
	require.Equal(t, []int64{7, 2, 7}, testkit.Elements[int64](t, a))
}
