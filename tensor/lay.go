package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/plan"
)

// laid returns the copy that a plan lays together of t.
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

// paddedRows makes t, which is new, the rows of x that a plan keeps, with padding before and after
// them, or returns false if the plan does more, or a second core would pay.
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

// lay adds what sets dst to what a plan lays together of t.
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

// piece makes m the move of a piece of a plan.
func (m *move) piece(p *plan.Pass, i int, to, from *Tensor) error {
	at, err := p.Piece(i, to.view, from.view)
	if err != nil {
		return err
	}
	m.all(to.dtype.Size(), to.mem, from.mem, at.To, at.From)
	return nil
}

// gap makes m the move that fills a gap of a plan with the one element of fill.
func (m *move) gap(p *plan.Pass, i int, to, fill *Tensor) error {
	v, err := p.Gap(i, to.view)
	if err != nil {
		return err
	}
	m.fill(to.dtype.Size(), to.mem, v, fill)
	return nil
}

type fillKey DType

// filler returns what a pass fills gaps of a dtype with: a tensor of one element. The pass keeps it
// for the next.
func filler(p *plan.Pass, d DType) (*Tensor, error) {
	if p.Join == nil {
		if _, gaps := p.Plan.Pieces(); gaps == 0 && p.Fill == nil && p.Fills == nil {
			return nil, nil
		}
	}
	v, own := p.FillHere()
	if own {
		return fillOf(d, v)
	}
	return plan.Once(p, fillKey(d), func() (*Tensor, error) { return fillOf(d, v) })
}

func fillOf(d DType, v any) (*Tensor, error) {
	if v == nil {
		return New(d)
	}
	t, err := ScalarOf(d, v)
	if err != nil {
		return nil, fmt.Errorf("padding: %w", err)
	}
	return t, nil
}
