package tensor

import (
	"fmt"
	"math/cmplx"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/cast"
)

// AllClose reports whether each |t - u| is at most atol + rtol*|u|, after broadcasting u to t. NaN
// is close to nothing, an infinity only to itself. Values are converted to complex128 and compared;
// the conversion rounds integers beyond 2^53. This is done block by block, so the memory needed
// does not grow with t.
//
// It returns [ErrDType] if the dtypes differ, or if t or u holds a bool that is neither 0 nor 1,
// and shape.ErrShape if u does not broadcast to t.
func (t *Tensor) AllClose(u *Tensor, rtol, atol float64) (bool, error) {
	if u == nil {
		return false, errNil
	}
	if t.dtype != u.dtype {
		return false, fmt.Errorf("%w: got %v, want %v", ErrDType, u.dtype, t.dtype)
	}
	view, err := u.broadcast(t.view.Shape)
	if err != nil || t.Size() == 0 {
		return err == nil, err
	}
	a, b := narrowed(t, &Tensor{dtype: u.dtype, view: view, mem: u.mem})
	c := closeness{rtol: rtol, atol: atol}
	l := newLanes(&Kernel{Elements: c.block}, a, []*Tensor{a, b})
	l.dry = true
	err = l.run(0)
	return err == nil && !c.far.Load(), u.whichBool(t.whichBool(err))
}

// A closeness compares operands block by block, on several goroutines.
type closeness struct {
	rtol, atol float64
	far        atomic.Bool // two elements are not close
	mu         sync.Mutex
	free       []*closeRoom // at most one for each block that is compared at a time
}

// block compares the elements of a block, unless the answer is known. It reads all bools, so that
// an invalid one is always an error.
func (c *closeness) block(b *Block) error {
	if b.DType != Bool && c.far.Load() {
		return nil
	}
	arena := c.take()
	defer c.giveBack(arena)
	x, err := arena.widened(0, b)
	if err != nil {
		return err
	}
	y, err := arena.widened(1, b)
	if err == nil && firstOf(x, y, c.apart) >= 0 {
		c.far.Store(true)
	}
	return err
}

// apart reports whether x and y are not close.
func (c *closeness) apart(x, y complex128) bool {
	return x != y && (cmplx.IsInf(y) || !(cmplx.Abs(x-y) <= c.atol+c.rtol*cmplx.Abs(y)))
}

// A closeRoom is memory for two operands of a block as complex128.
type closeRoom struct {
	wide [2][]complex128
	lane [1]Lane
	cast Block
}

func (c *closeness) take() *closeRoom {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.free) - 1
	if last < 0 {
		return new(closeRoom)
	}
	arena := c.free[last]
	c.free = c.free[:last]
	return arena
}

func (c *closeness) giveBack(arena *closeRoom) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, arena)
}

// widened returns the i-th operand of a block as complex128, broadcast to the block.
func (r *closeRoom) widened(i int, b *Block) ([]complex128, error) {
	n := b.Rows * b.Width
	if cap(r.wide[i]) < n {
		r.wide[i] = make([]complex128, n)
	}
	wide := r.wide[i][:n]
	r.lane[0] = b.Src[i]
	r.cast = Block{Rows: b.Rows, Width: b.Width, DType: Complex128, Dst: cast.Bytes(wide), Src: r.lane[:]}
	return wide, castBlock(&r.cast)
}
