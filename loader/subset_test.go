package loader_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/shapeops"
)

func TestSubset(t *testing.T) {
	rows := []int{8, 3, 4, 5, 3}
	src := must(loader.Subset(must(loader.From(kinds(t, 0, 9))), rows))
	clear(rows) // it has a copy
	require.Equal(t, 5, src.Len())
	tests := []struct {
		name string
		rows []int
		want []int
	}{
		{"in its order", []int{0, 1, 2, 3, 4}, []int{8, 3, 4, 5, 3}},
		{"in another", []int{4, 0}, []int{3, 8}},
		{"repeated", []int{2, 2}, []int{4, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, numbers(t, src, tt.rows...)) })
	}
	some := must(loader.Subset(src, []int{4, 0}))
	require.Equal(t, []int{8, 3}, numbers(t, some, 1, 0), "a subset of a subset")
}

// Rows that are neighbours in the source are views of it, too.
func TestSubsetSlice(t *testing.T) {
	from := must(loader.From(kinds(t, 0, 9)))
	src := must(loader.Subset(from, []int{8, 3, 4, 5, 3})).(loader.Slicer)
	require.Equal(t, []int{3, 4, 5}, rowsOf(t, must(src.Slice(1, 4))))
	require.Equal(t, []int{8}, rowsOf(t, must(src.Slice(0, 1))))
	plain := must(loader.FromFunc(9, from.Fetch))
	tests := []struct {
		name        string
		src         any
		start, stop int
	}{
		{"rows that are apart", src, 0, 2},
		{"descending rows", src, 3, 5},
		{"no rows", src, 2, 2},
		{"rows after the last", src, 4, 6},
		{"rows before the first", src, -1, 1},
		{"a source without views", must(loader.Subset(plain, []int{1, 2})), 0, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, errors.ErrUnsupported, testkit.Err(tt.src.(loader.Slicer).Slice(tt.start, tt.stop)))
		})
	}
}

func TestSubsetRefuses(t *testing.T) {
	from := must(loader.From(kinds(t, 0, 3)))
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"nil", func() error { return testkit.Err(loader.Subset(nil, nil)) }, loader.ErrSource},
		{"a row after the last", func() error { return testkit.Err(loader.Subset(from, []int{0, 3})) }, shapeops.ErrIndex},
		{"a negative row", func() error { return testkit.Err(loader.Subset(from, []int{-1})) }, shapeops.ErrIndex},
		{"a row that it has not", func() error {
			return testkit.Err(must(loader.Subset(from, []int{2, 1})).Fetch(t.Context(), []int{2}, nil))
		}, shapeops.ErrIndex},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}
