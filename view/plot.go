package view

import (
	"fmt"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/view/internal/chart"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	plotWide = 704.0
	plotHigh = 250.0
)

// A plot is a large histogram on a page.
type plot struct {
	Title, Say string
	Sentence   string // read aloud in place of the plot
	Chart      *chart.Large
	Path       string // of all bars
	Bars       []plotBar
	Ticks      []plotTick
	Grid       []plotTick
	Words      string // in place of bars
	Share      *presence
	Facts      []plotFact // what the bars count, and what they do not
	Table      string     // "22 bins of 50 as a table"
	Rows       []binRow
}

// A presence is the strip that shows which part of the values is present, in percent.
type presence struct{ Width float64 }

// A plotFact is a number with words below a plot.
type plotFact struct {
	Strong, Text string
	Mark         bool // in the colour of what is missing
}

// A plotBar is a bar, with its label.
type plotBar struct {
	chart.Bar
	Box   chart.Box
	Label string
	Tail  bool
	Name  string // below a tail: "≥ 1,150"
	Count string

	Edge   float64 // where Name stands, and its text-anchor
	Anchor string
}

type plotTick struct {
	chart.Tick
	Y    float64
	Text string
}

// A binRow is a bin in the table.
type binRow struct{ Name, Count, Share string }

// newPlot returns the plot of a histogram.
func newPlot(title, say, key string, h *inspect.Histogram, missing int, high float64) *plot {
	p := &plot{Title: title, Say: say}
	p.facts(h, missing)
	switch {
	case h.Form == inspect.NoValue:
		p.Words = "no value is present"
		return p
	case h.Form == inspect.OneValue:
		p.Words = fmt.Sprintf("all %s are %s", plural(h.Count, "value", "values"), text.Exact(h.Min))
		if h.Count == 1 {
			p.Words = "the only value is " + text.Exact(h.Min)
		}
		return p
	}
	p.Sentence = fmt.Sprintf("Histogram of %s: %s from %s to %s, median %s", key, plural(h.Count, "value", "values"), text.Number(h.Min, 6), text.Number(h.Max, 6), text.Number(h.Quantiles[2], 6))
	p.draw(h, high)
	return p
}

// draw places the bars.
func (p *plot) draw(h *inspect.Histogram, high float64) {
	var q *chart.Quantiles
	if h.Form == inspect.EqualBins {
		q = &chart.Quantiles{P1: h.Quantiles[0], P25: h.Quantiles[1], P50: h.Quantiles[2], P75: h.Quantiles[3], P99: h.Quantiles[4]}
	}
	large := chart.NewLarge(drawing(h), q, plotWide, high)
	p.Chart, p.Path = &large, large.Path()
	for i, b := range large.Bars {
		p.bar(b, binName(h, i), h.Bars[i].Count, h.Count, "")
	}
	if large.Below != nil {
		p.bar(*large.Below, "below "+text.Number(h.Bars[0].From, 6), h.Below, h.Count, "< "+text.Number(h.Bars[0].From, 6))
		p.Bars[len(p.Bars)-1].Anchor = "start"
	}
	if large.Above != nil {
		end := endOf(h)
		p.bar(*large.Above, "at least "+end, h.Above, h.Count, "≥ "+end)
		p.Bars[len(p.Bars)-1].Anchor, p.Bars[len(p.Bars)-1].Edge = "end", large.W
	}
	for _, t := range large.Ticks {
		label := text.Number(t.Value, 6)
		if t.Bar >= 0 {
			label = text.Number(h.Bars[t.Bar].From, 6)
		}
		p.Ticks = append(p.Ticks, plotTick{Tick: t, Text: label})
	}
	for _, g := range large.Grid {
		p.Grid = append(p.Grid, plotTick{Y: g.Y, Text: text.Count(g.Count)})
	}
	p.Table = plural(len(h.Bars), "bar", "bars") + " as a table"
	if h.Form == inspect.EqualBins {
		p.Table = plural(len(h.Bars), "bin", "bins") + " of " + text.Number(h.Width, 6) + " as a table"
	}
}

// bar adds a bar and its row in the table.
func (p *plot) bar(b chart.Bar, name string, count, all int, tail string) {
	share := text.Percent(count, all)
	label := name + " · " + text.Count(count) + " · " + share
	p.Bars = append(p.Bars, plotBar{Bar: b, Box: p.Chart.Label(b, len([]rune(label))), Label: label, Tail: tail != "", Name: tail, Count: text.Count(count)})
	p.Rows = append(p.Rows, binRow{name, text.Count(count), share})
}

// binName names a bar: "250 to 299", floats "2 to 3", one value "5".
func binName(h *inspect.Histogram, i int) string {
	b := h.Bars[i]
	if b.From == b.To {
		return text.Number(b.From, 15)
	}
	return text.Number(b.From, 6) + " to " + text.Number(b.To, 6)
}

// endOf returns where the tail above begins.
func endOf(h *inspect.Histogram) string {
	switch end := h.Bars[len(h.Bars)-1].To.(type) {
	case int64:
		return text.Number(end+1, 6)
	case uint64:
		return text.Number(end+1, 6)
	default:
		return text.Number(end, 6)
	}
}

// facts lists the values that the bars count, and the values that they leave out: together all
// values.
func (p *plot) facts(h *inspect.Histogram, missing int) {
	all := h.Count + h.NaN + h.NegInf + h.PosInf + missing
	p.Facts = append(p.Facts, plotFact{Strong: text.Count(h.Count), Text: word(h.Count, "value", "values")})
	if missing > 0 {
		p.Facts = append(p.Facts, plotFact{text.Count(missing), "missing, " + text.Percent(missing, all), true})
		p.Share = &presence{min(99, percent(all-missing, all))}
	}
	add := func(n int, words string) {
		if n > 0 {
			p.Facts = append(p.Facts, plotFact{Strong: text.Count(n), Text: words})
		}
	}
	add(h.Below, "below the scale, from "+text.Number(h.Min, 6))
	add(h.Above, "above the scale, to "+text.Number(h.Max, 6))
	add(h.NaN, "NaN")
	add(h.NegInf, "−Inf")
	add(h.PosInf, "+Inf")
}
