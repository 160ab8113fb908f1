package view

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A leafData is the data of the template of a leaf.
type leafData struct {
	Begun    bool // the head was sent
	Frame    frame
	Key      text.Text
	Kind     string
	Shape    string
	Bytes    fact
	Mask     text.Text
	MaskTo   string
	IsMask   bool
	Checksum bool
	LinesTo  string

	Pictures   []drawn
	PictureSay string
	PicturesTo string

	Texts   []valueRow
	TextSay string
	Plots   []*plot
	Groups  []group
	Notes   []string
	Sample  string
	All     string // address that reads all
	AllSay  string

	Columns    []card
	ColumnsSay string
	ColumnsTo  string
	Pager      *pager

	Index  *indexData
	First  []tableRow
	Last   []tableRow
	Rows   string
	RowsTo string
	Data   *jsonNode
	Wide   bool // rows have long cells
	Empty  bool
}

// A group is a part of the summary.
type group struct {
	Title string
	Rows  []pairZero
}

type pairZero struct {
	Name, Value string
	Zero        bool
}

// leaf answers with the page of a leaf.
func (v *visit) leaf() error {
	n, err := v.node()
	if err != nil {
		return err
	}
	if n.IsDict() {
		return v.leaves()
	}
	full := v.query.Get("all") != ""
	d := v.leafHead(n)
	if d.Begun = full && n.Bytes > v.opt.MaxRead; d.Begun { // reading takes a while
		if err := errors.Join(v.exec("head", d.Frame), v.flush()); err != nil {
			return err
		}
	}
	p, err := v.whole(v.r.Context(), n, profiling{full: full})
	if err != nil {
		return v.unread(n, err)
	}
	if err := v.describe(&d, n, p, full); err != nil {
		return v.unread(n, err)
	}
	return v.exec("leaf", d)
}

// leafHead returns the part of the page of a leaf that needs no values.
func (v *visit) leafHead(n *shelf.Node) leafData {
	d := leafData{
		Frame: v.frame("Leaves", n), Key: text.ShowRunes(string(n.Key), 2000), Kind: v.dtype(n), Shape: text.Shape(n.Shape),
		Bytes: bytesFact(n.Bytes), IsMask: n.IsMask, Checksum: n.Summed, Empty: v.version.Rows == 0,
	}
	if n.Kind == tdict.KindUnbatched {
		d.Notes = append(d.Notes, "The leaf has no batch dims: it is the same for all rows.")
	}
	d.Frame.Tree = v.tree(n)
	d.Frame.Class = "leaf"
	if n.Mask != 0 {
		mask := &v.version.Index.Nodes[n.Mask]
		d.Mask, d.MaskTo = text.ShowRunes(string(mask.Name()), 64), v.of("leaf", mask)
	}
	if v.version.Rows >= 0 && v.looksLikeLines(n) {
		d.LinesTo = v.of("lines", n)
	}
	return d
}

// describe adds the values.
func (v *visit) describe(d *leafData, n *shelf.Node, p inspect.Profile, full bool) error {
	if p.Read < p.Total {
		d.Sample = sampled(p)
		d.All = v.elsewhere("all", "1")
		d.AllSay = fmt.Sprintf("read all %s, in about %s", text.Bytes(n.Bytes), seconds(n.Bytes))
	}
	if err := v.pictureStrip(d, n); err != nil {
		return err
	}
	d.plots(p, isText(n.Entry))
	d.summary(p, isText(n.Entry))
	if err := v.columnCards(d, n, full); err != nil {
		return err
	}
	if err := v.ends(d, n); err != nil {
		return err
	}
	return v.index(d, n)
}

// seconds says how long reading takes, at 300 MB in a second.
func seconds(n int64) string {
	s := int(n/300e6) + 1
	return plural(s, "second", "seconds")
}

