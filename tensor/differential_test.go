package tensor_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A window is a view of a few bytes of a buffer, beside the position of each of its elements there.
type window struct{ x, at *tensor.Tensor }

// index returns a part of w, a copy for a list or mask.
func (w window) index(expr ...ix.Index) window {
	return window{tensor.Must(w.x.Index(expr...)), tensor.Must(w.at.Index(expr...))}
}

// positions returns those of the elements of w, broadcast to a shape.
func (w window) positions(t *testing.T, shape ...int) []int64 {
	return testkit.Elements[int64](t, tensor.Must(w.at.Expand(shape...)))
}

// A feeding is the copies of one Transfer between windows of a buffer: byte positions, element by
// element, in order.
type feeding struct {
	rng      *rand.Rand
	bytes    []byte
	lender   *testkit.Lender // or nil
	dtype    tensor.DType
	to, from []int64
	widths   []int
}

// window returns one of the given shape at random: strided, transposed, anywhere.
func (f *feeding) window(shape ...int) window {
	for {
		order := f.rng.Perm(len(shape))
		base, expr := make([]int, len(shape)), make([]ix.Index, len(shape))
		for i, dim := range order { // dim i of the buffer becomes dim order[i]
			step, first := 1+f.rng.IntN(2), f.rng.IntN(2)
			base[i] = first + shape[dim]*step + f.rng.IntN(2)
			expr[i] = ix.Range(first, first+shape[dim]*step).Step(step)
		}
		width := f.dtype.Size()
		n := shapeops.Shape(base).Size() * width
		if n > len(f.bytes) {
			continue
		}
		start := f.rng.IntN(len(f.bytes) - n + 1)
		if f.rng.IntN(2) == 0 {
			start -= start % min(len(f.bytes), 16)
		}
		var x *tensor.Tensor
		if f.lender != nil {
			x = tensor.Must(tensor.FromLender(f.dtype, f.lender, start, base...))
		} else {
			x = tensor.Must(tensor.FromBytes(f.dtype, f.bytes[start:start+n], base...))
		}
		at := tensor.Must(tensor.Must(tensor.Arange(int64(start), int64(start+n), int64(width))).Reshape(base...))
		w := window{x, at}.index(expr...)
		back := make([]int, len(order))
		for i, dim := range order {
			back[dim] = i
		}
		return window{tensor.Must(w.x.Permute(back...)), tensor.Must(w.at.Permute(back...))}
	}
}

// shape returns a random one of so many dims.
func (f *feeding) shape(dims int) []int {
	shape := make([]int, dims)
	for i := range shape {
		shape[i] = 1 + f.rng.IntN(4)
	}
	return shape
}

func (f *feeding) rows(n, of int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = f.rng.IntN(of)
	}
	return rows
}

// copied notes elements that are copied.
func (f *feeding) copied(to, from []int64) {
	f.to, f.from = append(f.to, to...), append(f.from, from...)
	f.widths = append(f.widths, slices.Repeat([]int{f.dtype.Size()}, len(to))...)
}

