package view

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// An indexData is the index box of a leaf, and its result.
type indexData struct {
	Name   text.Text
	Expr   string
	Hidden []pair
	Shape  string // of the result
	Heads  []string
	Cells  []cell
	Grid   [][]string
	Value  *cell
	Left   string
	Failed *text.Text
	Good   text.Text // the expression before the part that is wrong
	Bad    text.Text
	Rest   text.Text
}

const indexNumbers = 2048 // numbers of a result that are shown

// index adds the index box, and the result of the expression in the address.
func (v *visit) index(d *leafData, n *shelf.Node) error {
	if n.Kind == tdict.KindData || n.Kind == tdict.KindStacked || len(n.Shape) == 0 || d.Index != nil {
		return nil
	}
	x := &indexData{Name: text.ShowRunes(string(n.Name()), 40), Expr: v.query.Get("index")}
	x.Hidden = v.fields("index", "from")
	d.Index = x
	if strings.TrimSpace(x.Expr) == "" {
		return nil
	}
	if err := v.indexed(x, n); err != nil {
		if !errors.Is(err, ix.ErrSyntax) && !errors.Is(err, shapeops.ErrIndex) && !errors.Is(err, shapeops.ErrShape) && !errors.Is(err, shapeops.ErrDim) && !errors.Is(err, errLarge) && !errors.Is(err, errList) {
			return err
		}
		t := text.Show(v.told(v.set, err), 600)
		x.Failed = &t
		x.mark()
	}
	return nil
}

var (
	errLarge = errors.New("the result is too large")
	errList  = errors.New("the list is not supported here")
)

// indexed fills in the result of the expression.
func (v *visit) indexed(x *indexData, n *shelf.Node) error {
	expr, err := ix.Parse(x.Expr)
	if err != nil {
		return err
	}
	value, err := v.value(n)
	if err != nil {
		return err
	}
	switch value := value.(type) {
	case *tensor.Tensor:
		return v.indexedTensor(x, n, value, expr)
	case *tdict.Unbatched:
		return v.indexedTensor(x, n, value.Tensor(), expr)
	case *ragged.Tensor:
		if expr, err = x.rowsOf(value, expr); err != nil {
			return err
		}
		part, err := value.Index(expr...)
		if err != nil {
			return err
		}
		x.Shape = part.Text()
		mask, err := v.maskPart(n, expr...)
		if err != nil {
			return err
		}
		return x.ragged(part, mask, isText(n.Entry))
	}
	return fmt.Errorf("%w: got %T", tdict.ErrKind, value)
}

// indexedTensor indexes a tensor and its mask.
func (v *visit) indexedTensor(x *indexData, n *shelf.Node, t *tensor.Tensor, expr []ix.Index) error {
	if err := small(t.Shape(), expr); err != nil {
		return err
	}
	part, err := t.Index(expr...)
	if err != nil {
		return err
	}
	x.Shape = t.DType().String() + " " + text.Shape(part.Shape())
	mask, err := v.indexedMask(n, expr)
	if err != nil {
		return err
	}
	if len(part.Shape()) == 1 && part.Size() <= indexNumbers {
		if x.Cells, err = numbers(part); err != nil {
			return err
		}
		if err := hide(x.Cells, mask); err != nil {
			return err
		}
		return x.heads(t.Shape(), expr)
	}
	l := rowLeaf{}
	if err := l.numbers(part, mask); err != nil {
		return err
	}
	x.Grid, x.Value, x.Left = l.Grid, l.Value, l.Left
	if x.Value == nil || part.Size() != 1 {
		return nil
	}
	x.Value.Missing, err = isHidden(mask)
	return err
}

// indexedMask returns the part of the mask of a leaf that an expression selects, in the shape of
// the part of the leaf; nil without a dense mask.
func (v *visit) indexedMask(n *shelf.Node, expr []ix.Index) (*tensor.Tensor, error) {
	if n.Mask == 0 {
		return nil, nil
	}
	mask, err := v.version.Dict.Tensor(v.version.Index.Nodes[n.Mask].Key)
	if err != nil {
		return nil, err
	}
	return mask.Index(expr...)
}

// mostCopied bounds the elements that an expression with lists or masks copies.
const mostCopied = 1 << 20

// small returns an error if an expression with lists or masks would copy many elements.
func small(shape shapeops.Shape, expr []ix.Index) error {
	planned, err := plan.Index(shape, expr...)
	if err != nil || !strings.Contains(ix.Format(expr...), "[") || planned.Shape().Size() <= mostCopied {
		return err
	}
	return fmt.Errorf("%w: got %d elements, want at most %d", errLarge, planned.Shape().Size(), mostCopied)
}

