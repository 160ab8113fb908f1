package loader

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// turn returns a channel that is closed when it is the turn of step to ask Options.Into for memory.
func (m *maker) turn(step int) chan struct{} {
	c, _ := m.turns.LoadOrStore(step, make(chan struct{}))
	return c.(chan struct{})
}

// ask asks Options.Into for the memory of the batch of a step, for s, after all earlier steps.
func (m *maker) ask(ctx context.Context, s *slot, step int) (err error) {
	if m.opt.Into == nil {
		return nil
	}
	if step > 0 {
		select {
		case <-m.turn(step):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	m.turns.Delete(step)
	defer func() { close(m.turn(step + 1)) }()
	s.into, err = m.opt.Into(ctx)
	switch {
	case err != nil:
	case s.into == nil:
		err = fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	case len(s.into.Shape()) == 0:
		err = fmt.Errorf("%w: got memory of batch shape [], want at least one dim", shapeops.ErrDim)
	}
	if err != nil {
		return fmt.Errorf("into: %w", err)
	}
	return nil
}

// direct reports whether Fetch gets the memory of Options.Into as its destination. Otherwise the
// result of Collate and Transform is copied there.
func (m *maker) direct() bool {
	return m.opt.Into != nil && m.opt.Collate == nil && m.opt.Transform == nil
}

// fetchable returns the first n rows of the memory that s was given, as a destination of Fetch:
// without the leaves that are not the source's. It keeps them as the memory of s.
func (m *maker) fetchable(s *slot, n int) (*tdict.TensorDict, error) {
	dst, err := firstRows(s.into, n)
	if err != nil {
		return nil, err
	}
	s.into, dst = dst, dst.Exclude(m.opt.RowsKey)
	if s.rows.Splits != nil {
		dst = dst.Exclude(m.opt.SplitsKey)
	}
	return dst, nil
}

// firstRows returns the first n rows of mem, in a dictionary that is not locked.
func firstRows(mem *tdict.TensorDict, n int) (*tdict.TensorDict, error) {
	switch rows := mem.Shape()[0]; {
	case n > rows:
		return nil, fmt.Errorf("%w: got memory for %d rows, want at least %d", shapeops.ErrShape, rows, n)
	case n == rows:
		return mem.Copy(), nil
	}
	return mem.Index(ix.Range(0, n))
}

// place moves the batch of s to the memory from Options.Into. It copies the leaves that are not
// there yet.
func (m *maker) place(s *slot) error {
	if len(s.batch.Shape()) == 0 {
		return fmt.Errorf("%w: got a batch of batch shape [], want at least one dim", shapeops.ErrDim)
	}
	to, err := firstRows(s.into, s.batch.Shape()[0])
	if err != nil {
		return err
	}
	from, dst := s.batch, to
	s.batch = to
	if m.direct() {
		switch keys := elsewhere(from, to); {
		case keys == nil: // IndexInto says which key one of them lacks
		case len(keys) == 0:
			return nil
		default:
			from, dst = from.SelectPresent(keys...), to.SelectPresent(keys...)
		}
	}
	return from.IndexInto(dst)
}

// elsewhere returns the keys under which from and to have different leaves. It returns nil if the
// keys of the two differ. Other leaves may share the allocation of the memory.
func elsewhere(from, to *tdict.TensorDict) []nestedkey.Key {
	keys, more := []nestedkey.Key{}, 0
	for range to.Leaves() {
		more++
	}
	for key, leaf := range from.Leaves() {
		v, err := to.Get(key)
		if err != nil {
			return nil
		}
		more--
		if leaf != v {
			keys = append(keys, key)
		}
	}
	if more != 0 {
		return nil
	}
	return keys
}

// padSplits repeats the last split until the splits fill the tensor under key in the memory from
// Options.Into. The groups that this adds are empty.
func (s *slot) padSplits(splits []int64, key nestedkey.Key) ([]int64, error) {
	u, err := tdict.Get[*tdict.Unbatched](s.into, key)
	if err != nil {
		return nil, err
	}
	room := u.Tensor().Size()
	if room < len(splits) {
		return nil, &tdict.KeyError{Op: "set", Key: key, Err: fmt.Errorf(
			"%w: got memory for %d splits, want at least %d", shapeops.ErrShape, room, len(splits))}
	}
	return append(splits, slices.Repeat(splits[len(splits)-1:], room-len(splits))...), nil
}
