package chart_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/view/internal/chart"
)

// edges returns n+1 multiples of width.
func edges(from, width float64, n int) []float64 {
	all := make([]float64, n+1)
	for i := range all {
		all[i] = from + width*float64(i)
	}
	return all
}

// chol is a histogram of the leaf chol of pbcseq.
func chol() chart.Histogram {
	return chart.Histogram{
		Counts: []int{3, 22, 96, 251, 287, 185, 95, 62, 33, 20, 15, 11, 9, 5, 3, 4, 3, 2, 2, 2, 2, 4},
		Above:  8, Edges: edges(50, 50, 22),
	}
}

// TestLargeAsDrawn compares with distances that were measured in the drawing of the page.
func TestLargeAsDrawn(t *testing.T) {
	g := chart.NewLarge(chol(), &chart.Quantiles{P1: 132, P25: 235, P50: 281, P75: 350, P99: 1107}, 704, 250)
	require.Equal(t, 196.0, g.Base)
	require.InDelta(t, 640, g.Right, 0.5)

	highest := g.Bars[4]
	require.InDelta(t, 117, highest.X, 0.5)
	require.InDelta(t, 28, highest.W, 0.5)
	require.Equal(t, 26.0, highest.Y)
	require.Equal(t, 170.0, highest.H)
	require.Equal(t, 287, highest.Count)
	require.InDelta(t, 675, g.Above.X, 0.5)
	require.Nil(t, g.Below)

	var at, counts []float64
	for _, tick := range g.Ticks {
		at = append(at, tick.Value)
	}
	for _, line := range g.Grid {
		counts = append(counts, float64(line.Count))
	}
	require.Equal(t, []float64{200, 400, 600, 800, 1000}, at)
	require.InDelta(t, 87, g.Ticks[0].X, 0.5)
	require.False(t, g.Ticks[0].Minor)
	require.True(t, g.Ticks[1].Minor)
	require.Equal(t, []float64{100, 200}, counts)
	require.InDelta(t, 136.8, g.Grid[0].Y, 0.1)

	require.InDelta(t, 48, g.Spread.P1, 0.5)
	require.InDelta(t, 134, g.Spread.P50, 0.5)
	require.InDelta(t, 615, g.Spread.P99, 0.5)
	require.Equal(t, 234.0, g.Spread.Y)

	box := g.Label(highest, len("250 to 299 - 287 - 25.5 %"))
	require.InDelta(t, 46, box.X, 1)
	require.InDelta(t, 171, box.W, 1)
	require.Equal(t, 1.0, box.Y)
	require.Equal(t, highest.Mid(), box.TextX)
}

func TestLabelStaysInside(t *testing.T) {
	g := chart.NewLarge(chol(), nil, 704, 250)
	require.Equal(t, 0.0, g.Label(g.Bars[0], 25).X)
	last := g.Label(*g.Above, 25)
	require.InDelta(t, 704, last.X+last.W, 0.02)
	require.Equal(t, 704.0, g.Label(g.Bars[3], math.MaxInt).W)
}

func TestLargeBars(t *testing.T) {
	g := chart.NewLarge(chart.Histogram{Counts: []int{0, 1, 10_000}, Below: 1, Above: 1}, nil, 704, 250)
	require.Equal(t, 0.0, g.Bars[0].H, "an empty bar has no height")
	require.Equal(t, 1.0, g.Bars[1].H, "a bar that is not empty is 1 high")
	require.Equal(t, g.Base, g.Bars[1].Y+g.Bars[1].H)
	require.Equal(t, 226.0, g.Base, "the baseline is lower without quantiles")
	require.Equal(t, 4.0, g.Below.H, "a tail is 4 high")
	require.Equal(t, 4.0, g.Above.H)
	require.Equal(t, 0.0, g.Below.X)
	require.Greater(t, g.Left, g.Below.W)
	require.Nil(t, g.Spread)
	require.Empty(t, g.Ticks, "without edges there are no ticks")

	g = chart.NewLarge(chart.Histogram{Counts: make([]int, 9), Each: true}, &chart.Quantiles{}, 704, 250)
	require.InDelta(t, 34, g.Bars[0].W, 0.01, "a bar of one value is at most 34 wide")
	many := chart.NewLarge(chart.Histogram{Counts: make([]int, 44), Each: true}, nil, 704, 250)
	require.InDelta(t, 0.82*16, many.Bars[0].W, 0.01, "and at most 82 of 100 of its slot")
	require.InDelta(t, 704.0/9/2, g.Bars[0].Mid(), 0.01)
	require.Nil(t, g.Spread, "values that stand evenly have no line of quantiles")
	require.Empty(t, g.Grid, "empty bars have no grid")
	require.Len(t, g.Ticks, 9)
}

