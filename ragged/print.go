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
	excerptOver = 1000 // a tensor with more rows and elements is abbreviated
	edge        = 3    // entries printed at either end of an abbreviated list
	mostDims    = 5    // with more dims, even an abbreviated text would have thousands of rows
	rowOver     = 16   // a row with more rows and elements is abbreviated by Texts
	gap         = " "  // between entries of a list
)

// ShapeText implements plan.Nested.
func (v ops) ShapeText() string { return v.Tensor.shapeText() }

func (t *Tensor) shapeText() string { return t.layout.text(t.Features()) }

// Text returns a line that describes t without its values, such as "ragged int64 [3 * * 2]".
func (t *Tensor) Text() string {
	if !t.made() {
		return "ragged <nil>"
	}
	return fmt.Sprintf("ragged %v %s", t.DType(), t.shapeText())
}

// String returns dtype, shape and the rows as nested lists, each row of the batch on its own line.
// For a tensor with more than 1000 rows and elements it shows the first and last three entries of
// each list.
func (t *Tensor) String() string {
	if !t.made() {
		return "ragged <nil>"
	}
	w, rows, err := lister{lines: true}, t, error(nil)
	lists := 1 // of rows: they may be many though there is no row, as in [1000000 0 *]
	for _, size := range t.Shape() {
		lists = times(lists, max(1, size))
	}
	if t.sizeOf() > excerptOver || lists > excerptOver {
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

// ends returns the first and last rows of each batch dim of t, and, if there are others, one for
// the rows between them. A copy of all rows might not fit in memory if an expansion repeats rows.
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

// sizeOf returns the total number of rows, of all levels, and elements.
func (t *Tensor) sizeOf() int {
	n := times(t.NumValues(), max(1, t.Features().Size()))
	for level := range t.Depth() {
		rows, _ := t.layout.NumRows(level)
		n += min(rows, math.MaxInt-n)
	}
	return n
}

// dims returns the number of dims, levels included.
func (t *Tensor) dims() int { return len(t.Shape()) + t.Depth() + len(t.Features()) }

// Texts implements tensor.Ops: it returns each row of the batch as String prints it. It is meant
// for few rows. It returns an error if values cannot be read.
func (v ops) Texts() ([]string, error) {
	s, err := v.Tensor.compact(nil)
	if err != nil {
		return nil, err
	}
	texts := make([]string, s.Shape().Size())
	for i := range texts {
		w := lister{of: s}
		if from, to := s.layout.extent(i, 1); times(to-from, max(1, s.Features().Size())) > rowOver {
			w.edge = edge
		}
		if err := w.row(0, i); err != nil {
			return nil, err
		}
		texts[i] = w.out.String()
	}
	return texts, nil
}

// A lister writes rows as nested lists.
type lister struct {
	of    *Tensor // compact
	lines bool    // each row of the batch begins on a new line
	edge  int     // number of entries at either end of an abbreviated list; 0 means all entries
	out   strings.Builder
}

// tensor writes all rows.
func (w *lister) tensor(t *Tensor) (err error) {
	if w.of, err = t.compact(nil); err != nil {
		return err
	}
	return w.batch(t.Shape(), 0, 0)
}

// batch writes rows of the batch, from number first on, as a list of the given shape. depth is the
// number of lists around it.
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

// row writes the content of a row of a level.
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
	texts, err := x.Ops().Texts()
	if err != nil {
		return err
	}
	w.out.WriteString(texts[0])
	return nil
}

// list writes n entries in brackets, abbreviated if w.edge says so.
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
