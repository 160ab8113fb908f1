package ragged

import (
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Buffer is reusable memory for dense tensors, for example in a loop over batches. Each call that
// is given a Buffer overwrites the results of the call before. The zero Buffer is ready for use;
// with a nil *Buffer each call allocates. Not safe for concurrent use.
type Buffer struct {
	slots [][]byte
	next  int
}

// reset makes the whole memory available again.
func (b *Buffer) reset() {
	if b != nil {
		b.next = 0
	}
}

// tensor returns a tensor of shape [shape... features...] in the memory of b, and the same elements
// as cells: [size(shape) features...]. The elements are undefined.
func (b *Buffer) tensor(d tensor.DType, shape, features shapeops.Shape) (t, cells *tensor.Tensor, err error) {
	all := append(append(make(shapeops.Shape, 0, len(shape)+len(features)), shape...), features...)
	n, err := byteSize(d, all)
	if err != nil {
		return nil, nil, err
	}
	memory := b.bytes(n)
	if t, err = tensor.FromBytes(d, memory, all...); err != nil {
		return nil, nil, err
	}
	cells, err = tensor.FromBytes(d, memory, append(shapeops.Shape{shape.Size()}, features...)...)
	return t, cells, err
}

// byteSize returns the size in bytes of a tensor, or the error that tensor.New would return.
func byteSize(d tensor.DType, shape shapeops.Shape) (int, error) {
	const surely = 1 << 40 // for fewer elements the size in bytes fits an int
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
