package ragged

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A piece is a run of rows of one of several layouts.
type piece struct {
	source int
	shape.Run
}

// A moved is a layout whose rows are copied from source layouts. Its pieces list the runs of rows
// of the innermost level; the values move in the same way.
type moved struct {
	layout *Layout
	pieces []piece       // ordered by To; a row of the batch without a piece is empty
	runs   [][]shape.Run // of pieces, by source; made by sorted
	view   bool          // the layout is the source's; the pieces, if any, are rows to overwrite
}

// add appends n rows of a source, from the row from on, at row to. It extends the last piece if
// possible.
func (m *moved) add(source, to, from, n int) {
	if n == 0 {
		return
	}
	if i := len(m.pieces) - 1; i >= 0 {
		last := &m.pieces[i]
		if last.source == source && last.To+last.Len == to && last.From+last.Len == from {
			last.Len += n
			return
		}
	}
	m.pieces = append(m.pieces, piece{source, shape.Run{To: to, From: from, Len: n}})
}

// sorted returns the runs of each of the sources.
func (m *moved) sorted(sources int) [][]shape.Run {
	if m.runs == nil {
		m.runs = make([][]shape.Run, sources)
		if sources == 1 {
			m.runs[0] = make([]shape.Run, 0, len(m.pieces))
		}
		for _, p := range m.pieces {
			m.runs[p.source] = append(m.runs[p.source], p.Run)
		}
	}
	return m.runs
}

// rows returns the number of rows of the innermost level.
func (m *moved) rows() int { return m.layout.numbered() }

// below returns how the innermost level of ls, the sources, moves if the rows of the level above
// move as m says.
func (m *moved) below(ls ...*Layout) *moved {
	out := &moved{pieces: make([]piece, 0, len(m.pieces))}
	offsets := make([]int64, m.rows()+1)
	at, end := 0, int64(0)
	for _, p := range m.pieces {
		for ; at < p.To; at++ {
			offsets[at+1] = end
		}
		from := ls[p.source].offsets[p.From : p.From+p.Len+1]
		shift := end - from[0]
		for _, o := range from[1:] {
			at++
			offsets[at] = o + shift
		}
		n := int(from[p.Len] - from[0])
		out.add(p.source, int(end), int(from[0]), n)
		end += int64(n)
	}
	for ; at < len(offsets)-1; at++ {
		offsets[at+1] = end
	}
	out.layout = m.layout.nested(offsets)
	return out
}

// listed returns the layout of rows that come from several sources. rows numbers them across the
// sources: source i has counts[i] rows, which follow the rows of source i-1. A number outside
// stands for an empty row.
func listed(rows *plan.Rows, counts ...int) (*moved, error) {
	to, err := plan.NewRows(rows.Shape()...)
	if err != nil {
		return nil, err
	}
	m := &moved{layout: &Layout{rows: to}}
	ends := make([]int, len(counts))
	end := 0
	for i, n := range counts {
		end += n
		ends[i] = end
	}
	i, source := 0, 0
	for row := range rows.All() {
		if source >= len(ends) || row >= ends[source] || row < ends[source]-counts[source] {
			source, _ = slices.BinarySearch(ends, row+1)
		}
		if source < len(ends) {
			m.add(source, i, row-(ends[source]-counts[source]), 1)
		}
		i++
	}
	return m, nil
}

// picked returns how the rows of l move to a compact layout. If p is nil, the result is not kept.
func (l *Layout) picked(p *plan.Pass) *moved {
	out, _ := plan.Once(p, pickedKey{l}, func() (*moved, error) {
		if l.root().whole() {
			m := &moved{layout: l}
			m.add(0, 0, 0, l.numbered())
			return m, nil
		}
		if l.outer == nil {
			first, n, ok := l.rows.Span()
			if !ok {
				return listed(l.rows, l.rows.Count())
			}
			to, _ := plan.NewRows(l.Shape()...) // the shape is valid
			m := &moved{layout: &Layout{rows: to}}
			m.add(0, 0, first, n)
			return m, nil
		}
		return l.outer.picked(p).below(l), nil
	})
	return out
}

// A pickedKey is the key under which a pass keeps the result of picked.
type pickedKey struct{ l *Layout }

// executed returns how p.Plan moves the rows of l. A pass computes that once for all tensors that
// share l.
func (l *Layout) executed(p *plan.Pass) (*moved, error) {
	return plan.Once(p, l, func() (*moved, error) {
		if l.outer == nil {
			rows, err := l.rows.Execute(p)
			if err == nil {
				err = checkListed(rows.Shape().Size())
			}
			if err != nil {
				return nil, err
			}
			if p.Plan.Pick() == nil && !p.Plan.Laid() {
				return &moved{layout: &Layout{rows: rows, repeats: l.repeats || rows.Repeats()}, view: true}, nil
			}
			return listed(rows, l.rows.Count())
		}
		up, err := l.outer.executed(p)
		if err != nil {
			return nil, err
		}
		if up.view {
			return &moved{layout: up.layout.nested(l.offsets), view: true}, nil
		}
		return up.below(l), nil
	})
}
