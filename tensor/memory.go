package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// A Lender owns memory that Go does not manage, such as a mapped file, and lends it to tensors. Its methods are
// safe for concurrent use. It must be comparable; two tensors are taken to share memory if their Lenders are equal, or if
// one has a method SameMemory(Lender) bool that says so of the other. A Lender that is a fmt.Stringer is named in errors.
type Lender interface {
	// Borrow returns the memory, valid until the matching Return, or an error if there is none, now or any more.
	Borrow() ([]byte, error)
	// Return ends a Borrow.
	Return()
	// Pin returns the memory, valid until the owner ends it: a slice that escapes to the user.
	Pin() ([]byte, error)
	// ReadOnly reports whether the memory must not be written.
	ReadOnly() bool
}

// memory is what the elements of a tensor lie in: a slice, or what a lender lends.
type memory struct {
	bytes  []byte
	lender Lender
	size   int // bytes that the lender must lend
}

// borrow returns the bytes of m; giveBack must follow.
func (m memory) borrow() ([]byte, error) {
	if m.lender == nil {
		return m.bytes, nil
	}
	b, err := m.lender.Borrow()
	if err != nil {
		return nil, err
	}
	if len(b) < m.size {
		m.lender.Return()
		return nil, m.short(b)
	}
	return b, nil
}

func (m memory) giveBack() {
	if m.lender != nil {
		m.lender.Return()
	}
}

// pin returns the bytes of m for good.
func (m memory) pin() ([]byte, error) {
	if m.lender == nil {
		return m.bytes, nil
	}
	b, err := m.lender.Pin()
	if err == nil && len(b) < m.size {
		err = m.short(b)
	}
	return b, err
}

func (m memory) short(b []byte) error {
	return fmt.Errorf("%w: got %d bytes lent, want %d", ErrLayout, len(b), m.size)
}

// sameLender reports whether two lenders, of which one may be nil, lend the same memory.
func sameLender(a, b Lender) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	knows, ok := a.(interface{ SameMemory(Lender) bool })
	return ok && knows.SameMemory(b)
}

func (m memory) readOnly() bool { return m.lender != nil && m.lender.ReadOnly() }

// use calls fn with the bytes of m. A fault in lent memory, as of a file that another process cut, is an error.
func (m memory) use(fn func(b []byte)) error {
	b, err := m.borrow()
	if err != nil {
		return err
	}
	defer m.giveBack()
	if m.lender == nil {
		fn(b)
		return nil
	}
	return m.fault(mapping.Guard(func() { fn(b) }))
}

// fault adds the name of the lender, if it has one, to the error of a fault.
func (m memory) fault(err error) error {
	if name, ok := m.lender.(fmt.Stringer); ok && err != nil {
		return fmt.Errorf("%v: %w", name, err)
	}
	return err
}
