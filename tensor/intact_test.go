package tensor_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// An operation that has read or written lent memory asks its lender whether that was all there,
// once if it can, and before it gives the memory back. The lender's error is that of the operation.
func TestIntact(t *testing.T) {
	type tt = *tensor.Tensor
	zeros := func(shape ...int) tt { return tensor.Must(tensor.Zeros[uint8](shape...)) }
	turned := func(x tt) tt { return tensor.Must(x.Transpose(0, 1)) }
	row := func(x tt, i int) tt { return tensor.Must(x.Index(ix.At(i))) }
	rows := func(x tt, start, stop int) tt { return tensor.Must(x.Index(ix.Range(start, stop))) }
	none := func(x tt) tt { return rows(x, 1, 1) }
	transfer := func(add func(tr *tensor.Transfer) error) error {
		var tr tensor.Transfer
		return errors.Join(add(&tr), tr.Run())
	}
	tests := []struct {
		name string
		do   func(x tt) error // x is lent, uint8 [3 2], and full of ones
		asks int              // 0: the memory is not touched
	}{
		{"clone", func(x tt) error { return testkit.Err(x.Clone()) }, 1},
		{"clone, strided", func(x tt) error { return testkit.Err(turned(x).Clone()) }, 1},
		{"contiguous", func(x tt) error { return testkit.Err(turned(x).Contiguous()) }, 1},
		{"contiguous, as it is", func(x tt) error { return testkit.Err(x.Contiguous()) }, 0},
		{"a view", func(x tt) error { return testkit.Err(x.Index(ix.Range(0, 2))) }, 0},
		{"a reshape", func(x tt) error { return testkit.Err(x.Reshape(2, 3)) }, 0},
		{"a reshape that copies", func(x tt) error { return testkit.Err(turned(x).Reshape(6)) }, 1},
		{"index by a list", func(x tt) error { return testkit.Err(x.Index(ix.Take(2, 0))) }, 1},
		{"index by a mask", func(x tt) error { return testkit.Err(x.Index(ix.Mask([]bool{true, false, true}, 3))) }, 1},
		{"index by a list of nothing", func(x tt) error { return testkit.Err(x.Index(ix.Take())) }, 0},
		{"index into by a range", func(x tt) error { return x.IndexInto(zeros(2, 2), ix.Range(0, 2)) }, 1},
		{"index into by a list", func(x tt) error { return x.IndexInto(zeros(2, 2), ix.Take(2, 0)) }, 1},
		{"index into it", func(x tt) error { return zeros(5, 2).IndexInto(x, ix.Take(4, 2, 0)) }, 1},
		{"index into nothing", func(x tt) error { return x.IndexInto(zeros(0, 2), ix.Range(1, 1)) }, 0},
		{"set index", func(x tt) error { return x.SetIndex(zeros(2), ix.At(1)) }, 1},
		{"set index by a list", func(x tt) error { return x.SetIndex(zeros(2, 2), ix.Take(2, 0)) }, 1},
		{"set index from it", func(x tt) error { return zeros(5, 2).SetIndex(x, ix.Take(4, 2, 0)) }, 1},
		{"set index of nothing", func(x tt) error { return x.SetIndex(zeros(2), ix.Range(1, 1)) }, 0},
		{"set index that is refused", func(x tt) error { _ = x.SetIndex(zeros(7), ix.At(1)); return nil }, 0},
		{"copy to it", func(x tt) error { return x.CopyFrom(zeros(3, 2)) }, 1},
		{"copy from it", func(x tt) error { return zeros(3, 2).CopyFrom(x) }, 1},
		{"copy within it", func(x tt) error { return rows(x, 0, 1).CopyFrom(rows(x, 2, 3)) }, 1},
		{"copy of nothing", func(x tt) error { return zeros(0, 2).CopyFrom(none(x)) }, 0},
		{"copy between others", func(tt) error { return zeros(3).CopyFrom(zeros(3)) }, 0},
		{"fill it", func(x tt) error {
			return transfer(func(tr *tensor.Transfer) error { return tr.Fill(x, tensor.Scalar[uint8](7)) })
		}, 1},
		{"fill from it", func(x tt) error {
			return transfer(func(tr *tensor.Transfer) error { return tr.Fill(zeros(9), row(row(x, 0), 1)) })
		}, 1},
		{"runs from it", func(x tt) error {
			return transfer(func(tr *tensor.Transfer) error {
				return tr.Runs(zeros(9, 2), x, []shape.Run{{To: 4, Len: 2}, {From: 1, Len: 1}})
			})
		}, 1},
		{"runs of nothing", func(x tt) error {
			return transfer(func(tr *tensor.Transfer) error { return tr.Runs(zeros(9, 2), x, []shape.Run{{To: 4}}) })
		}, 0},
		{"many copies within one lender", func(x tt) error {
			return transfer(func(tr *tensor.Transfer) error {
				err := tr.Copy(zeros(0, 2), none(x))
				for i := range 3 {
					err = errors.Join(err, tr.Copy(zeros(2), row(x, i)), tr.Copy(zeros(4), zeros(4)))
				}
				return err
			})
		}, 1},
		{"stack", func(x tt) error { return testkit.Err(shapeops.Stack([]tt{zeros(3, 2), x}, 0)) }, 1},
		{"stack of many parts", func(x tt) error { return testkit.Err(shapeops.Stack([]tt{row(x, 0), row(x, 2), row(x, 1)}, 1)) }, 1},
		{"stack of parts apart", func(x tt) error { return testkit.Err(shapeops.Stack([]tt{row(x, 0), zeros(2), row(x, 1)}, 0)) }, 2},
		{"stack of nothing", func(x tt) error { return testkit.Err(shapeops.Stack([]tt{none(x), none(x)}, 0)) }, 0},
		{"cat", func(x tt) error { return testkit.Err(shapeops.Cat([]tt{zeros(1, 2), x}, 0)) }, 1},
		{"cat of many parts", func(x tt) error { return testkit.Err(shapeops.Cat([]tt{x, rows(x, 1, 3), rows(x, 0, 1)}, 0)) }, 1},
		{"cat with nothing last", func(x tt) error { return testkit.Err(shapeops.Cat([]tt{rows(x, 1, 3), none(x)}, 0)) }, 1},
		{"cat along another dim", func(x tt) error { return testkit.Err(shapeops.Cat([]tt{x, zeros(3, 1)}, 1)) }, 1},
		{"stack into", func(x tt) error { return shapeops.StackInto(zeros(2, 3, 2), []tt{x, zeros(3, 2)}, 0) }, 1},
		{"stack into it", func(x tt) error { return shapeops.StackInto(x, []tt{zeros(2), zeros(2), zeros(2)}, 0) }, 1},
		{"cat into", func(x tt) error { return shapeops.CatInto(zeros(4, 2), []tt{x, zeros(1, 2)}, 0) }, 1},
		{"cat into it", func(x tt) error { return shapeops.CatInto(x, []tt{zeros(1, 2), zeros(2, 2)}, 0) }, 1},
		{"write to", func(x tt) error { return testkit.Err(x.WriteTo(io.Discard)) }, 1},
		{"write to, transposed", func(x tt) error { return testkit.Err(turned(x).WriteTo(io.Discard)) }, 1},
		{"write to, of nothing", func(x tt) error { return testkit.Err(none(x).WriteTo(io.Discard)) }, 0},
		{"read", func(x tt) error { return tensor.Read(x, func([]uint8) {}) }, 1},
		{"read, transposed", func(x tt) error { return tensor.Read(turned(x), func([]uint8) {}) }, 1},
		{"read, of nothing", func(x tt) error { return tensor.Read(none(x), func([]uint8) {}) }, 0},
		{"read as another type", func(x tt) error { _ = tensor.Read(x, func([]int8) {}); return nil }, 0},
		{"write", func(x tt) error { return tensor.Write(x, func([]uint8) {}) }, 1},
		{"write, transposed: read first", func(x tt) error { return tensor.Write(turned(x), func([]uint8) {}) }, 2},
		{"map", func(x tt) error { return testkit.Err(tensor.Map(x, func(v uint8) bool { return v > 0 })) }, 1},
		{"item", func(x tt) error { return testkit.Err(tensor.Item[uint8](row(row(x, 0), 1))) }, 1},
		{"item of several", func(x tt) error { _, _ = tensor.Item[uint8](x); return nil }, 0},
		{"elements", func(x tt) error { return testkit.Err(tensor.Elements[uint8](x)) }, 1},
		{"of", func(x tt) error { return testkit.Err(tensor.Of[uint8](x)) }, 1},
		{"of nothing", func(x tt) error { return testkit.Err(tensor.Of[uint8](none(x))) }, 0},
		{"cast", func(x tt) error { return testkit.Err(x.Cast(tensor.Float32)) }, 1},
		{"cast, transposed", func(x tt) error { return testkit.Err(turned(x).Cast(tensor.BFloat16)) }, 1},
		{"cast to the same", func(x tt) error { return testkit.Err(x.Cast(tensor.Uint8)) }, 1},
		{"diff", func(x tt) error { return testkit.Err(x.Diff(tensor.Must(tensor.Full[uint8](1, 3, 2)))) }, 1},
		{"diff from it", func(x tt) error { return testkit.Err(tensor.Must(tensor.Full[uint8](1, 3, 2)).Diff(x)) }, 1},
		{"diff within it", func(x tt) error { return testkit.Err(row(x, 0).Diff(row(x, 1))) }, 1},
		{"diff, transposed", func(x tt) error { return testkit.Err(turned(x).Diff(tensor.Must(tensor.Full[uint8](1, 2, 3)))) }, 1},
		{"diff of another shape", func(x tt) error { return testkit.Err(x.Diff(row(x, 0))) }, 0},
		{"diff of nothing", func(x tt) error { return testkit.Err(none(x).Diff(none(x))) }, 0},
		{"all close", func(x tt) error { return testkit.Err(x.AllClose(zeros(3, 2), tensor.Tolerance{})) }, 1},
		{"as an index", func(x tt) error { return testkit.Err(x.AsIndex()) }, 1},
		{"as JSON", func(x tt) error { return testkit.Err(x.MarshalJSON()) }, 1},
		{"as JSON, transposed", func(x tt) error { return testkit.Err(turned(x).MarshalJSON()) }, 1},
		{"as a preview", func(x tt) error { return testkit.Err(x.Preview(2).MarshalJSON()) }, 1},
		{"as JSON, of nothing", func(x tt) error { return testkit.Err(none(x).MarshalJSON()) }, 0},
		{"as JSON, of too much", func(x tt) error { _, _ = tensor.Must(x.Expand(1<<22, 3, 2)).MarshalJSON(); return nil }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := intactLender(nil)
			require.NoError(t, tt.do(whole.x))
			require.Equal(t, tt.asks, whole.Asked())
			require.Zero(t, whole.Borrowed())

			gone := errors.New("cut")
			cut := intactLender(gone)
			err := tt.do(cut.x)
			require.Zero(t, cut.Borrowed(), "what was borrowed is returned")
			if tt.asks == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, gone)
			require.Regexp(t, "^([a-z ]+: )?cut$", err.Error(), "a lender names itself, after the operation")
			require.Equal(t, 1, cut.Asked(), "the first error is the last question")
		})
	}
}

