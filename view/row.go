package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	rowLeaves   = 200      // leaves of a row on a page
	rowNumbers  = 1024     // numbers of a leaf in a row
	rowBytes    = 64 << 10 // bytes of a text in a row
	gridColumns = 10       // numbers in a line, unless the last dim has at most 32
)

// A rowData is one row in full.
type rowData struct {
	Row     string
	Of      string
	N       int
	Prev    string
	Next    string
	PrevN   string
	NextN   string
	Close   string
	Leaves  []rowLeaf
	More    string // leaves that are on another page
	MoreTo  string
	JSON    string // address of the row as JSON; "" if it is too large
	Command text.Text
}

// A rowLeaf is a leaf of a row.
type rowLeaf struct {
	Name    text.Text
	Link    string
	Kind    string
	Value   *cell // a number or a text
	Picture *drawn
	Grid    [][]string // numbers
	Data    *jsonNode
	Left    string // what was left out
	Failed  text.Text
}

// row returns a row in full.
func (v *visit) row(row int) (*rowData, error) {
	n := v.version.Rows
	from, err := v.number("leaf", 0)
	if err != nil {
		return nil, err
	}
	d := &rowData{
		Row: text.Count(row), N: row, Of: text.Count(n), Close: v.elsewhere("row", ""),
		Command: text.Show(fmt.Sprintf("tdict head %s --index %d", v.given(), row), 300),
	}
	if v.rowSize(row) <= jsonBytes {
		d.JSON = v.to("row.json", "row", strconv.Itoa(row))
	}
	page := v.query.Get("from")
	if page == "" {
		page = strconv.Itoa(row / tableRows * tableRows)
	}
	if row > 0 {
		d.Prev, d.PrevN = v.to("rows", "from", pageOf(page, row-1), "row", strconv.Itoa(row-1)), text.Count(row-1)
	}
	if row+1 < n {
		d.Next, d.NextN = v.to("rows", "from", pageOf(page, row+1), "row", strconv.Itoa(row+1)), text.Count(row+1)
	}
	shown := v.version.Index.Shown
	from = max(0, min(from, len(shown)-1))
	for _, at := range shown[from:min(len(shown), from+rowLeaves)] {
		d.Leaves = append(d.Leaves, v.rowLeaf(&v.version.Index.Nodes[at], row))
	}
	if left := len(shown) - from - len(d.Leaves); left > 0 {
		d.More, d.MoreTo = plural(left, "more leaf", "more leaves"), v.elsewhere("leaf", strconv.Itoa(from+rowLeaves))
	}
	return d, nil
}

// pageOf returns where a page of rows begins that has a row: from if it does.
func pageOf(from string, row int) string {
	if n, err := strconv.Atoi(from); err == nil && n <= row && row < n+tableRows {
		return from
	}
	return strconv.Itoa(row / tableRows * tableRows)
}

// rowLeaf returns a leaf of a row. An error in reading it stands in its place.
func (v *visit) rowLeaf(n *shelf.Node, row int) rowLeaf {
	l := rowLeaf{Name: text.ShowRunes(string(n.Key), 200), Link: v.of("leaf", n), Kind: v.kind(n, false)}
	if err := v.fillLeaf(&l, n, row); err != nil {
		l.Failed = text.Show(v.told(v.set, err), 1000)
	}
	return l
}