// heads writes the row numbers over the cells, if the leaf has one dim.
func (x *indexData) heads(shape shapeops.Shape, expr []ix.Index) error {
	if len(shape) != 1 || shape[0] > mostCopied {
		return nil
	}
	rows, err := selected(shape[0], expr)
	for _, row := range rows {
		x.Heads = append(x.Heads, text.Count(row))
	}
	return err
}

// selected returns the numbers of the rows that an expression selects from n. It returns errList
// if the result is not a list.
func selected(n int, expr []ix.Index) ([]int, error) {
	all, err := tensor.Arange(0, int64(n), 1)
	if err == nil {
		all, err = all.Index(expr...)
	}
	if err != nil {
		return nil, err
	}
	if len(all.Shape()) != 1 {
		return nil, fmt.Errorf("%w: got rows of the shape %v, want a list", errList, all.Shape())
	}
	return all.Ints()
}

// mostListed bounds the values of the rows that a list or a mask copies.
const mostListed = 1 << 18

// rowsOf checks an expression for a ragged leaf. An expression with lists or masks copies rows: it
// is cut to the first 50 of them, and returns errLarge if these have many values.
func (x *indexData) rowsOf(value *ragged.Tensor, expr []ix.Index) ([]ix.Index, error) {
	if !strings.Contains(ix.Format(expr...), "[") {
		return expr, nil
	}
	batch := value.Shape()
	if len(batch) != 1 || batch[0] > mostCopied || len(expr) != 1 {
		return nil, fmt.Errorf("%w: a list works alone, for one batch dim of at most %d rows, got %v", errList, mostCopied, batch)
	}
	if err := small(batch, expr); err != nil {
		return nil, err
	}
	rows, err := selected(batch[0], expr)
	if err != nil {
		return nil, err
	}
	if len(rows) > tableRows {
		x.Left = plural(len(rows)-tableRows, "row is left out", "rows are left out")
		rows = rows[:tableRows]
	}
	values := 0
	for _, row := range rows {
		one, err := value.Row(row)
		if err != nil {
			return nil, err
		}
		if values += one.NumValues(); values > mostListed {
			return nil, fmt.Errorf("%w: the rows have more than %d values", errLarge, mostListed)
		}
	}
	return []ix.Index{ix.Take(rows...)}, nil
}

// raggedRow shows a row of a ragged leaf, at which mask is.
func raggedRow(part *ragged.Tensor, mask tdict.Value, isText bool) (l rowLeaf, err error) {
	rows, _ := mask.(*tensor.Tensor)
	if hidden, err := isHidden(rows); err != nil || hidden {
		l.Value = &cell{Missing: true, Text: text.Show("missing", cellBytes)}
		return l, err
	}
	return l, l.ragged(part, mask, isText, "")
}

// ragged shows part of a ragged leaf, and of its mask: at most 50 rows.
func (x *indexData) ragged(part *ragged.Tensor, mask tdict.Value, isText bool) error {
	if len(part.Shape()) == 0 {
		l, err := raggedRow(part, mask, isText)
		x.Grid, x.Value, x.Left = l.Grid, l.Value, l.Left
		return err
	}
	n := part.Shape()[0]
	if n > tableRows {
		x.Left = plural(n-tableRows, "row is left out", "rows are left out")
		var err error
		if part, err = part.Index(ix.Range(0, tableRows)); err != nil {
			return err
		}
	}
	if len(part.Shape()) != 1 {
		x.Value = &cell{Text: text.Show(part.Text(), 400)}
		return nil
	}
	for row := range part.Shape()[0] {
		one, err := part.Index(ix.At(row))
		if err != nil {
			return err
		}
		here, err := indexed(mask, ix.At(row))
		if err != nil {
			return err
		}
		l, err := raggedRow(one, here, isText)
		if err != nil {
			return err
		}
		line := []string{}
		if l.Value != nil {
			line = append(line, text.Show(l.Value.Text.String(), cellBytes).String())
		}
		for _, numbers := range l.Grid {
			line = append(line, numbers...)
		}
		x.Grid = append(x.Grid, line[:min(len(line), 40)])
	}
	return nil
}

// mark finds the part of the expression that is wrong: the shortest beginning that Parse refuses
// ends with it.
func (x *indexData) mark() {
	parts := strings.SplitAfter(x.Expr, ",")
	for i := range parts {
		before := strings.Join(parts[:i], "")
		if _, err := ix.Parse(strings.TrimSuffix(strings.TrimSpace(before+parts[i]), ",")); err != nil {
			x.Good, x.Bad, x.Rest = shortened(before), shortened(parts[i]), shortened(strings.Join(parts[i+1:], ""))
			return
		}
	}
}

// shortened returns a piece of an expression, at most 200 bytes; the empty piece has no runs.
func shortened(s string) text.Text {
	if s == "" {
		return text.Text{}
	}
	return text.Show(s, 200)
}
