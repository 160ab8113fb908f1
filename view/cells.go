package view

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A cell is a value in a table.
type cell struct {
	Text    text.Text
	Pad     string // hidden digits after a number, so that points stand below each other
	Missing bool
	Grey    bool // it describes the value
	Picture *drawn
}

const cellBytes = 200 // bytes of a text in a table

// plainCell returns a cell with a text of this package.
func plainCell(s string) cell { return cell{Text: text.Show(s, cellBytes)} }

// isColumn reports whether a leaf is a column of a table: it has one number, text, ragged row,
// value or small picture for each row.
func (v *visit) isColumn(n *shelf.Node) bool {
	features := v.features(n)
	switch {
	case n.Kind == tdict.KindUnbatched, n.Kind == tdict.KindStacked, n.IsDict():
		return false
	case n.Kind == tdict.KindData:
		return len(features) == 0
	case n.Kind == tdict.KindRagged:
		return features[0] == tdict.Any
	}
	return len(features) == 0 || v.isThumb(n)
}

// cells returns the cells of the rows from <= i < stop of a leaf that is a column.
func (v *visit) cells(n *shelf.Node, from, stop int) ([]cell, error) {
	part, mask, err := v.part(n, ix.Range(from, stop))
	if err != nil {
		return nil, err
	}
	var cells []cell
	switch x := part.(type) {
	case *tensor.Tensor:
		if v.isThumb(n) {
			s, err := v.shown(v.r.Context(), n)
			if err != nil {
				return nil, err
			}
			for row := from; row < stop; row++ {
				d := v.drawn(n, row, s)
				cells = append(cells, cell{Picture: &d})
			}
			break
		}
		cells, err = numbers(x)
	case *ragged.Tensor:
		cells, err = raggedCells(x, isText(n.Entry))
	case *tdict.Data:
		for row := from; row < stop; row++ {
			value, err := x.At(row)
			if err != nil {
				return nil, err
			}
			cells = append(cells, dataCell(value))
		}
	}
	if err != nil {
		return nil, err
	}
	return cells, hide(cells, mask)
}

// part returns the rows of a leaf that an index selects, and of its mask if it is dense.
func (v *visit) part(n *shelf.Node, rows ix.Index) (tdict.Value, *tensor.Tensor, error) {
	value, err := v.valueAt(n, rows)
	if err != nil {
		return nil, nil, err
	}
	if n.Kind == tdict.KindStacked {
		return value, nil, nil
	}
	var part tdict.Value
	switch x := value.(type) {
	case *tensor.Tensor:
		part, err = x.Index(rows)
	case *ragged.Tensor:
		part, err = x.Index(rows)
	case *tdict.Data:
		part = x // it is in memory
	default:
		err = fmt.Errorf("%w: got %T, want a leaf with rows", tdict.ErrKind, value)
	}
	if err != nil {
		return nil, nil, err
	}
	mask, err := v.maskPart(n, rows)
	if err != nil {
		return nil, nil, err
	}
	m, _ := mask.(*tensor.Tensor) // see raggedMask
	return part, m, nil
}

// valueAt returns a leaf, but of a stack only the rows that an index selects, joined.
func (v *visit) valueAt(n *shelf.Node, rows ix.Index) (tdict.Value, error) {
	if n.Kind != tdict.KindStacked {
		return v.value(n)
	}
	td, err := v.version.Dict.Select(n.Key)
	if err == nil {
		td, err = td.Index(rows)
	}
	if err != nil {
		return nil, err
	}
	value, err := td.Get(n.Key)
	if stack, ok := value.(*tdict.Stacked); ok {
		return v.joined(n, stack, n.Bytes/int64(max(v.version.Rows, 1)))
	}
	return value, err
}

// raggedMask returns a row of the ragged mask of a leaf, nil if it has no such mask.
func (v *visit) raggedMask(n *shelf.Node, row int) (*ragged.Tensor, error) {
	mask, err := v.maskPart(n, ix.At(row))
	m, _ := mask.(*ragged.Tensor)
	return m, err
}

// maskPart returns the part of the mask of a leaf that an index selects: see tdict.Schema.MaskOf;
// nil without a mask.
func (v *visit) maskPart(n *shelf.Node, at ...ix.Index) (tdict.Value, error) {
	if n.Mask == 0 {
		return nil, nil
	}
	mask, err := v.version.Dict.Get(v.version.Index.Nodes[n.Mask].Key)
	if err != nil {
		return nil, err
	}
	return indexed(mask, at...)
}

