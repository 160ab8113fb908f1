package view

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/chart"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	lineRows    = 20      // rows of a page
	behindRows  = 48      // rows behind the chosen one
	mostLayouts = 200     // leaves whose lengths are compared to offer them as x
	mostBehind  = 4 << 20 // values of rows behind that are read
	mostDots    = 100     // values that have a dot
	chartWide   = 1122.0
	chartHigh   = 208.0
	lineWide    = 220.0 // of a card
	lineHigh    = 54.0

	// Bytes of path data of the chosen row, of all rows behind it, and of all cards.
	chosenBytes = 26_000
	behindBytes = 26_000
	cardsBytes  = 34_000
)

// A linesData is the data of the template of lines.
type linesData struct {
	Frame    frame
	Note     string
	Hidden   []pair
	Y, X     []option
	F        []option // empty for [T]
	Lo, Hi   string
	Guess    string
	GuessTo  string // address with the scale that is guessed, "" if it is shown
	Chart    *lineChart
	Rows     []lineCard
	Notes    []string // what is left out
	Empty    bool
	Shape    string
	Pager    *pager
	from     int
	row      int
	scale    chart.Scale
	byRow    map[int]*series
	behind   []int // rows behind the chosen one
	failures map[int]error
}

// A lineChart is the chosen row, over others.
type lineChart struct {
	Row, Say string
	Sentence string // read out instead of the drawing
	Grid     []plotTick
	Ticks    []lineTick
	Behind   string
	Line     stroke
	Points   string
	Name     string  // at the end of the line, "" without one
	NameX    float64 // in percent
	NameY    float64
	AtEnd    bool // the name ends where the line does
	Deep     bool // the labels of y are long
	Failed   text.Text
}

// A lineTick is a tick of x, in percent of the width.
type lineTick struct {
	X      float64
	Anchor string
	Text   string
	Minor  bool
}

// A lineCard is one of the rows below the chosen one.
type lineCard struct {
	Row, Link string
	Words     string
	Hidden    bool // a mask hides the row
	Chosen    bool
	Line      stroke
	End       string // path data of a dot
	Failed    text.Text
}

// lines answers with rows as lines.
func (v *visit) lines() error {
	y, err := v.plotted("lines", v.looksLikeLines)
	if err != nil {
		return err
	}
	x, f, err := v.askedLines(y)
	if err != nil {
		return err
	}
	d := linesData{Frame: v.frame("Lines", nil), Empty: v.version.Rows == 0, Shape: text.Shape(y.Shape)}
	d.Frame.Title = "Lines of " + text.ShowRunes(string(y.Key), 64).String() + " · " + v.set.Name
	d.Frame.Class = "plots"
	if err := v.lineScale(&d, y); err != nil {
		return v.unread(y, err)
	}
	v.lineFields(&d, y, x, f)
	if d.Empty {
		return v.exec("lines", d)
	}
	if err := v.lineRange(&d); err != nil {
		return err
	}
	if err := v.readLines(&d, y, x, f); err != nil {
		return err
	}
	v.drawLines(&d, y)
	return v.exec("lines", d)
}

// askedLines returns the leaf of x, nil for positions, and the feature that the address names.
func (v *visit) askedLines(y *shelf.Node) (x *shelf.Node, f int, err error) {
	if f, err = v.number("f", 0); err != nil {
		return nil, 0, err
	}
	fresh, count := v.fresh(y), v.lineFeatures(y)
	if fresh && f >= count {
		f = 0
	}
	if f < 0 || f >= count {
		return nil, 0, fail(http.StatusBadRequest, "There is no such feature", fmt.Sprintf("f: got %d, want one of %d", f, count))
	}
	x, _, ok := v.choice("x")
	if ok = ok && (x == nil || v.positions(y)(x)); !ok && !fresh {
		return nil, 0, fail(http.StatusBadRequest, "This leaf is no x",
			fmt.Sprintf("x: got %q, want a leaf of real numbers whose rows are as long as the ones of %q", text.ShowRunes(v.query.Get("x"), 64), y.Key))
	}
	if !ok {
		x = nil
	}
	return x, f, nil
}

// lineFeatures returns the number of lines of a row: F for [T F].
func (v *visit) lineFeatures(y *shelf.Node) int {
	if features := v.features(y); len(features) == 2 {
		return features[1]
	}
	return 1
}

