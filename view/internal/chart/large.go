package chart

import (
	"fmt"
	"math"
)

// Space inside a large histogram, in units.
const (
	headroom  = 26 // above the highest bar, for its label
	ticksRoom = 24 // below the baseline, for labels of ticks
	spreadAt  = 38 // from the baseline to the line of quantiles
	footroom  = 54 // below the baseline, if there are quantiles
	charWidth = 7  // of a label
	tailLabel = 80 // below a tail, with half the label of a tick beside it
)

// Quantiles are the numbers of the line below a large histogram.
type Quantiles struct{ P1, P25, P50, P75, P99 float64 }

// A Large is a large histogram in a box of W x H units, with the baseline at y = Base, from x =
// Left to x = Right.
type Large struct {
	W, H, Base, Left, Right float64
	Bars                    []Bar
	Below, Above            *Bar // tails, nil if empty; each has a baseline, as wide as the tail
	Grid                    []GridLine
	Ticks                   []Tick
	Spread                  *Spread // nil without quantiles
}

// A Bar is a rectangle. Its slot is the column that reacts to the pointer: the bar and half the gap
// on both sides, from 0 to the baseline.
type Bar struct {
	X, Y, W, H   float64
	SlotX, SlotW float64
	Count        int
}

// Mid returns the x in the middle of a bar.
func (b Bar) Mid() float64 { return round(b.X + b.W/2) }

// A GridLine is a line from 0 to W for a count. Its label stands above its right end.
type GridLine struct {
	Y     float64
	Count int
}

// A Tick is a mark on the baseline, with a label below it.
type Tick struct {
	X      float64
	Value  float64 // 0 if Each is set
	Bar    int     // the bar that the label names if Each is set, otherwise -1
	Anchor string  // text-anchor of the label: start, middle or end, so that it stays inside
	Minor  bool    // the label is hidden on phones
}

// A Spread is the line of quantiles at y = Y, with the x of each. A quantile beyond the bars stands
// at its end.
type Spread struct{ Y, P1, P25, P50, P75, P99 float64 }

// NewLarge returns a large histogram in a box of w x h units, 704 x 250 on the page. Quantiles are
// optional: without them, and if in.Each is set, there is no Spread and the baseline is lower.
//
//   - Grid has at most four lines, at round, whole counts. A line whose label would cover the count
//     above a tail is left out.
//   - Ticks stand at round numbers, or below the middle of each bar if in.Each is set. One whose
//     label would cover the label below a tail is left out.
//   - Bars that are not empty are at least 1 unit high, tails 4.
func NewLarge(in Histogram, q *Quantiles, w, h float64) Large {
	below := ticksRoom
	if in.Each {
		q = nil
	} else if q != nil {
		below = footroom
	}
	g := Large{W: round(w), H: round(h), Base: round(max(1, h-float64(below)))}
	s := slotsOf(in, w)
	g.Left, g.Right = round(s.left), round(s.left+float64(len(in.Counts))*s.width)
	g.addBars(in, s)
	g.addGrid(in)
	if in.Each {
		g.labelBars(in, s)
	} else if n := len(in.Counts); n > 0 && len(in.Edges) == n+1 {
		g.addTicks(in.Edges[0], in.Edges[n])
		g.addSpread(in.Edges[0], in.Edges[n], q)
	}
	return g
}

// addBars adds bars and tails.
func (g *Large) addBars(in Histogram, s slots) {
	most, gap := in.most(), 0.0
	if in.Each {
		gap = max(0.18*s.width, s.width-34)
	} else if s.width >= 3 {
		gap = 1
	}
	add := func(x, w, gap float64, count int, least float64) Bar {
		high := round(height(count, most, g.peak(), least))
		return Bar{round(x + gap/2), round(g.Base - high), round(w - gap), high, round(x), round(w), count}
	}
	for i, n := range in.Counts {
		g.Bars = append(g.Bars, add(s.left+float64(i)*s.width, s.width, gap, n, 1))
	}
	if in.Below > 0 {
		b := add(0, s.tail, 0, in.Below, 4)
		g.Below = &b
	}
	if in.Above > 0 {
		b := add(g.W-s.tail, s.tail, 0, in.Above, 4)
		g.Above = &b
	}
}

