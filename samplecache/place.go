package samplecache

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An owner is a Slot or a Generation, which says how long its memory is lent.
type owner interface {
	enter() error // then leave must follow
	leave()
	name() string
}

// A place lends the memory of a leaf that an engine lends, until its owner ends. It implements
// tensor.Lender.
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

// Identity says what is the same memory; see tensor.Lender.
func (p *place) Identity() any {
	if known, ok := p.lender.(interface{ Identity() any }); ok {
		return known.Identity()
	}
	return p.lender
}

// Intact says whether the memory was all there; see tensor.Lender.
func (p *place) Intact() error { return intact(p.lender) }

// String names the place in errors.
func (p *place) String() string { return p.name() }

// intact returns the error of a lender whose memory was not all there.
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

// lend returns a dictionary of the leaves of one sample, or of rows if there is a batch shape, in
// memory that an engine lends.
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

// lend returns the tensor of a leaf, whose index is i. One without bytes needs no memory, and one
// whose memory the engine does not lend has no elements.
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
