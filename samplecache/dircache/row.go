package dircache

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A row is a reserved slot. It implements samplecache.Row.
type row struct {
	s          *session
	claim      *claim
	w          *writer
	generation uint64
	slot       int
	number     uint64
	gate       gate // for those who write the sample

	once   sync.Once
	sample *tdict.TensorDict

	mu        sync.Mutex // held while it is committed or aborted
	committed bool
}

// Reserve implements samplecache.Claim.
func (c *claim) Reserve(ctx context.Context, number uint64) (r samplecache.Row, err error) {
	if c.over.Load() {
		return nil, fmt.Errorf("producer %q: %w", c.name, samplecache.ErrClosed)
	}
	err = c.s.call(func() (err error) {
		r, err = c.reserve(number)
		if !errors.Is(err, samplecache.ErrBlocked) || !c.s.stuck() {
			return err
		}
		if failed := c.s.seek(ctx); failed != nil {
			return failed
		}
		r, err = c.reserve(number)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// reserve takes a slot of the generation that is being filled.
func (c *claim) reserve(number uint64) (samplecache.Row, error) {
	s := c.s
	r := &row{s: s, claim: c, number: number}
	ok := false
	err := s.use(func(w words) {
		if r.generation = w.load(fillingWord); r.generation == 0 {
			return
		}
		bound := s.bound(w, r.generation)
		if r.slot, ok = s.layout.reserve(w, r.generation, s.me, bound); ok && r.slot >= s.bound(w, r.generation) {
			s.layout.free(w, r.generation, s.me, r.slot) // a group has joined meanwhile
			ok = false
		}
	})
	switch {
	case err != nil:
		return nil, err
	case r.generation == 0:
		return nil, s.blockedReserve()
	case !ok:
		return nil, s.blockedReserve()
	}
	passing("reserved")
	if err = s.settleIn(r); err != nil {
		return nil, errors.Join(err, r.free())
	}
	return r, nil
}

// Sample implements samplecache.Row.
func (r *row) Sample() *tdict.TensorDict {
	r.once.Do(func() {
		td := tdict.New()
		for i, l := range r.s.fixed.Schema {
			x, err := r.leaf(i, l)
			if err == nil {
				err = td.Set(l.Key, x)
			}
			if err != nil {
				panic(fmt.Sprintf("dircache: impossible: %v", err)) // the schema was checked
			}
		}
		td.Lock("its leaves are places in the cache: write their elements, as by CopyFrom")
		r.sample = td
	})
	return r.sample
}

// leaf returns the elements of a leaf.
func (r *row) leaf(i int, l leafSpec) (*tensor.Tensor, error) {
	if l.bytes == 0 {
		return tensor.New(l.dtype, l.Shape...)
	}
	return tensor.FromLender(l.dtype, &place{r, r.w.files[i]}, r.slot*l.bytes, l.Shape...)
}
