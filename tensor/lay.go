package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// laid applies a plan that lays pieces together: it returns a copy.
func (t *Tensor) laid(p *plan.Pass) (*Tensor, error) {
	fill, err := filler(p, t.dtype)
	if err != nil {
		return nil, err
	}
	out, done, err := blankLike(p, t.dtype, p.Plan.Shape(), t.view.Shape[len(p.Plan.From()):], t)
	if err != nil || done {
		return out, err
	}
	if out.paddedRows(p, t, fill) {
		return out, nil
	}
	pieces, gaps := p.Plan.Pieces()
	for i := range gaps + pieces {
		var m move
		if i < gaps {
			err = m.gap(p, i, out, fill)
		} else {
			err = m.piece(p, i-gaps, out, t)
		}
		if err == nil {
			err = m.run(p.Workers)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// paddedRows sets t, which is new, to the rows of x that a plan keeps, with padding before and
// after them. It returns false, and does nothing, if the plan does more than that, or if a second
// core would pay.
func (t *Tensor) paddedRows(p *plan.Pass, x, fill *Tensor) bool {
	before, start, n, ok := p.Plan.PadsRows()
	from, solid := x.solid()
	to := t.mem.bytes
	if !ok || !solid || len(to) > parallelBytes || fill == nil {
		return false
	}
	row := len(to) / max(1, t.view.Shape[0])
	end := (before + n) * row
	cast.Repeat(to[:before*row], fill.mem.bytes)
	copy(to[before*row:end], from[start*row:])
	cast.Repeat(to[end:], fill.mem.bytes)
	return true
}

// lay adds the copies and the padding of a plan that lays pieces of t together in dst.
func (tr *Transfer) lay(dst, t *Tensor, p *plan.Pass) error {
	fill, err := filler(p, t.dtype)
	if err != nil {
		return err
	}
	pieces, gaps := p.Plan.Pieces()
	return tr.whole(func() (err error) {
		for i := 0; i < gaps+pieces && err == nil; i++ {
			m := tr.next()
			if i < gaps {
				err = m.gap(p, i, dst, fill)
			} else {
				err = m.piece(p, i-gaps, dst, t)
			}
			err = tr.add(m, err)
		}
		return err
	})
}

// piece sets m to the move of piece i of a plan.
func (m *move) piece(p *plan.Pass, i int, to, from *Tensor) error {
	at, err := p.Piece(i, to.view, from.view)
	if err != nil {
		return err
	}
	m.all(to.dtype.Size(), to.mem, from.mem, at.To, at.From)
	return nil
}

// gap sets m to the move that fills gap i of a plan with the only element of fill.
func (m *move) gap(p *plan.Pass, i int, to, fill *Tensor) error {
	v, err := p.Gap(i, to.view)
	if err != nil {
		return err
	}
	m.fill(to.dtype.Size(), to.mem, v, fill)
	return nil
}

type fillKey DType

// filler returns the tensor of one element that fills gaps of dtype d. The pass keeps it for later
// calls.
func filler(p *plan.Pass, d DType) (*Tensor, error) {
	if p.Join == nil {
		if _, gaps := p.Plan.Pieces(); gaps == 0 && p.Fill == nil {
			return nil, nil
		}
	}
	return plan.Once(p, fillKey(d), func() (*Tensor, error) {
		if p.Fill == nil {
			return New(d)
		}
		t, err := ScalarOf(d, p.Fill)
		if err != nil {
			err = fmt.Errorf("padding: %w", err)
		}
		return t, err
	})
}
