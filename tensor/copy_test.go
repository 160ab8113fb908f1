package tensor_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Whatever the layout and the memory, reading gives the elements that nested loops give.
func TestReading(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		want := s.Want(s.Array)
		require.Equal(t, want, testkit.Content(t, s.Tensor), "%v", s)

		c := tensor.Must(s.Clone())
		require.Equal(t, want, testkit.Content(t, c), "%v", s)
		require.True(t, c.View().IsContiguous())
		require.False(t, c.SharesMemory(s.Tensor))
		require.True(t, s.Equal(c), "%v", s)

		inOrder := tensor.Must(s.Contiguous())
		require.Equal(t, want, testkit.Content(t, inOrder), "%v", s)
		require.Equal(t, s.View().IsContiguous(), inOrder == s.Tensor, "%v", s)

		switch s.DType() {
		case tensor.Uint8:
			typedReading[uint8](t, s, want)
		case tensor.BFloat16:
			typedReading[tensor.BF16](t, s, want)
		case tensor.Float32:
			typedReading[float32](t, s, want)
		case tensor.Int64:
			typedReading[int64](t, s, want)
		case tensor.Complex128:
			typedReading[complex128](t, s, want)
		}
	})
}

// typedReading checks Elements, Map, Read, Write and, where it must work, Of against the bytes that
// an oracle wants.
func typedReading[T tensor.Elem](t *testing.T, s testkit.Specimen, bytes []byte) {
	want := make([]T, s.Size())
	require.NoError(t, testkit.Err(binary.Decode(bytes, binary.NativeEndian, want)))

	require.Equal(t, want, testkit.Elements[T](t, s.Tensor), "%v", s)
	same := tensor.Must(tensor.Map(s.Tensor, func(v T) T { return v }))
	require.Equal(t, want, tensor.Must(tensor.Of[T](same)), "%v", s)

	if direct, err := tensor.Of[T](s.Tensor); err == nil {
		require.Equal(t, want, direct, "%v", s)
	} else {
		require.ErrorIs(t, err, tensor.ErrLayout, "%v", s)
	}
	readAndWrite(t, s, want)
}

// CopyFrom writes each element of the destination and nothing else of its memory.
func TestCopyFrom(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, src testkit.Specimen) {
		want := src.Want(src.Array)
		for _, m := range testkit.Memories {
			for _, l := range testkit.Layouts {
				dst := testkit.Make(t, src.DType(), src.Array.Shape, l, m, 50)
				after := dst.Written(dst.Array, want)
				err := dst.CopyFrom(src.Tensor)
				if refusesWrites(t, dst, err) {
					continue
				}
				require.Equal(t, after, dst.Mem, "%v to %s/%s", src, m.Name, l.Name)
			}
		}
	})
}

// refusesWrites reports whether a destination must not be written, and checks that err says so.
func refusesWrites(t *testing.T, dst testkit.Specimen, err error) bool {
	t.Helper()
	switch {
	case dst.ReadOnly:
		require.ErrorIs(t, err, tensor.ErrReadOnly)
		return true
	case dst.Expanded:
		require.ErrorIs(t, err, tensor.ErrLayout)
		return true
	}
	require.NoError(t, err)
	return false
}

func TestCopyBroadcasts(t *testing.T) {
	dst := tensor.Must(tensor.Zeros[int32](2, 3))
	require.NoError(t, dst.CopyFrom(tensor.Must(tensor.From([]int32{7, 8}, 2, 1))))
	require.Equal(t, []int32{7, 7, 7, 8, 8, 8}, testkit.Elements[int32](t, dst))
}

// Stack and Cat of values that lie differently, into new memory and into memory that lies in any
// way.
func TestJoin(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, first testkit.Specimen) {
		shape := first.Array.Shape
		same, longer := []testkit.Specimen{first}, []testkit.Specimen{first}
		for i, l := range testkit.Layouts[:3] {
			same = append(same, testkit.Make(t, first.DType(), shape, l, testkit.Memories[i], 10*i))
		}
		for dim := range len(shape) + 1 {
			checkJoin(t, same, dim, naive.Stack, shapeops.Stack[*tensor.Tensor], shapeops.StackInto[*tensor.Tensor])
		}
		for dim := range shape {
			for i, l := range testkit.Layouts[:3] {
				other := slices.Clone(shape)
				other[dim] = i
				longer = append(longer[:i+1], testkit.Make(t, first.DType(), other, l, testkit.Memories[i], 10*i))
			}
			checkJoin(t, longer, dim, naive.Cat, shapeops.Cat[*tensor.Tensor], shapeops.CatInto[*tensor.Tensor])
		}
	})
}

