package tdict_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

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