// indexed returns a part of a mask; nil for nil.
func indexed(mask tdict.Value, at ...ix.Index) (tdict.Value, error) {
	switch m := mask.(type) {
	case *tensor.Tensor:
		return m.Index(at...)
	case *ragged.Tensor:
		return m.Index(at...)
	}
	return nil, nil
}

// numbers returns the cells of a vector of numbers.
func numbers(x *tensor.Tensor) ([]cell, error) {
	values, err := text.Elements(x)
	if err != nil {
		return nil, err
	}
	written := make([]string, len(values))
	for i, value := range values {
		written[i] = text.Number(value, 6)
	}
	cells := make([]cell, len(values))
	for i, pad := range text.Align(written) {
		cells[i] = plainCell(written[i])
		cells[i].Pad = pad
	}
	return cells, nil
}

// raggedCells returns the texts of rows, or the numbers of their values.
func raggedCells(x *ragged.Tensor, isText bool) ([]cell, error) {
	lengths, err := x.Layout().Lengths(1)
	if err != nil {
		return nil, err
	}
	cells := make([]cell, len(lengths))
	for i, n := range lengths {
		if !isText || x.Depth() > 1 {
			cells[i] = cell{Text: text.Show(values(int(n), x.Depth()), cellBytes), Grey: true}
			continue
		}
		start, err := first(x, i, cellBytes+4)
		if err != nil {
			return nil, err
		}
		cells[i] = textCell(start, int(n))
	}
	return cells, nil
}

// values describes the length of a row of a ragged leaf.
func values(n, depth int) string {
	switch {
	case n == 0:
		return "no values"
	case depth > 1:
		return plural(n, "row", "rows")
	}
	return plural(n, "value", "values")
}

// first returns the first bytes of a text, at most most of them.
func first(x *ragged.Tensor, row, most int) ([]byte, error) {
	one, err := x.Row(row)
	if err != nil {
		return nil, err
	}
	bytes, err := one.Values()
	if err != nil {
		return nil, err
	}
	if bytes, err = bytes.Index(ix.Range(0, most)); err != nil {
		return nil, err
	}
	var start []byte
	err = tensor.Read(bytes, func(b []uint8) { start = slices.Clone(b) })
	return start, err
}

// textCell returns the cell of a text, given its first bytes.
func textCell(start []byte, size int) cell {
	if !looksLikeText(start, size) {
		return cell{Text: text.Show(text.Hex(start, size), cellBytes)}
	}
	t := text.Show(string(start), cellBytes)
	if size > len(start) {
		t.Left += size - len(start)
	}
	return cell{Text: t}
}

// looksLikeText reports whether at most a tenth of the bytes are not UTF-8 or are zero.
func looksLikeText(start []byte, size int) bool {
	bad := 0
	for i, r := range string(start) {
		if r == 0 || r == '\uFFFD' && (size == len(start) || i < len(start)-3) {
			bad++
		}
	}
	return 10*bad <= len(start)
}

// dataCell returns the cell of a value of Data.
func dataCell(value any) cell {
	switch x := value.(type) {
	case nil:
		return cell{Missing: true}
	case string:
		return cell{Text: text.Show(x, cellBytes)}
	case bool:
		return plainCell(fmt.Sprint(x))
	case int64, float64:
		return plainCell(text.Number(x, 6))
	case []any:
		return cell{Text: text.Show("list of "+plural(len(x), "value", "values"), cellBytes), Grey: true}
	case *tdict.Object:
		return cell{Text: text.Show("object of "+plural(x.Len(), "field", "fields"), cellBytes), Grey: true}
	}
	return plainCell(fmt.Sprintf("%T", value))
}

// hide marks the cells that a mask of rows hides.
func hide(cells []cell, mask *tensor.Tensor) error {
	if mask == nil || mask.Size() != len(cells) {
		return nil
	}
	present, err := bits(mask)
	for i, is := range present {
		if !is {
			cells[i] = cell{Missing: true, Pad: cells[i].Pad}
		}
	}
	return err
}

// bits returns the elements of a mask.
func bits(mask *tensor.Tensor) (present []bool, err error) {
	if mask == nil {
		return nil, nil
	}
	err = tensor.Read(mask, func(b []bool) { present = slices.Clone(b) })
	return present, err
}