// checkJoin compares a join along dim with one of arrays.
func checkJoin(t *testing.T, xs []testkit.Specimen, dim int, naively func([]naive.Array, int) naive.Array,
	join func([]*tensor.Tensor, int) (*tensor.Tensor, error), into func(*tensor.Tensor, []*tensor.Tensor, int) error) {
	t.Helper()
	all, shapes, values := []byte{}, [][]int{}, []*tensor.Tensor{}
	for _, x := range xs {
		all, shapes, values = append(all, x.Want(x.Array)...), append(shapes, x.Array.Shape), append(values, x.Tensor)
	}
	a := naively(naive.Number(shapes...), dim)
	want := testkit.Gather(all, xs[0].DType().Size(), a)
	equals(t, tensor.Must(join(values, dim)), a.Shape, want)
	for _, l := range testkit.Layouts[:3] {
		dst := testkit.Make(t, xs[0].DType(), a.Shape, l, testkit.Go, 50)
		after := dst.Written(dst.Array, want)
		require.NoError(t, into(dst.Tensor, values, dim))
		require.Equal(t, after, dst.Mem)
	}
}

// A view without elements may begin beyond the end of its memory, which has none either.
func TestEmptyViews(t *testing.T) {
	last := tensor.Must(tensor.Must(tensor.Zeros[int64](2, 0, 3)).Index(ix.At(-1), ix.All, ix.At(-1)))
	require.Empty(t, testkit.Content(t, last))
	require.True(t, last.Equal(last))
	require.Equal(t, "int64 [0]\n[]", last.String())
	require.Empty(t, testkit.Elements[int64](t, last))
	require.NoError(t, testkit.Err(last.Cast(tensor.Bool)))
	equals(t, tensor.Must(shapeops.Stack([]*tensor.Tensor{last, last}, 0)), []int{2, 0}, []byte{})
}

// WriteTo writes what is not contiguous in pieces: several rows at a time, or parts of one.
func TestWriteToInPieces(t *testing.T) {
	for _, shape := range [][]int{{1000, 700}, {2, 1<<18 + 1}, {1 << 19}, {3, 2, 1 << 18}} {
		wide := slices.Clone(shape)
		wide[len(wide)-1] *= 2
		x := tensor.Must(tensor.Must(tensor.Arange[uint32](0, uint32(naive.Size(wide)), 1)).Reshape(wide...))
		b := testkit.Content(t, tensor.Must(x.Index(ix.Rest, ix.Range(0, ix.End).Step(2))))
		require.Len(t, b, 4*naive.Size(shape))
		for i := range naive.Size(shape) {
			if got := binary.NativeEndian.Uint32(b[4*i:]); got != uint32(2*i) {
				t.Fatalf("%v: got %d as element %d", shape, got, i)
			}
		}
	}
}

// Lent memory may be gone when an iterator is at last used.
func TestElementsOfLentMemory(t *testing.T) {
	lent := &testkit.Lender{Bytes: []byte{1, 2, 3}}
	seq := tensor.Must(tensor.Elements[uint8](tensor.Must(tensor.FromLender(tensor.Uint8, lent, 0, 3))))
	clear(lent.Bytes)
	require.Equal(t, []byte{1, 2, 3}, slices.Collect(seq))
}

// A full disk, as io.Writer.
type full struct{ left int }

func (w *full) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, bytes.ErrTooLarge
	}
	return n, nil
}

func TestWriteToReportsTheWriter(t *testing.T) {
	x := tensor.Must(tensor.Zeros[uint8](4, 3))
	for _, x := range []*tensor.Tensor{x, tensor.Must(x.Transpose(0, 1))} {
		n, err := x.WriteTo(&full{left: 7})
		require.ErrorIs(t, err, bytes.ErrTooLarge)
		require.EqualValues(t, 7, n)
	}
}

func TestConcurrentReaders(t *testing.T) {
	x := testkit.Make(t, tensor.Float32, []int{2, 3, 4}, testkit.Transposed, testkit.Lent, 0)
	want := x.Want(x.Array)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := x.Clone()
			if err != nil || !bytes.Equal(want, testkit.Content(t, c)) || !x.Equal(c) || x.Tensor.String() != c.String() {
				t.Error("a reader saw something else", err)
			}
		})
	}
	wg.Wait()
}

