package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/arena"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Join joins xs as p.Join says, leaf by leaf, in a new dictionary. shapeops.Stack, Cat and
// PadSequence call it; td is xs[0]. The keys are in td's order. Join returns [ErrMissing] if the
// keys differ, [ErrKind] if the values under a key are of different kinds, and the errors of
// joining them.
func (td dictOps) Join(p *plan.Pass, xs []*TensorDict) (*TensorDict, error) {
	batch, err := checkJoin(p, xs)
	if err != nil {
		return nil, err
	}
	if err := td.useArena(p); err != nil {
		return nil, err
	}
	out := &TensorDict{batch: batch, header: td.named(td.joinedNames(p.Join, xs))}
	var name nestedkey.Key
	out.entries, name, err = td.entries.mapped(func(c column, v Value) (Value, error) { return opsOf(v).join(p, xs, c) })
	if err != nil {
		return nil, within("", name, err)
	}
	stacks := make([]Value, len(xs))
	for i, x := range xs {
		if x.stack == nil || x.stack.dim != xs[0].stack.dim || p.Join.Padded() {
			return out, nil
		}
		stacks[i] = x.stack
	}
	v, err := stackeds.joined(p, stacks)
	out.stack, _ = v.(*Stacked)
	return out, err
}

// JoinInto joins xs as p.Join says, leaf by leaf, into dst. shapeops.StackInto, CatInto and
// PadSequenceInto call it; td is xs[0]. It returns the errors of Join, [ErrMissing] if dst has
// other keys, the errors of tensor.Transfer, and [ErrDiffers] unless dst has the same unbatched
// tensors as xs. On an error nothing has changed.
func (td dictOps) JoinInto(p *plan.Pass, dst *TensorDict, xs []*TensorDict) error {
	tr := tensor.Transfer{}
	if p != nil {
		tr.Workers = p.Workers
	}
	if err := td.AddJoin(&tr, dst, p, xs); err != nil {
		return err
	}
	return tr.Run()
}

// AddJoin adds to tr: dst = xs joined as p.Join says.
func (td dictOps) AddJoin(tr *tensor.Transfer, dst *TensorDict, p *plan.Pass, xs []*TensorDict) error {
	batch, err := checkJoin(p, xs)
	switch {
	case err != nil:
		return err
	case dst == nil:
		return errNil
	}
	if err := td.useArena(p); err != nil { // which also checks the depth
		return err
	}
	if err := dst.batch.CheckEqual(batch); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.sameNames(td.TensorDict); err != nil {
		return err
	}
	for c, v := range td.entries.columns() {
		d, err := c.of(dst)
		if err == nil {
			err = opsOf(v).joinTo(tr, d, p, xs, c)
		}
		if err != nil {
			return within("", c.name, err)
		}
	}
	return nil
}

// checkJoin returns the batch shape of the joined xs. It returns an error if a dictionary is nil or
// has more entries than the first, or if the batch shapes cannot be joined.
func checkJoin(p *plan.Pass, xs []*TensorDict) (shapeops.Shape, error) {
	if err := p.CheckJoin(len(xs)); err != nil {
		return nil, err
	}
	for i, x := range xs {
		if x == nil {
			return nil, fmt.Errorf("value %d: %w", i, errNil)
		}
		if x.entries.len() > xs[0].entries.len() {
			for name := range x.entries.all() {
				if !xs[0].entries.has(name) {
					return nil, fmt.Errorf("value %d: %w: %q is not in value 0", i, ErrMissing, string(name))
				}
			}
		}
	}
	batch, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return xs[i].batch })
	if err == nil && p.Join.Padded() && arena.Of[tensor.Tensor](p) == nil { // the outermost dictionary
		p.Join = p.Join.Within(batch)
	}
	return batch, err
}

var _ plan.DenseOps[*TensorDict] = dictOps{}

// JoinMasks returns masks of the joined xs: under the key of each tensor a bool tensor that is true
// where the result of Join is not padding. shapeops.PadSequenceMasked calls it and says which
// shapes the masks have; td is xs[0]. It returns the errors of Join.
func (td dictOps) JoinMasks(p *plan.Pass, xs []*TensorDict) (*TensorDict, error) {
	batch, err := checkJoin(p, xs)
	if err != nil {
		return nil, err
	}
	m := masker{p: p, batch: batch, names: td.joinedNames(p.Join, xs)}
	if dim, ok := p.Join.PadDim(td.batch, false); ok {
		lengths := make([]int, len(xs))
		for i, x := range xs {
			lengths[i] = x.batch[dim]
		}
		if m.all, err = tensor.LengthMask(lengths, batch, dim+1, p.Join.PadsLeft()); err != nil {
			return nil, err
		}
	}
	return m.dict(td.TensorDict, xs)
}

// A masker makes the masks of a padded join.
type masker struct {
	p     *plan.Pass
	batch shapeops.Shape // the batch shape of the result
	names []string
	all   *tensor.Tensor // the mask of all leaves, or nil if each has its own
}

// dict returns the masks of the joined dictionaries xs, of which td is the first.
func (m *masker) dict(td *TensorDict, xs []*TensorDict) (*TensorDict, error) {
	out := &TensorDict{batch: m.batch, header: header{names: m.names}}
	for c, v := range td.entries.columns() {
		mask, err := m.entry(v, xs, c)
		if err != nil {
			return nil, within("", c.name, err)
		}
		if mask != nil {
			out.entries.put(c.name, mask)
		}
	}
	return out, nil
}

// entry returns the mask of a column whose first value is v: a tensor, a dictionary of masks, or
// nil if v has no elements.
func (m *masker) entry(v Value, xs []*TensorDict, c column) (mask Value, err error) {
	if d, ok := v.(*TensorDict); ok {
		err = withColumn(m.p, xs, c, func(inner []*TensorDict) (err error) {
			mask, err = asValue(m.dict(d, inner))
			return err
		})
	}
	if elements(v) != nil {
		return asValue(m.leaf(v, xs, c))
	}
	return mask, err
}

// leaf returns the mask of a column of leaves whose first value is v.
func (m *masker) leaf(v Value, xs []*TensorDict, c column) (*tensor.Tensor, error) {
	shapes := make([]shapeops.Shape, len(xs))
	for i, x := range xs {
		w, err := c.of(x)
		if err == nil {
			w, err = asKindOf(w, v)
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		shapes[i] = w.Shape()
	}
	if m.all != nil {
		return m.all, nil
	}
	shape, err := m.p.Join.Joined(len(shapes), true, func(i int) shapeops.Shape { return shapes[i] })
	if err != nil {
		return nil, err
	}
	dim, _ := m.p.Join.PadDim(shapes[0], true)
	lengths := make([]int, len(shapes))
	for i, s := range shapes {
		lengths[i] = s[dim]
	}
	to := append(m.batch.Clone(), shape[dim+1])
	return tensor.LengthMask(lengths, to, -1, m.p.Join.PadsLeft())
}
