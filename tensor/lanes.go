package tensor

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shape"
)

// blockElements is about how many elements a block has that was gathered from what is not
// contiguous.
const blockElements = 1 << 14

// blockRow is the number of elements in a row of such a block if an operand is transposed.
const blockRow = 256

// lanes runs a kernel block by block on a result and its operands, which all have one shape. The
// last two dims, after joining dims that are laid out alike everywhere, are the rows of blocks and
// the elements in rows.
type lanes struct {
	kernel *Kernel
	all    []lane // the result, then the operands
	outer  []int  // sizes of the dims before the last two
	rows   int
	width  int
	step   [2]int // number of rows and of elements in a row of a block
	bytes  int    // size of the result
	dry    bool   // discard the result: run only to see whether the kernel fails, in row-major order
}

// A lane says where the elements of the result, or of an operand, lie.
type lane struct {
	mem    memory
	bytes  []byte
	dtype  DType
	size   int // bytes of an element
	start  int
	outer  []int // strides
	row, x int   // strides
}

// newLanes returns the lanes of dst and xs.
func newLanes(k *Kernel, dst *Tensor, xs []*Tensor) *lanes {
	l := &lanes{kernel: k, rows: 1, width: 1, bytes: dst.ByteSize()}
	views := []shape.View{dst.view}
	l.all = append(l.all, laneOf(dst))
	for _, x := range xs {
		views = append(views, x.stretched(dst.view.Shape))
		l.all = append(l.all, laneOf(x))
	}
	sizes, strides := joinAlike(dst.view.Shape, views)
	for i := range l.all {
		a := &l.all[i]
		n := len(sizes)
		switch {
		case n > 1:
			l.rows, l.width = sizes[n-2], sizes[n-1]
			a.row, a.x = strides[i][n-2], strides[i][n-1]
			a.outer = strides[i][:n-2]
			l.outer = sizes[:n-2]
		case n == 1:
			l.rows, a.row = sizes[0], strides[i][0]
		}
	}
	return l
}

func laneOf(t *Tensor) lane {
	return lane{mem: t.mem, dtype: t.dtype, size: t.dtype.Size(), start: t.view.Offset}
}

// stretched returns t's view; for a scalar, a view that repeats it to the given sizes.
func (t *Tensor) stretched(sizes shape.Shape) shape.View {
	if len(t.view.Shape) > 0 || len(sizes) == 0 {
		return t.view
	}
	return shape.View{Shape: sizes, Strides: make([]int, len(sizes)), Offset: t.view.Offset}
}

// joinAlike returns the dims of several views of one shape, without dims of size 1, joining
// neighbours that are evenly spaced in all views.
func joinAlike(shape shape.Shape, views []shape.View) (sizes []int, strides [][]int) {
	strides = make([][]int, len(views))
	for dim, size := range shape {
		if size == 1 {
			continue
		}
		last := len(sizes) - 1
		alike := last >= 0
		for i := range views {
			alike = alike && strides[i][last] == size*views[i].Strides[dim]
		}
		if !alike {
			sizes = append(sizes, 1)
			last++
		}
		sizes[last] *= size
		for i := range views {
			strides[i] = append(strides[i][:last], views[i].Strides[dim])
		}
	}
	return sizes, strides
}

// per returns how many elements a lane has in a block, or false if they must be gathered.
func (l *lanes) per(a *lane) (Per, bool) {
	switch {
	case a.row == 0 && (a.x == 0 || l.width == 1):
		return PerBlock, true
	case a.row == l.width && (a.x == 1 || l.width == 1):
		return PerElement, true
	case a.row == 1 && a.x == 0:
		return PerRow, true
	}
	return PerElement, false
}

// run does all blocks on at most most cores.
func (l *lanes) run(most int) error {
	cores := workers.Count(most, min(l.bytes/l.kernel.parallelBytes()+1, l.rows*l.width))
	switch {
	case !l.dry && l.transposed():
		l.step = [2]int{min(l.rows, blockElements/blockRow), blockRow}
	case l.dry || l.gathers():
		l.step = [2]int{max(1, min(l.rows, blockElements/l.width)), min(l.width, blockElements)}
	case l.rows < cores:
		l.step = [2]int{1, ceilDiv(l.width, cores)}
	default:
		l.step = [2]int{ceilDiv(l.rows, cores), l.width}
	}
	release, err := l.hold()
	if err != nil {
		return err
	}
	defer release()
	blocks := l.blocks()
	cores = min(cores, blocks)
	if cores < 2 {
		err = l.guarded(0, blocks)
	} else {
		err = workers.Do(context.Background(), cores, cores, func(w int) error {
			return l.guarded(blocks*w/cores, blocks*(w+1)/cores)
		})
	}
	if err != nil {
		return err
	}
	var q inquiry
	for i := range l.all {
		if err := q.intact(l.all[i].mem, l.all[0].mem); err != nil {
			return err
		}
	}
	return nil
}

// transposed reports whether blocks are narrower than the rows, because some lane is contiguous
// along the rows' other dim: a block of whole rows would read a few elements here and there.
func (l *lanes) transposed() bool {
	return l.width > blockRow && slices.ContainsFunc(l.all, func(a lane) bool { return a.row == 1 && a.x > 1 })
}

// gathers reports whether some lane is not contiguous.
func (l *lanes) gathers() bool {
	for i := range l.all {
		if per, direct := l.per(&l.all[i]); !direct || i == 0 && per != PerElement {
			return true
		}
	}
	return false
}

// hold borrows the memory of all lanes until release is called.
func (l *lanes) hold() (release func(), err error) {
	held := 0
	release = func() {
		for i := range l.all[:held] {
			l.all[i].mem.giveBack()
		}
	}
	for i := range l.all {
		borrow := memory.borrow
		if i == 0 && !l.dry {
			borrow = memory.borrowToWrite
		}
		if l.all[i].bytes, err = borrow(l.all[i].mem); err != nil {
			release()
			return nil, err
		}
		held++
	}
	return release, nil
}

// blocks returns the number of blocks.
func (l *lanes) blocks() int {
	return shape.Shape(l.outer).Size() * ceilDiv(l.rows, l.step[0]) * ceilDiv(l.width, l.step[1])
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// guarded does blocks lo to hi. A fault in lent memory is an error with the lender's name.
func (l *lanes) guarded(lo, hi int) error {
	lent := false
	for i := range l.all {
		lent = lent || l.all[i].mem.loan != nil
	}
	if !lent {
		return l.do(lo, hi)
	}
	var failed error
	err := mapping.Guard(func() { failed = l.do(lo, hi) })
	for i := range l.all {
		if a := &l.all[i]; err != nil && a.mem.loan != nil && holds(a.bytes, err) {
			return a.mem.loan.named(err)
		}
	}
	return cmp.Or(err, failed)
}

// do does blocks lo to hi, until one fails.
func (l *lanes) do(lo, hi int) error {
	b := blockOf{lanes: l, scratch: make([][]byte, len(l.all)), gathered: make([]gathered, len(l.all))}
	b.Src = make([]Lane, len(l.all)-1)
	b.DType = l.all[0].dtype
	for i := lo; i < hi; i++ {
		b.locate(i)
		if err := b.do(); err != nil {
			return err
		}
	}
	return nil
}
