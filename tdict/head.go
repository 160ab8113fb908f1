package tdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

const (
	headLeaves   = 8  // the most columns of Head
	cellWidth    = 24 // runes
	cellElements = 3  // the most elements in a cell
)

// Head returns the first n rows of the first batch dim as a table for people: a line of keys, then
// a line for each row; of the batch shape [], the one row that there is. A cell has the first
// elements of a tensor, row-major, or the values of [Data] as JSON, and is cut to 24 characters. A
// leaf that cannot be read has the error in its cells.
//
// The last lines count what is left out: rows, and leaves, which are those after the first eight
// and the unbatched ones. If n is not positive, Head returns only the keys.
//
// Head reads no more of a leaf than it shows.
func (td *TensorDict) Head(n int) string { return Schema(nil).Head(td, n) }

// Head is [TensorDict.Head] of td, but shows leaves of KindText as text, quoted as Go does:
//
//	name      age
//	"Ada"     36
//	"Émilie"  42
//
// It does not check td. A ragged leaf that cannot be text, and is of KindText in s, has the error
// in its cells.
func (s Schema) Head(td *TensorDict, n int) string {
	keys, leaves := td.headColumns(s.byKey())
	left := td.countLeaves() - len(leaves)
	if len(leaves) == 0 {
		return cmp.Or(strings.TrimSpace(leftOut(0, left)), "no leaves")
	}
	rows := 1
	if len(td.batch) > 0 {
		rows = td.batch[0]
	}
	shown := max(0, min(n, rows))
	lines := [][]string{keys}
	for i := range shown {
		lines = append(lines, td.headRow(leaves, i))
	}
	if n <= 0 {
		return aligned(lines)
	}
	return aligned(lines) + leftOut(rows-shown, left)
}

// A headColumn is a leaf that Head shows.
type headColumn struct {
	leaf  Leaf
	texts func(part Value) ([]string, error)
}

// headColumns returns the leaves that Head shows, with the texts of their keys.
func (td *TensorDict) headColumns(specs map[nestedkey.Key]*Spec) (keys []string, leaves []headColumn) {
	for key, v := range td.Leaves() {
		if opsOf(v).passes(v) {
			continue
		}
		if len(leaves) == headLeaves {
			break
		}
		c := headColumn{v, opsOf(v).texts}
		if _, ok := asRagged(v); ok && specs[key] != nil && specs[key].Kind == KindText {
			c.texts = quotedTexts
		}
		keys, leaves = append(keys, cut(errtext.Line(string(key)))), append(leaves, c)
	}
	return keys, leaves
}

// headRow returns the cells of a row.
func (td *TensorDict) headRow(leaves []headColumn, row int) []string {
	cells := make([]string, len(leaves))
	for i, c := range leaves {
		var expr []ix.Index
		if len(td.batch) > 0 {
			expr = append(expr, ix.At(row))
		}
		cells[i] = c.cell(expr)
	}
	return cells
}

// quotedTexts returns the texts of a ragged tensor, quoted, or the beginnings of those that are
// longer than a cell.
func quotedTexts(v Value) ([]string, error) {
	r, _ := asRagged(v)
	if r.Depth() == 1 {
		var err error
		if r, err = r.IndexLevel(1, ix.Range(0, utf8.UTFMax*(cellWidth+1))); err != nil {
			return nil, err
		}
	}
	texts, err := ragged.Strings(r)
	for i, text := range texts {
		texts[i] = strconv.Quote(text)
	}
	return texts, err
}

// cell returns the text of the elements that an index expression, which drops dims, selects.
func (c headColumn) cell(expr []ix.Index) string {
	shape := c.leaf.Shape()[len(expr):]
	var texts []string
	part, err := partOf(c.leaf, append(expr, firstFew(shape)...))
	switch {
	case err != nil:
	case part == nil:
		return "-"
	case opsOf(part) != opsOf(c.leaf): // a member
		return headColumn{part, opsOf(part).texts}.cell(nil)
	default:
		texts, err = c.texts(part)
	}
	switch {
	case err != nil:
		return cut(oneLine(err.Error()))
	case len(shape) == 0:
		return cut(oneLine(texts[0]))
	}
	return listText(texts[:min(len(texts), cellElements)], shape.Size())
}

// firstFew returns an index expression for a part of a shape that has its first elements, and only
// a few: as many as a cell, if there are, and less than twice as many.
func firstFew(shape shapeops.Shape) []ix.Index {
	expr := make([]ix.Index, len(shape))
	after := 1 // the elements of a position
	for i, size := range slices.Backward(shape) {
		expr[i] = ix.Range(0, (cellElements+after-1)/after)
		after = min(after*max(1, min(size, cellElements)), cellElements)
	}
	return expr
}

// partOf returns what an index expression selects of a leaf.
func partOf(v Leaf, expr []ix.Index) (Leaf, error) {
	p, err := plan.Index(v.Shape(), expr...)
	if err != nil {
		return nil, err
	}
	return opsOf(v).execute(v, plan.NewPass(p))
}

// listText returns the first texts of so many in brackets: as many as fit a cell.
func listText(texts []string, size int) string {
	for n := len(texts); ; n-- {
		shown := slices.Clone(texts[:n])
		if n < size {
			shown = append(shown, "...")
		}
		text := oneLine("[" + strings.Join(shown, " ") + "]")
		if n <= 1 || utf8.RuneCountInString(text) <= cellWidth {
			return cut(text)
		}
	}
}

// oneLine returns a text with a blank for each rune that does not print.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// cut returns a text, or the beginning of one that is too long for a cell.
func cut(s string) string {
	const dots = "..."
	if utf8.RuneCountInString(s) <= cellWidth {
		return s
	}
	return string([]rune(s)[:cellWidth-len(dots)]) + dots
}

// aligned returns lines of cells as a table, without blanks at the end of a line.
func aligned(lines [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a Builder does not fail
	return strings.TrimSuffix(b.String(), "\n")
}

// leftOut returns the lines, each after a newline, that count rows and leaves that are not shown.
func leftOut(rows, leaves int) (text string) {
	if rows > 0 {
		text = fmt.Sprintf("\n%d %s more", rows, plural(rows, "row", "rows"))
	}
	if leaves > 0 {
		text += fmt.Sprintf("\nand %d more %s", leaves, plural(leaves, "leaf", "leaves"))
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
