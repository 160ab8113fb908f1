package chart_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/view/internal/chart"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

func TestNewScale(t *testing.T) {
	tests := []struct {
		name   string
		lo, hi float64
		want   chart.Scale
	}{
		{"widened to ticks", 0.3, 27, chart.Scale{Lo: 0, Hi: 30, Ticks: []float64{0, 10, 20, 30}}},
		{"round ends stay", 0, 4, chart.Scale{Lo: 0, Hi: 4, Ticks: []float64{0, 2, 4}}},
		{"negative", -3.2, 0.1, chart.Scale{Lo: -4, Hi: 1, Ticks: []float64{-4, -3, -2, -1, 0, 1}}},
		{"decimals are exact", 0.11, 0.35, chart.Scale{Lo: 0.1, Hi: 0.4, Ticks: []float64{0.1, 0.2, 0.3, 0.4}}},
		{"equal ends move apart", 5, 5, chart.Scale{Lo: 4, Hi: 6, Ticks: []float64{4, 5, 6}}},
		{"exchanged", 4, 0, chart.Scale{Lo: 0, Hi: 4, Ticks: []float64{0, 2, 4}}},
		{"NaN is 0", nan, 4, chart.Scale{Lo: 0, Hi: 4, Ticks: []float64{0, 2, 4}}},
		{"infinite", -inf, inf, chart.Scale{Lo: -math.MaxFloat64, Hi: math.MaxFloat64, Ticks: []float64{-1e308, 0, 1e308}}},
		{"all NaN", nan, nan, chart.Scale{Lo: -1, Hi: 1, Ticks: []float64{-1, 0, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, chart.NewScale(tt.lo, tt.hi)) })
	}
}

func TestScaleOf(t *testing.T) {
	s := chart.ScaleOf(0, 5152, 3)
	require.Equal(t, chart.Scale{Lo: 0, Hi: 5152, Ticks: []float64{0, 1000, 2000, 3000, 4000, 5000}}, s)
	require.Equal(t, []float64{0, 2000, 4000}, chart.ScaleOf(0, 5152, 2).Ticks)
	require.Equal(t, 50.0, s.X(2576, 100))
	require.Equal(t, 50.0, s.X(nan, 100), "NaN has no place")
	require.False(t, math.Signbit(chart.Line([]float64{math.Copysign(0, -1)}, []float64{1}, s, s, 100, 100).End.X), "-0 is written as 0")
	require.Equal(t, 75.0, chart.ScaleOf(-inf, inf, 2).X(math.MaxFloat64/2, 100))
	require.Equal(t, []float64{0, 1e15, 2e15}, chart.ScaleOf(0, 2e15, 2).Ticks, "whose logarithm is rounded down")
	require.Equal(t, []float64{0, 500, 1000, 1500}, chart.ScaleOf(0, 2*math.Nextafter(1000, 0), 2).Ticks, "and up")
	require.Equal(t, []float64{0.8, 0.9, 1}, chart.ScaleOf(math.Nextafter(0.7, 1), 1, 2).Ticks, "whose quotient is rounded down")
	require.Equal(t, 25.0, s.Y(3864, 100))
	require.Equal(t, 0.0, s.X(-5, 100))
	require.Equal(t, 0.0, s.Y(inf, 100))
}

