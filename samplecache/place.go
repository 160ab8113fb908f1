package samplecache

import (
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An owner is a Slot or a Generation. Its memory is lent until the owner ends.
type owner interface {
	enter() error // then leave must follow
	leave()
	name() string
}

// A place lends the memory of a leaf until its owner ends. The memory is the engine's. It
// implements tensor.Lender.
type place struct {
	owner
	lender tensor.Lender
}

// Borrow implements tensor.Lender.
func (p *place) Borrow() ([]byte, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	b, err := p.lender.Borrow()
	if err != nil {
		p.leave()
	}
	return b, err
}

// Return implements tensor.Lender.
func (p *place) Return() {
	p.lender.Return()
	p.leave()
}

// Pin implements tensor.Lender.
func (p *place) Pin() ([]byte, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.lender.Pin()
}

// ReadOnly implements tensor.Lender.
func (p *place) ReadOnly() bool {
	_, ok := p.owner.(*Generation)
	return ok
}

// Identity identifies the memory; see tensor.Lender.
func (p *place) Identity() any {
	if known, ok := p.lender.(interface{ Identity() any }); ok {
		return known.Identity()
	}
	return p.lender
}

// Intact reports an error if the memory was not all there; see tensor.Lender.
func (p *place) Intact() error { return intact(p.lender) }

// String names the place in errors.
func (p *place) String() string { return p.name() }

// intact calls lender.Intact if there is one.
func intact(lender tensor.Lender) error {
	if asks, ok := lender.(interface{ Intact() error }); ok {
		return asks.Intact()
	}
	return nil
}

// A leaf is a leaf of the schema.
type leaf struct {
	key   nestedkey.Key
	dtype tensor.DType
	shape shapeops.Shape // of one sample
	bytes int            // of one sample
}

// lend returns a dictionary of shape batch, [] or [N], whose leaves use memory that the engine
// lends. lent returns the memory of a leaf.
func (c *Cache) lend(of owner, batch shapeops.Shape, lent func(leaf int) (tensor.Lender, int)) (*tdict.TensorDict, error) {
	td := tdict.New(batch...)
	for i, l := range c.leaves {
		if len(batch) > 0 {
			l.shape = slices.Concat(batch, l.shape)
		}
		x, err := l.lend(of, i, lent)
		if err == nil {
			err = td.Set(l.key, x)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", of.name(), l.key, err)
		}
	}
	return td, nil
}

// lend returns the tensor of leaf i of the schema. A tensor without bytes needs no memory. If the
// engine does not lend the memory, the tensor has no elements.
func (l leaf) lend(of owner, i int, lent func(leaf int) (tensor.Lender, int)) (*tensor.Tensor, error) {
	if l.bytes == 0 {
		return tensor.New(l.dtype, l.shape...)
	}
	lender, offset := lent(i)
	if lender == nil {
		return tensor.NewMeta(l.dtype, l.shape...)
	}
	return tensor.FromLender(l.dtype, &place{of, lender}, offset, l.shape...)
}

// check returns [ErrSchema] unless td has the keys, dtypes and shapes of the schema, after the
// batch shape.
func (c *Cache) check(td *tdict.TensorDict, batch ...int) error {
	switch {
	case c == nil:
		return errClosed
	case td == nil:
		return fmt.Errorf("%w: got a nil dictionary", ErrSchema)
	case !slices.Equal(td.Shape(), batch):
		return fmt.Errorf("%w: got batch shape %v, want %v", ErrSchema, td.Shape(), shapeops.Shape(batch))
	}
	for key := range td.NestedKeys() {
		if !c.about.Schema.Has(key) {
			return fmt.Errorf("%w: unexpected key %q", ErrSchema, key)
		}
	}
	for _, want := range c.leaves {
		x, err := td.Tensor(want.key)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSchema, err)
		}
		if x.DType() != want.dtype || !slices.Equal(x.Shape()[len(batch):], want.shape) {
			return fmt.Errorf("%w: %q: got %v %v, want %v %v", ErrSchema, want.key, x.DType(), x.Shape(), want.dtype, want.shape)
		}
	}
	return nil
}

// fits reports whether n samples can be copied to dst.
func (c *Cache) fits(dst *tdict.TensorDict, n int) bool {
	if c.check(dst, n) != nil {
		return false
	}
	for _, x := range dst.Tensors() {
		if _, err := x.Reinterpret(tensor.Uint8); err != nil {
			return false
		}
	}
	return true
}

// sumOf returns the checksum of size bytes, beginning at from, of the memory of a lender. It
// returns [ErrCorrupt] if the lender has fewer bytes.
func sumOf(lender tensor.Lender, from, size int) (sum uint32, err error) {
	if lender == nil {
		return 0, fmt.Errorf("%w: the engine lends no memory, want %d bytes", ErrCorrupt, size)
	}
	b, err := lender.Borrow()
	if err != nil {
		return 0, err
	}
	defer lender.Return()
	if from < 0 || from > len(b) || size > len(b)-from {
		return 0, fmt.Errorf("%w: the engine lends %d bytes, want %d from %d on", ErrCorrupt, len(b), size, from)
	}
	err = mapping.Guard(func() { sum = crc32.ChecksumIEEE(b[from:][:size]) })
	if err == nil {
		err = intact(lender)
	}
	return sum, err
}
