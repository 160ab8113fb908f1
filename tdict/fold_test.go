package tdict_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/ragged"
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

// What is too much for an int is the largest int, of a tensor, a ragged one and of several.
func TestByteSizeSaturates(t *testing.T) {
	half := tensor.Must(tensor.Scalar(true).Expand(1 << 62))
	long := tensor.Must(ragged.LayoutOf([]int{1}, []int64{1 << 40}))
	row := dict([]int{1}, entry{"a", tensor.Must(ragged.New(tensor.Must(tensor.NewMeta(tensor.Int64, 1<<40)), long))})
	beyond := tensor.Must(tensor.Must(row.Expand(1 << 30)).Get("a"))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		want int
	}{
		{"no leaf", tdict.New(3), 0},
		{"one within", dict(nil, entry{"a", half}), 1 << 62},
		{"two", dict(nil, entry{"a", half}, entry{"b", half}), math.MaxInt},
		{"a ragged one", dict(nil, entry{"a", beyond}), math.MaxInt},
		{"a ragged one and another", dict(nil, entry{"a", beyond}, entry{"d/b", half}), math.MaxInt},
		{"a dictionary twice", twice(1, dict(nil, entry{"a", count(3)})), 48},
		{"shared dictionaries beyond an int", twice(200, dict(nil, entry{"a", count(3)})), math.MaxInt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.td.ByteSize()) })
	}
}

// twice returns so many dictionaries, one in the other, with each entered twice.
func twice(depth int, td *tdict.TensorDict) *tdict.TensorDict {
	for range depth {
		td = dict(nil, entry{"l", td}, entry{"r", td})
	}
	return td
}

// A dictionary that several hold is looked through once: twice(200) is 2^200 dictionaries to see.
func TestSharedDictionariesAreSeenOnce(t *testing.T) {
	require.True(t, twice(200, tdict.New()).IsEmpty())
	require.False(t, twice(200, dict(nil, entry{"a", one})).IsEmpty())
	full := dict(nil, entry{"shared", twice(200, tdict.New())}, entry{"a", one})
	require.False(t, full.IsEmpty())
	require.Equal(t, 1, full.ByteSize())
}
