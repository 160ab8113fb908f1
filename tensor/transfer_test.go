package tensor_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// What a copy reads is what was there before it, whatever it writes.
func TestOverlap(t *testing.T) {
	type tt = *tensor.Tensor
	part := func(x tt, start, stop, step int) tt { return tensor.Must(x.Index(ix.Range(start, stop).Step(step))) }
	row := func(x tt, i int) tt { return tensor.Must(x.Index(ix.At(i))) }
	tests := []struct {
		name string
		do   func(x tt) error // x is 0 1 2 ... 8
		want string
	}{
		{"even from odd", func(x tt) error { return part(x, 0, 8, 2).CopyFrom(part(x, 1, 8, 2)) }, "[1 1 3 3 5 5 7 7 8]"},
		{"every second from every third", func(x tt) error { return part(x, 0, 5, 2).CopyFrom(part(x, 0, 9, 3)) }, "[0 1 3 3 6 5 6 7 8]"},
		{"a half from the other", func(x tt) error { return part(x, 0, 4, 1).CopyFrom(part(x, 4, 8, 1)) }, "[4 5 6 7 4 5 6 7 8]"},
		{"shifted up", func(x tt) error { return part(x, 1, 5, 1).CopyFrom(part(x, 0, 4, 1)) }, "[0 0 1 2 3 5 6 7 8]"},
		{"shifted down", func(x tt) error { return part(x, 0, 4, 1).CopyFrom(part(x, 1, 5, 1)) }, "[1 2 3 4 4 5 6 7 8]"},
		{"onto itself", func(x tt) error { return x.CopyFrom(x) }, "[0 1 2 3 4 5 6 7 8]"},
		{"onto another view of itself", func(x tt) error { return part(x, 2, 9, 3).CopyFrom(part(x, 2, 9, 3)) }, "[0 1 2 3 4 5 6 7 8]"},
		{"nothing onto anything", func(x tt) error { return part(x, 3, 3, 1).CopyFrom(part(x, 9, 9, 1)) }, "[0 1 2 3 4 5 6 7 8]"},
		{"one element over what it is part of", func(x tt) error { return part(x, 0, 4, 1).CopyFrom(row(x, 2)) }, "[2 2 2 2 4 5 6 7 8]"},
		{"one element over what it is beside", func(x tt) error { return part(x, 0, 4, 1).CopyFrom(row(x, 8)) }, "[8 8 8 8 4 5 6 7 8]"},
		{"a square onto its transpose", func(x tt) error {
			square := tensor.Must(x.Reshape(3, 3))
			return square.CopyFrom(tensor.Must(square.Transpose(0, 1)))
		}, "[0 3 6 1 4 7 2 5 8]"},
		{"a column onto another", func(x tt) error {
			square := tensor.Must(x.Reshape(3, 3))
			return tensor.Must(square.Index(ix.All, ix.At(0))).CopyFrom(tensor.Must(square.Index(ix.All, ix.At(2))))
		}, "[2 1 2 5 4 5 8 7 8]"},
		{"rows read beside what is written", func(x tt) error { return x.IndexInto(part(x, 0, 2, 1), ix.Take(8, 5)) }, "[8 5 2 3 4 5 6 7 8]"},
		{"rows read around what is written", func(x tt) error { return x.IndexInto(part(x, 3, 5, 1), ix.Take(0, 8)) }, "[0 1 2 0 8 5 6 7 8]"},
		{"rows read of what is written", func(x tt) error { return x.IndexInto(part(x, 0, 2, 1), ix.Take(8, 0)) }, "[8 0 2 3 4 5 6 7 8]"},
		{"rows read onto themselves", func(x tt) error { return x.IndexInto(part(x, 0, 2, 1), ix.Take(8, 1)) }, "[8 1 2 3 4 5 6 7 8]"},
		{"rows written beside what is read", func(x tt) error { return x.SetIndex(part(x, 0, 2, 1), ix.Take(8, 5)) }, "[0 1 2 3 4 1 6 7 0]"},
		{"rows written around what is read", func(x tt) error { return x.SetIndex(part(x, 3, 5, 1), ix.Take(8, 0)) }, "[4 1 2 3 4 5 6 7 3]"},
		{"rows written of what is read", func(x tt) error { return x.SetIndex(part(x, 0, 2, 1), ix.Take(1, 8)) }, "[0 0 2 3 4 5 6 7 1]"},
		{"rows written onto themselves", func(x tt) error { return x.SetIndex(part(x, 0, 2, 1), ix.Take(0, 8)) }, "[0 1 2 3 4 5 6 7 1]"},
		{"all rows onto themselves by a list", func(x tt) error { return x.SetIndex(x, ix.Take(0, 1, 2, 3, 4, 5, 6, 7, 8)) }, "[0 1 2 3 4 5 6 7 8]"},
		{"a part onto itself by a mask", func(x tt) error {
			return x.SetIndex(part(x, 2, 4, 1), ix.Mask([]bool{false, false, true, true, false, false, false, false, false}))
		}, "[0 1 2 3 4 5 6 7 8]"},
		{"a row onto itself, then another over it", func(x tt) error { return x.SetIndex(part(x, 0, 2, 1), ix.Take(0, 0)) }, "[1 1 2 3 4 5 6 7 8]"},
		{"all rows onto themselves", func(x tt) error { return x.SetIndex(x, ix.All) }, "[0 1 2 3 4 5 6 7 8]"},
		{"a cat beside", func(x tt) error {
			return shapeops.CatInto(part(x, 0, 4, 1), []tt{part(x, 7, 9, 1), part(x, 4, 6, 1)}, 0)
		}, "[7 8 4 5 4 5 6 7 8]"},
		{"a cat of what is written", func(x tt) error {
			return shapeops.CatInto(part(x, 0, 4, 1), []tt{part(x, 7, 9, 1), part(x, 1, 3, 1)}, 0)
		}, "[7 8 1 2 4 5 6 7 8]"},
		{"a cat of what another value was written over", func(x tt) error {
			return shapeops.CatInto(part(x, 0, 4, 1), []tt{part(x, 7, 9, 1), part(x, 0, 2, 1)}, 0)
		}, "[7 8 0 1 4 5 6 7 8]"},
		{"a stack of what another value was written over", func(x tt) error {
			return shapeops.StackInto(part(x, 0, 2, 1), []tt{row(x, 5), row(x, 0)}, 0)
		}, "[5 0 2 3 4 5 6 7 8]"},
	}
	for _, m := range testkit.Memories[:3] {
		for _, tt := range tests {
			t.Run(m.Name+"/"+tt.name, func(t *testing.T) {
				s := testkit.Make(t, tensor.Int16, []int{9}, testkit.Contiguous, m, 0)
				require.NoError(t, s.CopyFrom(tensor.Must(tensor.Arange[int16](0, 9, 1))))
				require.NoError(t, tt.do(s.Tensor))
				require.Equal(t, "int16 [9]\n"+tt.want, s.Tensor.String())
			})
		}
	}
}

