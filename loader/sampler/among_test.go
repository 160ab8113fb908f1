package sampler_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestAmong(t *testing.T) {
	list := []int{7, 2, 2, 9}
	tests := []struct {
		name  string
		inner sampler.Sampler
		n     int
		want  []int
	}{
		{"in the order of the list, duplicates too", sampler.Sequential(), 4, []int{7, 2, 2, 9}},
		{"repetitions are repetitions among all units", sampler.Endless(sampler.Sequential()), 9,
			[]int{7, 2, 2, 9, 17, 12, 12, 19, 27}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tensor.Must(sampler.Among(list, tt.inner))
			require.Equal(t, tt.want, first(t, s, epoch(10, 1, 0), tt.n))
		})
	}
	s := tensor.Must(sampler.Among(list, sampler.Random()))
	list[0] = 1 // the sampler has a copy
	require.Equal(t, []int{2, 2, 7, 9}, slices.Sorted(slices.Values(all(t, s, epoch(10, 1, 0)))))
}

func TestAmongNone(t *testing.T) {
	s := tensor.Must(sampler.Among(nil, sampler.Random()))
	require.Zero(t, orderOf(t, s, epoch(10, 1, 0)).Len())
	require.Zero(t, orderOf(t, s, epoch(0, 1, 0)).Len())
}
