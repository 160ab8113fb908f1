package view

import (
	"context"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/chart"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A card is a leaf on the wall.
type card struct {
	Name     text.Text
	Link     string
	Kind     string
	Bars     string // path data of 174 x 46 units, "" without bars
	Tails    string
	Low      string // below the bars
	High     string
	Values   []valueRow
	Others   string // "7 others" below the values
	OtherN   string
	Pictures []drawn
	Words    string // in place of a plot
	Foot     string
	Missing  string  // "60 missing"
	Share    float64 // of what is present, in percent of the width; 100 without what is missing
	Sample   string
	Failed   text.Text
}

// A valueRow is a value with a bar and a count.
type valueRow struct {
	Name  text.Text
	Width float64 // in percent
	Count string
	Share string
}

const (
	cardWide = 174.0
	cardHigh = 46.0
)

// card returns the card of a leaf. An error in reading it is on the card.
func (v *visit) card(ctx context.Context, n *shelf.Node, how profiling) card {
	c := v.bareCard(n)
	p, err := v.whole(ctx, n, how)
	if err != nil {
		c.Failed = text.Show(v.told(v.set, err), 300)
		return c
	}
	c.fill(p, isText(n.Entry))
	if v.looksLikePicture(n) && v.version.Rows > 0 {
		s, err := v.shown(ctx, n)
		if err != nil {
			c.Failed = text.Show(v.told(v.set, err), 300)
			return c
		}
		c.Bars, c.Tails, c.Values, c.Others, c.Foot = "", "", nil, "", "pictures"
		if c.Pictures, err = v.drawnRows(n, s, 0, min(4, v.version.Rows)); err != nil {
			c.Failed = text.Show(v.told(v.set, err), 300)
		}
	}
	return c
}

// bareCard returns the card of a leaf without its values.
func (v *visit) bareCard(n *shelf.Node) card {
	return card{Name: text.ShowRunes(string(n.Name()), 64), Link: v.of("leaf", n), Kind: v.kind(n, false), Share: 100}
}

// fill puts the figures of a profile on the card.
func (c *card) fill(p inspect.Profile, isText bool) {
	h := p.Values
	if p.Lengths != nil && !isText {
		h = p.Lengths
	}
	switch {
	case p.Kinds != nil:
		c.texts(p.Kinds, len(p.Kinds), p.Count+p.Missing)
		c.Foot = "kinds of values"
	case isText && p.TooMany:
		c.plot(p.Lengths)
		c.Foot = "lengths; too many texts to count"
	case isText:
		c.texts(p.Texts, p.Different, p.Count)
		if c.Foot = fmt.Sprintf("%s different", text.Count(p.Different)); len(p.Texts) == 0 {
			c.Words = "no text is present"
		}
	case h == nil:
		c.Words = "nothing to count"
	default:
		c.plot(h)
		if c.Foot = foot(h, p); h.NaN > 0 {
			c.Foot += " · " + text.Count(h.NaN) + " NaN"
		}
	}
	if p.Missing > 0 {
		all := p.Count + p.Missing
		if p.Lengths != nil && p.Lengths.Missing > 0 { // rows are missing
			all = p.Lengths.Count + p.Lengths.Missing
		}
		c.Missing = text.Count(p.Missing) + " missing"
		c.Share = 100 * float64(all-p.Missing) / float64(max(all, 1))
		c.Share = min(c.Share, 99)
	}
	if p.Read < p.Total {
		c.Sample = sampled(p)
	}
}

// sampled says of how many values a profile is.
func sampled(p inspect.Profile) string {
	return "of a sample: " + text.Count(p.Read) + " of " + text.Count(p.Total) + " values"
}

// plot draws a histogram: a list of at most four values, or bars.
func (c *card) plot(h *inspect.Histogram) {
	switch {
	case h.Form == inspect.NoValue:
		c.Words = "no value is present"
	case h.Form == inspect.OneValue:
		c.Words = fmt.Sprintf("all %s are %s", plural(h.Count, "value", "values"), text.Number(h.Min, 6))
		if h.Count == 1 {
			c.Words = "the only value is " + text.Number(h.Min, 6)
		}
	case h.Form == inspect.EachValue && len(h.Bars) <= 4:
		most := 0
		for _, b := range h.Bars {
			most = max(most, b.Count)
		}
		for _, b := range h.Bars {
			c.Values = append(c.Values, valueRow{
				Name: text.Show(text.Number(b.From, 4), 40), Width: percent(b.Count, most), Count: text.Count(b.Count), Share: text.Percent(b.Count, h.Count),
			})
		}
	default:
		c.Bars, c.Tails = chart.Small(drawing(h), cardWide, cardHigh)
		c.Low, c.High = brief(h.Min), brief(h.Max)
	}
}

// brief returns a number for the foot of a small histogram: a long integer is rounded.
func brief(x any) string {
	if s := text.Number(x, 4); len(s) <= 14 {
		return s
	}
	return text.Number(number(x), 4)
}

// texts lists the most frequent of different texts: four, or three and the number of others.
func (c *card) texts(all []inspect.TextCount, different, total int) {
	shown := all
	if different > 4 {
		shown = all[:min(3, len(all))]
	}
	most := 1
	if len(all) > 0 {
		most = all[0].Count
	}
	left := total
	for _, t := range shown {
		c.Values = append(c.Values, valueRow{Name: text.Show(t.Text, 40), Width: percent(t.Count, most), Count: text.Count(t.Count)})
		left -= t.Count
	}
	if others := different - len(shown); others > 0 {
		c.Others, c.OtherN = plural(others, "other", "others"), text.Count(left)
	}
}

// foot returns the line at the foot of a card with numbers.
func foot(h *inspect.Histogram, p inspect.Profile) string {
	switch {
	case h == p.Lengths && h.Quantiles != nil:
		return "lengths, median " + text.Number(h.Quantiles[2], 4)
	case h.Form == inspect.EachValue && len(h.Bars) == 2:
		last := h.Bars[1]
		name := text.Number(last.From, 4)
		if p.DType == tensor.Bool {
			name = "true"
		}
		return text.Percent(last.Count, h.Count) + " are " + name
	case h.Form == inspect.EachValue && len(h.Bars) <= 4 && !math.IsNaN(p.Mean) && !math.IsInf(p.Mean, 0):
		return "mean " + text.Number(p.Mean, 3)
	case h.Form != inspect.OneValue && h.Quantiles != nil:
		return "median " + text.Number(h.Quantiles[2], 4)
	}
	if n := h.NegInf + h.PosInf; n > 0 {
		return text.Count(n) + " infinite"
	}
	return ""
}

// drawing returns a histogram as package chart draws it.
func drawing(h *inspect.Histogram) chart.Histogram {
	d := chart.Histogram{Below: h.Below, Above: h.Above, Each: h.Form != inspect.EqualBins}
	for _, b := range h.Bars {
		d.Counts = append(d.Counts, b.Count)
		d.LabelChars = max(d.LabelChars, utf8.RuneCountInString(text.Number(b.From, 6)))
	}
	if h.Form == inspect.EqualBins && len(h.Bars) > 0 {
		for _, b := range h.Bars {
			d.Edges = append(d.Edges, number(b.From))
		}
		end := number(h.Bars[len(h.Bars)-1].To)
		if _, ok := h.Width.(float64); !ok {
			end++ // integers: the bar ends before the next one
		}
		d.Edges = append(d.Edges, end)
	}
	return d
}

// number returns a number of a profile as float64.
func number(x any) float64 {
	switch x := x.(type) {
	case int64:
		return float64(x)
	case uint64:
		return float64(x)
	case float64:
		return x
	}
	return math.NaN()
}

// percent returns part of all in percent of a width.
func percent(part, all int) float64 {
	return math.Round(1000*float64(part)/float64(max(all, 1))) / 10
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return text.Count(n) + " " + more
}

// isNumeric reports whether a leaf has numbers: a tensor, or a ragged one that is not text.
func isNumeric(n *shelf.Node) bool {
	return !isText(n.Entry) && n.Kind != tdict.KindData && n.Kind != tdict.KindStacked && !n.IsDict()
}
