package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Join lays xs side by side as p.Join says, leaf by leaf, in a new dictionary. It is what
// shapeops.Stack and shapeops.Cat call; td is xs[0]. The keys come in td's order. It returns
// [ErrMissing] if the keys differ, [ErrKind] if values under one key are of several kinds, and the
// errors of their Join.
func (td *TensorDict) Join(p *shapeops.Pass, xs []*TensorDict) (*TensorDict, error) {
	if err := checkJoin(p, xs); err != nil {
		return nil, err
	}
	if err := td.furnish(p); err != nil {
		return nil, err
	}
	out := &TensorDict{batch: p.Join.Extend(td.batch)}
	var name nestedkey.Key
	var err error
	out.entries, name, err = td.entries.mapped(func(c column, v Value) (Value, error) {
		return opsOf(v).join(p, xs, c)
	})
	if err != nil {
		return nil, within(p.Join.Op(), name, err)
	}
	return out, nil
}

// JoinInto lays xs side by side as p.Join says, leaf by leaf, in dst. It is what shapeops.StackInto
// and shapeops.CatInto call; td is xs[0]. Its errors are those of [TensorDict.Join], [ErrMissing]
// if dst has other keys, those of tensor.Transfer, and [ErrDiffers] unless the unbatched tensors of
// xs are equal to those of dst; on an error nothing has changed.
func (td *TensorDict) JoinInto(p *shapeops.Pass, dst *TensorDict, xs []*TensorDict) error {
	if err := checkJoin(p, xs); err != nil {
		return err
	}
	if dst == nil {
		return errNil
	}
	if err := dst.batch.CheckPrefix(p.Join.Shape()); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	tr, start := tensor.Transfer{Workers: p.Workers}, 0
	for i, x := range xs {
		part, err := p.Join.Part(start, x.batch)
		if err == nil {
			err = dst.checkInto(p.Join, x, 0)
		}
		if err == nil {
			err = dst.Write(&tr, x, shapeops.NewPass(part))
		}
		if err != nil {
			return joinError(p.Join.Op(), i, err)
		}
		start += p.Join.Positions(x.batch)
	}
	return tr.Run()
}

// joinError says which of the values joined an error is about.
func joinError(op string, i int, err error) error {
	if inner, ok := err.(*KeyError); ok {
		return &KeyError{op, inner.Key, fmt.Errorf("value %d: %w", i, inner.Err)}
	}
	return fmt.Errorf("value %d: %w", i, err)
}

// checkInto returns an error unless td has the keys of x, and batch shapes that x fits when it is
// joined, at every depth where both have dictionaries.
func (td *TensorDict) checkInto(j *shapeops.JoinPlan, x *TensorDict, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	if want := j.Extend(x.batch)[len(j.Shape()):]; !td.batch[len(j.Shape()):].Equal(want) {
		return fmt.Errorf("destination: %w: got dictionary %v, want %v after the dims joined",
			shapeops.ErrShape, td.batch, want)
	}
	if err := td.sameNames("destination", x); err != nil {
		return err
	}
	for c, v := range x.entries.columns() {
		d, isDict := asDict(v)
		if !isDict {
			continue
		}
		v, err := c.of(td)
		if e, alsoDict := asDict(v); err == nil && alsoDict {
			err = e.checkInto(j, d, depth+1)
		}
		if err != nil {
			return within("join", c.name, err)
		}
	}
	return nil
}

// checkJoin returns an error unless xs, at any depth, have batch shapes that can be joined and the
// same number of entries.
func checkJoin(p *shapeops.Pass, xs []*TensorDict) error {
	if err := p.CheckJoin(len(xs)); err != nil {
		return err
	}
	for i, x := range xs {
		if x == nil {
			return fmt.Errorf("value %d: %w", i, errNil)
		}
		if x.entries.len() > xs[0].entries.len() {
			return fmt.Errorf("value %d: %w", i, moreKeys(x, xs[0]))
		}
	}
	return p.Join.Check(len(xs), func(i int) shapeops.Shape { return xs[i].batch })
}

// moreKeys says which key of x other lacks.
func moreKeys(x, other *TensorDict) error {
	for name := range x.entries.all() {
		if !other.entries.has(name) {
			return fmt.Errorf("%w: %q is not in value 0", ErrMissing, string(name))
		}
	}
	return ErrMissing
}
