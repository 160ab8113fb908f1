package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// A position is a fold that finds the position of the first least or greatest number, or of the
// first NaN.
type position[T realNumber] struct {
	max  bool
	best []T
	at   []int64 // -1 for a line without a number yet
}

func (p *position[T]) begin(_, lines int) {
	p.best, p.at = zeros(p.best, lines), repeated(zeros(p.at, lines), -1)
}

// wins reports whether v replaces best, which came before it.
func (p *position[T]) wins(v, best T) bool {
	return p.max && v > best || !p.max && v < best || v != v && best == best
}

func (p *position[T]) line(at int, x []T, bits []byte) {
	first := 0
	if p.at[0] < 0 {
		for first < len(x) && bits != nil && bits[first] == 0 {
			first++
		}
		if first == len(x) {
			return
		}
		p.best[0], p.at[0] = x[first], int64(at+first)
	}
	best, found := p.best[0], -1
	for from := first; from < len(x) && best == best; from += searched {
		part := x[from:min(len(x), from+searched)]
		i := -1
		if bits == nil {
			i = p.in(part, best)
		} else {
			i = p.among(part, bits[from:], best)
		}
		if i >= 0 {
			best, found = part[i], from+i
		}
	}
	if found >= 0 {
		p.best[0], p.at[0] = best, int64(at+found)
	}
}

// searched is the number of elements whose extreme is found before its position is looked for.
const searched = 1024

// in returns the position of the element of x that replaces best, or -1.
func (p *position[T]) in(x []T, best T) int {
	var m T
	if p.max {
		m = vector.Greatest(x[0], x)
	} else {
		m = vector.Least(x[0], x)
	}
	if !p.wins(m, best) {
		return -1
	}
	for i, v := range x {
		if v == m || v != v {
			return i
		}
	}
	return -1
}

// among is in for the elements whose bit is set.
func (p *position[T]) among(x []T, bits []byte, best T) int {
	found := -1
	for i, v := range x {
		if bits[i] != 0 && p.wins(v, best) {
			best, found = v, i
		}
	}
	return found
}

func (p *position[T]) rows(x []T, r rowList) {
	for k, off := range r.offs {
		row, at := x[off:][:len(p.best)], int64(r.at[k])
		switch {
		case r.bits != nil:
			for i, b := range r.bits[r.bitOffs[k]:][:len(row)] {
				if b != 0 && (p.at[i] < 0 || p.wins(row[i], p.best[i])) {
					p.best[i], p.at[i] = row[i], at
				}
			}
		case len(p.at) > 0 && p.at[0] < 0: // the first row of all lines
			copy(p.best, row)
			repeated(p.at, at)
		default:
			for i, v := range row {
				if p.wins(v, p.best[i]) {
					p.best[i], p.at[i] = v, at
				}
			}
		}
	}
}

func (p *position[T]) end(dst []int64) error {
	if slices.Contains(p.at, -1) {
		return fmt.Errorf("%w to choose from", ErrEmpty)
	}
	copy(dst, p.at)
	return nil
}

func (p *position[T]) join(other fold[T, int64], at int) {
	next := other.(*position[T])
	for i, v := range next.best {
		if next.at[i] >= 0 && (p.at[i] < 0 || p.wins(v, p.best[i])) {
			p.best[i], p.at[i] = v, int64(at)+next.at[i]
		}
	}
}

// positions returns the recipe of positions.
func positions[T realNumber](max bool) recipe[T, int64] {
	return recipe[T, int64]{fold: func([]int64) fold[T, int64] { return &position[T]{max: max} }, joins: true}
}