// A lent is a lender with a tensor on what it lends.
type lent struct {
	*testkit.Lender
	x *tensor.Tensor
}

func intactLender(cut error) lent {
	l := &testkit.Lender{Bytes: bytes.Repeat([]byte{1}, 6), Cut: cut}
	return lent{l, tensor.Must(tensor.FromLender(tensor.Uint8, l, 0, 3, 2))}
}

// What has no error to return shows that memory was not all there.
func TestIntactWithoutAnError(t *testing.T) {
	cut, other := intactLender(errors.New("cut")), tensor.Must(tensor.Full[uint8](1, 3, 2))
	require.False(t, cut.x.Equal(other))
	require.False(t, other.Equal(cut.x))
	require.Equal(t, "uint8 [3 2]: cut", cut.x.String())
	require.Equal(t, "uint8 [3 2]: cut", cut.x.LogValue().String())
	require.Equal(t, "uint8 [0 2]\n[]", tensor.Must(cut.x.Index(ix.Range(1, 1))).String(), "nothing of it")
	require.True(t, intactLender(nil).x.Equal(other))
}

// An operation that failed keeps its own error.
func TestIntactYieldsToOtherErrors(t *testing.T) {
	gone := errors.New("cut")
	bad := func() (*testkit.Lender, *tensor.Tensor) {
		l := &testkit.Lender{Bytes: []byte{1, 7}, Cut: gone}
		return l, tensor.Must(tensor.FromLender(tensor.Bool, l, 0, 2))
	}
	tests := []struct {
		name string
		do   func(x *tensor.Tensor) error
		want error
	}{
		{"a bad bool, in of", func(x *tensor.Tensor) error { return testkit.Err(tensor.Of[bool](x)) }, tensor.ErrDType},
		{"a bad bool, in read", func(x *tensor.Tensor) error { return tensor.Read(x, func([]bool) {}) }, tensor.ErrDType},
		{"a writer that fails", func(x *tensor.Tensor) error { return testkit.Err(x.WriteTo(&full{1})) }, bytes.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, x := bad()
			err := tt.do(x)
			require.ErrorIs(t, err, tt.want)
			require.NotErrorIs(t, err, gone)
			require.Zero(t, l.Borrowed())
		})
	}
}

