package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestFold(t *testing.T) {
	list := func(acc []key, k key, x *tensor.Tensor) ([]key, error) { return append(acc, k), nil }
	got, err := tdict.Fold(family(), []key{"start"}, list)
	require.NoError(t, err)
	require.Equal(t, []key{"start", "a", "b/c", "b/d/e", "bc"}, got, "tensors only, in order")

	got, err = tdict.Fold(tdict.New(), []key{"start"}, list)
	require.NoError(t, err)
	require.Equal(t, []key{"start"}, got, "start, if there is none")

	bytes, err := tdict.Fold(family(), 0, func(n int, _ key, x *tensor.Tensor) (int, error) { return n + x.ByteSize(), nil })
	require.NoError(t, err)
	require.Equal(t, 8*(2+6+2+2), bytes)
}

func TestFoldRefuses(t *testing.T) {
	at := func(fail func() (int, error)) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			calls := 0
			got, err := tdict.Fold(td, 7, func(acc int, k key, _ *tensor.Tensor) (int, error) {
				if calls++; k == "b/c" {
					return fail()
				}
				return acc, nil
			})
			require.Zero(t, got, "no result beside an error")
			require.Equal(t, 2, calls, "it ends there")
			return err
		}
	}
	add := func(acc int, _ key, _ *tensor.Tensor) (int, error) { return acc + 1, nil }
	refuse(t, family, []refusal{
		{"fn fails", at(func() (int, error) { return 9, errStop }), errStop},
		{"fn panics", at(func() (int, error) { panic(errStop) }), errStop},
		{"no dictionary", func(*tdict.TensorDict) error { return testkit.Err(tdict.Fold(nil, 0, add)) }, tdict.ErrKind},
		{"no function", func(td *tdict.TensorDict) error { return testkit.Err(tdict.Fold[int](td, 0, nil)) }, tdict.ErrKind},
	})
}
