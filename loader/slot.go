package loader

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A slot is a batch and the memory that it is made in.
type slot struct {
	rows sampler.Batch
	once []int             // rows without repetitions, where these are not the same
	kept *tdict.TensorDict // what rows are fetched into
	held int               // bytes of kept
	last *tdict.TensorDict // what was fetched last, if it was not into that
	mem  Memory

	batch *tdict.TensorDict // what the loop is given
	bytes int               // of batch
	took  time.Duration     // to make it
}

// room returns memory for n rows, nil if there is not as much.
func (s *slot) room(n int) *tdict.TensorDict {
	if s.kept == nil || s.kept.Shape()[0] < n {
		return nil
	}
	if s.kept.Shape()[0] == n {
		return s.kept
	}
	room, err := s.kept.Index(ix.Range(0, n))
	if err != nil {
		return nil // a source will make other memory
	}
	return room
}

// keep has rows fetched into the memory of td from now on, unless there is more.
func (s *slot) keep(td *tdict.TensorDict) {
	s.last = td
	if s.kept == nil || s.kept.Shape()[0] <= td.Shape()[0] {
		s.kept, s.held = td, td.ByteSize()
	}
}

// memory returns the memory for Collate.
func (s *slot) memory(own bool) *Memory {
	s.mem.own, s.mem.made = own, s.mem.made[:0]
	return &s.mem
}

// become has the batch be what a function of a user makes of it.
func (s *slot) become(what string, fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) error {
	err := workers.Call(func() (err error) {
		if s.batch, err = fn(s.batch); err == nil && s.batch == nil {
			err = fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// poison overwrites the memory that will be used again.
func (s *slot) poison() {
	for _, x := range s.mem.made {
		spoil(x)
	}
	for _, td := range []*tdict.TensorDict{s.kept, s.last} {
		if td != nil {
			spoilLeaves(td)
		}
	}
}

// spoilLeaves overwrites the elements of a dictionary with rubbish.
func spoilLeaves(td *tdict.TensorDict) {
	for _, leaf := range td.Leaves() {
		switch x := leaf.(type) {
		case *tensor.Tensor:
			spoil(x)
		case *ragged.Tensor:
			if values, err := x.Values(); err == nil { // what cannot be read is not used again
				spoil(values)
			}
		}
	}
}

// spoil overwrites elements with what is hardly a value: NaN, the least integer, the largest of
// those without a sign, true.
func spoil(x *tensor.Tensor) {
	rubbish, ok := map[tensor.DType]any{
		tensor.Bool: true,
		tensor.Int8: math.MinInt8, tensor.Int16: math.MinInt16, tensor.Int32: math.MinInt32, tensor.Int64: math.MinInt64,
		tensor.Uint8: math.MaxUint8, tensor.Uint16: math.MaxUint16, tensor.Uint32: math.MaxUint32, tensor.Uint64: uint64(math.MaxUint64),
	}[x.DType()]
	if !ok {
		rubbish = math.NaN()
	}
	_ = arith.FillInPlace(x, rubbish) // what cannot be written to is not used again
}

// A pool has the slots that are not in use. Safe for concurrent use.
type pool struct {
	limit int // of the bytes of their memory; 0 for none

	mu    sync.Mutex
	free  []*slot
	bytes int // of the memory of free
}

// get returns a slot that nobody uses.
func (p *pool) get() *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return &slot{}
	}
	s := p.free[n-1]
	p.free = p.free[:n-1]
	p.bytes -= s.held
	return s
}

// put gives a slot back, without its memory if there is enough already.
func (p *pool) put(s *slot) {
	s.batch, s.last = nil, nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit > 0 && p.bytes+s.held > p.limit && len(p.free) > 0 {
		s.kept, s.held, s.mem = nil, 0, Memory{}
	}
	p.bytes += s.held
	p.free = append(p.free, s)
}
