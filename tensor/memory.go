package tensor

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// A Lender owns memory that Go does not manage, such as a mapped file, and lends it to tensors. Its
// methods must be safe for concurrent use, and its type comparable: mostly a pointer. A Lender that
// is a fmt.Stringer is named in errors.
//
// It lends the same bytes each time, and loans nest: an operation may borrow again what it has
// borrowed. Elements that are not aligned for their type can be copied, and read through [Read] and
// [Map]; [Of] refuses them.
//
// Two tensors are taken to share memory only if their Lenders are equal, unless a Lender says more
// by a method Identity() any, whose comparable result is equal for Lenders of the same memory.
//
// A Lender whose memory can vanish without a fault, as that of a file that is cut, says so by a
// method Intact() error, which an operation calls after it has read or written the memory and
// before it gives it back; its error is that of the operation. One that keeps facts about its
// memory, such as checksums, says so by a method Touch() error, which an operation calls between
// Borrow and writing to the memory; after an error nothing is written.
type Lender interface {
	// Borrow returns the memory, valid until the matching Return, or an error if there is none, now
	// or any more. No Return follows an error.
	Borrow() ([]byte, error)
	// Return ends a Borrow.
	Return()
	// Pin returns the memory, valid until the owner ends it: a slice that escapes to the user. No
	// Return follows.
	Pin() ([]byte, error)
	// ReadOnly reports whether the memory must not be written.
	ReadOnly() bool
}

// memory is what the elements of a tensor lie in: a slice, or what was lent.
type memory struct {
	bytes []byte
	loan  *loan // or nil, if Go manages the memory
}

// A loan is a part of what a lender lends.
type loan struct {
	lender Lender
	start  int    // bytes of the lender's memory before the part
	size   int    // bytes of the part
	held   []byte // the part, if it is borrowed for as long as the loan is used
}

// borrow returns the bytes of m; giveBack must follow.
func (m memory) borrow() ([]byte, error) {
	if m.loan == nil {
		return m.bytes, nil
	}
	if m.loan.held != nil {
		return m.loan.held, nil
	}
	b, err := m.loan.lender.Borrow()
	if err != nil {
		return nil, err
	}
	if b, err = m.loan.part(b); err != nil {
		m.loan.lender.Return()
	}
	return b, err
}

// borrowToWrite is borrow of memory that is going to be written.
func (m memory) borrowToWrite() ([]byte, error) {
	b, err := m.borrow()
	if err != nil || m.loan == nil {
		return b, err
	}
	if l, ok := m.loan.lender.(interface{ Touch() error }); ok {
		if err := l.Touch(); err != nil {
			m.giveBack()
			return nil, err
		}
	}
	return b, nil
}

func (m memory) giveBack() {
	if m.loan != nil && m.loan.held == nil {
		m.loan.lender.Return()
	}
}

// hold returns m borrowed in that way once for all that is done with the result, so that its lender
// can refuse none of it, until release.
func (m memory) hold(borrow func(memory) ([]byte, error)) (held memory, release func(), err error) {
	b, err := borrow(m)
	if err != nil || m.loan == nil {
		return m, m.giveBack, err
	}
	return memory{loan: &loan{m.loan.lender, m.loan.start, m.loan.size, b}}, m.giveBack, nil
}

// pin returns the bytes of m for good.
func (m memory) pin() ([]byte, error) {
	if m.loan == nil {
		return m.bytes, nil
	}
	b, err := m.loan.lender.Pin()
	if err != nil {
		return nil, err
	}
	return m.loan.part(b)
}

// part returns the bytes of the loan, given all that the lender lends.
func (m *loan) part(b []byte) ([]byte, error) {
	if len(b) < m.start || len(b)-m.start < m.size {
		return nil, m.named(fmt.Errorf("%w: got %d bytes lent, want %d", ErrLayout, len(b), m.start+m.size))
	}
	return b[m.start : m.start+m.size : m.start+m.size], nil
}

// identity returns what is equal for lenders of the same memory, as far as they say.
func identity(l Lender) any {
	if known, ok := l.(interface{ Identity() any }); ok {
		return known.Identity()
	}
	return l
}