// Tensors that were made apart share memory if their slices or their lenders do.
func TestOverlapOfTensorsMadeApart(t *testing.T) {
	b := make([]byte, 8)
	bytes := func(from, to int) *tensor.Tensor {
		return tensor.Must(tensor.FromBytes(tensor.Int16, b[from:to], (to-from)/2))
	}
	copied := func(to, from *tensor.Tensor, want ...byte) {
		t.Helper()
		copy(b, []byte{0, 1, 2, 3, 4, 5, 6, 7})
		require.NoError(t, to.CopyFrom(from))
		require.Equal(t, want, b)
	}
	copied(bytes(0, 4), bytes(1, 5), 1, 2, 3, 4, 4, 5, 6, 7)
	copied(bytes(0, 2), bytes(1, 3), 1, 2, 2, 3, 4, 5, 6, 7)
	copied(bytes(3, 7), bytes(0, 4), 0, 1, 2, 0, 1, 2, 3, 7)
	copied(bytes(0, 4), bytes(4, 8), 4, 5, 6, 7, 4, 5, 6, 7)
	require.True(t, bytes(0, 4).SharesMemory(bytes(2, 6)))
	require.False(t, bytes(0, 4).SharesMemory(bytes(4, 8)))

	lent, other := &testkit.Lender{Bytes: b}, &testkit.Lender{Bytes: make([]byte, 8)}
	of := func(l *testkit.Lender) *tensor.Tensor { return tensor.Must(tensor.FromLender(tensor.Int8, l, 0, 8)) }
	part := func(x *tensor.Tensor, from, to int) *tensor.Tensor { return tensor.Must(x.Index(ix.Range(from, to))) }
	copied(of(lent), of(lent), 0, 1, 2, 3, 4, 5, 6, 7)
	copied(part(of(lent), 0, 7), part(of(lent), 1, 8), 1, 2, 3, 4, 5, 6, 7, 7)
	copied(part(of(lent), 0, 4), part(of(lent), 4, 8), 4, 5, 6, 7, 4, 5, 6, 7)
	require.NoError(t, part(of(lent), 0, 7).CopyFrom(part(of(other), 1, 8)))
	require.True(t, of(lent).SharesMemory(of(lent)))
	require.False(t, of(lent).SharesMemory(of(other)))
}

