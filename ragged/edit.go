package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
)

// An edit moves the rows of one level: for each row of the level above, it chooses which rows to
// keep, and in which order. Deeper levels move with them. An edit of several tensors computes each
// layout that they share once.
type edit struct {
	pass  plan.Pass
	level int
	// move returns how the rows of a compact layout move; its innermost level is the edited one.
	move func(l *Layout) (*moved, error)
	ends bool // the level is removed; its rows all have length one after the move
}

// An editedKey is the key under which the pass of an edit keeps the edited form of l.
type editedKey struct{ l *Layout }

// layout returns the edited form of a compact layout, whose depth is at least e.level.
func (e *edit) layout(l *Layout) (*moved, error) {
	return plan.Once(&e.pass, editedKey{l}, func() (*moved, error) {
		if l.depth == e.level {
			return e.move(l)
		}
		up, err := e.layout(l.outer)
		if err != nil {
			return nil, err
		}
		return up.below(l), nil
	})
}

// tensor returns the edited t. A tensor with fewer levels than e.level does not change.
func (e *edit) tensor(t *Tensor) (*Tensor, error) {
	s, err := t.compact(&e.pass)
	if err != nil || t.Depth() < e.level {
		return s, err
	}
	m, err := e.layout(s.layout)
	if err != nil {
		return nil, err
	}
	out, err := s.copied(&e.pass, m, s)
	if err != nil || !e.ends {
		return out, err
	}
	return &Tensor{layout: without(&e.pass, out.layout, e.level), values: out.values}, nil
}

// on applies an edit of t alone, whose level may be negative.
func (e *edit) on(t *Tensor) (*Tensor, error) {
	if !t.made() {
		return nil, errNil
	}
	level, err := t.layout.level(e.level)
	if err != nil {
		return nil, err
	}
	e.level = level
	return e.tensor(t)
}

// kept returns an edit that keeps one stretch of each row. Given a row and its length, keep returns
// the first position and the number of positions to keep.
func kept(level int, keep func(row, length int) (first, n int, err error)) *edit {
	return rowByRow(level, func(m *rowsMaker, row, from, length int) error {
		first, n, err := keep(row, length)
		m.take(0, from+first, n)
		return err
	})
}

// rearranged returns an edit that keeps the positions that list returns for each row, in that
// order. first is the number of the row's first position within the level.
func rearranged(level int, list func(row, first, length int) ([]int, error)) *edit {
	return rowByRow(level, func(m *rowsMaker, row, first, length int) error {
		positions, err := list(row, first, length)
		for _, i := range positions {
			m.take(0, first+i, 1)
		}
		return err
	})
}

// rowByRow returns an edit that calls fn for each row. fn takes what it keeps of the row; the row
// has length positions, numbered from first within the level.
func rowByRow(level int, fn func(m *rowsMaker, row, first, length int) error) *edit {
	return &edit{level: level, move: func(l *Layout) (*moved, error) {
		m := newRows(l)
		for row := range l.offsets[1:] {
			from, to := l.within(row, 1)
			if err := fn(m, row, from, to-from); err != nil {
				return nil, fmt.Errorf("level %d, row %d: %w", l.depth, row, err)
			}
			m.end()
		}
		return m.done(l), nil
	}}
}

// A rowsMaker builds the rows of one level, one after the other.
type rowsMaker struct {
	moved
	offsets []int64
	made    int // rows of the level
}

// newRows returns a rowsMaker with capacity for as many rows as l has.
func newRows(l *Layout) *rowsMaker {
	return &rowsMaker{offsets: append(make([]int64, 0, len(l.offsets)), 0)}
}

// take appends n rows of a source, from the row from on, to the current row.
func (m *rowsMaker) take(source, from, n int) {
	m.add(source, m.made, from, n)
	m.made += n
}

// end ends the current row.
func (m *rowsMaker) end() { m.offsets = append(m.offsets, int64(m.made)) }

// done returns the rows as the innermost level inside l.outer.
func (m *rowsMaker) done(l *Layout) *moved {
	m.layout = l.outer.nested(m.offsets)
	return &m.moved
}

// relayout returns t with fn of its layout, over the same values. Tensors that share a layout share
// the results, if fn keeps them in p.
func relayout(p *plan.Pass, t *Tensor, fn func(l *Layout) (*Layout, error)) (*Tensor, error) {
	s, err := t.compact(p)
	if err != nil {
		return nil, err
	}
	l, err := fn(s.layout)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, s.values, true}, nil
}
