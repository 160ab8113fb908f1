package contest

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// A Chart has a row of bars for each contender, and a column for each measure.
type Chart struct {
	Title   string
	Notes   []string // lines below the title
	Columns []Column
	Rows    []Row
	Less    bool // less is better: the least of each column is bold
}

// A Column is one measure, with its scale.
type Column struct {
	Name string
	Log  bool // the scale is logarithmic
}

// A Row is one contender.
type Row struct {
	Name  string
	Ours  bool // of this module
	Cells []Cell
}

// A Cell is a bar. Mark, if not 0, are seconds that are marked.
type Cell struct {
	Size, Mark float64
	Text       string
}

const (
	width   = 800
	margin  = 20
	letter  = 8  // room for a letter of a name
	gap     = 12 // between columns
	line    = 20 // between lines of text
	rowRoom = 34
)

// print writes the chart as text, with marks in brackets.
func (c Chart) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, column := range c.Columns {
		fmt.Fprint(t, "\t", column.Name)
	}
	for _, row := range c.Rows {
		fmt.Fprint(t, "\n", row.Name)
		for _, cell := range row.Cells {
			fmt.Fprint(t, "\t", cell.Text)
			if cell.Mark != 0 {
				fmt.Fprintf(t, " (%s)", Seconds(cell.Mark))
			}
		}
	}
	fmt.Fprint(t, "\n", strings.Join(c.Notes, "\n"), "\n")
	return t.Flush()
}

// svg draws the chart, with a background, so that it can be read on a dark page, too.
func (c Chart) svg() []byte {
	var b bytes.Buffer
	head := 2*line + line*len(c.Notes) + 14
	height := head + line + rowRoom*len(c.Rows) + 8
	title := html.EscapeString(c.Title)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">
<title>%s</title>
<style>text { font: 13px ui-sans-serif, -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; fill: #1f2328 } .head { font-weight: 600; font-size: 15px } .bold { font-weight: 600 } .soft { fill: #59636e } rect { fill: #818b98 } .ours { fill: #0969da } .page { fill: #ffffff; stroke: #d1d9e0 } path { stroke: #1f2328; stroke-width: 1.5 }</style>
<rect class="page" x="1" y="1" width="%d" height="%d" rx="8"/>
<text class="head" x="%d" y="30">%s</text>
`, width, height, title, width-2, height-2, margin, title)
	for i, note := range c.Notes {
		fmt.Fprintf(&b, `<text class="soft" x="%d" y="%d">%s</text>`+"\n", margin, 52+line*i, html.EscapeString(note))
	}
	for i, row := range c.Rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, head+line+rowRoom*i+18, html.EscapeString(row.Name))
	}
	for i := range c.Columns {
		c.column(&b, i, head)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// column draws a column below the height y.
func (c Chart) column(b *bytes.Buffer, i, y int) {
	names := 0
	for _, row := range c.Rows {
		names = max(names, letter*len(row.Name))
	}
	room := (width - 2*margin - names) / len(c.Columns)
	x := margin + names + room*i
	column := c.Columns[i]
	fmt.Fprintf(b, `<text class="bold" x="%d" y="%d">%s</text>`+"\n", x, y+10, html.EscapeString(column.Name))
	least, most := math.Inf(1), 0.0
	for _, row := range c.Rows {
		least, most = min(least, row.Cells[i].Size), max(most, row.Cells[i].Size, row.Cells[i].Mark)
	}
	length := func(size float64) float64 {
		part := size / most
		if column.Log {
			part = math.Log(2*size/least) / math.Log(2*most/least) // 2: the least bar is seen
		}
		return part * float64(room-gap)
	}
	for _, row := range c.Rows {
		y += rowRoom
		cell, class, of := row.Cells[i], "", ""
		if c.Less && cell.Size == least {
			class = ` class="bold"`
		}
		if row.Ours {
			of = ` class="ours"`
		}
		fmt.Fprintf(b, `<text%s x="%d" y="%d">%s</text>`, class, x, y, html.EscapeString(cell.Text))
		fmt.Fprintf(b, `<rect%s x="%d" y="%d" width="%.1f" height="8" rx="2"/>`, of, x, y+5, length(cell.Size))
		if cell.Mark != 0 {
			fmt.Fprintf(b, `<path d="M%.1f %dv12"/>`, float64(x)+length(cell.Mark), y+3)
		}
		b.WriteByte('\n')
	}
}
