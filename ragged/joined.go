package ragged

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
)

// A joinedKey is the key under which a pass keeps the joins of n layouts, the first of which is
// first.
type joinedKey struct {
	first *Layout
	n     int
}

// A joined is a list of layouts and the result of joining them.
type joined struct {
	from  []*Layout
	moved *moved
}

// joinedAt joins layouts; join joins the rows of one level. Layouts that tensors share are joined
// once.
func joinedAt(p *plan.Pass, ls []*Layout, level int, join func(ls []*Layout) (*moved, error)) (*moved, error) {
	known, err := plan.Once(p, joinedKey{ls[0], len(ls)}, func() (*[]joined, error) { return new([]joined), nil })
	if err != nil {
		return nil, err
	}
	for _, j := range *known {
		if slices.Equal(j.from, ls) {
			return j.moved, nil
		}
	}
	var m *moved
	if ls[0].depth == level {
		m, err = join(ls)
	} else {
		outers := make([]*Layout, len(ls))
		for i, l := range ls {
			outers[i] = l.outer
		}
		if m, err = joinedAt(p, outers, level, join); err == nil {
			m = m.below(ls...)
		}
	}
	if err != nil {
		return nil, err
	}
	*known = append(*known, joined{slices.Clone(ls), m})
	return m, nil
}

// join joins ls as p.Join says.
func join(p *plan.Pass, ls []*Layout) (*moved, error) {
	return joinedAt(p, ls, 0, func(ls []*Layout) (*moved, error) {
		rows, counts := make([]*plan.Rows, len(ls)), make([]int, len(ls))
		for i, l := range ls {
			rows[i], counts[i] = l.rows, l.rows.Count()
		}
		out, err := rows[0].Join(p, rows)
		if err != nil {
			return nil, err
		}
		return listed(out, counts...)
	})
}

// A writtenKey is the key under which a pass keeps the result of writing rows of from to to.
type writtenKey struct{ to, from *Layout }

// written returns how rows move when the rows of l that p.Plan selects become the rows of src,
// broadcast. Source 0 is l, source 1 is src.
func (l *Layout) written(p *plan.Pass, src *Layout) (*moved, error) {
	return plan.Once(p, writtenKey{l, src}, func() (*moved, error) {
		if l.outer == nil {
			return l.writtenRows(p, src)
		}
		up, err := l.outer.written(p, src.outer)
		if err != nil {
			return nil, err
		}
		if !up.view {
			return up.below(l, src), nil
		}
		if m := up.over(l, src); m != nil {
			return m, nil
		}
		return up.complete().below(l, src), nil
	})
}

// complete adds to m, which lists only the rows that source 1 replaces, the rows that stay, as rows
// of source 0.
func (m *moved) complete() *moved {
	const stays = -1
	from := make([]int, m.rows())
	for i := range from {
		from[i] = stays
	}
	for _, p := range m.pieces {
		for i := range p.Len {
			from[p.To+i] = p.From + i
		}
	}
	out := &moved{layout: m.layout}
	for to, row := range from {
		if row == stays {
			out.add(0, to, to, 1)
		} else {
			out.add(1, to, row, 1)
		}
	}
	return out
}

// writtenRows is written at depth 0. The result is a view that lists only the rows of src and where
// in l they go. If l has a row at several places, it lists all rows.
func (l *Layout) writtenRows(p *plan.Pass, src *Layout) (*moved, error) {
	if err := l.rows.CheckWrite(p, src.rows); err != nil {
		return nil, err
	}
	if l.repeats {
		rows, err := l.rows.Clone()
		if err == nil {
			err = rows.Write(p, src.rows)
		}
		if err != nil {
			return nil, err
		}
		return listed(rows, l.rows.Count(), src.rows.Count())
	}
	to, err := l.rows.Execute(p)
	if err != nil {
		return nil, err
	}
	planned, err := plan.Expand(src.Shape(), to.Shape()...)
	if err != nil {
		return nil, err
	}
	from, err := src.rows.Execute(plan.NewPass(planned))
	if err != nil {
		return nil, err
	}
	m := &moved{layout: l, view: true}
	numbers := slices.Collect(from.All())
	for row := range to.All() {
		m.add(1, row, numbers[0], 1)
		numbers = numbers[1:]
	}
	return m, nil
}

// over returns where in the innermost level of l the rows of src go. It returns nil unless each row
// that is written keeps its length.
func (m *moved) over(l, src *Layout) *moved {
	out := &moved{layout: l, view: true}
	for _, p := range m.pieces {
		to, from := l.offsets[p.To:p.To+p.Len+1], src.offsets[p.From:p.From+p.Len+1]
		for i := range to {
			if to[i]-to[0] != from[i]-from[0] {
				return nil
			}
		}
		out.add(1, int(to[0]), int(from[0]), int(to[p.Len]-to[0]))
	}
	return out
}
