package dircache

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A rows is one user of a generation that is held. It implements samplecache.Rows.
type rows struct {
	h      *hold
	gate   gate // for those who read
	src    loader.Source
	lapsed atomic.Bool // it was held for too long
}

// open returns one more user.
func (h *hold) open() (*rows, error) {
	r := &rows{h: h}
	td := tdict.New(h.s.layout.samples)
	for _, l := range h.s.fixed.Schema {
		x, err := r.leaf(l)
		if err == nil {
			err = td.Set(l.Key, x)
		}
		if err != nil {
			return nil, err
		}
	}
	td.Lock("it is a published generation: change a Copy of it")
	src, err := loader.From(td)
	if err != nil {
		return nil, err
	}
	r.src = src
	return r, nil
}

// leaf returns a leaf of all rows.
func (r *rows) leaf(l leafSpec) (*tensor.Tensor, error) {
	shape := slices.Concat(shapeops.Shape{r.h.s.layout.samples}, l.Shape)
	if l.bytes == 0 {
		return tensor.New(l.dtype, shape...)
	}
	x, err := tdict.Get[*tensor.Tensor](r.h.ds.TensorDict, l.Key)
	if err != nil {
		return nil, err
	}
	return tensor.FromLender(l.dtype, &view{r, x.Lender()}, 0, shape...)
}

// enter lets an operation in, which must leave the gate.
func (r *rows) enter() error {
	if r.gate.enter() {
		return nil
	}
	if r.lapsed.Load() {
		return fmt.Errorf("generation %d: %w: it was held for more than %v after it was retired",
			r.h.id, samplecache.ErrGenerationGone, r.h.s.fixed.Config.MaxHold)
	}
	return fmt.Errorf("generation %d: %w", r.h.id, samplecache.ErrClosed)
}

// Len implements loader.Source.
func (r *rows) Len() int { return r.src.Len() }

// Fetch implements loader.Source.
func (r *rows) Fetch(ctx context.Context, list []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.gate.leave()
	for _, row := range list {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.verify(row); err != nil {
			return nil, err
		}
	}
	return r.src.Fetch(ctx, list, dst)
}

// Slice implements loader.Slicer.
func (r *rows) Slice(start, stop int) (*tdict.TensorDict, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.gate.leave()
	for row := start; row < stop; row++ {
		if err := r.verify(row); err != nil {
			return nil, err
		}
	}
	return r.src.(loader.Slicer).Slice(start, stop)
}

// verify compares the sums of a row, as the options say. What does not exist is left to others.
func (r *rows) verify(row int) error {
	how := r.h.s.opt.Verify
	if how == samplecache.Never || uint(row) >= uint(r.Len()) {
		return nil
	}
	return r.h.verify(row, how == samplecache.Always)
}

// Describe implements loader.Describer.
func (r *rows) Describe() (loader.Description, error) {
	return r.src.(loader.Describer).Describe()
}

// Info implements samplecache.Rows.
func (r *rows) Info(row int) (info samplecache.Info, err error) {
	if uint(row) >= uint(r.Len()) {
		return info, fmt.Errorf("%w: got row %d of %d", shapeops.ErrIndex, row, r.Len())
	}
	if err := r.enter(); err != nil {
		return info, err
	}
	defer r.gate.leave()
	return r.h.info(row)
}

// info returns what the record of a row says.
func (h *hold) info(row int) (info samplecache.Info, err error) {
	b, err := h.records.Acquire()
	if err != nil {
		return info, err
	}
	defer h.records.Release()
	leaves := len(h.s.fixed.Schema)
	r := rowRecord(b, row, leaves)
	failed := mapping.Guard(func() {
		if !r.sound(h.id) {
			err = h.fail(row, fmt.Errorf("%w: its record is damaged", samplecache.ErrChecksum))
			return
		}
		info = r.info(leaves)
	})
	if failed != nil {
		err = h.fail(row, fmt.Errorf("its record: %w", failed))
	}
	return info, err
}

// Close implements samplecache.Rows.
func (r *rows) Close() error {
	empty, first := r.gate.close()
	if !first && r.lapsed.Swap(false) {
		return nil // it is let go already
	}
	if !first {
		return samplecache.ErrClosed
	}
	return r.release(empty)
}

// lapse ends the use because it took too long, unless the user has.
func (r *rows) lapse() {
	if empty, first := r.gate.close(); first {
		r.lapsed.Store(true)
		go func() { _ = r.release(empty) }() // who reads finds it gone
	}
}

// release lets go of the generation once nobody reads through r any more, and at once if nobody
// does.
func (r *rows) release(empty <-chan struct{}) error {
	select {
	case <-empty:
		return r.h.drop(r)
	default:
		go func() {
			<-empty
			_ = r.h.drop(r) // the files were only read
		}()
		return nil
	}
}

// drop takes off a user, and ends the hold with the last.
func (h *hold) drop(r *rows) error {
	s := h.s
	s.mu.Lock()
	delete(h.users, r)
	last := len(h.users) == 0
	if last {
		delete(s.held, h.id)
		if t := s.timers[h.id]; t != nil {
			t.Stop()
			delete(s.timers, h.id)
		}
	}
	s.mu.Unlock()
	if !last {
		return nil
	}
	err := h.end()
	s.letOne.Store(true)
	s.kick() // its store may be wanted
	return err
}
