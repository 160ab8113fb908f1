package tdparquet

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// An allocator counts the memory that the library has. It panics with ErrMemory instead of giving
// more than most bytes; message.Try turns that into an error. Safe for concurrent use.
type allocator struct {
	memory.GoAllocator
	most int64
	used atomic.Int64
}

func (a *allocator) take(n int) {
	if used := a.used.Add(int64(n)); used > a.most {
		a.used.Add(int64(-n))
		panic(fmt.Errorf("%w: decoding takes %d bytes, want at most %d: raise MaxMemory, or set Rows to fewer rows", ErrMemory, used, a.most))
	}
}

// Allocate implements memory.Allocator.
func (a *allocator) Allocate(n int) []byte {
	a.take(n)
	return a.GoAllocator.Allocate(n)
}

// Reallocate implements memory.Allocator.
func (a *allocator) Reallocate(n int, b []byte) []byte {
	a.take(n)
	a.used.Add(int64(-len(b)))
	return a.GoAllocator.Reallocate(n, b)
}

// Free implements memory.Allocator.
func (a *allocator) Free(b []byte) { a.used.Add(int64(-len(b))) }

// lent is the memory of a batch, which is Go's. It does not keep the batch from being released.
type lent struct{ b []byte }

var _ tensor.Lender = (*lent)(nil)

// lend returns the memory of a buffer.
func lend(b *memory.Buffer) (tensor.Lender, int) { return &lent{b.Bytes()}, 0 }

func (l *lent) Borrow() ([]byte, error) { return l.b, nil }
func (l *lent) Return()                 {}
func (l *lent) Pin() ([]byte, error)    { return l.b, nil }
func (l *lent) ReadOnly() bool          { return true }
func (l *lent) Identity() any           { return cast.Address(l.b) }
func (l *lent) String() string          { return "a batch of Parquet" }
