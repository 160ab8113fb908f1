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
	"github.com/go-tensordict/tensordict/tensor"
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
// Missing values are NA: see [Schema.MaskOf]. Masks are not shown. Times have their layout, and
// categories their texts.
//
// It does not check td against s; of a nil td it returns the text of the error. If s says KindText
// for a ragged leaf that cannot be text, its cells have the error.
func (s Schema) Head(td *TensorDict, n int) string {
	if td == nil {
		return errNil.Error()
	}
	masks := s.masksIn(td)
	keys, leaves := td.headColumns(s, masks)
	left := td.countLeaves() - len(leaves) - len(masks)
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
	mask  *tensor.Tensor // of the elements, texts or rows; or nil
}

// masksIn returns the keys of the masks that td has.
func (s Schema) masksIn(td *TensorDict) map[nestedkey.Key]bool {
	masks := map[nestedkey.Key]bool{}
	for i := range s {
		if mask, err := s[i:i+1].MaskOf(td, s[i].Key); err == nil && mask != nil {
			masks[s[i].Mask] = true
		}
	}
	return masks
}

// headColumns returns the leaves that Head shows, and their keys as texts.
func (td *TensorDict) headColumns(s Schema, masks map[nestedkey.Key]bool) (keys []string, leaves []headColumn) {
	specs := s.byKey()
	for key, v := range td.Leaves() {
		if opsOf(v).passes(v) || masks[key] {
			continue
		}
		if len(leaves) == headLeaves {
			break
		}
		keys = append(keys, cut(errtext.Line(string(key))))
		leaves = append(leaves, td.headColumn(key, v, specs[key]))
	}
	return keys, leaves
}

// headColumn returns a leaf that Head shows. spec may be nil.
func (td *TensorDict) headColumn(key nestedkey.Key, leaf Leaf, spec *Spec) headColumn {
	c := headColumn{leaf: leaf, texts: opsOf(leaf).texts}
	if spec == nil {
		return c
	}
	mask, _ := Schema{*spec}.MaskOf(td, key)
	c.mask, _ = mask.(*tensor.Tensor)
	_, dense := leaf.(*tensor.Tensor)
	_, lists := leaf.(*ragged.Tensor)
	switch {
	case dense && (spec.Time != "" || spec.Categories != nil):
		c.texts = spec.spelled
	case lists && spec.Kind == KindText:
		c.texts = quoted
	}
	return c
}

// spelled returns the texts of the elements of a tensor: see Spell.
func (s *Spec) spelled(v Value) ([]string, error) {
	texts, err := opsOf(v).texts(v)
	for i := range texts {
		texts[i] = s.Spell(texts[i])
	}
	return texts, err
}

// quoted returns texts in quotes, or their beginnings; in lists if r has several levels.
func quoted(v Value) ([]string, error) {
	r, _ := v.(*ragged.Tensor)
	var err error
	for level := 1; level <= r.Depth(); level++ { // only as much as fits
		if r, err = r.IndexLevel(level, ix.Range(0, utf8.UTFMax*(cellWidth+1))); err != nil {
			return nil, err
		}
	}
	flat := r
	if r.Depth() > 1 {
		values, failed := r.Values()
		offsets, err := r.Layout().Offsets(-1)
		if err = cmp.Or(failed, err); err == nil {
			flat, err = ragged.FromOffsets(values, offsets)
		}
		if err != nil {
			return nil, err
		}
	}
	texts, err := ragged.Strings(flat)
	for i, text := range texts {
		texts[i] = strconv.Quote(text)
	}
	for level := r.Depth() - 1; level > 0 && err == nil; level-- {
		var offsets []int64
		offsets, err = r.Layout().Offsets(level)
		lists := make([]string, max(0, len(offsets)-1))
		for i := range lists {
			lists[i] = "[" + strings.Join(texts[offsets[i]:offsets[i+1]], " ") + "]"
		}
		texts = lists
	}
	return texts, err
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
		return headColumn{leaf: part, texts: opsOf(part).texts}.cell(nil)
	default:
		texts, err = c.texts(part)
	}
	if err == nil && c.mask != nil {
		err = c.hide(texts, append(expr, few...))
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

// hide replaces the texts of missing elements, which expr selects.
func (c headColumn) hide(texts []string, expr []ix.Index) error {
	part, err := partOf(c.mask, expr)
	if err != nil {
		return err
	}
	bits, err := opsOf(part).texts(part)
	for i := range texts {
		if err == nil && bits[i] == "false" {
			texts[i] = "NA"
		}
	}
	return err
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