// A copy that is refused adds nothing: those before and after it happen.
func TestTransferAddsAllOrNothing(t *testing.T) {
	src, dst := tensor.Vector[int8](1, 2, 3), tensor.Must(tensor.Zeros[int8](3))
	rows := pass(plan.Index(shapeops.Shape{3}, ix.Take(2, 0)))

	var tr tensor.Transfer
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.At(0))), tensor.Must(src.Index(ix.At(2)))))
	require.ErrorIs(t, tr.Copy(dst, tensor.Vector(1.0, 2, 3)), tensor.ErrDType)
	require.ErrorIs(t, src.Ops().AddExecute(&tr, dst, rows), shapeops.ErrShape)
	require.ErrorIs(t, dst.Ops().AddWrite(&tr, src, rows), shapeops.ErrShape)
	require.Equal(t, "int8 [3]\n[0 0 0]", dst.String(), "nothing happens before Run")
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.At(1))), tensor.Must(src.Index(ix.At(0)))))
	require.NoError(t, tr.Run())
	require.Equal(t, "int8 [3]\n[3 1 0]", dst.String())
}

// A copy that reads what another writes reads what was there before, whatever the layout.
func TestTransferOfCopiesThatFeedOneAnother(t *testing.T) {
	arranged := pass(plan.Index(shapeops.Shape{4}, ix.TakeND([]int{3, 2, 1, 0}, 2, 2)))
	for _, l := range testkit.Layouts[:3] {
		t.Run(l.Name, func(t *testing.T) {
			a, b := tensor.Vector[uint8](1, 2, 3, 4), tensor.Must(tensor.Zeros[uint8](4))
			square := testkit.Make(t, tensor.Uint8, []int{2, 2}, l, testkit.Go, 50)
			was := tensor.Must(square.Clone())
			var forth, back, apart tensor.Transfer
			require.NoError(t, a.Ops().AddExecute(&forth, square.Tensor, arranged))
			require.NoError(t, b.Ops().AddWrite(&forth, square.Tensor, arranged))
			require.NoError(t, b.Ops().AddWrite(&back, square.Tensor, arranged))
			require.NoError(t, a.Ops().AddExecute(&back, square.Tensor, arranged))
			for _, tr := range []*tensor.Transfer{&forth, &back} {
				require.NoError(t, square.CopyFrom(was))
				require.NoError(t, b.CopyFrom(tensor.Scalar[uint8](0)))
				require.NoError(t, tr.Run())
				require.Equal(t, "uint8 [2 2]\n[[4 3]\n [2 1]]", square.Tensor.String())
				require.True(t, tensor.Must(b.Index(ix.TakeND([]int{3, 2, 1, 0}, 2, 2))).Equal(was))
			}

			require.NoError(t, a.Ops().AddExecute(&apart, square.Tensor, arranged))
			require.NoError(t, apart.Copy(b, a))
			require.NoError(t, apart.Run())
			require.Equal(t, "uint8 [2 2]\n[[4 3]\n [2 1]]", square.Tensor.String())
			require.Equal(t, "uint8 [4]\n[1 2 3 4]", b.String())
		})
	}
}

// A swap swaps, also within lent memory; neighbours and interleaved columns do not feed one
// another.
func TestTransferCrossing(t *testing.T) {
	lent := tensor.Must(tensor.FromLender(tensor.Uint8, &testkit.Lender{Bytes: make([]byte, 8)}, 0, 4, 2))
	for _, x := range []*tensor.Tensor{tensor.Must(tensor.Zeros[uint8](4, 2)), lent} {
		column := func(i int) *tensor.Tensor { return tensor.Must(x.Index(ix.All, ix.At(i))) }
		row := func(i int) *tensor.Tensor { return tensor.Must(x.Index(ix.At(i))) }
		var swap, columns, rows tensor.Transfer
		require.NoError(t, swap.Copy(column(0), column(1)))
		require.NoError(t, swap.Copy(column(1), column(0)))
		require.NoError(t, column(0).CopyFrom(tensor.Scalar[uint8](1)))
		require.NoError(t, swap.Run())
		require.Equal(t, []byte{0, 1, 0, 1, 0, 1, 0, 1}, testkit.Elements[byte](t, x))
		require.NoError(t, columns.Copy(column(0), column(1)))
		require.NoError(t, columns.Copy(column(0), column(1)))
		require.NoError(t, columns.Run())
		require.NoError(t, rows.Copy(row(0), row(1)))
		require.NoError(t, rows.Copy(row(3), row(2)))
		require.NoError(t, rows.Run())
	}
}

