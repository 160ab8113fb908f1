package chart_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/view/internal/chart"
)

func TestSmall(t *testing.T) {
	tests := []struct {
		name        string
		h           chart.Histogram
		w           float64
		bars, tails string
	}{
		{"nothing", chart.Histogram{}, 20, "", ""},
		{"empty bars are not drawn", chart.Histogram{Counts: []int{0, 0}}, 20, "", ""},
		{"heights are linear, with gaps of 1", chart.Histogram{Counts: []int{1, 2}}, 20, "M0 40h.5V20h9V40h1V0h9V40", ""},
		{"one bar", chart.Histogram{Counts: []int{7}}, 20, "M0 40h.5V0h19V40", ""},
		{"a bar that is not empty is 1 high", chart.Histogram{Counts: []int{1, 0, 1000}}, 30, "M0 40h.5V39h9V40h11V0h9V40", ""},
		{"bars of 4 have gaps", chart.Histogram{Counts: []int{1, 1}}, 8, "M0 40h.5V0h3V40h1V0h3V40", ""},
		{"tenths of a unit, rounded down", chart.Histogram{Counts: []int{1, 1, 1}}, 10, "M0 40h.5V0h2.3V40h1V0h2.3V40h1V0h2.4V40", ""},
		{"bars narrower than 3 have no gaps", chart.Histogram{Counts: []int{1, 1}}, 4, "M0 40V0h2V40V0h2V40", ""},
		{"a bar for each value has three tenths of gaps", chart.Histogram{Counts: []int{1, 1}, Each: true}, 20, "M0 40h1.5V0h7V40h3V0h7V40", ""},
		{"tails stand after a gap", chart.Histogram{Counts: []int{2, 2}, Above: 1}, 42, "M0 40h.5V0h9V40h1V0h9V40", "M0 40h32V20h10V40"},
		{"tails on both sides, 3 high", chart.Histogram{Counts: []int{1000, 1000}, Below: 1, Above: 2}, 64, "M0 40h22.5V0h9V40h1V0h9V40", "M0 40V37h10V40h44V37h10V40"},
		{"tails are 5 wide", chart.Histogram{Counts: []int{1, 1, 1, 1, 1, 1, 1, 1}, Above: 1}, 23.4, "M0 40V0h2V40V0h2V40V0h2V40V0h2V40V0h2V40V0h2V40V0h2V40V0h2V40", "M0 40h18.4V0h5V40"},
		{"negative counts are empty", chart.Histogram{Counts: []int{-5, 2}, Above: -1}, 20, "M0 40h10.5V0h9V40", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bars, tails := chart.Small(tt.h, tt.w, 40)
			require.Equal(t, tt.bars, bars)
			require.Equal(t, tt.tails, tails)
		})
	}
}
