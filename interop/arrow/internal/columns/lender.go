package columns

import (
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/tensor"
)

// A lender lends the memory of a buffer, which it retains until no tensor uses it. If a slice of it
// was given away, it is never released.
type lender struct {
	buffer *memory.Buffer
	once   sync.Once
	end    runtime.Cleanup
}

var _ tensor.Lender = (*lender)(nil)

// lend returns a lender of a buffer.
func lend(b *memory.Buffer) *lender {
	b.Retain()
	l := &lender{buffer: b}
	l.end = runtime.AddCleanup(l, (*memory.Buffer).Release, b)
	return l
}

// Borrow implements tensor.Lender.
func (l *lender) Borrow() ([]byte, error) { return l.buffer.Bytes(), nil }

// Return implements tensor.Lender.
func (l *lender) Return() { runtime.KeepAlive(l) }

// Pin implements tensor.Lender.
func (l *lender) Pin() ([]byte, error) {
	l.once.Do(l.end.Stop)
	return l.buffer.Bytes(), nil
}

// ReadOnly implements tensor.Lender: arrays do not change.
func (l *lender) ReadOnly() bool { return true }

// Identity returns a value that is equal for lenders of the same memory.
func (l *lender) Identity() any { return cast.Address(l.buffer.Bytes()) }

func (l *lender) String() string { return "Arrow buffer" }
