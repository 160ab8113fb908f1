package arith

import "fmt"

// A position is a fold that finds the position of the first least or greatest number, or of the
// first NaN.
type position[T realNumber] struct {
	max  bool
	some bool
	best []T
	at   []int64
}

func (p *position[T]) begin(_, lines int) {
	p.some = false
	p.best, p.at = zeros(p.best, lines), zeros(p.at, lines)
}

// wins reports whether v replaces best, which came before it.
func (p *position[T]) wins(v, best T) bool {
	return p.max && v > best || !p.max && v < best || v != v && best == best
}

func (p *position[T]) line(at int, x []T) {
	if len(x) == 0 {
		return
	}
	if !p.some {
		p.best[0], p.at[0], p.some = x[0], int64(at), true
	}
	best, found := p.best[0], -1
	if best != best {
		return
	}
	for i, v := range x {
		if p.max && v > best || !p.max && v < best || v != v {
			best, found = v, i
			if v != v {
				break
			}
		}
	}
	if found >= 0 {
		p.best[0], p.at[0] = best, int64(at+found)
	}
}

func (p *position[T]) rows(x []T, r rowList) {
	for k, off := range r.offs {
		row, at := x[off:][:len(p.best)], int64(r.at[k])
		if !p.some {
			copy(p.best, row)
			repeated(p.at, at)
			p.some = true
			continue
		}
		for i, v := range row {
			if p.wins(v, p.best[i]) {
				p.best[i], p.at[i] = v, at
			}
		}
	}
}

func (p *position[T]) end(dst []int64) error {
	if !p.some {
		return fmt.Errorf("%w to choose from", ErrEmpty)
	}
	copy(dst, p.at)
	return nil
}

func (p *position[T]) join(other fold[T, int64]) {
	next := other.(*position[T])
	for i, v := range next.best {
		if p.wins(v, p.best[i]) {
			p.best[i], p.at[i] = v, next.at[i]
		}
	}
}

// positions returns the recipe of positions.
func positions[T realNumber](max bool) recipe[T, int64] {
	return recipe[T, int64]{
		fold: func([]int64) fold[T, int64] { return &position[T]{max: max} }, joins: true, positional: true,
	}
}
