package tdict_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type (
	tensors = []*tensor.Tensor
	key     = nestedkey.Key
)

var errStop = errors.New("stop")

// many returns a dictionary of 40 leaves int64 [2] on three levels, with empty dictionaries in
// between.
func many() *tdict.TensorDict {
	td := tdict.New(2)
	for i := range 40 {
		name := string(rune('a'+i%7)) + string(rune('a'+i/7))
		_ = td.Set(nestedkey.Of(name[:1], name[1:], name), tensor.Must(tensor.Full(int64(i), 2)))
		_ = td.Set(nestedkey.Of(name[:1], "empty"), tdict.New(2))
	}
	return td
}

func TestApply(t *testing.T) {
	td := many()
	other := tensor.Must(td.Clone())
	_ = other.Set("only here", count(2))
	b := tensor.Must(other.Pop("b")) // the order of the others does not matter
	_ = other.Set("b", b)
	add := func(_ key, xs tensors) (*tensor.Tensor, error) {
		a, b := tensor.Must(tensor.Of[int64](xs[0])), tensor.Must(tensor.Of[int64](xs[1]))
		return tensor.Vector(a[0]+b[0], a[1]*b[1], int64(len(xs))), nil
	}
	for _, workers := range []int{0, 1, 3, 100} {
		var done []int
		opt := tdict.ApplyOptions{Workers: workers, Batch: shapeops.Shape{3}, Progress: func(n, total int) {
			require.Equal(t, 40, total)
			done = append(done, n) // without a lock: the race detector watches
		}}
		got, err := tdict.Apply(t.Context(), []*tdict.TensorDict{td, other}, add, opt)
		require.NoError(t, err)
		require.Equal(t, keys(td), keys(got), "order and empty dictionaries are kept")
		for _, d := range dicts(got) {
			require.Equal(t, shapeops.Shape{3}, d.Shape(), "the batch shape asked for, at every level")
		}
		consistent(t, got)
		require.Equal(t, []int64{2 * 9, 9 * 9, 2}, values(t, got, "c/b/cb"))
		require.True(t, slices.IsSorted(done))
		require.Len(t, done, 40)
	}
}

func TestApplyLeavesOutNil(t *testing.T) {
	td := locked()
	calls := []key{}
	got, err := td.Apply(func(k key, x *tensor.Tensor) (*tensor.Tensor, error) {
		if calls = append(calls, k); k == "b/c" {
			return nil, nil
		}
		return x, nil
	})
	require.NoError(t, err)
	require.Equal(t, []key{"a", "b/c"}, calls, "in order, with the whole key")
	require.Equal(t, []key{"a", "b", "d"}, keys(got), "the dictionary around stays")
	require.Equal(t, shapeops.Shape{3, 4}, tensor.Must(got.Dict("b")).Shape(), "and keeps its batch shape")
	require.False(t, got.Locked() || tensor.Must(got.Dict("b")).Locked())
	none, err := td.Apply(func(key, *tensor.Tensor) (*tensor.Tensor, error) { return nil, nil })
	require.NoError(t, err)
	require.Equal(t, []key{"b", "d"}, keys(none))
}

func TestApplyRefuses(t *testing.T) {
	first := func(_ key, xs tensors) (*tensor.Tensor, error) { return xs[0], nil }
	returns := func(x *tensor.Tensor, err error) func(key, tensors) (*tensor.Tensor, error) {
		return func(key, tensors) (*tensor.Tensor, error) { return x, err }
	}
	apply := func(fn func(key, tensors) (*tensor.Tensor, error), others ...*tdict.TensorDict) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			got, err := tdict.Apply(context.Background(), append([]*tdict.TensorDict{td}, others...), fn, tdict.ApplyOptions{})
			if got != nil {
				return errors.New("a result beside an error")
			}
			return err
		}
	}
	refuse(t, sample, []refusal{
		{"fn fails", apply(returns(nil, errStop)), errStop},
		{"fn fails within", apply(func(k key, xs tensors) (*tensor.Tensor, error) {
			if k == "b/c" {
				return nil, errStop
			}
			return xs[0], nil
		}), errStop},
		{"a result that does not begin with the batch shape", apply(returns(count(2), nil)), shapeops.ErrShape},
		{"nor with a longer one within", apply(returns(count(3), nil)), shapeops.ErrShape},
		{"another lacks a key", apply(first, sample(), dict([]int{3}, entry{"a", count(3)})), tdict.ErrMissing},
		{"another has a dictionary there", apply(first, dict([]int{3}, entry{"a", tdict.New(3)})), tdict.ErrKind},
		{"another has a leaf on the way", apply(first, dict([]int{3}, entry{"a", count(3)}, entry{"b", count(3)})), tdict.ErrNotDict},
	})
}

// A result that Set would refuse is no result.
func TestApplyRefusesZeroTensor(t *testing.T) {
	_, err := dict(nil, entry{"a", count()}).Apply(func(key, *tensor.Tensor) (*tensor.Tensor, error) { return new(tensor.Tensor), nil })
	require.ErrorIs(t, err, tdict.ErrKind)
}

// A panic of fn is an error that says which key, on any number of workers.
func TestApplyPanic(t *testing.T) {
	for _, workers := range []int{1, 4} {
		fn := func(k key, xs tensors) (*tensor.Tensor, error) {
			if k == "b/c" {
				panic(errStop)
			}
			return xs[0], nil
		}
		_, err := tdict.Apply(t.Context(), []*tdict.TensorDict{sample()}, fn, tdict.ApplyOptions{Workers: workers})
		require.ErrorIs(t, err, errStop)
		require.ErrorContains(t, err, `apply "b/c": panic: stop`)
	}
}

// The cause of the end of the context is the error.
func TestApplyStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	got, err := tdict.Apply(ctx, []*tdict.TensorDict{many()}, func(_ key, xs tensors) (*tensor.Tensor, error) {
		cancel(errStop)
		return xs[0], nil
	}, tdict.ApplyOptions{Workers: 1})
	require.EqualError(t, err, "apply: stop")
	require.ErrorIs(t, err, errStop)
	require.Nil(t, got)
}
