package tensor_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Leaves of one lender lie at their offsets: they share memory if their bytes meet, and only then.
func TestLenderOffsets(t *testing.T) {
	whole := make([]byte, 64)
	for i := range whole {
		whole[i] = byte(i)
	}
	at := func(l tensor.Lender, offset, n int) *tensor.Tensor {
		return tensor.Must(tensor.FromLender(tensor.Uint8, l, offset, n))
	}
	tests := []struct {
		name string
		a, b [2]int // offset and bytes
		meet bool
	}{
		{"neighbours", [2]int{0, 8}, [2]int{8, 8}, false},
		{"neighbours, the other way round", [2]int{8, 8}, [2]int{0, 8}, false},
		{"the same", [2]int{4, 8}, [2]int{4, 8}, true},
		{"one byte in common", [2]int{0, 8}, [2]int{7, 8}, true},
		{"one within another", [2]int{0, 32}, [2]int{8, 32}, true},
		{"far apart", [2]int{0, 8}, [2]int{56, 8}, false},
		{"nothing within another", [2]int{0, 8}, [2]int{4, 0}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &testkit.Lender{Bytes: append([]byte{}, whole...)}
			a, b := at(l, tt.a[0], tt.a[1]), at(l, tt.b[0], tt.b[1])
			require.Equal(t, whole[tt.b[0]:][:tt.b[1]], testkit.Content(t, b))
			require.Equal(t, []bool{tt.meet, tt.meet}, []bool{a.SharesMemory(b), b.SharesMemory(a)})
			part := tensor.Must(a.Index(ix.Range(0, tt.b[1])))
			err := part.CopyFrom(b)
			require.NoError(t, err)
			require.Equal(t, whole[tt.b[0]:][:tt.b[1]], l.Bytes[tt.a[0]:][:tt.b[1]])
		})
	}
}

// In one Transfer, too, leaves of one lender feed one another only where their bytes meet.
func TestLenderOffsetsCross(t *testing.T) {
	l := &testkit.Lender{Bytes: []byte{1, 2, 3, 4, 5, 6, 7, 8}}
	at := func(offset int) *tensor.Tensor { return tensor.Must(tensor.FromLender(tensor.Uint8, l, offset, 2)) }
	var apart, fed tensor.Transfer
	require.NoError(t, errors.Join(apart.Copy(at(0), at(2)), apart.Copy(at(4), at(6))))
	require.NoError(t, apart.Run())
	require.Equal(t, []byte{3, 4, 3, 4, 7, 8, 7, 8}, l.Bytes)
	require.NoError(t, errors.Join(fed.Copy(at(0), at(6)), fed.Copy(at(4), at(1))))
	require.NoError(t, fed.Run())
	require.Equal(t, []byte{7, 8, 3, 4, 4, 3, 7, 8}, l.Bytes, "byte 1 is read as it was")
}

func TestLenderOffsetsRefuse(t *testing.T) {
	l := &testkit.Lender{Bytes: make([]byte, 16)}
	make := func(offset int) (*tensor.Tensor, error) { return tensor.FromLender(tensor.Int32, l, offset, 2) }
	for _, offset := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt - 7} {
		require.ErrorIs(t, testkit.Err(make(offset)), tensor.ErrLayout, "%d", offset)
	}
	for _, offset := range []int{9, 16, 17, math.MaxInt - 8} {
		x := tensor.Must(make(offset))
		require.ErrorIs(t, testkit.Err(x.Clone()), tensor.ErrLayout, "from %d of 16 bytes", offset)
		require.ErrorIs(t, x.CopyFrom(tensor.Vector[int32](1, 2)), tensor.ErrLayout)
		require.ErrorIs(t, testkit.Err(tensor.Of[int32](x)), tensor.ErrLayout)
	}
	last := tensor.Must(make(8))
	require.NoError(t, last.CopyFrom(tensor.Vector[int32](-1, -1)))
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, l.Bytes)

	odd := tensor.Must(make(7))
	testkit.Fails(t, tensor.ErrLayout, testkit.Err(tensor.Of[int32](odd)))
	require.NoError(t, odd.CopyFrom(tensor.Vector[int32](6, 7)))
	require.NoError(t, tensor.Write(odd, func(s []int32) { s[0]++ }))
	require.Equal(t, []int32{7, 7}, testkit.Elements[int32](t, odd))
	require.Zero(t, l.Borrowed())
}