// fillLeaf reads a leaf of a row.
func (v *visit) fillLeaf(l *rowLeaf, n *shelf.Node, row int) error {
	part, mask, err := v.part(n, ix.At(row))
	if n.Kind == tdict.KindUnbatched {
		part, err = v.value(n)
		l.Kind = "in all rows: " + l.Kind
	}
	if err != nil {
		return err
	}
	if hidden, err := isHidden(mask); err != nil || hidden {
		l.Value = &cell{Missing: true}
		return err
	}
	switch x := part.(type) {
	case *tdict.Unbatched:
		return l.numbers(x.Tensor(), nil)
	case *tensor.Tensor:
		if v.looksLikePicture(n) {
			s, err := v.shown(v.r.Context(), n)
			if err != nil {
				return err
			}
			d := v.drawn(n, row, s)
			l.Picture = &d
		}
		return l.numbers(x, mask)
	case *ragged.Tensor:
		inner, err := v.raggedMask(n, row)
		if err != nil {
			return err
		}
		if inner != nil {
			return l.ragged(x, inner, isText(n.Entry), v.kind(n, false))
		}
		return l.ragged(x, valueOf(mask), isText(n.Entry), v.kind(n, false))
	case *tdict.Data:
		return v.dataRow(l, n, row)
	}
	return fmt.Errorf("%w: got %T", tdict.ErrKind, part)
}

// valueOf returns a tensor as a value; nil for nil.
func valueOf(x *tensor.Tensor) tdict.Value {
	if x == nil {
		return nil
	}
	return x
}

// isHidden reports whether a mask hides all of a row.
func isHidden(mask *tensor.Tensor) (bool, error) {
	if mask == nil || mask.Size() != 1 {
		return false, nil
	}
	one, err := mask.Reshape()
	if err != nil {
		return false, err
	}
	present, err := tensor.Item[bool](one)
	return !present, err
}

// numbers shows the numbers of a tensor: a single one as a value, several as a grid. A mask that is
// not nil is over its leading dims.
func (l *rowLeaf) numbers(x, mask *tensor.Tensor) error {
	if len(x.Shape()) == 0 {
		hidden, err := isHidden(mask)
		if err != nil || hidden {
			l.Value = &cell{Missing: true}
			return err
		}
		values, err := text.Elements(x)
		if err == nil {
			c := cell{Text: text.Show(text.Exact(values[0]), rowBytes)}
			l.Value = &c
		}
		return err
	}
	wide := x.Shape()[len(x.Shape())-1]
	values, err := written(x, mask, rowNumbers, text.Exact)
	if err != nil {
		return err
	}
	left := x.Size() - len(values)
	if len(values) == 0 {
		l.Value = &cell{Text: text.Show("no values", 40), Grey: true}
		return nil
	}
	if wide > 32 || len(x.Shape()) == 1 {
		wide = gridColumns
	}
	l.grid(values, wide)
	if left > 0 {
		l.Left = text.Count(left) + " others are left out: index the leaf to see them"
	}
	return nil
}

// written returns at most most elements of a tensor, the first, as write writes them. An element
// that a mask hides is "missing".
func written(x, mask *tensor.Tensor, most int, write func(any) string) ([]string, error) {
	part, err := leadingPart(x, most)
	if err != nil {
		return nil, err
	}
	values, err := text.Elements(part)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = write(value)
	}
	if mask == nil {
		return texts, nil
	}
	if mask, err = leadingPart(mask, most); err != nil {
		return nil, err
	}
	present, err := bits(mask)
	for i, is := range present {
		if !is {
			texts[i] = "missing"
		}
	}
	return texts, err
}