// shift returns how many bytes after the start of a that of b lies, and whether they share a byte.
func shift(a, b memory) (int, bool) {
	if a.loan == nil || b.loan == nil {
		return cast.Shift(a.bytes, b.bytes)
	}
	x, y := a.loan, b.loan
	apart := x.start+x.size <= y.start || y.start+y.size <= x.start
	empty := x.size == 0 || y.size == 0
	return y.start - x.start, !apart && !empty && identity(x.lender) == identity(y.lender)
}

// checkWritable returns ErrReadOnly, with what to do, if m must not be written.
func (m memory) checkWritable() error {
	if m.loan == nil || !m.loan.lender.ReadOnly() {
		return nil
	}
	if name, ok := m.loan.lender.(fmt.Stringer); ok {
		return fmt.Errorf("%w: %v: Clone it; of a memmap dataset, open with Writable", ErrReadOnly, name)
	}
	return fmt.Errorf("%w: Clone it; of a memmap dataset, open with Writable", ErrReadOnly)
}

// use calls fn with the bytes of t's memory, to read them. A fault in lent memory, as of a file
// that another process cut, is an error, and so is memory that was not all there. fn uses t's
// elements only.
func (t *Tensor) use(fn func(b []byte)) error { return t.useBy(memory.borrow, fn) }

// useBy is use by a way to borrow the memory.
func (t *Tensor) useBy(borrow func(memory) ([]byte, error), fn func(b []byte)) error {
	m := t.mem
	b, err := borrow(m)
	if err != nil {
		return err
	}
	defer m.giveBack()
	if m.loan == nil {
		fn(b)
		return nil
	}
	err = nameFault(mapping.Guard(func() { fn(b) }), b, m, nil, memory{})
	if err == nil && t.Size() > 0 {
		err = new(inquiry).intact(m, memory{})
	}
	return err
}

// useBoth is use of two tensors, which returns the error of fn.
func useBoth(t, u *Tensor, fn func(p, q []byte) error) error {
	a, b := t.mem, u.mem
	p, err := a.borrow()
	if err != nil {
		return err
	}
	defer a.giveBack()
	q, err := b.borrow()
	if err != nil {
		return err
	}
	defer b.giveBack()
	var failed error
	err = guarded(a, b, func() { failed = fn(p, q) })
	if err = nameFault(cmp.Or(err, failed), p, a, q, b); err == nil && t.Size() > 0 {
		err = new(inquiry).intact(a, b)
	}
	return err
}

// guarded calls fn, in which a fault is an error if one of two memories was lent.
func guarded(a, b memory, fn func()) error {
	if a.loan == nil && b.loan == nil {
		fn()
		return nil
	}
	return mapping.Guard(fn)
}

// An inquiry asks lenders whether their memory was all there, but not again one of the last two
// that it asked: those of a copy's sides.
type inquiry struct{ last, before Lender }

// intact returns the error of the first of two memories that was not all there.
func (q *inquiry) intact(a, b memory) error {
	if err := q.ask(a); err != nil {
		return err
	}
	return q.ask(b)
}

func (q *inquiry) ask(m memory) error {
	if m.loan == nil || m.loan.lender == q.last || m.loan.lender == q.before {
		return nil
	}
	q.last, q.before = m.loan.lender, q.last
	if l, ok := q.last.(interface{ Intact() error }); ok {
		return l.Intact()
	}
	return nil
}

// nameFault adds to the error of a fault the name of the lender, if it has one, in whose bytes it
// happened: p are those of a, and q those of b.
func nameFault(err error, p []byte, a memory, q []byte, b memory) error {
	switch {
	case err == nil:
		return nil
	case a.loan != nil && holds(p, err):
		return a.loan.named(err)
	case b.loan != nil && holds(q, err):
		return b.loan.named(err)
	}
	return err
}

// named adds the name of the lender, if it has one, to an error.
func (m *loan) named(err error) error {
	if name, ok := m.lender.(fmt.Stringer); ok {
		return fmt.Errorf("%v: %w", name, err)
	}
	return err
}

// canCompare reports whether a lender can be compared with others.
func canCompare(l Lender) (ok bool) {
	defer func() { ok = recover() == nil }()
	return any(l) == any(l)
}

// holds reports whether the fault that err tells of happened in b.
func holds(b []byte, err error) bool {
	fault, ok := errors.AsType[*mapping.FaultError](err)
	return ok && cast.Contains(b, fault.Addr)
}
