package tensor

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// A Lender owns memory that Go does not manage, such as a mapped file, and lends it to tensors. Its
// methods must be safe for concurrent use, and its type must be comparable, usually a pointer. If a
// Lender implements fmt.Stringer, error messages include its String.
//
// A Lender returns the same bytes each time. Loans nest: an operation may borrow memory that it has
// borrowed already. Elements that are not aligned for their type can be copied, and read through
// [Read] and [Map]; [Of] refuses them.
//
// Optional methods:
//
//   - Identity() any: returns a comparable value. Two Lenders have the same memory if they are
//     equal, or if the results of their Identity are equal.
//   - Intact() error: for memory that can vanish without a fault, for example when another process
//     truncates a mapped file within its last page. An operation calls it after it has used the
//     memory and before Return, and returns its error.
//   - Touch() error: for a Lender that keeps facts about its memory, such as checksums. An
//     operation calls it after Borrow and before it writes; after an error it writes nothing.
//   - Checking() bool and Check(low, high int) error: for a Lender that compares its memory with
//     checksums. If Checking returns true, an operation calls Check after Borrow and before it
//     reads the bytes from low to high, and perhaps more than it reads; it returns the error of
//     Check.
type Lender interface {
	// Borrow returns the memory, valid until the matching Return. It returns an error if the memory
	// is not available yet or no longer; Return is not called after an error.
	Borrow() ([]byte, error)
	// Return ends a Borrow.
	Return()
	// Pin returns the memory for a slice that is given to the user. The memory stays valid until
	// its owner releases it, for example by Close. Return is not called for it.
	Pin() ([]byte, error)
	// ReadOnly reports whether the memory must not be written.
	ReadOnly() bool
}

// memory holds the elements of a tensor: a Go slice, or a loan.
type memory struct {
	bytes []byte
	loan  *loan // or nil, if Go manages the memory
}

// A loan is a part of a lender's memory.
type loan struct {
	lender Lender
	start  int    // offset of the part in the lender's memory, in bytes
	size   int    // size of the part in bytes
	held   []byte // the part, if it is borrowed for the lifetime of the loan
	check  checker
}

// A checker is a Lender that compares its memory with checksums, see [Lender].
type checker interface {
	Checking() bool
	Check(low, high int) error
}

// newLoan returns the loan of size bytes of a lender's memory, from start on.
func newLoan(lender Lender, start, size int) *loan {
	check, _ := lender.(checker)
	return &loan{lender: lender, start: start, size: size, check: check}
}

// checking reports whether the memory is to be checked before it is read.
func (m memory) checking() bool {
	return m.loan != nil && m.loan.held == nil && m.loan.check != nil && m.loan.check.Checking()
}

// borrowPart is borrow for an operation that reads only the bytes from low to high.
func (m memory) borrowPart(low, high int) ([]byte, error) {
	b, err := m.borrowUnchecked()
	if err == nil && low < high && m.checking() {
		if err = m.loan.check.Check(m.loan.start+low, m.loan.start+high); err != nil {
			m.giveBack()
			return nil, err
		}
	}
	return b, err
}

// borrow returns the bytes of m; giveBack must follow.
func (m memory) borrow() ([]byte, error) {
	if !m.checking() {
		return m.borrowUnchecked()
	}
	return m.borrowPart(0, m.loan.size)
}

