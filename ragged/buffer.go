package ragged

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Buffer is memory in which dense tensors are made again and again, as by a loop over batches.
// What was made in it is overwritten by the next call that is given it. The zero Buffer is ready
// for use, and a nil one stands for new memory each time. Not safe for concurrent use.
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
	bytes, err := byteSize(d, all)
	if err != nil {
		return nil, err
	}
	return tensor.FromBytes(d, b.bytes(bytes), all...)
}

// byteSize returns how many bytes a tensor takes, or the error that tensor.New would return.
func byteSize(d tensor.DType, shape shapeops.Shape) (int, error) {
	const surely = 1 << 40 // elements that can be counted in bytes
	if err := shape.Check(); err == nil && shape.Size() < surely {
		return shape.Size() * d.Size(), nil
	}
	like, err := tensor.NewMeta(d, shape...)
	if err != nil {
		return 0, err
	}
	return like.ByteSize(), nil
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
