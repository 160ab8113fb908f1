package testkit

import (
	"sync/atomic"

	"github.com/go-tensordict/tensordict/tensor"
)

// A Lender lends a slice of Go memory, and counts calls. It implements tensor.Lender.
type Lender struct {
	Bytes                     []byte
	Locked                    bool  // the memory is read-only
	Fail                      error // returned by Borrow and Pin
	Refuse                    error // returned by Touch
	Cut                       error // returned by Intact
	borrowed, pinned, touched atomic.Int64
	asked, borrows            atomic.Int64
}

var _ tensor.Lender = (*Lender)(nil)

// Borrow implements tensor.Lender.
func (l *Lender) Borrow() ([]byte, error) {
	if l.Fail != nil {
		return nil, l.Fail
	}
	l.borrows.Add(1)
	l.borrowed.Add(1)
	return l.Bytes, nil
}

// Return implements tensor.Lender.
func (l *Lender) Return() { l.borrowed.Add(-1) }

// Pin implements tensor.Lender.
func (l *Lender) Pin() ([]byte, error) {
	if l.Fail != nil {
		return nil, l.Fail
	}
	l.pinned.Add(1)
	return l.Bytes, nil
}

// Intact returns l.Cut. It panics if the memory was not borrowed before.
func (l *Lender) Intact() error {
	if l.Borrowed() == 0 {
		panic("testkit: Intact is called after Return")
	}
	l.asked.Add(1)
	return l.Cut
}

// Asked returns how often Intact was called.
func (l *Lender) Asked() int { return int(l.asked.Load()) }

// ReadOnly implements tensor.Lender.
func (l *Lender) ReadOnly() bool { return l.Locked }

// Borrowed returns how many borrowers have not returned the memory.
func (l *Lender) Borrowed() int { return int(l.borrowed.Load()) }

// Borrows returns how often the memory was borrowed.
func (l *Lender) Borrows() int { return int(l.borrows.Load()) }

// Pinned returns how often the memory was pinned.
func (l *Lender) Pinned() int { return int(l.pinned.Load()) }

// Touch counts the calls that announce a write to the memory.
func (l *Lender) Touch() error {
	if l.Borrowed() == 0 {
		panic("testkit: touched what nobody has borrowed")
	}
	l.touched.Add(1)
	return l.Refuse
}

// Touched returns how often Touch was called.
func (l *Lender) Touched() int { return int(l.touched.Load()) }