// borrowUnchecked is borrow without a check of what is to be read.
func (m memory) borrowUnchecked() ([]byte, error) {
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

// borrowToWrite is borrow for writing.
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

// hold calls borrow once, and returns m with that loan held until release is called. Operations on
// the result cannot fail to borrow.
func (m memory) hold(borrow func(memory) ([]byte, error)) (held memory, release func(), err error) {
	b, err := borrow(m)
	if err != nil || m.loan == nil {
		return m, m.giveBack, err
	}
	return memory{loan: &loan{lender: m.loan.lender, start: m.loan.start, size: m.loan.size, held: b}}, m.giveBack, nil
}

// pin returns the bytes of m, which stay valid until the owner ends them.
func (m memory) pin() ([]byte, error) {
	if m.loan == nil {
		return m.bytes, nil
	}
	if m.checking() {
		if _, err := m.borrow(); err != nil {
			return nil, err
		}
		defer m.giveBack()
	}
	b, err := m.loan.lender.Pin()
	if err != nil {
		return nil, err
	}
	return m.loan.part(b)
}

// part returns the loan's part of b, the lender's memory.
func (m *loan) part(b []byte) ([]byte, error) {
	if len(b) < m.start || len(b)-m.start < m.size {
		return nil, m.named(fmt.Errorf("%w: got %d bytes lent, want %d", ErrLayout, len(b), m.start+m.size))
	}
	return b[m.start : m.start+m.size : m.start+m.size], nil
}

// identity returns a value that is equal for lenders that say they have the same memory.
func identity(l Lender) any {
	if known, ok := l.(interface{ Identity() any }); ok {
		return known.Identity()
	}
	return l
}

// shift returns the offset of b's start from a's start in bytes, and whether a and b share a byte.
func shift(a, b memory) (int, bool) {
	if a.loan == nil || b.loan == nil {
		return cast.Shift(a.bytes, b.bytes)
	}
	x, y := a.loan, b.loan
	apart := x.start+x.size <= y.start || y.start+y.size <= x.start
	empty := x.size == 0 || y.size == 0
	return y.start - x.start, !apart && !empty && identity(x.lender) == identity(y.lender)
}

// checkWritable returns ErrReadOnly, which says what to do, if m is read-only.
func (m memory) checkWritable() error {
	if m.loan == nil || !m.loan.lender.ReadOnly() {
		return nil
	}
	if name, ok := m.loan.lender.(fmt.Stringer); ok {
		return fmt.Errorf("%w: %v: Clone the tensor, or open the dataset with Writable", ErrReadOnly, name)
	}
	return fmt.Errorf("%w: Clone the tensor, or open the dataset with Writable", ErrReadOnly)
}

// use calls fn with the bytes of t's memory, to read them. A fault in lent memory is an error, as
// when another process truncated the file, and so is an error of Intact. fn reads only t's
// elements.
func (t *Tensor) use(fn func(b []byte)) error {
	if !t.mem.checking() {
		return t.useBy(memory.borrow, fn)
	}
	low, high := t.span()
	return t.useBy(func(m memory) ([]byte, error) { return m.borrowPart(low, high) }, fn)
}

// span returns the range of bytes of t's memory that has its elements.
func (t *Tensor) span() (low, high int) {
	if t.Size() == 0 {
		return 0, 0
	}
	low, high = t.view.Offset, t.view.Offset
	for dim, n := range t.view.Shape {
		if last := (n - 1) * t.view.Strides[dim]; last < 0 {
			low += last
		} else {
			high += last
		}
	}
	width := t.dtype.Size()
	return low * width, (high + 1) * width
}

// useBy is use with the given way to borrow memory.
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

// useBoth is use of two tensors. It returns the error of fn.
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

// guarded calls fn. If one of two memories is lent, a fault in fn is an error.
func guarded(a, b memory, fn func()) error {
	if a.loan == nil && b.loan == nil {
		fn()
		return nil
	}
	return mapping.Guard(fn)
}

// An inquiry calls Intact of lenders. It skips the last two lenders that it asked, which are the
// two sides of most copies.
type inquiry struct{ last, before Lender }

// intact returns the error of Intact, of a first.
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

// nameFault adds to a fault's error the name of the lender in whose bytes it happened: p is the
// memory of a, q of b.
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

// named adds to an error the name of the lender, if it has one.
func (m *loan) named(err error) error {
	if name, ok := m.lender.(fmt.Stringer); ok {
		return fmt.Errorf("%v: %w", name, err)
	}
	return err
}

// canCompare reports whether a lender's type is comparable.
func canCompare(l Lender) (ok bool) {
	defer func() { ok = recover() == nil }()
	return any(l) == any(l)
}

// holds reports whether the fault of err happened in b.
func holds(b []byte, err error) bool {
	fault, ok := errors.AsType[*mapping.FaultError](err)
	return ok && cast.Contains(b, fault.Addr)
}
