package view

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/view/internal/chart"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	tableRows    = 50
	tableColumns = 24
	lastRows     = 5
	lastColumns  = 12
	headHigh     = 16.0
	headWide     = 64.0
)

// A table is some rows of the leaves that are columns.
type table struct {
	Columns []column
	Rows    []tableRow
	More    string      // leaves that are no columns
	Follow  string      // address of the rows, for the script
	Failed  []text.Text // why leaves cannot be read, at most 5
}

// A column is the head of a column.
type column struct {
	Name  text.Text
	Link  string
	Bars  string // of a histogram of 64 x 16
	Tails string
	Num   bool // numbers stand at the right
}

// A tableRow is a row of a table.
type tableRow struct {
	Row   string
	N     int
	Link  string
	Cells []cell
	Open  bool
}

// A rowsData is the data of the template of rows.
type rowsData struct {
	Frame frame
	Note  string
	Table table
	Pager *pager
	Row   *rowData
	Empty bool
	Batch string
	Grows bool
	Last  bool // the page has the last row
}

// rows answers with a page of rows, and with one of them in full.
func (v *visit) rows() error {
	if err := v.open(); err != nil {
		return err
	}
	n := v.version.Rows
	if n < 0 {
		return fail(http.StatusNotFound, "There are no rows", "the batch shape is []: all values stand on the pages of the leaves")
	}
	row, err := v.rowNumber()
	if err != nil {
		return err
	}
	from, err := v.number("from", max(row, 0)/tableRows*tableRows)
	if err != nil {
		return err
	}
	if from < 0 {
		from += n
	}
	from = max(0, min(from, n-1))
	stop := min(from+tableRows, n)
	if v.query.Get("part") == "rows" {
		columns, from, stop := v.rest(from, n)
		return v.exec("rest", v.table(columns, from, stop, -1))
	}
	d := rowsData{Frame: v.frame("Rows", nil), Empty: n == 0, Batch: text.Shape(v.version.Dict.Shape()), Grows: v.version.Growing(), Last: stop == n}
	d.Frame.Title = "Rows · " + v.set.Name
	d.Frame.Class = "rows"
	if n > 0 {
		d.Note = fmt.Sprintf("%s to %s of %s, in the order of the data", text.Count(from), text.Count(stop-1), text.Count(n))
		columns := v.columns()
		d.Table = v.table(columns, from, stop, row)
		v.heads(d.Table.Columns, columns)
		d.Pager = v.pager(from, tableRows, n, "row")
		if d.Pager == nil && from > 0 {
			d.Pager = &pager{Prev: v.elsewhere("from", "0")}
		}
		if d.Last && d.Grows {
			d.Table.Follow = v.to("rows", "part", "rows", "from", strconv.Itoa(from))
		}
	}
	if row >= 0 {
		d.Frame.Class = "rows opened"
		if d.Row, err = v.row(row); err != nil {
			return err
		}
	}
	return v.exec("rows", d)
}

// rest returns the rows that the script asks for: the last rows below a wall, or a page of rows
// from a given one.
func (v *visit) rest(from, n int) (columns []*shelf.Node, start, stop int) {
	columns = v.columns()
	if v.query.Get("last") != "" {
		return columns[:min(len(columns), lastColumns)], max(0, n-lastRows), n
	}
	return columns, from, min(n, from+10*tableRows)
}

// rowNumber returns the row that the address names, or -1. A negative one counts from the end.
func (v *visit) rowNumber() (int, error) {
	if v.query.Get("row") == "" {
		return -1, nil
	}
	row, err := v.number("row", 0)
	if err != nil {
		return 0, err
	}
	n := v.version.Rows
	if row < -n || row >= n {
		return 0, fail(http.StatusNotFound, "There is no such row", fmt.Sprintf("row: got %d, want one of %d", row, n))
	}
	if row < 0 {
		row += n
	}
	return row, nil
}

// columns returns the leaves that are columns, in order.
func (v *visit) columns() (columns []*shelf.Node) {
	x := v.version.Index
	for _, at := range x.Shown {
		if n := &x.Nodes[at]; v.isColumn(n) {
			if columns = append(columns, n); len(columns) == tableColumns {
				break
			}
		}
	}
	return columns
}

// table returns some rows of some leaves. open is the row that is shown in full, or -1. A leaf that
// cannot be read has its error above the table.
func (v *visit) table(leaves []*shelf.Node, from, stop, open int) table {
	t := table{Rows: make([]tableRow, stop-from)}
	for i := range t.Rows {
		row := from + i
		t.Rows[i] = tableRow{Row: text.Count(row), N: row, Open: row == open, Link: v.to("rows", "from", strconv.Itoa(from), "row", strconv.Itoa(row))}
	}
	if left := len(v.version.Index.Shown) - len(leaves); left > 0 {
		t.More = plural(left, "more leaf", "more leaves") + ", in each row"
	}
	for _, n := range leaves {
		c := column{Name: text.ShowRunes(string(n.Key), 64), Link: v.of("leaf", n), Num: isNumeric(n) && len(v.features(n)) == 0}
		cells, err := v.cells(n, from, stop)
		if err != nil {
			cells = make([]cell, stop-from)
			for i := range cells {
				cells[i] = cell{Text: text.Show("cannot be read", cellBytes), Grey: true}
			}
			if len(t.Failed) < 5 {
				t.Failed = append(t.Failed, text.Show(v.told(v.set, err), 1000))
			}
		}
		t.Columns = append(t.Columns, c)
		for i := range t.Rows {
			t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
		}
	}
	return t
}

// heads draws the histograms over columns, until the leaves have MaxRead bytes together. For later
// leaves it draws a histogram only if it is known.
func (v *visit) heads(columns []column, leaves []*shelf.Node) {
	left := v.opt.MaxRead
	for i, n := range leaves {
		p, ok := v.kept(n)
		if left -= n.Bytes; !ok && left >= 0 {
			var err error
			p, err = v.whole(v.r.Context(), n, profiling{})
			ok = err == nil // otherwise the cells say it
		}
		if ok {
			columns[i].head(p, v.isThumb(n))
		}
	}
}

// head draws the histogram over a column.
func (c *column) head(p inspect.Profile, thumbs bool) {
	switch {
	case p.Texts != nil:
		var counts []int
		for _, t := range p.Texts {
			counts = append(counts, t.Count)
		}
		c.Bars, _ = chart.Small(chart.Histogram{Counts: counts, Each: true}, headWide, headHigh)
	case p.Lengths != nil:
		c.Bars, c.Tails = chart.Small(drawing(p.Lengths), headWide, headHigh)
	case p.Values != nil && !thumbs:
		c.Bars, c.Tails = chart.Small(drawing(p.Values), headWide, headHigh)
	}
}

// lastRows writes the last rows of a growing dataset below its wall.
func (v *visit) lastRows() error {
	n := v.version.Rows
	columns := v.columns()
	from := max(0, n-lastRows)
	t := v.table(columns[:min(len(columns), lastColumns)], from, n, -1)
	t.Follow = v.to("rows", "part", "rows", "last", "1")
	return v.exec("last-rows", struct {
		Table table
		Note  string
		Link  string
	}{t, text.Count(from) + " to " + text.Count(n-1), v.to("rows")})
}