// The slice of a result ends where the result does: appending to it changes no neighbour, neither
// in the block that small results share nor in the tensor that it is a part of.
func TestSlicesDoNotGrowIntoNeighbours(t *testing.T) {
	take := pass(plan.Index(shapeops.Shape{4}, ix.Take(3, 1, 2)))
	whole := tensor.Must(tensor.Arange[int32](0, 4, 1))
	furnished := arena.NewPass[tensor.Tensor](take.Plan)
	for range 50 {
		arena.Of[tensor.Tensor](furnished).Reserve(furnished, whole.Shape(), 4)
	}
	results := []*tensor.Tensor{}
	for range 50 {
		results = append(results, tensor.Must(whole.Ops().Execute(furnished)))
	}
	for _, x := range append(results, whole, tensor.Must(whole.Index(ix.Range(0, 2))), tensor.Must(whole.Index(ix.Range(1, 3)))) {
		s := tensor.Must(tensor.Of[int32](x))
		_ = append(s, -1, -1, -1, -1)
		require.Len(t, s, cap(s))
		require.NoError(t, tensor.Read(x, func(s []int32) { require.Len(t, s, cap(s)) }))
	}
	for i, x := range results {
		require.Equal(t, []int32{3, 1, 2}, testkit.Elements[int32](t, x), "result %d", i)
	}
	require.Equal(t, []int32{0, 1, 2, 3}, testkit.Elements[int32](t, whole))
}

// Results in one block are results of their own, of any size, also once the room is used up.
func TestFurnishedResults(t *testing.T) {
	furnished[uint8](t, 0, 1, 3, 17, 1000, 32<<10, 32<<10+1, 20_000)
	furnished[int32](t, 0, 1, 3, 17, 1000, 8<<10, 8<<10+1, 20_000)
}

func furnished[T uint8 | int32](t *testing.T, sizes ...int) {
	take := pass(plan.Index(shapeops.Shape{2}, ix.Take(1, 0)))
	var xs, results []*tensor.Tensor
	p := arena.NewPass[tensor.Tensor](take.Plan)
	for _, n := range append(sizes, sizes...) {
		xs = append(xs, tensor.Must(tensor.Zeros[T](2, n)))
		arena.Of[tensor.Tensor](p).Reserve(p, xs[len(xs)-1].Shape(), xs[len(xs)-1].DType().Size())
		require.NoError(t, tensor.Write(xs[len(xs)-1], func(s []T) {
			for i := range s {
				s[i] = T(i)
			}
		}))
	}
	require.Nil(t, arena.Of[tensor.Tensor](take))
	require.Nil(t, arena.Of[tensor.Tensor](nil))
	require.Same(t, arena.Use[tensor.Tensor](take), arena.Of[tensor.Tensor](take))
	for range 2 { // the second time, there is no room left
		for _, x := range xs {
			results = append(results, tensor.Must(x.Ops().Execute(p)))
		}
	}
	for i, x := range results {
		require.NoError(t, tensor.Write(x, func(s []T) {
			for j := range s {
				s[j] += T(i)
			}
		}))
	}
	for i, x := range results {
		n := x.Shape()[1]
		for j, v := range tensor.Must(tensor.Of[T](x)) {
			if want := T((j+n)%(2*n)) + T(i); v != want {
				t.Fatalf("result %d, element %d: got %d, want %d", i, j, v, want)
			}
		}
	}
}