// Memory that is gone stops a Transfer before its first copy.
func TestTransferNeedsAllMemory(t *testing.T) {
	dst := tensor.Must(tensor.Zeros[int8](2))
	lent := &testkit.Lender{Bytes: make([]byte, 1)}
	var tr tensor.Transfer
	require.NoError(t, tr.Run(), "the zero Transfer does nothing")
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.At(0))), tensor.Scalar[int8](1)))
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.At(1))), tensor.Must(tensor.Must(tensor.FromLender(tensor.Int8, lent, 0, 2)).Index(ix.At(0)))))
	require.NoError(t, tr.Copy(dst, tensor.Scalar[int8](2)))
	require.ErrorIs(t, tr.Run(), tensor.ErrLayout)
	require.Equal(t, "int8 [2]\n[0 0]", dst.String())
}

// A closing lender lets those finish who have its memory, and nobody else in: a Transfer borrows
// once for each copy.
func TestTransferBorrowsOnce(t *testing.T) {
	closing := &closingLender{Lender: testkit.Lender{Bytes: []byte{7, 8}}}
	src := tensor.Must(tensor.FromLender(tensor.Int8, closing, 0, 2))
	dst := tensor.Must(tensor.Zeros[int8](4))
	var tr tensor.Transfer
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.Range(0, 2))), tensor.Vector[int8](1, 2)))
	require.NoError(t, tr.Copy(tensor.Must(dst.Index(ix.Range(2, 4))), src))
	require.NoError(t, tr.Run())
	require.Equal(t, "int8 [4]\n[1 2 7 8]", dst.String())
}

type closingLender struct{ testkit.Lender }

func (l *closingLender) Borrow() ([]byte, error) {
	if l.Borrowed() > 0 {
		return nil, tensor.ErrReadOnly
	}
	return l.Lender.Borrow()
}

// What is large is moved by several goroutines, and by loops all the same.
func TestLargeMoves(t *testing.T) {
	const rows, cols = 2047, 2049 // no worker gets a round share
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	x := tensor.Must(tensor.Must(tensor.Arange[uint32](0, rows*cols, 1)).Reshape(rows, cols))
	back := make([]int, rows)
	for i := range back {
		back[i] = rows - 1 - i
	}
	turned := tensor.Must(x.Transpose(0, 1))
	scattered := tensor.Must(tensor.Zeros[uint32](rows, cols))
	require.NoError(t, scattered.SetIndex(x, ix.Take(back...)))
	first := tensor.Must(tensor.Zeros[uint32](2, cols)) // each of its rows is written by many; the last stays
	require.NoError(t, first.SetIndex(x, ix.Take(slices.Repeat([]int{0, 1}, rows)[:rows]...)))
	tests := []struct {
		name  string
		got   *tensor.Tensor
		shape []int
		want  func(i, j int) int // which element of x
	}{
		{"one block", tensor.Must(x.Clone()), []int{rows, cols}, func(i, j int) int { return i*cols + j }},
		{"transposed", tensor.Must(turned.Clone()), []int{cols, rows}, func(i, j int) int { return j*cols + i }},
		{"rows with gaps", tensor.Must(tensor.Must(x.Index(ix.All, ix.Range(1, ix.End))).Clone()), []int{rows, cols - 1}, func(i, j int) int { return i*cols + j + 1 }},
		{"every second element", tensor.Must(tensor.Must(x.Index(ix.All, ix.All.Step(2))).Clone()), []int{rows, (cols + 1) / 2}, func(i, j int) int { return i*cols + 2*j }},
		{"gathered rows", tensor.Must(x.Index(ix.Take(back...))), []int{rows, cols}, func(i, j int) int { return (rows-1-i)*cols + j }},
		{"gathered columns", tensor.Must(turned.Index(ix.All, ix.Take(back...))), []int{cols, rows}, func(i, j int) int { return (rows-1-j)*cols + i }},
		{"scattered rows", scattered, []int{rows, cols}, func(i, j int) int { return (rows-1-i)*cols + j }},
		{"scattered rows, one over the other", first, []int{2, cols}, func(i, j int) int { return (rows-1-i)*cols + j }},
		{"side by side", tensor.Must(shapeops.Cat([]*tensor.Tensor{turned, turned}, 1)), []int{cols, 2 * rows}, func(i, j int) int { return j%rows*cols + i }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, shapeops.Shape(tt.shape), tt.got.Shape())
			got, err := tensor.Of[uint32](tt.got)
			require.NoError(t, err)
			for n, v := range got {
				if i, j := n/tt.shape[1], n%tt.shape[1]; v != uint32(tt.want(i, j)) {
					t.Fatalf("[%d %d]: got %d, want %d", i, j, v, tt.want(i, j))
				}
			}
		})
	}
}