func TestTicksOfValues(t *testing.T) {
	tests := []struct {
		name     string
		n, chars int
		want     []int // the first bars with a label

	}{
		{"all labels that fit", 17, 2, []int{0, 1, 2}},
		{"each second label", 48, 2, []int{0, 2, 4}},
		{"long labels leave more out", 12, 20, []int{0, 3, 6}},
		{"three characters unless said", 24, 0, []int{0, 1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := chart.NewLarge(chart.Histogram{Counts: make([]int, tt.n), Each: true, LabelChars: tt.chars}, nil, 704, 250)
			var got []int
			for i, tick := range g.Ticks {
				got = append(got, tick.Bar)
				require.Equal(t, i%2 == 1, tick.Minor, "each second tick is hidden on phones")
				require.Equal(t, g.Bars[tick.Bar].Mid(), tick.X)
			}
			require.Equal(t, tt.want, got[:3])
		})
	}
}

func TestTicksOfEdges(t *testing.T) {
	tests := []struct {
		name         string
		edges        []float64
		below, above int
		want         []float64
	}{
		{"round numbers", edges(26, 2, 27), 0, 0, []float64{30, 40, 50, 60, 70, 80}},
		{"decimals are exact", edges(0, 0.1, 7), 0, 0, []float64{0, 0.2, 0.4, 0.6}},
		{"negative", edges(-7, 1, 10), 0, 0, []float64{-6, -4, -2, 0, 2}},
		{"a tail has the place of its label", edges(0, 1, 30), 1, 1, []float64{10, 20}},
		{"equal edges have no ticks", []float64{3, 3, 3}, 0, 0, nil},
		{"infinite range", []float64{-math.MaxFloat64, 0, math.MaxFloat64}, 0, 0, []float64{-1e308, 0, 1e308}},
		{"subnormal", []float64{0, 5e-324, 1e-323}, 0, 0, nil},
		{"neighbours", []float64{1e300, math.Nextafter(1e300, 2e300)}, 0, 0, []float64{1e300, math.Nextafter(1e300, 2e300)}},
		{"NaN has no ticks", []float64{math.NaN(), 3}, 0, 0, nil},
		{"infinite edges have no ticks", []float64{math.Inf(-1), math.Inf(1)}, 0, 0, nil},
		{"edges that do not match have no ticks", []float64{1, 2, 3}, 9, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := len(tt.edges) - 1
			if tt.below == 9 {
				n = 5
			}
			g := chart.NewLarge(chart.Histogram{Counts: make([]int, n), Edges: tt.edges, Below: tt.below, Above: tt.above}, nil, 704, 250)
			var got []float64
			for _, tick := range g.Ticks {
				got = append(got, tick.Value)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestTickAnchors(t *testing.T) {
	g := chart.NewLarge(chart.Histogram{Counts: make([]int, 20), Edges: edges(0, 5, 20)}, nil, 704, 250)
	require.Equal(t, "start", g.Ticks[0].Anchor)
	require.Equal(t, "middle", g.Ticks[1].Anchor)
	require.Equal(t, "end", g.Ticks[len(g.Ticks)-1].Anchor)
}

func TestGrid(t *testing.T) {
	tests := []struct {
		name   string
		counts []int
		above  int
		want   []int
	}{
		{"two lines or more", []int{44}, 0, []int{20, 40}},
		{"up to the highest", []int{690}, 0, []int{200, 400, 600}},
		{"whole counts", []int{1}, 0, []int{1}},
		{"two", []int{2}, 0, []int{1, 2}},
		{"none", []int{0}, 0, nil},
		{"a tail may be highest", []int{1}, 40, []int{20}},
		{"the label of a tail covers none", []int{100}, 50, []int{100}},
		{"the largest int", []int{math.MaxInt}, 0, []int{2e18, 4e18, 6e18, 8e18}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := chart.NewLarge(chart.Histogram{Counts: tt.counts, Above: tt.above}, nil, 704, 250)
			var got []int
			for _, line := range g.Grid {
				got = append(got, line.Count)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// FuzzHistogram checks that all coordinates are finite and inside the box, and that heights are
// linear.
func FuzzHistogram(f *testing.F) {
	f.Add([]byte{1, 2, 3}, 0, 5, 0.0, 1.0, false, 704.0, 250.0)
	f.Add([]byte{255}, 1<<62, math.MinInt, -math.MaxFloat64, math.MaxFloat64, false, 174.0, 46.0)
	f.Add(make([]byte, 52), 7, 1, 5e-324, 1e-323, true, 8.0, 8.0)
	f.Add([]byte{}, 3, 0, math.NaN(), math.Inf(1), false, 64.0, 18.0)
	f.Fuzz(func(t *testing.T, counts []byte, below, above int, lo, hi float64, each bool, w, h float64) {
		if !(w >= 8 && w <= 4096 && h >= 8 && h <= 4096) || len(counts) > 64 {
			return
		}
		in := chart.Histogram{Below: below, Above: above, Each: each, LabelChars: below}
		for i, c := range counts {
			in.Counts = append(in.Counts, int(c)<<(i%56))
			in.Edges = append(in.Edges, lo)
		}
		in.Edges = append(in.Edges, hi)
		inside := func(limit float64, all ...float64) {
			for _, v := range all {
				require.False(t, math.IsNaN(v))
				require.True(t, v >= -0.01 && v <= limit+0.02, "%v of %v", v, limit)
				require.InDelta(t, v, math.Round(v*100)/100, 1e-9)
			}
		}
		g := chart.NewLarge(in, &chart.Quantiles{P1: lo, P25: math.Inf(-1), P50: math.NaN(), P75: lo/2 + hi/2, P99: hi}, w, h)
		inside(h, g.Base)
		inside(w, g.Left, g.Right)
		all := slices.Clone(g.Bars)
		for _, tail := range []*chart.Bar{g.Below, g.Above} {
			if tail != nil {
				all = append(all, *tail)
			}
		}
		most := 0
		for _, b := range all {
			most = max(most, b.Count)
			inside(w, b.X, b.W, b.SlotX, b.SlotW)
			inside(w+0.03, b.X+b.W, b.SlotX+b.SlotW)
			inside(g.Base, b.Y, b.H)
			box := g.Label(b, above)
			inside(w, box.X, box.W, box.TextX)
			inside(h, box.Y)
		}
		for _, b := range all {
			want := float64(b.Count) / float64(max(1, most)) * max(1, g.Base-26)
			if want > 4 || b.Count == 0 {
				require.InDelta(t, want, b.H, 0.01)
			} else {
				require.Positive(t, b.H)
			}
		}
		for _, line := range g.Grid {
			inside(h, line.Y)
			require.Positive(t, line.Count)
		}
		require.LessOrEqual(t, len(g.Grid), 4)
		require.LessOrEqual(t, len(g.Ticks), max(10, len(counts)))
		for _, tick := range g.Ticks {
			inside(w, tick.X)
			require.False(t, math.IsInf(tick.Value, 0) || math.IsNaN(tick.Value))
		}
		if s := g.Spread; s != nil {
			inside(w, s.P1, s.P25, s.P50, s.P75, s.P99)
			inside(h, s.Y)
		}
		for _, d := range onlyPair(chart.Small(in, w, h)) {
			for _, p := range points(t, d) {
				inside(w, p.X)
				inside(h, p.Y)
			}
		}
	})
}

func onlyPair(a, b string) []string { return []string{a, b} }
