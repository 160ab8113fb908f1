package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ToJoint returns the leaves of a dictionary [N] as a collection of N rows: ragged tensors as they
// are, dense ones [N F...] as fields of depth 0, unbatched ones as scalars. It shares their memory.
// Ragged tensors that have the lengths of level 1 in common are of one tree, that of the first has
// no name, and others have that of their first leaf.
//
// ToJoint returns shapeops.ErrDim if the batch has not exactly one dim; [ErrKind] for [Data] and
// for nested dictionaries, which [TensorDict.Exclude] and [TensorDict.FlattenKeys] take away; and
// the errors of ragged.NewJoint: names with "/", "bounds" and "mask" are ragged.ErrName.
func ToJoint(td *TensorDict) (*ragged.Joint, error) {
	if td == nil {
		return nil, failed("to joint", errNil)
	}
	if len(td.batch) != 1 {
		return nil, failed("to joint", fmt.Errorf("%w: got the batch shape %v, want one dim", shapeops.ErrDim, td.batch))
	}
	rows, err := ragged.NewLayout(td.batch)
	if err != nil {
		return nil, failed("to joint", err)
	}
	g := grove{rows: rows}
	for name, v := range td.All() {
		if err := g.add(name.Name(), v); err != nil {
			return nil, within("to joint", name, err)
		}
	}
	j, err := ragged.NewJoint(g.fields...)
	return j, failed("to joint", err)
}

// A grove collects fields and tells of which tree each is.
type grove struct {
	rows   *ragged.Layout
	fields []ragged.Field
	trees  []ragged.Field // the first field of each
}

func (g *grove) add(name string, v Value) error {
	switch v := v.(type) {
	case *tensor.Tensor:
		return g.dense(name, v, g.rows)
	case *Unbatched:
		one, err := v.Tensor().Unsqueeze(0)
		if err != nil {
			return err
		}
		scalar, err := ragged.NewLayout(nil)
		if err != nil {
			return err
		}
		return g.dense(name, one, scalar)
	case *ragged.Tensor:
		g.ragged(name, v)
		return nil
	}
	return fmt.Errorf("%w: got %s, want a dense, a ragged or an unbatched tensor", ErrKind, describe(v))
}

func (g *grove) dense(name string, values *tensor.Tensor, l *ragged.Layout) error {
	t, err := ragged.New(values, l)
	g.fields = append(g.fields, ragged.Field{Name: name, Tensor: t})
	return err
}

func (g *grove) ragged(name string, t *ragged.Tensor) {
	f := ragged.Field{Name: name, Tensor: t}
	defer func() { g.fields = append(g.fields, f) }()
	if t.Depth() == 0 {
		return
	}
	for _, tree := range g.trees {
		if sameTree(t.Layout(), tree.Tensor.Layout()) {
			f.Tree = tree.Tree
			return
		}
	}
	if len(g.trees) > 0 {
		f.Tree = name
	}
	g.trees = append(g.trees, f)
}

// sameTree reports whether two layouts have the lengths of their first level in common.
func sameTree(a, b *ragged.Layout) bool {
	first, err := a.At(1)
	if err != nil {
		return false
	}
	other, err := b.At(1)
	return err == nil && first.Equal(other)
}

// FromJoint returns a collection of N rows as a dictionary [N]: fields of depth 0 as dense tensors,
// scalars as unbatched ones, others as ragged leaves. One without rows becomes a dictionary [] of
// dense scalars. It shares their memory. It returns shapeops.ErrDim for a row of several trees.
func FromJoint(j *ragged.Joint) (*TensorDict, error) {
	if j == nil {
		return nil, failed("from joint", fmt.Errorf("%w: got a nil collection", ErrKind))
	}
	n, ok := j.Len()
	out := New(n)
	if !ok {
		out = New()
	}
	for f := range j.Fields() {
		v, err := fieldValue(f.Tensor, ok)
		if err == nil {
			err = out.Set(nestedkey.Of(f.Name), v)
		}
		if err != nil {
			return nil, failed("from joint", err)
		}
	}
	return out, nil
}

// fieldValue returns a field as an entry of a dictionary, with rows or without.
func fieldValue(t *ragged.Tensor, rows bool) (Value, error) {
	if t.Depth() > 0 {
		if !rows {
			return nil, fmt.Errorf("%w: got a row of several trees: Select fields of one", shapeops.ErrDim)
		}
		return t, nil
	}
	values, err := t.Values()
	if err != nil || len(t.Shape()) == 1 {
		return some(values, err)
	}
	one, err := values.Reshape(t.Features()...)
	if err != nil || !rows {
		return some(one, err)
	}
	return some(NewUnbatched(one))
}
