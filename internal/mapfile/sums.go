package mapfile

import (
	"cmp"
	"hash/crc32"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// Sums are checksums of the memory of a [File] or of a [Part], which are compared before elements
// are read. Each block is compared once. Several parts may have the same Sums. Safe for concurrent
// use.
type Sums struct {
	Start, Size int          // the bytes of the memory that have sums
	Block       int          // bytes of a block; the last one may be shorter
	Want        []uint32     // of the blocks
	Table       *crc32.Table // the polynomial
	// Differs returns the error for a block that differs from its sum, or nil if it is sound after
	// all.
	Differs func(block int, got, want uint32) error

	mu   sync.Mutex
	done []bool // blocks that were compared
}

// check compares the blocks of the memory b that have bytes from low to high.
func (s *Sums) check(b []byte, low, high int) error {
	low, high = max(low-s.Start, 0), min(high-s.Start, s.Size)
	if low >= high {
		return nil
	}
	if n := (s.Size-1)/s.Block + 1; len(s.Want) != n {
		return fileformat.Corrupt("got %d checksums, want %d", len(s.Want), n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make([]bool, len(s.Want))
	}
	for i := low / s.Block; i <= (high-1)/s.Block; i++ {
		if s.done[i] {
			continue
		}
		if err := s.compare(b, i); err != nil {
			return err
		}
		s.done[i] = true
	}
	return nil
}

// compare compares one block.
func (s *Sums) compare(b []byte, i int) error {
	b = b[s.Start:][:s.Size]
	b = b[i*s.Block : min(len(b), (i+1)*s.Block)]
	var got uint32
	if err := mapping.Guard(func() { got = crc32.Checksum(b, s.Table) }); err != nil {
		return err
	}
	if got == s.Want[i] {
		return nil
	}
	return s.Differs(i, got, s.Want[i])
}

// A compared is the Sums that reads of a lender compare, while somebody wants that.
type compared struct {
	sums atomic.Pointer[Sums]

	mu    sync.Mutex
	users int // calls of Compare without one of EndCompare
}

// Compare makes reads compare sums, until each call of it was followed by an EndCompare. It calls
// make for the sums unless reads compare already; make may return nil.
func (c *compared) Compare(make func() *Sums) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users++; c.users == 1 {
		c.sums.Store(make())
	}
}

// EndCompare ends a Compare.
func (c *compared) EndCompare() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		c.sums.Store(nil)
	}
}

// Checking implements the optional method of tensor.Lender.
func (c *compared) Checking() bool { return c.sums.Load() != nil }

// Check implements the optional method of tensor.Lender.
func (f *File) Check(low, high int) error {
	return f.named("read", f.sums.Load().checkIn(f.mapped.Load(), low, high))
}

// Check implements the optional method of tensor.Lender.
func (p *Part) Check(low, high int) error {
	return p.named("read", p.sums.Load().checkIn(p.of.mapped.Load(), low, high))
}

// checkIn is check of the memory of a mapping.
func (s *Sums) checkIn(m *mapping.Mapping, low, high int) error {
	if s == nil { // the last EndCompare has come
		return nil
	}
	b, err := m.Acquire()
	if err != nil {
		return err
	}
	defer m.Release()
	if err = s.check(b, low, high); err != nil {
		return cmp.Or(m.Intact(), err) // a truncated file differs too
	}
	return nil
}
