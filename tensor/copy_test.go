package tensor_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Whatever the layout and the memory, reading gives the elements that nested loops give.
func TestReading(t *testing.T) {
	specimens(t, func(t *testing.T, s specimen) {
		want := s.want(s.array)
		require.Equal(t, want, content(t, s.Tensor), "%v", s)
		require.Equal(t, len(want), s.ByteSize(), "%v", s)

		c, err := s.Clone()
		require.NoError(t, err)
		require.Equal(t, want, content(t, c), "%v", s)
		require.True(t, c.View().IsContiguous())
		require.False(t, c.SharesMemory(s.Tensor))
		require.True(t, s.Equal(c), "%v", s)

		inOrder, err := s.Contiguous()
		require.NoError(t, err)
		require.Equal(t, want, content(t, inOrder), "%v", s)
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

// typedReading checks Elements, Map and, where it must work, Of against the bytes that an oracle wants.
func typedReading[T tensor.Elem](t *testing.T, s specimen, bytes []byte) {
	want := make([]T, size(s.array.shape))
	_, err := binary.Decode(bytes, binary.NativeEndian, want)
	require.NoError(t, err)

	seq, err := tensor.Elements[T](s.Tensor)
	require.NoError(t, err)
	require.Equal(t, want, slices.AppendSeq([]T{}, seq), "%v", s)

	same, err := tensor.Map(s.Tensor, func(v T) T { return v })
	require.NoError(t, err)
	got, err := tensor.Of[T](same)
	require.NoError(t, err)
	require.Equal(t, want, got, "%v", s)

	direct, err := tensor.Of[T](s.Tensor)
	if err == nil {
		require.Equal(t, want, direct, "%v", s)
		return
	}
	require.ErrorIs(t, err, tensor.ErrLayout, "%v", s)
}

// CopyFrom writes each element of the destination and nothing else of its memory.
func TestCopyFrom(t *testing.T) {
	specimens(t, func(t *testing.T, src specimen) {
		want := src.want(src.array)
		for _, m := range memories {
			for _, l := range layouts {
				dst := specimenOf(t, src.DType(), src.array.shape, l, m, 50)
				after := dst.written(dst.array, want)
				err := dst.CopyFrom(src.Tensor)
				if refusesWrites(t, dst, err) {
					continue
				}
				require.Equal(t, after, dst.mem, "%v to %s/%s", src, m.name, l.name)
			}
		}
	})
}

// refusesWrites reports whether a destination must not be written, and checks that err says so.
func refusesWrites(t *testing.T, dst specimen, err error) bool {
	t.Helper()
	switch {
	case dst.readOnly:
		require.ErrorIs(t, err, tensor.ErrReadOnly)
		return true
	case dst.expanded:
		require.ErrorIs(t, err, tensor.ErrLayout)
		return true
	}
	require.NoError(t, err)
	return false
}

func TestCopyBroadcasts(t *testing.T) {
	dst, err := tensor.Zeros[int32](2, 3)
	require.NoError(t, err)
	column, err := tensor.From([]int32{7, 8}, 2, 1)
	require.NoError(t, err)
	require.NoError(t, column.CopyTo(dst))
	got, err := tensor.Of[int32](dst)
	require.NoError(t, err)
	require.Equal(t, []int32{7, 7, 7, 8, 8, 8}, got)
}

// Stack and Cat of values that lie differently, into new memory and into memory that lies in any way.
func TestJoin(t *testing.T) {
	specimens(t, func(t *testing.T, first specimen) {
		shape := first.array.shape
		xs := []specimen{first}
		for i, l := range layouts[:3] {
			xs = append(xs, specimenOf(t, first.DType(), shape, l, memories[i], 10*i))
		}
		for dim := range len(shape) + 1 {
			checkJoin(t, xs, dim, slices.Insert(slices.Clone(shape), dim, len(xs)), func(pos []int) (int, []int) {
				return pos[dim], slices.Delete(slices.Clone(pos), dim, dim+1)
			}, shapeops.Stack[*tensor.Tensor], shapeops.StackInto[*tensor.Tensor])
		}
		for dim := range shape {
			to := slices.Clone(shape)
			to[dim] *= len(xs)
			checkJoin(t, xs, dim, to, func(pos []int) (int, []int) {
				inner := slices.Clone(pos)
				inner[dim] %= shape[dim]
				return pos[dim] / shape[dim], inner
			}, shapeops.Cat[*tensor.Tensor], shapeops.CatInto[*tensor.Tensor])
		}
	})
}

// checkJoin compares a join along dim with one by loops: source says which value, and where of it, stands at a
// position of the result.
func checkJoin(t *testing.T, xs []specimen, dim int, shape []int, source func(pos []int) (int, []int),
	join func([]*tensor.Tensor, int) (*tensor.Tensor, error), into func(*tensor.Tensor, []*tensor.Tensor, int) error) {
	t.Helper()
	want, values := []byte{}, []*tensor.Tensor{}
	each(shape, func(pos []int) {
		i, inner := source(pos)
		want = append(want, xs[i].want(array{at: []int{xs[i].get(inner)}})...)
	})
	for _, x := range xs {
		values = append(values, x.Tensor)
	}
	got, err := join(values, dim)
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape(shape), got.Shape())
	require.Equal(t, want, content(t, got))

	for _, l := range layouts[:3] {
		dst := specimenOf(t, xs[0].DType(), shape, l, memories[0], 50)
		after := dst.written(dst.array, want)
		require.NoError(t, into(dst.Tensor, values, dim))
		require.Equal(t, after, dst.mem)
	}
}

func TestCatOfDifferentSizes(t *testing.T) {
	none, err := tensor.Zeros[int8](0, 2)
	require.NoError(t, err)
	one, err := tensor.From([]int8{1, 2}, 1, 2)
	require.NoError(t, err)
	two, err := tensor.From([]int8{3, 4, 5, 6}, 2, 2)
	require.NoError(t, err)
	got, err := shapeops.Cat([]*tensor.Tensor{one, none, two}, 0)
	require.NoError(t, err)
	require.Equal(t, "int8 [3 2]\n[[1 2]\n [3 4]\n [5 6]]", got.String())
}

// Split, SplitBy, Chunk and Unbind cut so that the pieces, laid side by side again, are what was cut.
func TestCutAndJoin(t *testing.T) {
	specimens(t, func(t *testing.T, s specimen) {
		for dim, n := range s.array.shape {
			cuts := [][]*tensor.Tensor{}
			add := func(pieces []*tensor.Tensor, err error) {
				require.NoError(t, err)
				cuts = append(cuts, pieces)
			}
			add(shapeops.Split(s.Tensor, dim, 0, n))
			add(shapeops.Chunk(s.Tensor, dim, 2))
			add(shapeops.Chunk(s.Tensor, dim-len(s.array.shape), 99))
			if n > 0 {
				add(shapeops.SplitBy(s.Tensor, dim, 2))
			}
			for _, pieces := range cuts {
				again, err := shapeops.Cat(pieces, dim)
				require.NoError(t, err)
				require.Equal(t, s.want(s.array), content(t, again), "%v along %d", s, dim)
			}
			slices, err := shapeops.Unbind(s.Tensor, dim)
			require.NoError(t, err)
			require.Len(t, slices, n)
			if n > 0 {
				again, err := shapeops.Stack(slices, dim)
				require.NoError(t, err)
				require.Equal(t, s.want(s.array), content(t, again), "%v along %d", s, dim)
			}
		}
	})
}

// A view without elements may begin beyond the end of its memory, which has none either.
func TestEmptyViews(t *testing.T) {
	x, err := tensor.Zeros[int64](2, 0, 3)
	require.NoError(t, err)
	last, err := x.Index(ix.At(-1), ix.All, ix.At(-1))
	require.NoError(t, err)
	require.Empty(t, content(t, last))
	require.True(t, last.Equal(last))
	require.Equal(t, "int64 [0]\n[]", last.String())
	seq, err := tensor.Elements[int64](last)
	require.NoError(t, err)
	require.Empty(t, slices.Collect(seq))
	_, err = last.Cast(tensor.Bool)
	require.NoError(t, err)
	both, err := shapeops.Stack([]*tensor.Tensor{last, last}, 0)
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 0}, both.Shape())
}