// pass carries a plan that must be one.
func pass(p *plan.Plan, err error) *plan.Pass {
	if err != nil {
		panic(err)
	}
	return plan.NewPass(p)
}

// Commits come after all copies, in order, and only if the copies succeed.
func TestTransferCommits(t *testing.T) {
	dst, log := tensor.Must(tensor.Zeros[int8](2)), []string{}
	add := func(tr *tensor.Transfer, what string) {
		tr.Commit(func() { log = append(log, what+dst.String()[len("int8 [2]\n"):]) })
	}
	var tr tensor.Transfer
	add(&tr, "a")
	require.NoError(t, tr.Copy(dst, tensor.Vector[int8](1, 2)))
	add(&tr, "b")
	require.ErrorIs(t, tr.Copy(dst, tensor.Scalar(1.0)), tensor.ErrDType)
	require.Empty(t, log)
	require.NoError(t, tr.Run())
	require.Equal(t, []string{"a[1 2]", "b[1 2]"}, log)

	tr.Reset()
	require.NoError(t, tr.Run())
	require.Len(t, log, 2, "Reset forgets them")

	gone := errors.New("gone")
	lent := tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: gone}, 0, 2))
	crossed := tensor.Must(tensor.Zeros[int8](2))
	for want, fail := range map[error]func(tr *tensor.Transfer) error{
		gone: func(tr *tensor.Transfer) error { return tr.Copy(crossed, lent) },
		tensor.ErrOverlap: func(tr *tensor.Transfer) error {
			k := &tensor.Kernel{
				Check: func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) {
					return tensor.Int8, shapeops.Shape{2}, nil
				},
				Elements: func(*tensor.Block) error { return nil },
			}
			return errors.Join(tr.Copy(dst, tensor.Vector[int8](5, 6)), tensor.NewKernelPass(k).To(tr, crossed, dst, 0, nil))
		},
	} {
		tr.Reset()
		add(&tr, "c")
		require.NoError(t, fail(&tr))
		require.ErrorIs(t, tr.Run(), want)
		require.Len(t, log, 2, "no commit")
		require.Equal(t, "int8 [2]\n[1 2]", dst.String())
		require.Equal(t, "int8 [2]\n[0 0]", crossed.String())
	}
}

// A Transfer that is used again costs the same, however many copies it does, and keeps Workers.
func TestTransferReset(t *testing.T) {
	cost := func(moves int) float64 {
		var dst, src []*tensor.Tensor
		for range moves {
			dst = append(dst, tensor.Must(tensor.Zeros[int32](6, 4)))
			src = append(src, tensor.Must(tensor.Full[int32](1, 6, 4)))
		}
		list := []shape.Run{{To: 3, Len: 2}, {To: 0, From: 1, Len: 3}}
		tr := tensor.Transfer{Workers: 3}
		return testing.AllocsPerRun(50, func() {
			tr.Reset()
			for i := range dst {
				err := tr.Copy(dst[i], src[i])
				if i%2 == 1 {
					err = errors.Join(err, tr.Runs(dst[i], src[i], list))
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := tr.Run(); err != nil || tr.Workers != 3 {
				t.Error(err, tr.Workers)
			}
		})
	}
	require.LessOrEqual(t, cost(1), 1.0)
	require.LessOrEqual(t, cost(100), cost(10)+1)
	require.LessOrEqual(t, cost(100), 10.0)
}
