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
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

const (
	headLeaves   = 8  // the largest number of columns
	cellWidth    = 24 // runes
	cellElements = 3  // the largest number of elements in a cell
)

// Head returns the first n rows of the first batch dim as a table for people: a line of keys, then
// a line for each row. A dictionary with batch shape [] has one row. A cell has the first elements
// of a tensor, row-major, or the values of [Data] as JSON. It is cut to 24 characters. A leaf that
// cannot be read has the error in its cells.
//
// Head omits unbatched tensors, and all leaves after the first eight. The last lines say how many
// rows and how many leaves are omitted. If n is not positive, Head returns only the keys.
//
// Head reads no more of a leaf than it shows.
func (td *TensorDict) Head(n int) string { return Schema(nil).Head(td, n) }

// Head is [TensorDict.Head] of td with text for leaves of KindText, quoted as in Go:
//
//	name      age
//	"Ada"     36
//	"Émilie"  42
//
// It does not check td against s; of a nil td it returns the text of the error. If s says KindText
// for a ragged leaf that cannot be text, its cells have the error.
func (s Schema) Head(td *TensorDict, n int) string {
	if td == nil {
		return errNil.Error()
	}
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
		var expr []ix.Index
		if len(td.batch) > 0 {
			expr = append(expr, ix.At(i))
		}
		cells := make([]string, len(leaves))
		for column, c := range leaves {
			cells[column] = c.cell(slices.Clip(expr))
		}
		lines = append(lines, cells)
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

// headColumns returns the leaves that Head shows, and their keys as texts.
func (td *TensorDict) headColumns(specs map[nestedkey.Key]*Spec) (keys []string, leaves []headColumn) {
	for key, v := range td.Leaves() {
		if opsOf(v).passes(v) {
			continue
		}
		if len(leaves) == headLeaves {
			break
		}
		c := headColumn{v, opsOf(v).texts}
		if _, ok := v.(*ragged.Tensor); ok && specs[key] != nil && specs[key].Kind == KindText {
			c.texts = func(v Value) ([]string, error) {
				r, _ := v.(*ragged.Tensor)
				if r.Depth() == 1 { // only as much of a text as fits
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
		}
		keys, leaves = append(keys, cut(errtext.Line(string(key)))), append(leaves, c)
	}
	return keys, leaves
}

// cell returns the text of the elements that expr selects. expr drops dims.
func (c headColumn) cell(expr []ix.Index) string {
	shape := c.leaf.Shape()[len(expr):]
	var texts []string
	few := make([]ix.Index, len(shape)) // the first elements, at least cellElements
	after := 1                          // the number of elements of a position
	for i, size := range slices.Backward(shape) {
		few[i] = ix.Range(0, (cellElements+after-1)/after)
		after = min(after*max(1, min(size, cellElements)), cellElements)
	}
	part, err := partOf(c.leaf, append(expr, few...))
	switch {
	case err != nil:
	case part == nil:
		return "-"
	case opsOf(part) != opsOf(c.leaf): // a member of a Stacked
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
	for n := min(len(texts), cellElements); ; n-- { // until the texts fit
		shown := slices.Clone(texts[:n])
		if n < shape.Size() {
			shown = append(shown, "...")
		}
		text := oneLine("[" + strings.Join(shown, " ") + "]")
		if n <= 1 || utf8.RuneCountInString(text) <= cellWidth {
			return cut(text)
		}
	}
}

// partOf returns the part of a leaf that an index expression selects.
func partOf(v Leaf, expr []ix.Index) (Leaf, error) {
	p, err := plan.Index(v.Shape(), expr...)
	if err != nil {
		return nil, err
	}
	return opsOf(v).execute(v, plan.NewPass(p))
}

// oneLine replaces runes that are not printable by spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// cut shortens a text to the width of a cell.
func cut(s string) string {
	const dots = "..."
	if utf8.RuneCountInString(s) <= cellWidth {
		return s
	}
	return string([]rune(s)[:cellWidth-len(dots)]) + dots
}

// aligned returns lines of cells as a table. No line ends in spaces.
func aligned(lines [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a Builder does not fail
	return strings.TrimSuffix(b.String(), "\n")
}

// leftOut returns lines with the numbers of rows and leaves that are not shown, each after a
// newline.
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