// WriteTo writes what is not contiguous in pieces: several rows at a time, or parts of one.
func TestWriteToInPieces(t *testing.T) {
	for _, shape := range [][]int{{1000, 700}, {2, 1<<18 + 1}, {1 << 19}, {3, 2, 1 << 18}} {
		x, err := tensor.Arange[uint32](0, uint32(2*size(shape)), 1)
		require.NoError(t, err)
		wide := slices.Clone(shape)
		wide[len(wide)-1] *= 2
		x, err = x.Reshape(wide...)
		require.NoError(t, err)
		even, err := x.Index(ix.Rest, ix.Range(0, ix.End).Step(2))
		require.NoError(t, err)
		b := content(t, even)
		require.Len(t, b, 4*size(shape))
		for i := range size(shape) {
			if got := binary.NativeEndian.Uint32(b[4*i:]); got != uint32(2*i) {
				t.Fatalf("%v: got %d as element %d", shape, got, i)
			}
		}
	}
}

// Lent memory may be gone when an iterator is at last used.
func TestElementsOfLentMemory(t *testing.T) {
	lent := &lender{bytes: []byte{1, 2, 3}}
	seq, err := tensor.Elements[uint8](must(tensor.FromLender(tensor.Uint8, lent, 3)))
	require.NoError(t, err)
	clear(lent.bytes)
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
	x, err := tensor.Zeros[uint8](4, 3)
	require.NoError(t, err)
	turned, err := x.Transpose(0, 1)
	require.NoError(t, err)
	for _, x := range []*tensor.Tensor{x, turned} {
		n, err := x.WriteTo(&full{left: 7})
		require.ErrorIs(t, err, bytes.ErrTooLarge)
		require.EqualValues(t, 7, n)
	}
}

func TestConcurrentReaders(t *testing.T) {
	x := specimenOf(t, tensor.Float32, []int{2, 3, 4}, layouts[2], memories[2], 0)
	want := x.want(x.array)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := x.Clone()
			if err != nil || !bytes.Equal(want, content(t, c)) || !x.Equal(c) || x.Tensor.String() != c.String() {
				t.Error("a reader saw something else", err)
			}
		})
	}
	wg.Wait()
}
