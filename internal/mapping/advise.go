package mapping

import (
	"errors"
	"fmt"
)

// An Advice says how mapped bytes will be read. It changes speed, never results.
type Advice uint8

const (
	// Normal asks for moderate read-ahead, the default.
	Normal Advice = iota
	// Random asks for no read-ahead.
	Random
	// Sequential asks for much read-ahead.
	Sequential
	// WillNeed asks for the bytes to be read in soon.
	WillNeed
)

// Advise tells the system how the mapped bytes will be read. A system that has no use for the
// advice ignores it. Advise returns [ErrClosed] once Close began and an error that wraps
// [errors.ErrUnsupported] for an Advice that is not one of the constants. Safe for concurrent use.
func (m *Mapping) Advise(a Advice) error { return m.AdviseRange(a, 0, m.size) }

// AdviseRange is [Mapping.Advise] for size bytes from offset on, and the rest of their pages. Only
// [WillNeed] applies to a part: other advice about a part would make the system split the mapping
// into several, so it applies to all bytes. AdviseRange also returns an error that wraps [ErrSize]
// if not all of these bytes are mapped. Safe for concurrent use.
func (m *Mapping) AdviseRange(a Advice, offset, size int) error {
	if a > WillNeed {
		return fmt.Errorf("advice %d: %w", a, errors.ErrUnsupported)
	}
	return m.inPages(offset, size, func(pages []byte) error {
		switch {
		case m.res.copied():
			return nil
		case a != WillNeed:
			pages = m.res.data
		}
		return advise(pages, a)
	})
}
