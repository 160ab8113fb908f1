package view

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// ends adds the first and the last rows.
func (v *visit) ends(d *leafData, n *shelf.Node) error {
	count := v.version.Rows
	value, err := v.value(n)
	if err != nil {
		return err
	}
	var mask *tensor.Tensor
	if n.Mask != 0 && count < 0 {
		whole, err := v.version.Dict.Get(v.version.Index.Nodes[n.Mask].Key)
		if err != nil {
			return err
		}
		mask, _ = whole.(*tensor.Tensor) // a ragged leaf, with a ragged mask, is not shown here
	}
	if data, ok := value.(*tdict.Data); ok && count < 0 {
		l := rowLeaf{}
		err := l.data(data, mask)
		d.Data, d.Index = l.Data, &indexData{Value: l.Value, Left: l.Left}
		return err
	}
	if count < 0 || n.Kind == tdict.KindUnbatched {
		x, ok := value.(*tensor.Tensor)
		if u, is := value.(*tdict.Unbatched); is {
			x, ok = u.Tensor(), true
		}
		if !ok {
			return nil
		}
		l := rowLeaf{}
		if err := l.numbers(x, mask); err != nil {
			return err
		}
		d.Index = &indexData{Shape: text.Shape(x.Shape()), Grid: l.Grid, Value: l.Value, Left: l.Left}
		return nil
	}
	d.Rows, d.RowsTo = text.Count(count), v.to("rows")
	if !v.isColumn(n) || v.isThumb(n) || count == 0 {
		return nil
	}
	lengths := n.Kind == tdict.KindRagged && !isText(n.Entry)
	end := min(5, count)
	if d.First, err = v.endRows(n, 0, end, lengths); err != nil {
		return err
	}
	d.Wide = lengths
	if from := max(end, count-5); from < count {
		d.Last, err = v.endRows(n, from, count, lengths)
	}
	return err
}

// endRows returns some rows of a leaf.
func (v *visit) endRows(n *shelf.Node, from, stop int, lengths bool) ([]tableRow, error) {
	cells, err := v.cells(n, from, stop)
	if err != nil {
		return nil, err
	}
	rows := make([]tableRow, len(cells))
	for i, c := range cells {
		row := from + i
		rows[i] = tableRow{Row: text.Count(row), Link: v.to("rows", "row", fmt.Sprint(row)), Cells: []cell{c}}
		if lengths {
			if rows[i].Cells, err = v.lengthCells(n, row); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// short6 writes a number for a table.
func short6(x any) string { return text.Number(x, 6) }

// lengthCells returns the length of a ragged row, and its first values.
func (v *visit) lengthCells(n *shelf.Node, row int) ([]cell, error) {
	part, mask, err := v.part(n, ix.At(row))
	if err != nil {
		return nil, err
	}
	if hidden, err := isHidden(mask); err != nil || hidden {
		return []cell{{Missing: true}, {Missing: true}}, err
	}
	x, ok := part.(*ragged.Tensor)
	if !ok {
		return nil, fmt.Errorf("%w: got %T, want a ragged tensor", tdict.ErrKind, part)
	}
	values, err := x.Values()
	if err != nil {
		return nil, err
	}
	lengths, err := x.Layout().Lengths(1)
	if err != nil {
		return nil, err
	}
	length := 0
	for _, n := range lengths {
		length += int(n)
	}
	if values.Size() == 0 {
		return []cell{plainCell("0"), {Text: text.Show("no values", 40), Grey: true}}, nil
	}
	inner, err := v.raggedMask(n, row)
	if err != nil {
		return nil, err
	}
	var present *tensor.Tensor
	if inner != nil {
		if present, err = inner.Values(); err != nil {
			return nil, err
		}
	}
	line, err := written(values, present, 20, short6)
	if err != nil {
		return nil, err
	}
	t := text.Show(strings.Join(line, " "), cellBytes)
	if values.Size() > len(line) {
		t.Left += values.Size() - len(line)
	}
	return []cell{plainCell(text.Count(length)), {Text: t}}, nil
}
