package ragged

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An edit moves rows of one level: for each row of the level around it, it says which rows are
// kept, and in which order. What lies deeper goes with them. An edit of several tensors works out
// each layout that they share once.
type edit struct {
	pass  plan.Pass
	level int
	// move says what becomes of a straight layout whose innermost level is the one that is edited.
	move func(l *Layout) (*moved, error)
	ends bool // the level, whose rows all have length one then
}

// An editedKey is under which the pass of an edit keeps what it has made of a layout.
type editedKey struct{ l *Layout }

// layout returns what becomes of a straight layout, which is at least so deep as the level.
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

// tensor returns what becomes of t. One that is less deep than the level stays as it is.
func (e *edit) tensor(t *Tensor) (*Tensor, error) {
	s, err := t.straight(&e.pass)
	if err != nil || t.Depth() < e.level {
		return s, err
	}
	m, err := e.layout(s.layout)
	if err != nil {
		return nil, err
	}
	out, err := s.arrived(&e.pass, m, s)
	if err != nil || !e.ends {
		return out, err
	}
	return &Tensor{layout: without(&e.pass, out.layout, e.level), values: out.values}, nil
}

// on returns what becomes of one tensor, whose level may be negative.
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

// kept returns an edit that keeps one stretch of each row: keep returns its first position and how
// many there are, given the row and its length.
func kept(level int, keep func(row, length int) (first, n int, err error)) *edit {
	return rowByRow(level, func(m *rowsMaker, row, from, length int) error {
		first, n, err := keep(row, length)
		m.take(0, from+first, n)
		return err
	})
}

// rearranged returns an edit that lists the positions that it keeps of each row.
func rearranged(level int, list func(row, first, length int) ([]int, error)) *edit {
	return rowByRow(level, func(m *rowsMaker, row, first, length int) error {
		positions, err := list(row, first, length)
		for _, i := range positions {
			m.take(0, first+i, 1)
		}
		return err
	})
}

// rowByRow returns an edit that has fn take what it keeps of each row, which has a length and
// begins at the row first of the level.
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

// A rowsMaker makes the rows of one level, one after the other.
type rowsMaker struct {
	moved
	offsets []int64
	made    int // rows of the level
}

// newRows returns what makes as many rows as l has.
func newRows(l *Layout) *rowsMaker {
	return &rowsMaker{offsets: append(make([]int64, 0, len(l.offsets)), 0)}
}

// take adds n rows of a source, from a position on, to the row that is being made.
func (m *rowsMaker) take(source, from, n int) {
	m.add(source, m.made, from, n)
	m.made += n
}

// end ends the row that is being made.
func (m *rowsMaker) end() { m.offsets = append(m.offsets, int64(m.made)) }

// done returns the rows, in the layout around those of l.
func (m *rowsMaker) done(l *Layout) *moved {
	m.layout = l.outer.nested(m.offsets)
	return &m.moved
}

// relayout returns t with another layout over the same values, which shares what others share in p.
func relayout(p *plan.Pass, t *Tensor, fn func(l *Layout) (*Layout, error)) (*Tensor, error) {
	s, err := t.straight(p)
	if err != nil {
		return nil, err
	}
	l, err := fn(s.layout)
	if err != nil {
		return nil, err
	}
	return &Tensor{l, s.values, true}, nil
}

// ints returns the elements of an integer tensor with one for each of n rows.
func ints(what string, x *tensor.Tensor, n int) ([]int, error) {
	list, err := x.Ints()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if len(list) != n {
		return nil, fmt.Errorf("%s: %w: got %d, want %d, one for each row", what, shapeops.ErrShape, len(list), n)
	}
	return list, nil
}