func TestLine(t *testing.T) {
	dots := func(all ...float64) (points []chart.Point) {
		for i := 0; i < len(all); i += 2 {
			points = append(points, chart.Point{X: all[i], Y: all[i+1]})
		}
		return points
	}
	tests := []struct {
		name         string
		xs, ys       []float64
		d            string
		dots, points []chart.Point
		end          []chart.Point
		above, below bool
	}{
		{"no values", nil, nil, "", nil, nil, nil, false, false},
		{"positions without xs", nil, []float64{0, 5, 10}, "M0 100L10 50L20 0", nil, dots(0, 100, 10, 50, 20, 0), dots(20, 0), false, false},
		{"at xs", []float64{0, 2.5, 10}, []float64{0, 5, 10}, "M0 100L25 50L100 0", nil, dots(0, 100, 25, 50, 100, 0), dots(100, 0), false, false},
		{"xs may go back", []float64{5, 0}, []float64{0, 10}, "M50 100L0 0", nil, dots(50, 100, 0, 0), dots(0, 0), false, false},
		{"xs may be shorter", []float64{0, 10}, []float64{0, 10, 3}, "M0 100L100 0", nil, dots(0, 100, 100, 0), dots(100, 0), false, false},
		{"one value is a dot", nil, []float64{5}, "", dots(0, 50), dots(0, 50), dots(0, 50), false, false},
		{"NaN breaks", nil, []float64{0, 0, nan, 5, nan, 0, 0}, "M0 100L10 100M50 100L60 100", dots(30, 50), dots(0, 100, 10, 100, 30, 50, 50, 100, 60, 100), dots(60, 100), false, false},
		{"NaN in xs breaks", []float64{0, nan, 2}, []float64{0, 0, 0}, "", dots(0, 100, 20, 100), dots(0, 100, 20, 100), dots(20, 100), false, false},
		{"a break between equal values", []float64{0, 1, nan, 1, 0}, []float64{0, 0, 0, 0, 0}, "M0 100L10 100M10 100L0 100", nil, dots(0, 100, 10, 100, 10, 100, 0, 100), dots(0, 100), false, false},
		{"cut above", nil, []float64{0, 20}, "M0 100L5 0", nil, dots(0, 100), dots(5, 0), true, false},
		{"cut above and back", nil, []float64{0, 20, 0}, "M0 100L5 0M15 0L20 100", nil, dots(0, 100, 20, 100), dots(20, 100), true, false},
		{"cut below", nil, []float64{5, -5}, "M0 50L5 100", nil, dots(0, 50), dots(5, 100), false, true},
		{"crosses the whole scale", nil, []float64{-10, 20}, "M3.3 100L6.7 0", nil, nil, dots(6.7, 0), true, true},
		{"stays outside", nil, []float64{11, 12}, "", nil, nil, nil, true, false},
		{"a dot outside is not drawn", nil, []float64{11}, "", nil, nil, nil, true, false},
		{"cut at the sides", []float64{-10, 20}, []float64{5, 5}, "M0 50L100 50", nil, nil, dots(100, 50), false, false},
		{"infinity breaks", nil, []float64{0, 0, inf, -inf}, "M0 100L10 100", nil, dots(0, 100, 10, 100), dots(10, 100), true, true},
		{"stays outside at one height", nil, []float64{11, 11}, "", nil, nil, nil, true, false},
		{"far beyond", nil, []float64{5, 1e300}, "M0 50L0 0", nil, dots(0, 50), dots(0, 0), true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scale := chart.ScaleOf(0, 10, 2)
			l := chart.Line(tt.xs, tt.ys, scale, scale, 100, 100)
			require.Equal(t, tt.d, l.D)
			require.Equal(t, tt.dots, l.Dots)
			require.Equal(t, tt.points, l.Points)
			if tt.end == nil {
				require.Nil(t, l.End)
			} else {
				require.Equal(t, &tt.end[0], l.End)
			}
			require.Equal(t, tt.above, l.Above, "above")
			require.Equal(t, tt.below, l.Below, "below")
		})
	}
}

// TestLineBeyondFloats checks quotients that are infinite.
func TestLineBeyondFloats(t *testing.T) {
	tiny, x := chart.ScaleOf(0, 1e-300, 2), chart.ScaleOf(0, 10, 2)
	require.Equal(t, "M0 100L0 0M20 0L20 100", chart.Line(nil, []float64{0, 1e300, 0}, x, tiny, 100, 100).D)
}

