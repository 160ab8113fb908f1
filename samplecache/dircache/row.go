package dircache

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
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
	sums      []uint32 // of what Fill has copied, unless it was written to since
}

// Reserve implements samplecache.Claim.
func (c *claim) Reserve(ctx context.Context, number uint64) (r samplecache.Row, err error) {
	if c.over.Load() {
		return nil, fmt.Errorf("producer %q: %w", c.name, samplecache.ErrClosed)
	}
	err = c.s.call(func() (err error) {
		r, err = c.reserve(number)
		if err == errNoStore && c.s.searched.over(searchPause) {
			time.AfterFunc(searchPause, c.s.hear) // a reader that is not of this package tells nobody
			if err = c.s.locked(ctx, c.s.settle); err == nil {
				r, err = c.reserve(number)
			}
		}
		return err
	})
	if err == errNoStore {
		err = c.s.blocked("room for the next generation")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// searchPause is how often a store for the next generation is looked for while there is none.
const searchPause = 500 * time.Millisecond

// errNoStore says that the next generation has no store yet.
var errNoStore = errors.New("no store")

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
		return nil, errNoStore
	case !ok:
		return nil, s.blockedReserve()
	}
	passing("reserved")
	if r.w, err = s.writer(r.generation); err != nil {
		return nil, errors.Join(err, r.free())
	}
	s.mu.Lock()
	s.rows[r] = true
	s.mu.Unlock()
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
		td.LockBecause("its leaves are places in the cache: write their elements, as by CopyFrom")
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

// A place lends the file of a leaf to the sample of a row, until the row is committed or aborted. It
// implements tensor.Lender.
type place struct {
	row  *row
	file *mapfile.File
}

// Borrow implements tensor.Lender.
func (p *place) Borrow() ([]byte, error) {
	if !p.row.gate.enter() {
		return nil, fmt.Errorf("%v: %w: the slot was committed or aborted", p, samplecache.ErrClosed)
	}
	b, err := p.file.Borrow()
	if err != nil {
		p.row.gate.leave()
	}
	return b, err
}

// Return implements tensor.Lender.
func (p *place) Return() {
	p.file.Return()
	p.row.gate.leave()
}

// Pin implements tensor.Lender.
func (p *place) Pin() ([]byte, error) {
	if _, err := p.Borrow(); err != nil {
		return nil, err
	}
	defer p.Return()
	_ = p.Touch() // it never fails
	return p.file.Pin()
}

// ReadOnly implements tensor.Lender.
func (p *place) ReadOnly() bool { return false }

// Identity says what is the same memory; see tensor.Lender.
func (p *place) Identity() any { return p.file.Identity() }

// Intact says whether the file was cut; see tensor.Lender.
func (p *place) Intact() error { return p.file.Intact() }

// Touch is called before elements are written; see tensor.Lender.
func (p *place) Touch() error {
	p.row.mu.Lock()
	defer p.row.mu.Unlock()
	p.row.sums = nil
	return nil
}

// String names the place in errors.
func (p *place) String() string {
	return fmt.Sprintf("slot %d of generation %d in %s", p.row.slot, p.row.generation, p.row.s.dir)
}

// blockBytes is how many bytes are copied, and then summed while they are near.
const blockBytes = 128 << 10

// A filler copies what is written to it, and sums it.
type filler struct {
	to  []byte
	sum uint32
}

// Write implements io.Writer.
func (f *filler) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		part := copy(f.to, p[n:min(n+blockBytes, len(p))])
		f.sum = crc32.Update(f.sum, castagnoli, f.to[:part])
		f.to, n = f.to[part:], n+part
	}
	return n, nil
}

