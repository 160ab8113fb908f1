package plan

import (
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/shape"
)

// Join joins xs along a dim as p.Join says. The row numbers of each of xs are raised by the counts
// of those before it: row r of xs[i] becomes row xs[0].Count() + ... + xs[i-1].Count() + r. Padding
// positions get the number after all of these. Join returns [shape.ErrShape] if the dims after the
// joined dims differ.
func (r *Rows) Join(p *Pass, xs []*Rows) (*Rows, error) {
	if err := p.CheckJoin(len(xs)); err != nil {
		return nil, err
	}
	if i := slices.Index(xs, nil); i >= 0 {
		return nil, fmt.Errorf("value %d: %w", i, errNoRows)
	}
	joined, err := p.Join.Joined(len(xs), false, func(i int) shape.Shape { return xs[i].view.Shape })
	if err != nil {
		return nil, err
	}
	v, err := shape.Contiguous(joined)
	if err != nil {
		return nil, err
	}
	if err := checkListed(v.Shape); err != nil {
		return nil, err
	}
	out := &Rows{view: v, list: make([]int, v.Shape.Size())}
	if p.Join.Padded() {
		return out, out.joinPadded(p.Join, xs)
	}
	return out, out.join(p.Join, xs)
}

func (r *Rows) join(j *Join, xs []*Rows) error {
	start := 0
	for _, x := range xs {
		part, err := j.Part(start, x.view.Shape)
		if err != nil {
			return err
		}
		if err := r.Write(NewPass(part), x); err != nil {
			return err
		}
		start += j.Positions(x.view.Shape)
	}
	return nil
}

func (r *Rows) joinPadded(j *Join, xs []*Rows) error {
	all := 0
	for _, x := range xs {
		all += x.count
	}
	for i := range r.list {
		r.list[i] = all
	}
	for i, x := range xs {
		part, _ := j.Place(r.view, i, x.view.Shape, false)
		own := x.numbers()
		for at := range part.Offsets() {
			r.list[at], own = r.count+own[0], own[1:]
		}
		r.count += x.count
	}
	r.count++
	return nil
}

// CheckWrite returns the error that Write would return.
func (r *Rows) CheckWrite(p *Pass, src *Rows) error {
	if src == nil {
		return errNoRows
	}
	if err := p.CheckPlan(r.view.Shape); err != nil {
		return err
	}
	if p.Plan.layout != nil {
		return errLaid
	}
	from, err := src.broadcast(p.Extend(r.view.Shape))
	if err != nil {
		return err
	}
	if err := checkListed(from.view.Shape); err != nil {
		return err
	}
	return checkListed(r.view.Shape)
}

// Write replaces the rows at the positions that p.Plan selects by the rows of src, broadcast to
// them. The row numbers of src are raised by r.Count(), which then grows by src.Count(). If a list
// names a position twice, its last row stays. Write returns [shape.ErrShape] if the shapes do not
// fit, or if r or the broadcast src has more than 1<<31 rows; then r has not changed.
func (r *Rows) Write(p *Pass, src *Rows) error {
	if err := r.CheckWrite(p, src); err != nil {
		return err
	}
	from, err := src.broadcast(p.Extend(r.view.Shape))
	if err != nil {
		return err
	}
	raised := from.numbers() // src may be r
	for i := range raised {
		raised[i] += r.count
	}
	if err := r.own(); err != nil {
		return err
	}
	at, err := r.positions(p)
	if err != nil {
		return err
	}
	i := 0
	for pos := range at {
		r.list[pos] = raised[i]
		i++
	}
	r.count += src.count
	return nil
}

// positions yields the positions in r.list that a plan selects.
func (r *Rows) positions(p *Pass) (iter.Seq[int], error) {
	if p.Plan.pick != nil {
		f, err := p.Frame(r.view)
		return f.offsets(), err
	}
	v, ok, err := p.View(r.view)
	if err == nil && !ok {
		err = fmt.Errorf("%w: no view", shape.ErrShape) // r is contiguous, so there is one
	}
	return v.Offsets(), err
}

func (r *Rows) broadcast(to shape.Shape) (*Rows, error) {
	if r.view.Shape.Equal(to) {
		return r, nil
	}
	plan, err := Expand(r.view.Shape, to...)
	if err != nil {
		return nil, err
	}
	return r.Execute(NewPass(plan))
}

// own makes r.list unshared and row-major, with one number for each position.
func (r *Rows) own() error {
	whole := r.view.IsContiguous() && len(r.list) == r.view.Shape.Size()
	if r.list != nil && !r.shared.Load() && whole {
		return nil
	}
	if err := checkListed(r.view.Shape); err != nil {
		return err
	}
	r.list = r.numbers()
	r.view, _ = shape.Contiguous(r.view.Shape)
	r.shared.Store(false)
	return nil
}

// Renumber replaces each row number by number(row), which must be less than count. It returns
// [shape.ErrShape] if there are more than 1<<31 rows; then r has not changed.
func (r *Rows) Renumber(count int, number func(row int) int) error {
	if err := r.own(); err != nil {
		return err
	}
	for i, row := range r.list {
		r.list[i] = number(row)
	}
	r.count = count
	return nil
}
