package tensor

import (
	"cmp"
	"context"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/shapeops"
)

// A Block is some elements of a result and of what they are made of: Rows rows of Width elements.
// It is valid during a call of [Kernel].Elements.
type Block struct {
	Rows, Width int
	DType       DType  // of the result
	Dst         []byte // the elements of the result, without gaps, to be set
	Src         []Lane // of each operand
}

// A Lane is the elements of one operand in a [Block]. It may be the result's own memory, if an
// operation works in place.
type Lane struct {
	Bytes []byte
	DType DType
	Per   Per
}

// Per says how many elements a [Lane] has.
type Per uint8

// The lengths of a [Lane].
const (
	PerElement Per = iota // one for each element of the block
	PerRow                // one for each row
	PerBlock              // a single one
)

// blockElements is about how many elements a block has that was gathered from what is not
// contiguous, or that one of several cores works on at a time.
const blockElements = 1 << 14

// lanes runs a kernel on the elements of a result and its operands, which all have one shape, block
// by block. The last two dims, joined where all lie alike, are the rows and the elements in them.
type lanes struct {
	kernel *Kernel
	all    []lane // the result first
	outer  []int  // sizes of the dims before the last two
	rows   int
	width  int
	step   [2]int // rows and elements of a block
	bytes  int    // of the result
	dry    bool   // the result goes nowhere: the kernel only says whether it fails
}

// A lane is one of lanes: where its elements lie.
type lane struct {
	mem    memory
	bytes  []byte
	dtype  DType
	size   int // bytes of an element
	start  int
	outer  []int // strides
	row, x int   // strides
}

