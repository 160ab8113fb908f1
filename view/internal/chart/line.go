package chart

import "math"

// A Point is a position in a box.
type Point struct{ X, Y float64 }

// A LinePath is a row of values as a line.
type LinePath struct {
	D      string  // path data, to be stroked; empty if no two neighbours are both values
	Dots   []Point // values without a neighbour, which D does not show
	Points []Point // all values inside the scale; nil if the row is thinned
	End    *Point  // where the line ends: the last value, or where it leaves the scale

	// Above and Below report values beyond the scale of y, +Inf and -Inf among them.
	Above, Below bool
}

// The largest numbers of values that are all drawn: of a row, and for each unit of width.
const (
	maxPoints   = 2000
	maxEachUnit = 4
)

// Line returns the path of a row in a box of w x h units: ys at xs, or at 0, 1, 2 ... if xs is nil.
// If one of both is longer, its end is left out.
//
// NaN in xs or ys is a missing value: it breaks the line. So does an infinity, as no line leads to
// it. The line is cut where it crosses the border of the scales.
//
// A row of more than 2,000 values, or more than four for each unit of w, is thinned: of each column
// of one unit only the smallest and the largest value are drawn, columns from left to right. This
// shows the same pixels if xs ascend. If they do not, it shows the range of the values at each x.
func Line(xs, ys []float64, x, y Scale, w, h float64) LinePath {
	n := len(ys)
	if xs != nil {
		n = min(n, len(xs))
	}
	at := func(i int) (float64, float64) {
		if xs == nil {
			return float64(i), ys[i]
		}
		return xs[i], ys[i]
	}
	p := pen{x: x, y: y, w: w, h: h}
	if n > min(maxPoints, int(maxEachUnit*min(w, maxPoints))) {
		p.thinned(n, at)
	} else {
		for i := range n {
			p.value(at(i))
		}
	}
	p.stop()
	p.D = string(p.d)
	return p.LinePath
}

// A pen draws a line.
type pen struct {
	LinePath
	x, y Scale
	w, h float64

	d    []byte
	at   Point // the end of what is drawn, if d is not empty
	last Point // the value before, not cut, if run is not 0
	run  int   // values since the last break
}

// place returns the position of a value, not cut. It reports false for a break.
func (p *pen) place(x, y float64) (Point, bool) {
	p.Above = p.Above || y > p.y.Hi
	p.Below = p.Below || y < p.y.Lo
	if math.IsNaN(x+y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return Point{}, false
	}
	return Point{fraction(x, p.x.Lo, p.x.Hi) * p.w, p.h - fraction(y, p.y.Lo, p.y.Hi)*p.h}, true
}

// value draws the next value.
func (p *pen) value(x, y float64) {
	to, ok := p.place(x, y)
	if !ok {
		p.stop()
		return
	}
	if p.inside(to) {
		p.Points = append(p.Points, rounded(to))
	}
	p.point(to)
}

// point draws a line to the next value.
func (p *pen) point(to Point) {
	if p.run > 0 {
		p.segment(p.last, to)
	}
	p.last = to
	p.run++
}

// stop ends a line. A line of one value is a dot.
func (p *pen) stop() {
	if p.run == 1 && p.inside(p.last) {
		dot := rounded(p.last)
		p.Dots = append(p.Dots, dot)
		p.End = &dot
	}
	p.run = 0
}

// segment draws the part of a segment that is inside.
func (p *pen) segment(a, b Point) {
	from, to, ok := clip(a, b, p.w, p.h)
	if !ok {
		return
	}
	from, to = rounded(from), rounded(to)
	if p.d == nil || p.at != from || p.run == 1 {
		p.d = coordinates(append(p.d, 'M'), from)
	}
	p.d = coordinates(append(p.d, 'L'), to)
	p.at, p.End = to, &to
}

func (p *pen) inside(q Point) bool { return q.X >= 0 && q.X <= p.w && q.Y >= 0 && q.Y <= p.h }

// rounded returns a position in tenths of a unit, which take fewer bytes than hundredths.
func rounded(p Point) Point { return Point{tenths(p.X), tenths(p.Y)} }

func coordinates(d []byte, p Point) []byte {
	return number(append(number(d, p.X), ' '), p.Y)
}

// clip returns the part of the segment from a to b inside a box, by the method of Liang and Barsky.
// It reports false if no part is inside.
func clip(a, b Point, w, h float64) (from, to Point, ok bool) {
	dx, dy := b.X-a.X, b.Y-a.Y
	t0, t1 := 0.0, 1.0
	for _, side := range [...]struct{ towards, room float64 }{{-dx, a.X}, {dx, w - a.X}, {-dy, a.Y}, {dy, h - a.Y}} {
		switch {
		case side.towards == 0 && side.room < 0:
			return from, to, false
		case side.towards < 0:
			t0 = max(t0, side.room/side.towards)
		case side.towards > 0:
			t1 = min(t1, side.room/side.towards)
		}
	}
	if t0 > t1 {
		return from, to, false
	}
	return Point{a.X + t0*dx, a.Y + t0*dy}, Point{a.X + t1*dx, a.Y + t1*dy}, true
}

// A column is the part of a line in one unit of x.
type column struct {
	low, high Point
	lowAt     int // positions in the row
	highAt    int
	filled    bool
	broken    bool // a value is missing
}

// thinned draws the smallest and the largest value of each column.
func (p *pen) thinned(n int, at func(int) (x, y float64)) {
	columns := make([]column, 1+int(min(max(p.w, 0), 8192)))
	for i := range n {
		x, y := at(i)
		f := fraction(x, p.x.Lo, p.x.Hi)
		if math.IsNaN(x) || f < 0 || f > 1 {
			continue
		}
		c := &columns[int(f*float64(len(columns)-1))]
		if to, ok := p.place(x, y); ok {
			c.add(to, i)
		} else {
			c.broken = true
		}
	}
	for _, c := range columns {
		p.column(c)
	}
}

// add adds a value. y grows downwards, so the smallest value has the largest y.
func (c *column) add(to Point, i int) {
	if !c.filled || to.Y > c.low.Y {
		c.low, c.lowAt = to, i
	}
	if !c.filled || to.Y < c.high.Y {
		c.high, c.highAt = to, i
	}
	c.filled = true
}

// column draws one or two values, in their order in the row.
func (p *pen) column(c column) {
	switch {
	case !c.filled && c.broken:
		p.stop()
	case !c.filled:
	case c.lowAt == c.highAt:
		p.point(c.low)
	case c.lowAt < c.highAt:
		p.point(c.low)
		p.point(c.high)
	default:
		p.point(c.high)
		p.point(c.low)
	}
}