// peak returns the height of the highest bar.
func (g *Large) peak() float64 { return max(1, g.Base-headroom) }

// addGrid adds grid lines.
func (g *Large) addGrid(in Histogram) {
	most := in.most()
	s, ok := stepWithin(0, float64(most), 2)
	if !ok || s.exp < 0 {
		s = step{1, 0}
	}
	for _, v := range s.between(0, float64(most))[1:] {
		y := round(g.Base - v/float64(most)*g.peak())
		if g.Above != nil && math.Abs(y-g.Above.Y) < 14 {
			continue
		}
		g.Grid = append(g.Grid, GridLine{y, int(v)})
	}
}

// addTicks adds ticks at round numbers from lo to hi.
func (g *Large) addTicks(lo, hi float64) {
	s, ok := stepWithin(lo, hi, 3)
	if !ok {
		return
	}
	left, right := 0.0, g.W
	if g.Below != nil {
		left = tailLabel
	}
	if g.Above != nil {
		right = g.W - tailLabel
	}
	for i, v := range s.between(lo, hi) {
		if x := round(g.at(v, lo, hi)); x >= left && x <= right {
			g.Ticks = append(g.Ticks, Tick{x, v, -1, g.anchor(x, 3*charWidth), i%2 == 1})
		}
	}
}

// labelBars adds a tick below each bar, or below each second, third ... if labels would touch.
func (g *Large) labelBars(in Histogram, s slots) {
	chars := min(in.LabelChars, 1000)
	if chars <= 0 {
		chars = 3
	}
	every := max(1, int(math.Ceil(float64(chars*charWidth+8)/s.width)))
	for i := 0; i < len(g.Bars); i += every {
		x := g.Bars[i].Mid()
		g.Ticks = append(g.Ticks, Tick{x, 0, i, g.anchor(x, float64(chars)*charWidth/2), i/every%2 == 1})
	}
}

// anchor returns the text-anchor of a label at x, half of which takes half units.
func (g *Large) anchor(x, half float64) string {
	switch {
	case x < half:
		return "start"
	case x > g.W-half:
		return "end"
	}
	return "middle"
}

// addSpread adds the line of quantiles.
func (g *Large) addSpread(lo, hi float64, q *Quantiles) {
	if q == nil {
		return
	}
	at := func(v float64) float64 { return round(g.at(v, lo, hi)) }
	g.Spread = &Spread{round(min(g.Base+spreadAt, g.H)), at(q.P1), at(q.P25), at(q.P50), at(q.P75), at(q.P99)}
}

// at returns the x of a value among the bars, or the nearer end.
func (g *Large) at(v, lo, hi float64) float64 {
	f := min(max(fraction(v, lo, hi), 0), 1)
	return g.Left + f*(g.Right-g.Left)
}

// A Box is a rectangle with a text in its middle.
type Box struct{ X, Y, W, H, TextX, TextY float64 }

// Label returns the box above a bar for a label of chars characters. The box stays inside.
func (g Large) Label(b Bar, chars int) Box {
	w := min(g.W, 13+6.33*float64(min(max(chars, 0), 1000)))
	x := min(max(0, b.X+b.W/2-w/2), g.W-w)
	y := max(0, b.Y-25)
	return Box{round(x), round(y), round(w), 20, round(x + w/2), round(y + 14)}
}

// Path returns the path data of all bars, without tails.
func (g Large) Path() string {
	var d []byte
	for _, b := range g.Bars {
		if b.H > 0 {
			d = fmt.Appendf(d, "M%g %gh%gv%gh%gz", b.X, b.Y, b.W, b.H, -b.W)
		}
	}
	return string(d)
}