// Read gives the elements that nested loops give, and Write changes these and nothing else of the
// memory, whatever the layout and the memory.
func readAndWrite[T tensor.Elem](t *testing.T, s testkit.Specimen, want []T) {
	calls := 0
	require.NoError(t, tensor.Read(s.Tensor, func(got []T) {
		require.Equal(t, want, append([]T{}, got...), "%v", s)
		calls++
	}))
	bytes := slices.Repeat([]byte{1, 2, 3, 5, 7, 11, 13}, s.ByteSize()/7+1)[:s.ByteSize()]
	after, before := slices.Clone(s.Mem), slices.Clone(s.Mem)
	if !s.Expanded { // where the order of what is written twice would matter
		after = s.Written(s.Array, bytes)
	}
	err := tensor.Write(s.Tensor, func(got []T) {
		require.Equal(t, want, append([]T{}, got...), "%v", s)
		_, err := binary.Decode(bytes, binary.NativeEndian, got)
		require.NoError(t, err)
		calls++
	})
	if refusesWrites(t, s, err) {
		require.Equal(t, before, s.Mem)
		require.Equal(t, 1, calls)
		return
	}
	require.Equal(t, after, s.Mem, "%v", s)
	require.Equal(t, 2, calls)
}

// What cannot be lent, or is no T, is not given to the function.
func TestReadAndWriteRefuse(t *testing.T) {
	gone := errors.New("gone")
	lend := func(d tensor.DType, l *testkit.Lender) *tensor.Tensor {
		return tensor.Must(tensor.FromLender(d, l, 0, 2, 2))
	}
	turned := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(x.Transpose(0, 1)) }
	bad := []byte{1, 0, 1, 2}
	tests := []struct {
		name string
		x    *tensor.Tensor
		read error // nil: can be read
		want error // of Write
	}{
		{"another type", tensor.Must(tensor.Zeros[uint8](2, 2)), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool", tensor.Must(tensor.FromBytes(tensor.Bool, bad, 2, 2)), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, strided", turned(tensor.Must(tensor.FromBytes(tensor.Bool, bad, 2, 2))), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, lent", lend(tensor.Bool, &testkit.Lender{Bytes: bad}), tensor.ErrDType, tensor.ErrDType},
		{"a bad bool, lent and strided", turned(lend(tensor.Bool, &testkit.Lender{Bytes: bad})), tensor.ErrDType, tensor.ErrDType},
		{"memory that is gone", lend(tensor.Bool, &testkit.Lender{Fail: gone}), gone, gone},
		{"memory that is gone, strided", turned(lend(tensor.Bool, &testkit.Lender{Fail: gone})), gone, gone},
		{"too little memory", lend(tensor.Bool, &testkit.Lender{Bytes: bad[:3]}), tensor.ErrLayout, tensor.ErrLayout},
		{"read-only memory", lend(tensor.Bool, &testkit.Lender{Bytes: make([]byte, 4), Locked: true}), nil, tensor.ErrReadOnly},
		{"repeated elements", tensor.Must(tensor.Vector(true, false).Expand(2, 2)), nil, tensor.ErrLayout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called := 0
			err := tensor.Read(tt.x, func([]bool) { called++ })
			require.ErrorIs(t, err, tt.read)
			require.Equal(t, err == nil, called == 1)
			called = 0
			testkit.Fails(t, tt.want, tensor.Write(tt.x, func([]bool) { called++ }))
			require.Zero(t, called)
			if l, ok := tt.x.Lender().(*testkit.Lender); ok {
				require.Zero(t, l.Borrowed())
				require.Zero(t, l.Pinned(), "nothing escapes")
			}
		})
	}
}

// A panic of the function is the caller's, and what was borrowed is returned.
func TestReadAndWritePanic(t *testing.T) {
	l := &testkit.Lender{Bytes: make([]byte, 4)}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, l, 0, 4))
	require.PanicsWithValue(t, "mine", func() { _ = tensor.Read(x, func([]uint8) { panic("mine") }) })
	require.PanicsWithValue(t, "mine", func() { _ = tensor.Write(x, func(s []uint8) { s[0] = 1; panic("mine") }) })
	require.Panics(t, func() { _ = tensor.Read(x, func(s []uint8) { s[len(s)]++ }) }, "an index is no fault of the memory")
	require.Zero(t, l.Borrowed())
}

// Elements can be kept; a slice of Go memory is the tensor's own.
func TestWriteReachesTheTensor(t *testing.T) {
	x := tensor.Must(tensor.Zeros[int16](3, 2))
	require.NoError(t, tensor.Write(tensor.Must(x.Index(ix.All, ix.At(1))), func(s []int16) { copy(s, []int16{1, 2, 3}) }))
	require.NoError(t, tensor.Write(tensor.Must(x.Index(ix.At(0))), func(s []int16) { s[0] = 9 }))
	require.Equal(t, []int16{9, 1, 0, 2, 0, 3}, testkit.Elements[int16](t, x))
	var own []int16
	require.NoError(t, tensor.Read(x, func(s []int16) { own = s }))
	require.Same(t, &tensor.Must(tensor.Of[int16](x))[0], &own[0], "no copy")
	require.NoError(t, tensor.Write(tensor.Must(tensor.Zeros[int16](0, 3)), func(s []int16) { require.Empty(t, s) }))
}