// leadingPart returns the first elements of x, at most most of them, as a vector or with the shape
// of x.
func leadingPart(x *tensor.Tensor, most int) (*tensor.Tensor, error) {
	for x.Size() > most && len(x.Shape()) > 0 {
		inner := x.Size() / x.Shape()[0]
		if inner <= most {
			return x.Index(ix.Range(0, most/max(inner, 1)))
		}
		var err error
		if x, err = x.Index(ix.At(0)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// grid cuts numbers into lines.
func (l *rowLeaf) grid(values []string, wide int) {
	for line := range slices.Chunk(values, max(wide, 1)) {
		l.Grid = append(l.Grid, line)
	}
}

// ragged shows a row of a ragged leaf. A mask that is not nil is over its rows or its values.
func (l *rowLeaf) ragged(x *ragged.Tensor, mask tdict.Value, isText bool, kind string) error {
	if isText && x.Depth() == 1 && len(x.Shape()) == 0 {
		return l.text(x)
	}
	if x.Depth() == 1 && len(x.Shape()) == 0 {
		values, err := x.Values()
		if err != nil {
			return err
		}
		l.Kind = kind + ", " + plural(values.Shape()[0], "value", "values")
		if values.Size() == 0 {
			l.Value = &cell{Text: text.Show("no values", 40), Grey: true}
			return nil
		}
		var present *tensor.Tensor
		if inner, ok := mask.(*ragged.Tensor); ok {
			if present, err = inner.Values(); err != nil {
				return err
			}
		}
		return l.numbers(values, present)
	}
	if rows, ok := mask.(*tensor.Tensor); mask != nil && (!ok || rows.Size() > 1) {
		l.Value = &cell{Text: text.Show("a mask hides some of these values, so lists of lists are not shown", cellBytes), Grey: true}
		return nil
	}
	encoded, err := json.Marshal(x.Preview(rowNumbers))
	if err != nil {
		return err
	}
	l.Value = &cell{Text: text.Show(string(encoded), rowBytes)}
	return nil
}

// text shows a text.
func (l *rowLeaf) text(x *ragged.Tensor) error {
	bytes, err := x.Values()
	if err != nil {
		return err
	}
	size := bytes.Size()
	l.Kind = "text, " + plural(size, "byte", "bytes")
	part, err := bytes.Index(ix.Range(0, rowBytes+4))
	if err != nil {
		return err
	}
	var shown text.Text
	err = tensor.Read(part, func(b []uint8) {
		if !looksLikeText(b, size) {
			shown = text.Show(text.Hex(b, size), rowBytes)
			return
		}
		shown = text.Show(string(b), rowBytes)
		shown.Left += size - len(b)
	})
	l.Value = &cell{Text: shown}
	if shown.Left > 0 {
		l.Left = plural(shown.Left, "byte was left out", "bytes were left out")
	}
	return err
}

// dataRow shows a row of Data.
func (v *visit) dataRow(l *rowLeaf, n *shelf.Node, row int) error {
	td, err := v.alone(n)
	if err == nil {
		td, err = td.Index(ix.At(row))
	}
	if err != nil {
		return err
	}
	x, err := tdict.Get[*tdict.Data](td, n.Key)
	if err != nil {
		return err
	}
	if n.Mask == 0 {
		return l.data(x, nil)
	}
	mask, err := td.Tensor(v.version.Index.Nodes[n.Mask].Key)
	if err != nil {
		return err
	}
	return l.data(x, mask)
}

// data shows the value of a row of Data, or its values if there are more batch dims: null for one
// that a mask hides.
func (l *rowLeaf) data(x *tdict.Data, mask *tensor.Tensor) error {
	if hidden, err := isHidden(mask); err != nil || hidden {
		l.Value = &cell{Missing: true}
		return err
	}
	if len(x.Shape()) > 0 {
		present, err := bits(mask)
		if err != nil {
			return err
		}
		var values []any
		for value := range x.All() {
			if i := len(values); present != nil && !present[i] {
				value = nil
			}
			if values = append(values, value); len(values) == rowNumbers {
				break
			}
		}
		l.Data = folded(values)
		if left := x.Shape().Size() - len(values); left > 0 {
			l.Left = plural(left, "other is left out", "others are left out")
		}
		return nil
	}
	value, err := x.At()
	if err != nil {
		return err
	}
	switch value := value.(type) {
	case []any, *tdict.Object:
		l.Data = folded(value)
	case string:
		l.Value = &cell{Text: text.Show(value, rowBytes)}
	case int64, float64:
		l.Value = &cell{Text: text.Show(text.Exact(value), cellBytes)}
	default:
		c := dataCell(value)
		l.Value = &c
	}
	return nil
}
