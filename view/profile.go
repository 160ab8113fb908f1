package view

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
)

// sampleSize is the size of a sample in bytes. Leaves of at most this size are read in full.
const sampleSize = 4 << 20

// A profiling says how a leaf is profiled.
type profiling struct {
	full           bool // read it all, however large
	sample         bool // read a sample, unless it is small
	byColumn       bool
	first, columns int
	workers        int // 0 means all
}

// profile returns the profile of a leaf, or of some of its columns. It is kept with the version.
func (v *visit) profile(ctx context.Context, n *shelf.Node, how profiling) ([]inspect.Profile, error) {
	x := v.version
	most := v.opt.MaxRead
	if how.sample {
		most = min(most, sampleSize)
	}
	if how.full || n.Bytes <= most {
		most, how.full = 0, true
	}
	key := shelf.ProfileKey{At: n.At, Full: how.full, ByColumn: how.byColumn, First: how.first, Columns: how.columns}
	return x.Profile(key, func() ([]inspect.Profile, error) {
		td, err := v.alone(n)
		if err != nil {
			return nil, err
		}
		return inspect.Profiles(ctx, td, inspect.ProfileOptions{
			Keys: []nestedkey.Key{n.Key}, Schema: n.Spec, ByColumn: how.byColumn, First: how.first, Columns: how.columns,
			MaxBytes: most, Workers: how.workers,
		})
	})
}

// kept returns the profile of a leaf if it is known.
func (v *visit) kept(n *shelf.Node) (inspect.Profile, bool) {
	for _, full := range []bool{true, false} {
		if p, ok := v.version.Kept(shelf.ProfileKey{At: n.At, Full: full}); ok && len(p) == 1 {
			return p[0], true
		}
	}
	return inspect.Profile{}, false
}

// whole returns the profile of a leaf as a whole.
func (v *visit) whole(ctx context.Context, n *shelf.Node, how profiling) (p inspect.Profile, err error) {
	all, err := v.profile(ctx, n, how)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("profiles: got %d of %q, want 1", len(all), n.Key)
	}
	if err != nil {
		return p, err
	}
	return all[0], nil
}

// alone returns a dictionary with a leaf and its mask. A stack is joined, if it is not too large.
func (v *visit) alone(n *shelf.Node) (*tdict.TensorDict, error) {
	keys := []nestedkey.Key{n.Key}
	if n.Spec != nil && v.version.Dict.Has(n.Spec[0].Mask) {
		keys = append(keys, n.Spec[0].Mask)
	}
	td, err := v.version.Dict.Select(keys...)
	if err != nil || n.Kind != tdict.KindStacked {
		return td, err
	}
	value, err := v.value(n)
	if err != nil {
		return nil, err
	}
	joined := tdict.New(v.version.Dict.Shape()...)
	return joined, joined.Set(n.Key, value)
}

// value returns a leaf. A stack is joined, if it is not too large.
func (v *visit) value(n *shelf.Node) (tdict.Value, error) {
	value, err := v.version.Dict.Get(n.Key)
	if err != nil {
		return nil, err
	}
	if stack, ok := value.(*tdict.Stacked); ok {
		return v.joined(n, stack, n.Bytes)
	}
	return value, nil
}

// joined returns the members of a stack as one value, if it is not too large: about size bytes.
func (v *visit) joined(n *shelf.Node, stack *tdict.Stacked, size int64) (tdict.Value, error) {
	if size > v.opt.MaxRead {
		return nil, fmt.Errorf("%w: %q is a stack of %d members with %d bytes, want at most %d to join them: open one of the members",
			tdict.ErrKind, n.Key, stack.Len(), size, v.opt.MaxRead)
	}
	if joined, err := stack.Dense(); err == nil {
		return joined, nil
	}
	return stack.Ragged()
}