// positions returns a function that reports whether a leaf can be the x of y.
func (v *visit) positions(y *shelf.Node) func(*shelf.Node) bool {
	left := mostLayouts
	return func(x *shelf.Node) bool {
		features := v.features(x)
		if x == y || x.Kind != y.Kind || isText(x.Entry) || len(features) != 1 || !x.DType.IsInteger() && !x.DType.IsFloat() {
			return false
		}
		if y.Kind != tdict.KindRagged {
			return features[0] == v.features(y)[0]
		}
		left--
		return left >= 0 && v.sameLengths(y, x)
	}
}

// sameLengths reports whether the rows of two ragged leaves have the same lengths. A leaf that
// cannot be opened is not offered; its own page says why.
func (v *visit) sameLengths(a, b *shelf.Node) bool {
	one, err := v.version.Dict.Get(a.Key)
	other, err2 := v.version.Dict.Get(b.Key)
	x, ok := one.(*ragged.Tensor)
	y, ok2 := other.(*ragged.Tensor)
	return err == nil && err2 == nil && ok && ok2 && x.Layout().Equal(y.Layout())
}

// lineScale sets the scale of y: from 1 % to 99 % of the leaf, or as the address says.
func (v *visit) lineScale(d *linesData, y *shelf.Node) error {
	p, err := v.whole(v.r.Context(), y, profiling{sample: true})
	if err != nil {
		return err
	}
	guess := chart.NewScale(0, 1)
	if h := p.Values; h != nil && len(h.Quantiles) == 5 {
		guess = chart.NewScale(h.Quantiles[0], h.Quantiles[4])
	}
	d.scale = guess
	if !v.fresh(y) {
		lo, err := v.float("lo", guess.Lo)
		if err != nil {
			return err
		}
		hi, err := v.float("hi", guess.Hi)
		if err != nil {
			return err
		}
		if lo != guess.Lo || hi != guess.Hi {
			d.scale = chart.ScaleOf(lo, hi, 2)
			d.GuessTo = v.of("lines", y, "x", v.query.Get("x"), "f", v.query.Get("f"), "row", v.query.Get("row"), "from", v.query.Get("from"))
			d.Guess = fmt.Sprintf("scale as guessed: %s to %s", text.Number(guess.Lo, 6), text.Number(guess.Hi, 6))
		}
	}
	if p.Read < p.Total {
		d.Notes = append(d.Notes, "The scale is guessed "+sampled(p)[len("of "):]+".")
	}
	return nil
}

// lineFields fills the form.
func (v *visit) lineFields(d *linesData, y, x *shelf.Node, f int) {
	d.Hidden = append(d.Frame.Hidden, pair{"of", url.QueryEscape(string(y.Key))})
	d.Y = v.options(y, v.looksLikeLines)
	d.X = append([]option{{Value: nothing, Text: "position", Chosen: x == nil}}, v.options(x, v.positions(y))...)
	for i := range v.lineFeatures(y) {
		d.F = append(d.F, option{Value: strconv.Itoa(i), Text: strconv.Itoa(i), Chosen: i == f})
	}
	if len(d.F) == 1 {
		d.F = nil
	}
	d.Lo, d.Hi = short(d.scale.Lo), short(d.scale.Hi)
}

// lineRange sets the rows of the page, and the chosen one.
func (v *visit) lineRange(d *linesData) error {
	n := v.version.Rows
	row, err := v.rowNumber()
	if err != nil {
		return err
	}
	from, err := v.number("from", max(row, 0)/lineRows*lineRows)
	if err != nil {
		return err
	}
	if from < 0 {
		from += n
	}
	if d.from = max(0, min(from, n-1)); n <= lineRows {
		d.from = 0
	}
	if d.row = row; row < 0 {
		d.row = d.from
	}
	stop := min(n, d.from+lineRows)
	d.Note = fmt.Sprintf("rows %s to %s of %s, all on one scale", text.Count(d.from), text.Count(stop-1), text.Count(n))
	d.Pager = v.pager(d.from, lineRows, n, "row")
	return nil
}