// add adds a copy of a random kind to tr, or does it by itself if tr is nil, and notes it.
func (f *feeding) add(t *testing.T, tr *tensor.Transfer) error {
	f.dtype = []tensor.DType{tensor.Uint8, tensor.Int16, tensor.Float32}[f.rng.IntN(3)]
	sizes := f.shape(1 + f.rng.IntN(3))
	dst, n, list := f.window(sizes...), sizes[0], 1+f.rng.IntN(4)
	trailing := sizes[1:]
	listed := append([]int{list}, trailing...)
	switch f.rng.IntN(7) {
	case 0:
		src := f.window(sizes...)
		f.copied(dst.positions(t, sizes...), src.positions(t, sizes...))
		return doOr(tr, func() error { return dst.x.CopyFrom(src.x) }, func() error { return tr.Copy(dst.x, src.x) })
	case 1: // broadcast
		src := f.window(trailing...)
		f.copied(dst.positions(t, sizes...), src.positions(t, sizes...))
		return doOr(tr, func() error { return dst.x.SetIndex(src.x, ix.All) }, func() error { return tr.Copy(dst.x, src.x) })
	case 2:
		src, take := f.window(listed...), ix.Take(f.rows(list, n)...)
		f.copied(dst.index(take).positions(t, listed...), src.positions(t, listed...))
		return doOr(tr, func() error { return dst.x.SetIndex(src.x, take) }, func() error {
			return dst.x.Ops().AddWrite(tr, src.x, pass(plan.Index(dst.x.Shape(), take)))
		})
	case 3:
		src, take := f.window(listed...), ix.Take(f.rows(n, list)...)
		f.copied(dst.positions(t, sizes...), src.index(take).positions(t, sizes...))
		return doOr(tr, func() error { return src.x.IndexInto(dst.x, take) }, func() error {
			return src.x.Ops().AddExecute(tr, dst.x, pass(plan.Index(src.x.Shape(), take)))
		})
	case 4:
		src := f.window(listed...)
		var runs []shape.Run
		for range 1 + f.rng.IntN(2) {
			r := shape.Run{To: f.rng.IntN(n), From: f.rng.IntN(list)}
			r.Len = f.rng.IntN(1 + min(n-r.To, list-r.From))
			to, from := dst.index(ix.Range(r.To, r.To+r.Len)), src.index(ix.Range(r.From, r.From+r.Len))
			f.copied(to.positions(t, to.x.Shape()...), from.positions(t, to.x.Shape()...))
			runs = append(runs, r)
		}
		var own tensor.Transfer
		return doOr(tr, func() error { return errors.Join(own.Runs(dst.x, src.x, runs), own.Run()) },
			func() error { return tr.Runs(dst.x, src.x, runs) })
	case 5:
		src := f.window()
		f.copied(dst.positions(t, sizes...), src.positions(t, sizes...))
		var own tensor.Transfer
		return doOr(tr, func() error { return errors.Join(own.Fill(dst.x, src.x), own.Run()) },
			func() error { return tr.Fill(dst.x, src.x) })
	}
	src := make([]*tensor.Tensor, n)
	for i := range src {
		w := f.window(trailing...)
		f.copied(dst.index(ix.At(i)).positions(t, trailing...), w.positions(t, trailing...))
		src[i] = w.x
	}
	return doOr(tr, func() error { return shapeops.StackInto(dst.x, src, 0) }, func() error {
		for i, x := range src {
			if err := tr.Copy(tensor.Must(dst.x.Index(ix.At(i))), x); err != nil {
				return err
			}
		}
		return nil
	})
}

func doOr(tr *tensor.Transfer, do, add func() error) error {
	if tr == nil {
		return do()
	}
	return add()
}

// naive reports whether an element is read that is written to from elsewhere, and what the buffer
// holds after all elements are copied from a snapshot, in order.
func (f *feeding) naive() (harmful bool, after []byte) {
	after = slices.Clone(f.bytes)
	writers := make([][]int, len(f.bytes))
	for i, to := range f.to {
		for b := range f.widths[i] {
			writers[int(to)+b] = append(writers[int(to)+b], i)
			after[int(to)+b] = f.bytes[int(f.from[i])+b]
		}
	}
	for i, from := range f.from {
		for b := range f.widths[i] {
			for _, w := range writers[int(from)+b] {
				harmful = harmful || f.to[w] != f.from[w]
			}
		}
	}
	return harmful, after
}

// Copies do what they would if all were read before any is written, in whichever way they overlap.
func TestCopiesWithinABuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := longtests.Times(10_000, 60_000)
	overlapping, apart := 0, 0
	for range all {
		f := &feeding{rng: rng, bytes: make([]byte, 700)}
		for i := range f.bytes {
			f.bytes[i] = byte(rng.IntN(256))
		}
		if rng.IntN(2) == 0 {
			f.lender = &testkit.Lender{Bytes: f.bytes}
		}
		before := slices.Clone(f.bytes)
		err := f.run(t)
		now := slices.Clone(f.bytes)
		copy(f.bytes, before)
		harmful, after := f.naive()
		require.NoError(t, err)
		require.Equal(t, after, now)
		if harmful {
			overlapping++
		} else {
			apart++
		}
		if f.lender != nil {
			require.Zero(t, f.lender.Borrowed())
		}
	}
	t.Log("overlapping", overlapping, "apart", apart)
	require.Greater(t, overlapping, all/10)
	require.Greater(t, apart, all/10)
}

// run does one copy, or several in a Transfer.
func (f *feeding) run(t *testing.T) error {
	if f.rng.IntN(3) == 0 {
		return f.add(t, nil)
	}
	var tr tensor.Transfer
	for range 1 + f.rng.IntN(4) {
		if err := f.add(t, &tr); err != nil {
			return err
		}
	}
	return tr.Run()
}

// The list of a Transfer does not take many times what is in it, a few hundred bytes for each copy.
func TestTransferListGrowsInFewSteps(t *testing.T) {
	const n = 100_000
	dst, src := tensor.Scalar[int8](1), tensor.Scalar[int8](2)
	testkit.MaxBytes(t, n*1600, func() {
		var tr tensor.Transfer
		for range n {
			if err := tr.Copy(dst, src); err != nil {
				t.Error(err)
			}
		}
	})
}