// Fill implements samplecache.Row.
func (r *row) Fill(td *tdict.TensorDict) error {
	if !r.gate.enter() {
		return fmt.Errorf("fill: %w: the slot was committed or aborted", samplecache.ErrClosed)
	}
	defer r.gate.leave()
	sums := make([]uint32, len(r.s.fixed.Schema))
	for i, l := range r.s.fixed.Schema {
		x, err := tdict.Get[*tensor.Tensor](td, l.Key)
		if err == nil && l.bytes > 0 {
			sums[i], err = r.copy(i, l.bytes, x)
		}
		if err != nil {
			return fmt.Errorf("fill: %q: %w", l.Key, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums = sums
	return nil
}

// copy copies the elements of a leaf.
func (r *row) copy(leaf, size int, x *tensor.Tensor) (sum uint32, err error) {
	err = r.bytes(leaf, size, func(to []byte) error {
		f := filler{to: to}
		_, err := x.WriteTo(&f)
		sum = f.sum
		return err
	})
	return sum, err
}

// bytes calls fn with the memory of a leaf.
func (r *row) bytes(leaf, size int, fn func(b []byte) error) (err error) {
	file := r.w.files[leaf]
	b, err := file.Borrow()
	if err != nil {
		return err
	}
	defer file.Return()
	failed := mapping.Guard(func() { err = fn(b[r.slot*size:][:size]) })
	return errors.Join(failed, err, file.Intact())
}

// Commit implements samplecache.Row.
func (r *row) Commit(ctx context.Context) error {
	return r.s.call(func() error {
		if done, err := r.shut(ctx); done || err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := r.commit(); err != nil {
			r.gate.open()
			return fmt.Errorf("commit: %w", err)
		}
		r.committed = true
		r.s.forgetRow(r)
		r.s.publishDue(ctx)
		return nil
	})
}

// shut waits until nobody writes the sample. It reports whether that is committed already.
func (r *row) shut(ctx context.Context) (done bool, err error) {
	first, err := r.gate.closeWait(ctx)
	if err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	if first {
		return false, nil
	}
	r.mu.Lock() // another may be at it
	defer r.mu.Unlock()
	if !r.committed {
		return false, fmt.Errorf("commit: %w: the slot was aborted", samplecache.ErrClosed)
	}
	return true, nil
}

// commit writes the record of the sample and makes it one of the generation. It cannot be undone
// then: a process that is killed before the producer's number counts has it counted by others.
func (r *row) commit() error {
	if err := r.record(); err != nil {
		return err
	}
	passing("recorded")
	committed := false
	err := r.s.use(func(w words) { committed = r.s.layout.commit(w, r.generation, r.s.me, r.slot) })
	if err != nil {
		return err
	}
	if !committed {
		return r.s.fail(controlName, fmt.Errorf("%w: slot %d is not ours any more", samplecache.ErrCorrupt, r.slot))
	}
	passing("committed")
	if r.claim.name != "" {
		err = r.s.use(func(w words) { r.s.done(w, r.claim.entry, r.number) })
	}
	passing("counted")
	return err
}

// record writes the record, with the sums.
func (r *row) record() error {
	b, err := r.w.records.Acquire()
	if err != nil {
		return err
	}
	defer r.w.records.Release()
	sums, err := r.summed()
	if err != nil {
		return err
	}
	rec := rowRecord(b, r.slot, len(sums))
	entry := uint64(noProducer)
	if r.claim.name != "" {
		entry = uint64(r.claim.entry)
	}
	err = mapping.Guard(func() {
		for i, sum := range sums {
			rec.setSum(i, sum)
		}
		rec.put(r.generation, r.number, entry, r.claim.name, time.Now())
	})
	if err == nil && r.s.fixed.Config.Durable {
		err = r.flush(len(sums))
	}
	return err
}

// summed returns the sums of the leaves.
func (r *row) summed() (sums []uint32, err error) {
	if r.sums != nil {
		return r.sums, nil
	}
	sums = make([]uint32, len(r.s.fixed.Schema))
	for i, l := range r.s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		err := r.bytes(i, l.bytes, func(b []byte) error {
			sums[i] = crc32.Checksum(b, castagnoli)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// flush makes the sample and its record durable.
func (r *row) flush(leaves int) error {
	for i, l := range r.s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		if err := r.w.files[i].FlushRange(r.slot*l.bytes, l.bytes); err != nil {
			return err
		}
	}
	size := recordSize(leaves)
	return r.w.records.FlushRange(recordsHeader+r.slot*size, size)
}

// Abort implements samplecache.Row.
func (r *row) Abort() error {
	return r.s.call(func() error {
		empty, first := r.gate.close()
		if !first {
			return fmt.Errorf("abort: %w: the slot was committed or aborted", samplecache.ErrClosed)
		}
		r.s.forgetRow(r)
		select {
		case <-empty:
			return r.free()
		default:
		}
		go func() { // whoever writes it may be the one who calls
			<-empty
			_ = r.s.call(r.free) // Close frees it, too
		}()
		return nil
	})
}

// free gives the slot back.
func (r *row) free() error {
	err := r.s.use(func(w words) { r.s.layout.free(w, r.generation, r.s.me, r.slot) })
	r.s.tell()
	return err
}

// forgetRow takes a row off those that Close ends.
func (s *session) forgetRow(r *row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, r)
}
