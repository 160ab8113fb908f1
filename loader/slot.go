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

// A slot is a batch and its memory.
type slot struct {
	rows sampler.Batch
	once []int             // memory for maker.fetched
	kept *tdict.TensorDict // destination of the next Fetch
	held int               // size of kept in bytes
	last *tdict.TensorDict // result of the last Fetch, if it was not kept
	mem  Memory

	into *tdict.TensorDict // memory from Options.Into; nil without

	batch *tdict.TensorDict // the batch for the loop
	bytes int               // size of batch
	took  time.Duration     // time to make batch
}

// destination returns memory for n rows, or nil if kept has fewer.
func (s *slot) destination(n int) *tdict.TensorDict {
	if s.kept == nil || s.kept.Shape()[0] < n {
		return nil
	}
	if s.kept.Shape()[0] == n {
		return s.kept
	}
	room, err := s.kept.Index(ix.Range(0, n))
	if err != nil {
		return nil // the source will allocate
	}
	return room
}

// keep makes td the destination of later fetches, unless kept has more rows.
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

// replace replaces the batch by fn(batch). what names fn, a function of the user, in errors.
func (s *slot) replace(what string, fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) error {
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

// poison overwrites the memory that will be reused.
func (s *slot) poison() {
	for _, x := range s.mem.made {
		poisonTensor(x)
	}
	for _, td := range []*tdict.TensorDict{s.kept, s.last} {
		if td != nil {
			poisonLeaves(td)
		}
	}
}

// poisonLeaves overwrites the elements of a dictionary.
func poisonLeaves(td *tdict.TensorDict) {
	for _, leaf := range td.Leaves() {
		switch x := leaf.(type) {
		case *tensor.Tensor:
			poisonTensor(x)
		case *ragged.Tensor:
			if values, err := x.Values(); err == nil { // memory that cannot be read is not reused
				poisonTensor(values)
			}
		}
	}
}

// poisonTensor overwrites the elements of x with an unlikely value: NaN, the least integer, the
// largest unsigned integer, or true.
func poisonTensor(x *tensor.Tensor) {
	value, ok := map[tensor.DType]any{
		tensor.Bool: true,
		tensor.Int8: math.MinInt8, tensor.Int16: math.MinInt16, tensor.Int32: math.MinInt32, tensor.Int64: math.MinInt64,
		tensor.Uint8: math.MaxUint8, tensor.Uint16: math.MaxUint16, tensor.Uint32: math.MaxUint32, tensor.Uint64: uint64(math.MaxUint64),
	}[x.DType()]
	if !ok {
		value = math.NaN()
	}
	_ = arith.FillInPlace(x, value) // memory that cannot be written to is not reused
}

// A pool holds the slots that are not in use. Safe for concurrent use.
type pool struct {
	limit int // on the bytes of their memory; 0 means no limit

	mu    sync.Mutex
	free  []*slot
	bytes int // size of the memory of free
}

// get returns a slot that is not in use.
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

// put returns a slot to the pool, and drops its memory if the limit is reached.
func (p *pool) put(s *slot) {
	s.batch, s.last, s.into = nil, nil, nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit > 0 && p.bytes+s.held > p.limit && len(p.free) > 0 {
		s.kept, s.held, s.mem = nil, 0, Memory{}
	}
	p.bytes += s.held
	p.free = append(p.free, s)
}
