package ragged

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Buffer is memory in which dense tensors are made again and again, as by a loop over batches. What
// was made in it is overwritten by the next call that is given it. The zero Buffer is ready for use,
// and a nil one stands for new memory each time. Not safe for concurrent use.
type Buffer struct {
	slots [][]byte
	next  int
}

// reset has the next tensors be made in the memory of the last.
func (b *Buffer) reset() {
	if b != nil {
		b.next = 0
	}
}

// tensor returns a tensor whose content is undefined.
func (b *Buffer) tensor(d tensor.DType, shape, features shapeops.Shape) (*tensor.Tensor, error) {
	all := append(shape.Clone(), features...)
	if err := all.Check(); err != nil {
		return nil, err
	}
	if all.Size() > math.MaxInt/d.Size() {
		return nil, fmt.Errorf("%w: got %v %v, want bytes that can be counted", shapeops.ErrShape, d, all)
	}
	return tensor.FromBytes(d, b.bytes(all.Size()*d.Size()), all...)
}

func (b *Buffer) bytes(n int) []byte {
	if b == nil {
		return cast.Uninit(n)
	}
	if b.next == len(b.slots) {
		b.slots = append(b.slots, nil)
	}
	slot := &b.slots[b.next]
	b.next++
	if cap(*slot) < n {
		*slot = cast.Uninit(n + n/8)
	}
	return (*slot)[:n]
}