// pictureStrip adds the first pictures.
func (v *visit) pictureStrip(d *leafData, n *shelf.Node) error {
	if !v.looksLikePicture(n) || v.version.Rows <= 0 {
		return nil
	}
	s, err := v.shown(v.r.Context(), n)
	if err != nil {
		return err
	}
	label := v.labelOf(n)
	count := min(14, v.version.Rows)
	if d.Pictures, err = v.drawnRows(n, s, 0, count); err != nil {
		return err
	}
	if err := v.labels(d.Pictures, label, 0); err != nil {
		d.Notes = append(d.Notes, "The labels cannot be read: "+text.Show(v.told(v.set, err), 400).String())
	}
	d.PicturesTo = v.of("pictures", n)
	colour := "grey"
	if len(v.features(n)) == 3 {
		colour = "channels"
	}
	d.PictureSay = fmt.Sprintf("rows 0 to %d of %s, %s, %s to %s shown as black to white", count-1, text.Count(v.version.Rows), colour, text.Number(s.black, 4), text.Number(s.white, 4))
	rows := []pairZero{{Name: "layout", Value: s.layout.String()}, {Name: "black", Value: text.Number(s.black, 6)}, {Name: "white", Value: text.Number(s.white, 6)}}
	if label != nil {
		rows = append(rows, pairZero{Name: "label", Value: text.ShowRunes(string(label.Key), 64).String()})
	}
	d.Groups = append(d.Groups, group{Title: "Shown as", Rows: rows})
	return nil
}

// plots adds the histograms, and texts by frequency.
func (d *leafData) plots(p inspect.Profile, isText bool) {
	switch {
	case p.Kinds != nil:
		d.TextSay = "kinds of values"
		d.Texts = frequencies(p.Kinds, p.Count+p.Missing)
		return
	case isText && p.TooMany:
		d.Notes = append(d.Notes, "There are more than 10,000 different texts, or 1 MiB of them: only their lengths are shown.")
	case isText && len(p.Texts) > 0:
		d.TextSay = text.Count(p.Different) + " different, by frequency"
		d.Texts = frequencies(p.Texts, p.Count)
		if p.Others > 0 {
			d.Notes = append(d.Notes, plural(p.Others, "other text", "other texts")+" less frequent")
		}
	}
	if p.Lengths != nil {
		title := "Length of rows"
		if isText {
			title = "Length in bytes"
		}
		d.Plots = append(d.Plots, newPlot(title, "", d.Key.String(), p.Lengths, p.Lengths.Missing, 170))
	}
	if p.Values != nil {
		title, say, high := "", "", plotHigh
		if len(d.Plots) > 0 || d.Pictures != nil {
			high = 200
		}
		switch {
		case p.Lengths != nil:
			title, say = "Values", fmt.Sprintf("%s in %s", text.Count(p.Values.Count), rows(p.Lengths.Count))
		case d.Pictures != nil:
			title, say = "Values", text.Count(p.Values.Count)
		}
		if p.DType == tensor.Complex64 || p.DType == tensor.Complex128 {
			title, say = "Absolute values", "of complex numbers"
		}
		d.Plots = append(d.Plots, newPlot(title, say, d.Key.String(), p.Values, p.Values.Missing, high))
	}
}

// frequencies returns texts with their counts as bars.
func frequencies(all []inspect.TextCount, total int) (out []valueRow) {
	for _, t := range all {
		out = append(out, valueRow{
			Name: text.Show(t.Text, cellBytes), Width: percent(t.Count, all[0].Count), Count: text.Count(t.Count), Share: text.Percent(t.Count, total),
		})
	}
	return out
}