// readLines reads the rows that are shown: the chosen row, the rows of the page, and the rows
// behind the chosen one until many values are read. A row that cannot be read is an error in its
// place.
func (v *visit) readLines(d *linesData, y, x *shelf.Node, f int) error {
	d.byRow, d.failures = map[int]*series{}, map[int]error{}
	read := func(row int) (int, error) {
		if err := v.r.Context().Err(); err != nil {
			return 0, err
		}
		if s := d.byRow[row]; s != nil {
			return s.read, nil
		}
		s, err := v.series(y, x, row, f)
		if err != nil {
			d.failures[row] = err
		}
		if row != d.row {
			s.xs, s.ys = thin(s.xs, s.ys, keptValues)
		}
		d.byRow[row] = &s
		return s.read, nil
	}
	rows := []int{d.row}
	for row := d.from; row < min(v.version.Rows, d.from+lineRows); row++ {
		rows = append(rows, row)
	}
	for _, row := range rows {
		if _, err := read(row); err != nil {
			return err
		}
	}
	left := mostBehind
	for row := 0; row < min(v.version.Rows, behindRows) && left > 0; row++ {
		if row == d.row {
			continue
		}
		count, err := read(row)
		if err != nil {
			return err
		}
		left -= count
		d.behind = append(d.behind, row)
	}
	return nil
}

// drawLines draws the rows that were read.
func (v *visit) drawLines(d *linesData, y *shelf.Node) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range d.byRow {
		low, high = min(low, s.low), max(high, s.high)
	}
	if low > high {
		low, high = 0, 1
	}
	wide := chart.ScaleOf(low, high, 3)
	d.Chart = v.lineChart(d, y, wide)
	stop := min(v.version.Rows, d.from+lineRows)
	for row := d.from; row < stop; row++ {
		s := d.byRow[row]
		c := lineCard{Row: text.Count(row), Link: v.elsewhere("row", strconv.Itoa(row)), Chosen: row == d.row, Words: s.words, Hidden: s.hidden}
		if err := d.failures[row]; err != nil {
			c.Failed = text.Show(v.told(v.set, err), 300)
		} else if !s.hidden {
			c.Line = s.stroke(wide, d.scale, lineWide, lineHigh, cardsBytes/(stop-d.from))
			if end := c.Line.End; end != nil {
				if c.End = dots([]chart.Point{*end}); strings.HasSuffix(c.Line.Dots, c.End) {
					c.End = ""
				}
			}
		}
		d.Rows = append(d.Rows, c)
	}
}

// lineChart draws the chosen row over the others.
func (v *visit) lineChart(d *linesData, y *shelf.Node, wide chart.Scale) *lineChart {
	s := d.byRow[d.row]
	c := &lineChart{Row: text.Count(d.row), Say: s.words}
	if err := d.failures[d.row]; err != nil {
		c.Failed = text.Show(v.told(v.set, err), 1000)
		c.Say = "cannot be read"
	}
	drawn := 0
	for _, row := range d.behind {
		line := d.byRow[row].stroke(wide, d.scale, chartWide, chartHigh, behindBytes/len(d.behind))
		if c.Behind += line.D + line.Dots; line.D+line.Dots != "" {
			drawn++
		}
	}
	if drawn > 0 {
		c.Say += "; " + plural(drawn, "row", "rows") + " behind it"
	}
	c.Sentence = fmt.Sprintf("Row %s of %s: %s", c.Row, text.ShowRunes(string(y.Key), 64), c.Say)
	c.addScales(d.scale, wide)
	c.Line = s.stroke(wide, d.scale, chartWide, chartHigh, chosenBytes)
	c.Points = c.Line.Dots
	if present := chart.Line(s.xs, s.ys, wide, d.scale, chartWide, chartHigh).Points; len(present) <= mostDots {
		c.Points = dots(present)
	}
	if end := c.Line.End; end != nil && s.last != "" {
		c.Name = "row " + c.Row + ": " + s.last
		c.NameX, c.NameY = math.Round(1000*end.X/chartWide)/10, end.Y+4
		if c.AtEnd = end.X > 0.75*chartWide && len(c.Name) > 12 || len(c.Name) > 24; c.AtEnd {
			c.NameY = max(10, end.Y-10)
		}
	}
	return c
}

// addScales adds grid lines and ticks.
func (c *lineChart) addScales(y, x chart.Scale) {
	for _, value := range y.Ticks {
		label := text.Number(value, 6)
		c.Deep = c.Deep || len([]rune(label)) > 8
		c.Grid = append(c.Grid, plotTick{Y: y.Y(value, chartHigh), Text: label})
	}
	for i, value := range x.Ticks {
		t := lineTick{X: x.X(value, 100), Text: text.Number(value, 6), Minor: i%2 == 1, Anchor: "middle"}
		if t.X > 97 && len(t.Text) > 12 {
			t.Anchor = "end"
		}
		c.Ticks = append(c.Ticks, t)
	}
}
