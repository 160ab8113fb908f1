package ragged

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	excerptOver = 1000 // rows and elements; a larger tensor is printed in excerpt
	edge        = 3    // rows printed at either end of a list in an excerpt
	mostDims    = 5    // of an excerpt: with more, even that would be thousands of rows
	rowOver     = 16   // a text of a row with more rows and elements is cut
	gap         = " "  // between entries of a list
)

// ShapeText implements plan.Nested.
func (v *verbs) ShapeText() string { return (*Tensor)(v).shapeText() }

func (t *Tensor) shapeText() string { return t.layout.text(t.Features()) }

// Text returns a line that describes t without its values: "ragged int64 [3 * * 2]".
func (t *Tensor) Text() string {
	if !t.made() {
		return "ragged <nil>"
	}
	return fmt.Sprintf("ragged %v %s", t.DType(), t.shapeText())
}

// String returns dtype, shape and the rows as nested lists, each row of the batch on a line of its
// own. Of a tensor with more than 1000 rows and elements it shows the first and last three of each
// list.
func (t *Tensor) String() string {
	if !t.made() {
		return "ragged <nil>"
	}
	w, rows, err := lister{lines: true}, t, error(nil)
	if t.sizeOf() > excerptOver {
		if t.dims() > mostDims {
			return t.Text() + "\n[...]"
		}
		w.edge = edge
		rows, err = t.ends()
	}
	if err == nil {
		err = w.tensor(rows)
	}
	if err != nil {
		return fmt.Sprintf("%s: %v", t.Text(), err)
	}
	if len(t.Shape()) == 0 {
		return t.Text() + " " + w.out.String()
	}
	return t.Text() + "\n" + w.out.String()
}

// ends returns the rows at both ends of each batch dim of t, and one for the rows between them if
// there are any: a copy of all rows may be more than memory holds, if an expansion repeats them.
func (t *Tensor) ends() (*Tensor, error) {
	dims := len(t.Shape())
	at := make([]ix.Index, dims)
	for dim, size := range t.Shape() {
		shape := slices.Repeat([]int{1}, dims)
		shape[dim] = min(size, 2*edge+1)
		rows := make([]int, shape[dim])
		for i := range rows {
			rows[i] = i
			if i > edge {
				rows[i] = size - len(rows) + i
			}
		}
		at[dim] = ix.TakeND(rows, shape...)
	}
	return t.Index(at...)
}

// sizeOf returns how many rows of all levels and elements there are, all together.
func (t *Tensor) sizeOf() int {
	n := times(t.NumValues(), max(1, t.Features().Size()))
	for level := range t.Depth() {
		rows, _ := t.layout.NumRows(level)
		n += min(rows, math.MaxInt-n)
	}
	return n
}

// dims returns how many dims there are, those of levels included.
func (t *Tensor) dims() int { return len(t.Shape()) + t.Depth() + len(t.Features()) }

// Texts implements tensor.Verbs: each text is as String prints it. An error means that values
// cannot be read. It is for few rows.
func (v *verbs) Texts() ([]string, error) {
	s, err := (*Tensor)(v).straight(nil)
	if err != nil {
		return nil, err
	}
	texts := make([]string, s.Shape().Size())
	for i := range texts {
		w := lister{of: s}
		if s.rowSize(i) > rowOver {
			w.edge = edge
		}
		if err := w.row(0, i); err != nil {
			return nil, err
		}
		texts[i] = w.out.String()
	}
	return texts, nil
}

// rowSize returns how many values a row of the batch has.
func (t *Tensor) rowSize(i int) int {
	from, to := t.layout.extent(i, 1)
	return times(to-from, max(1, t.Features().Size()))
}

// A lister writes rows as nested lists.
type lister struct {
	of    *Tensor // straight
	lines bool    // rows of the batch begin on lines of their own
	edge  int     // how many entries of a list there are at either end, or 0 for all
	out   strings.Builder
}

// tensor writes all rows.
func (w *lister) tensor(t *Tensor) (err error) {
	if w.of, err = t.straight(nil); err != nil {
		return err
	}
	return w.batch(t.Shape(), 0, 0)
}

// batch writes the rows of the batch from number first on, as a list of the given shape, which lies
// in so many others.
func (w *lister) batch(shape shapeops.Shape, depth, first int) error {
	if len(shape) == 0 {
		return w.row(0, first)
	}
	between := gap
	if w.lines {
		between = strings.Repeat("\n", len(shape)) + strings.Repeat(" ", depth+1)
	}
	size := shape[1:].Size()
	return w.list(shape[0], between, func(i int) error { return w.batch(shape[1:], depth+1, first+i*size) })
}

// row writes what a row of a level has.
func (w *lister) row(level, row int) error {
	if level == w.of.Depth() {
		return w.value(row)
	}
	offsets := w.of.layout.at(level + 1).offsets
	from := int(offsets[row])
	return w.list(int(offsets[row+1])-from, gap, func(i int) error { return w.row(level+1, from+i) })
}

// value writes a value, with its features.
func (w *lister) value(row int) error {
	x, err := w.of.values.Index(ix.At(row))
	if err != nil {
		return err
	}
	return w.features(x)
}

func (w *lister) features(x *tensor.Tensor) error {
	if len(x.Shape()) > 0 {
		return w.list(x.Shape()[0], gap, func(i int) error {
			part, err := x.Index(ix.At(i))
			if err != nil {
				return err
			}
			return w.features(part)
		})
	}
	texts, err := x.Verbs().Texts()
	if err != nil {
		return err
	}
	w.out.WriteString(texts[0])
	return nil
}

// list writes n entries in brackets, or the first and last of many.
func (w *lister) list(n int, between string, entry func(i int) error) error {
	w.out.WriteByte('[')
	for i := 0; i < n; i++ {
		if i > 0 {
			w.out.WriteString(between)
		}
		if w.edge > 0 && n > 2*w.edge && i == w.edge {
			w.out.WriteString("..." + between)
			i = n - w.edge
		}
		if err := entry(i); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}