// summary adds the numbers at the right.
func (d *leafData) summary(p inspect.Profile, isText bool) {
	values := group{Title: "Values"}
	add := func(g *group, name string, n int) {
		g.Rows = append(g.Rows, pairZero{name, text.Count(n), n == 0})
	}
	name := "present"
	if isText {
		name = "texts"
	}
	add(&values, name, p.Count)
	add(&values, "missing", p.Missing)
	switch {
	case isText:
		if p.Different >= 0 {
			add(&values, "different", p.Different)
		}
		add(&values, "not UTF-8", p.NotUTF8)
	case p.Values != nil:
		if p.DType != tensor.Bool {
			add(&values, "NaN", p.NaN)
			add(&values, "infinite", p.Inf)
		}
		add(&values, "zeros", p.Zeros)
		if p.DType == tensor.Bool {
			add(&values, "true", p.True)
		}
	}
	groups := append([]group{values}, d.quantiles(p)...)
	d.Groups = append(groups, d.Groups...)
}

// quantiles returns the groups of quantiles and moments.
func (d *leafData) quantiles(p inspect.Profile) []group {
	if p.Min == nil || len(p.Quantiles) != 5 || p.DType == tensor.Bool {
		return nil
	}
	q := p.Quantiles
	exact := false
	if h := p.Values; h != nil && p.Inf == 0 && len(h.Quantiles) == 5 {
		q, exact = h.Quantiles, h.Form != inspect.EqualBins
	}
	digits := func(x float64) string { return text.Number(x, 6) }
	groups := []group{{Title: "Quantiles", Rows: []pairZero{
		{Name: "minimum", Value: text.Number(p.Min, 6)}, {Name: "1 %", Value: digits(q[0])}, {Name: "25 %", Value: digits(q[1])},
		{Name: "median", Value: digits(q[2])}, {Name: "75 %", Value: digits(q[3])}, {Name: "99 %", Value: digits(q[4])},
		{Name: "maximum", Value: text.Number(p.Max, 6)},
	}}}
	if !math.IsNaN(p.Mean) {
		groups = append(groups, group{Title: "Moments", Rows: []pairZero{{Name: "mean", Value: digits(p.Mean)}, {Name: "std", Value: digits(p.Std)}}})
	}
	if p.Count > 1024 && !exact {
		d.Notes = append(d.Notes, "Quantiles of more than 1,024 values are approximate, within 1 % of the rows.")
	}
	if p.Read < p.Total {
		d.Notes = append(d.Notes, "Minimum and maximum are the ones of the sample.")
	}
	return groups
}

const (
	columnCards = 12 // columns on the page of a leaf
	columnPage  = 60 // columns on a page of columns
)

// columnCards adds the cards of the columns of a dense leaf with features.
func (v *visit) columnCards(d *leafData, n *shelf.Node, full bool) error {
	features := v.features(n)
	if v.version.Rows < 0 || n.Kind != tdict.KindTensor || len(features) == 0 || v.looksLikePicture(n) || features.Size() == 0 {
		return nil
	}
	from, err := v.number("from", 0)
	if err != nil {
		return err
	}
	size := columnCards
	if v.query.Get("columns") != "" {
		size = columnPage
	}
	all := features.Size()
	from = max(0, min(from, all-1)/size*size)
	profiles, err := v.profile(v.r.Context(), n, profiling{full: full, byColumn: true, first: from, columns: min(size, all-from)})
	if err != nil {
		return err
	}
	for _, p := range profiles {
		at := strings.Trim(fmt.Sprint(p.Column), "[]")
		c := card{
			Name: text.Show("["+strings.ReplaceAll(at, " ", ", ")+"]", 64), Kind: "column", Share: 100,
			Link: v.of("leaf", n, "index", ":, "+strings.ReplaceAll(at, " ", ", ")),
		}
		c.fill(p, false)
		d.Columns = append(d.Columns, c)
	}
	d.ColumnsSay = fmt.Sprintf("%d to %d of %s", from, from+len(profiles)-1, text.Count(all))
	if size == columnPage {
		d.Pager = v.pager(from, columnPage, all, "column")
	} else if all > size {
		d.ColumnsTo = v.of("leaf", n, "columns", "all")
	}
	return nil
}
