package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestApplyEntries(t *testing.T) {
	td := kinds()
	td.Lock()
	seen := []key{}
	replaced := dict(nil, entry{"z", tdict.New()})
	got, err := tdict.ApplyEntries(td, func(name key, v tdict.Value) (tdict.Value, error) {
		seen = append(seen, name)
		require.True(t, v == tensor.Must(td.Get(name)))
		switch name {
		case "x":
			return nil, nil
		case "w":
			return replaced, nil
		}
		return v, nil
	})
	require.NoError(t, err)
	require.Equal(t, []key{"name", "x", "d", "w"}, seen, "in order, nested dictionaries not entered")
	require.Equal(t, []key{"name", "d", "d/label", "d/y", "w", "w/z"}, keys(got))
	require.False(t, got.Locked())
	require.Equal(t, shapeops.Shape{3}, tensor.Must(got.Dict("w")).Shape(), "as Set fits it")
	require.Same(t, tensor.Must(td.Get("d/y")), tensor.Must(got.Get("d/y")), "leaves are shared")
	consistent(t, got)
	require.NoError(t, tensor.Must(got.Dict("d")).Delete("y"))
	require.True(t, td.Has("d/y"), "dictionaries are not")
	require.NoError(t, tensor.Must(got.Dict("w")).Delete("z"))
	require.True(t, replaced.Has("z"))
	require.NoError(t, td.Unlock())
}

func TestApplyEntriesKeepsNames(t *testing.T) {
	td := dict([]int{3}, entry{"d", tdict.New(3)})
	require.NoError(t, td.SetNames("time"))
	got := tensor.Must(tdict.ApplyEntries(td, func(key, tdict.Value) (tdict.Value, error) { return tdict.New(3), nil }))
	require.Equal(t, []string{"time"}, got.Names())
	require.Equal(t, []string{"time"}, tensor.Must(got.Dict("d")).Names())
}

func TestApplyEntriesRefuses(t *testing.T) {
	returns := func(v tdict.Value, err error) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			return testkit.Err(tdict.ApplyEntries(td, func(name key, old tdict.Value) (tdict.Value, error) {
				if name == "b" {
					return v, err
				}
				return old, nil
			}))
		}
	}
	inner := &tdict.KeyError{Op: "own", Key: "k", Err: errStop}
	refuse(t, sample, []refusal{
		{"no function", func(td *tdict.TensorDict) error { return testkit.Err(tdict.ApplyEntries(td, nil)) }, tdict.ErrKind},
		{"fn fails", returns(nil, errStop), errStop},
		{"fn fails about a key of its own", returns(nil, inner), errStop},
		{"fn panics", func(td *tdict.TensorDict) error {
			return testkit.Err(tdict.ApplyEntries(td, func(key, tdict.Value) (tdict.Value, error) { panic(errStop) }))
		}, errStop},
		{"a nil tensor", returns((*tensor.Tensor)(nil), nil), tdict.ErrKind},
		{"a value of no kind", returns(stranger{count(3)}, nil), tdict.ErrKind},
		{"another shape", returns(count(2), nil), shapeops.ErrShape},
		{"another shape within", returns(dict(nil, entry{"x", count(2)}), nil), shapeops.ErrShape},
		{"nested too deep", returns(chain(tdict.MaxDepth+1, count(3)), nil), tdict.ErrDepth},
	})
}