// newLanes lines up dst and xs.
func newLanes(k *Kernel, dst *Tensor, xs []*Tensor) *lanes {
	l := &lanes{kernel: k, rows: 1, width: 1, bytes: dst.ByteSize()}
	views := []shapeops.View{dst.view}
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

// stretched returns t's view, or for a scalar one of a shape that repeats it.
func (t *Tensor) stretched(shape shapeops.Shape) shapeops.View {
	if len(t.view.Shape) > 0 || len(shape) == 0 {
		return t.view
	}
	return shapeops.View{Shape: shape, Strides: make([]int, len(shape)), Offset: t.view.Offset}
}

// joinAlike returns the dims of several views of one shape, joined where all of them lie alike, and
// without those of size 1.
func joinAlike(shape shapeops.Shape, views []shapeops.View) (sizes []int, strides [][]int) {
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

// run does all blocks, on at most so many cores.
func (l *lanes) run(most int) error {
	cores := workers.Count(most, min(l.bytes/parallelBytes+1, l.rows*l.width))
	l.step = [2]int{l.rows, l.width}
	if cores > 1 || l.dry || l.gathers() {
		l.step = [2]int{max(1, min(l.rows, blockElements/l.width)), min(l.width, blockElements)}
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

// gathers reports whether a lane is not contiguous.
func (l *lanes) gathers() bool {
	for i := range l.all {
		if per, direct := l.per(&l.all[i]); !direct || i == 0 && per != PerElement {
			return true
		}
	}
	return false
}

// hold borrows the memory of all lanes until release.
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

// blocks returns how many blocks there are.
func (l *lanes) blocks() int {
	return shapeops.Shape(l.outer).Size() * ceilDiv(l.rows, l.step[0]) * ceilDiv(l.width, l.step[1])
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// guarded does blocks lo to hi. A fault in lent memory is an error that names it.
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

// A blockOf is a block of lanes, with room for what it gathers.
type blockOf struct {
	Block
	*lanes
	scratch    [][]byte
	gathered   []gathered // what scratch has of lanes that repeat
	at         []int      // positions of the outer dims
	row, x     int        // the first
	rows, cols int        // how many
}

// locate makes b the i-th block.
func (b *blockOf) locate(i int) {
	across, down := ceilDiv(b.width, b.step[1]), ceilDiv(b.lanes.rows, b.step[0])
	b.x, i = i%across*b.step[1], i/across
	b.row, i = i%down*b.step[0], i/down
	b.cols, b.rows = min(b.step[1], b.width-b.x), min(b.step[0], b.lanes.rows-b.row)
	b.at = b.at[:0]
	for range b.outer {
		b.at = append(b.at, 0)
	}
	for d := len(b.outer) - 1; d >= 0; d-- {
		b.at[d], i = i%b.outer[d], i/b.outer[d]
	}
}

// do runs the kernel on the block.
func (b *blockOf) do() error {
	b.Rows, b.Width = b.rows, b.cols
	for i := range b.Src {
		b.Src[i] = b.lane(i + 1)
	}
	to := &b.all[0]
	per, direct := b.per(to)
	if direct = direct && per == PerElement && b.whole() && !b.dry; direct {
		at := b.first(to) * to.size
		b.Dst = to.bytes[at : at+b.rows*b.cols*to.size]
		direct = cast.Aligned(b.Dst, to.size)
	}
	if !direct {
		b.Dst = b.room(0)
	}
	err := b.kernel.Elements(&b.Block)
	if err == nil && !direct && !b.dry {
		b.move(to, b.Dst, true)
	}
	return err
}

// whole reports whether the block has whole rows, or a part of one, so that what is contiguous in
// all is so in the block.
func (b *blockOf) whole() bool { return b.cols == b.width || b.rows == 1 }

// lane returns the elements of an operand.
func (b *blockOf) lane(i int) Lane {
	a := &b.all[i]
	per, direct := b.per(a)
	n := 1
	switch per {
	case PerElement:
		n = b.rows * b.cols
	case PerRow:
		n = b.rows
	}
	if direct && (per != PerElement || b.whole()) {
		at := b.first(a) * a.size
		if part := a.bytes[at : at+n*a.size]; cast.Aligned(part, a.size) {
			return Lane{part, a.dtype, per}
		}
	}
	room := b.room(i)
	if has := (gathered{b.x, b.cols, b.rows}); !a.repeats() || !b.gathered[i].covers(has) {
		b.move(a, room, false)
		b.gathered[i] = has
	}
	return Lane{room, a.dtype, PerElement}
}

// repeats reports whether all rows of a lane are one, as those of a tensor [F] on one of [N F].
func (a *lane) repeats() bool {
	for _, stride := range a.outer {
		if stride != 0 {
			return false
		}
	}
	return a.row == 0
}

// A gathered is a part of a lane that repeats: elements of a row, and how many rows.
type gathered struct{ x, cols, rows int }

// covers reports whether what is there begins with another part.
func (s gathered) covers(other gathered) bool {
	return s.x == other.x && s.cols == other.cols && s.rows >= other.rows
}

// first returns where a lane's first element of the block lies.
func (b *blockOf) first(a *lane) int {
	at := a.start + b.row*a.row + b.x*a.x
	for d, stride := range a.outer {
		at += b.at[d] * stride
	}
	return at
}

// room returns scratch for the block's elements of a lane.
func (b *blockOf) room(i int) []byte {
	n := b.rows * b.cols * b.all[i].size
	if cap(b.scratch[i]) < n {
		b.scratch[i] = make([]byte, max(n, b.step[0]*b.step[1]*b.all[i].size))
	}
	return b.scratch[i][:n]
}

// move copies the block's elements of a lane to room, or back.
func (b *blockOf) move(a *lane, room []byte, back bool) {
	shape := shapeops.Shape{b.rows, b.cols}
	far := shapeops.View{Shape: shape, Strides: []int{a.row, a.x}, Offset: b.first(a)}
	near := shapeops.View{Shape: shape, Strides: []int{b.cols, 1}}
	var m move
	if back {
		m.all(a.size, memory{}, memory{}, far, near)
		m.walkBytes(a.bytes, room, 0, m.outer())
	} else {
		m.all(a.size, memory{}, memory{}, near, far)
		m.walkBytes(room, a.bytes, 0, m.outer())
	}
}
