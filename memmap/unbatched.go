package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// unbatched returns an unbatched tensor. On disk it is a leaf like any other, for Python too, with
// a native field that holds its batch shape.
func (r *reader) unbatched(n tree, e *metaEntry, batch shapeops.Shape) (*tdict.Unbatched, error) {
	t, err := r.tensor(n, e)
	if err != nil {
		return nil, err
	}
	u, err := tdict.NewUnbatched(t)
	if err == nil && len(e.fact.batch) <= len(batch) && !e.fact.batch.Equal(batch) { // Set checks a longer one
		err = fmt.Errorf("%w: got the batch shape %v, want one that begins with %v", shapeops.ErrShape, e.fact.batch, batch)
	}
	if err == nil {
		err = checkShape(append(e.fact.batch.Clone(), e.shape...))
	}
	if err == nil && len(e.fact.batch) > len(batch) {
		u, err = batched(u, e.fact.batch)
	}
	if err != nil {
		return nil, r.failAt(leafPath(n, e.name), corrupt("%w", err))
	}
	return u, nil
}

// batched returns u with the given batch shape.
func batched(u *tdict.Unbatched, batch shapeops.Shape) (*tdict.Unbatched, error) {
	around := tdict.New(batch...)
	if err := around.Set("u", u); err != nil {
		return nil, err
	}
	return tdict.Get[*tdict.Unbatched](around, "u")
}

// unbatched plans to save u as the entry e of n.
func (s *saver) unbatched(n *savedNode, e *metaEntry, u *tdict.Unbatched) error {
	t := u.Tensor()
	e.fact.unbatched = true
	e.fact.batch = u.Shape()[:len(u.Shape())-len(t.Shape())].Clone()
	if err := checkShape(u.Shape()); err != nil {
		return s.fail(n.leaf(e.name), err)
	}
	return s.tensor(n, e, t)
}