// TestThinned compares columns with a naive search.
func TestThinned(t *testing.T) {
	const n, w = 50_000, 100
	ys := make([]float64, n)
	lows, highs := make([]float64, w+1), make([]float64, w+1)
	for i := range ys {
		ys[i] = float64(i * 7919 % 1000)
		c := i * w / (n - 1)
		lows[c], highs[c] = max(lows[c], 100-ys[i]/10), 100-ys[i]/10
	}
	for i, y := range ys {
		c := i * w / (n - 1)
		highs[c] = min(highs[c], 100-y/10)
	}
	l := chart.Line(nil, ys, chart.ScaleOf(0, n-1, 2), chart.ScaleOf(0, 1000, 2), w, 100)
	require.Nil(t, l.Points)
	all := points(t, l.D)
	require.Len(t, all, 2*w+1, "two of each column, one of the last")
	for c := range w {
		a, b := all[2*c], all[2*c+1]
		require.InDelta(t, highs[c], min(a.Y, b.Y), 0.06)
		require.InDelta(t, lows[c], max(a.Y, b.Y), 0.06)
		require.LessOrEqual(t, a.X, b.X, "in the order of the row")
	}
}

func TestWhatIsThinned(t *testing.T) {
	tests := []struct {
		name    string
		n       int
		w       float64
		thinned bool
	}{
		{"2,000 values", 2000, 1122, false},
		{"more than 2,000", 2001, 1122, true},
		{"four for each unit", 400, 100, false},
		{"more for each unit", 401, 100, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := chart.ScaleOf(0, float64(tt.n), 2)
			require.Equal(t, tt.thinned, chart.Line(nil, make([]float64, tt.n), s, s, tt.w, 100).Points == nil)
		})
	}
}

func TestThinnedBreaks(t *testing.T) {
	ys := make([]float64, 3000)
	for i := range ys {
		if i >= 1000 && i < 2000 {
			ys[i] = nan
		}
	}
	x, y := chart.ScaleOf(0, 2999, 2), chart.ScaleOf(0, 1, 2)
	require.Len(t, commandsOf('M', chart.Line(nil, ys, x, y, 30, 10).D), 2, "missing values break")

	xs := make([]float64, 3000)
	for i := range xs {
		xs[i] = float64(i % 2 * 2999)
	}
	sparse := chart.Line(xs, make([]float64, 3000), x, y, 30, 10)
	require.Equal(t, "M0 10L30 10", sparse.D, "columns without values do not")

	ys[5] = 9
	require.True(t, chart.Line(nil, ys, x, y, 30, 10).Above)
}

// FuzzLine checks that a path is finite and inside the box.
func FuzzLine(f *testing.F) {
	f.Add(0.0, 1.0, 2.0, 3.0, 0.0, 5.0, uint16(0))
	f.Add(math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, -math.MaxFloat64, math.MaxFloat64, uint16(2001))
	f.Add(1e300, 1.0, 1e-300, -1e300, 1e300, 1e300, uint16(3))
	f.Fuzz(func(t *testing.T, a, b, c, d, lo, hi float64, more uint16) {
		ys := []float64{a, b, c, d, lo, hi, b, a}
		xs := []float64{d, a, b, hi, a, c, lo, b}
		for range more % 4096 {
			ys, xs = append(ys, ys[len(ys)-5]), append(xs, xs[len(xs)-3])
		}
		for _, scale := range []chart.Scale{chart.NewScale(lo, hi), chart.ScaleOf(lo, hi, 3)} {
			require.Less(t, scale.Lo, scale.Hi)
			require.False(t, math.IsInf(scale.Lo, 0) || math.IsInf(scale.Hi, 0))
			require.LessOrEqual(t, len(scale.Ticks), 10)
			for _, tick := range scale.Ticks {
				require.True(t, tick >= scale.Lo && tick <= scale.Hi)
			}
			for _, xs := range [][]float64{nil, xs} {
				l := chart.Line(xs, ys, scale, scale, 211, 58)
				all := append(points(t, l.D), l.Dots...)
				all = append(all, l.Points...)
				if l.End != nil {
					all = append(all, *l.End)
				}
				for _, p := range all {
					require.True(t, p.X >= 0 && p.X <= 211 && p.Y >= 0 && p.Y <= 58, "%v", p)
				}
				require.LessOrEqual(t, len(all), 3*2008)
			}
		}
	})
}