// What was written before anybody noticed is counted.
func TestWriteToCountsWhatWasCut(t *testing.T) {
	cut := intactLender(errors.New("cut"))
	var out bytes.Buffer
	n, err := cut.x.WriteTo(&out)
	require.EqualError(t, err, "cut")
	require.EqualValues(t, 6, n)
	n, err = tensor.Must(cut.x.Transpose(0, 1)).WriteTo(&out)
	require.EqualError(t, err, "cut")
	require.Zero(t, n, "a copy is checked before it is written")
	require.Equal(t, 6, out.Len())
}

// After a Transfer whose memory was not all there nothing is committed, whichever copy it was.
func TestTransferWithoutIntactMemory(t *testing.T) {
	gone := errors.New("cut")
	for cut := range 4 { // 3: none
		var all [3]lent
		for i := range all {
			all[i] = intactLender(nil)
		}
		if cut < len(all) {
			all[cut] = intactLender(gone)
		}
		committed := 0
		dst := tensor.Must(tensor.Zeros[uint8](3, 2))
		var tr tensor.Transfer
		require.NoError(t, tr.Copy(all[1].x, all[0].x))
		require.NoError(t, tr.Copy(dst, all[2].x))
		tr.Commit(func() { committed++ })
		err := tr.Run()
		for _, l := range all {
			require.Zero(t, l.Borrowed())
		}
		require.Equal(t, "uint8 [3 2]\n[[1 1]\n [1 1]\n [1 1]]", dst.String(), "the copies have happened")
		if cut == len(all) {
			require.NoError(t, err)
			require.Equal(t, 1, committed)
			for _, l := range all {
				require.Equal(t, 1, l.Asked())
			}
			continue
		}
		require.ErrorIs(t, err, gone, "of lender %d", cut)
		require.Zero(t, committed)
	}
}

// Copies between two lenders ask each once, however many they are.
func TestTransferAsksEachOfTwoLendersOnce(t *testing.T) {
	a, b := intactLender(nil), intactLender(nil)
	var tr tensor.Transfer
	for i := range 3 {
		x, y := tensor.Must(a.x.Index(ix.At(i))), tensor.Must(b.x.Index(ix.At(i)))
		if i == 1 {
			x, y = y, x
		}
		require.NoError(t, tr.Copy(x, y))
	}
	require.NoError(t, tr.Run())
	require.Equal(t, []int{1, 1}, []int{a.Asked(), b.Asked()})
	require.NoError(t, tr.Run())
	require.Equal(t, []int{2, 2}, []int{a.Asked(), b.Asked()}, "each Run asks")
}

// Several cores ask no more often than one.
func TestIntactOfLargeCopies(t *testing.T) {
	l := &testkit.Lender{Bytes: make([]byte, 9<<20)}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, l, 0, 9, 1<<20))
	require.NoError(t, testkit.Err(x.Clone()))
	require.Equal(t, 1, l.Asked())
	l.Cut = errors.New("cut")
	require.ErrorIs(t, testkit.Err(x.Clone()), l.Cut)
}
