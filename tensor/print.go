package tensor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/elemtext"
)

const (
	excerptOver = 1000 // elements; a larger tensor is printed in excerpt
	mostShown   = 5000 // elements; an excerpt that would have more has none
	edge        = 3    // positions printed at each end of a dim in an excerpt
)

// String returns dtype, shape and elements, in NumPy's manner. For a tensor of more than 1000
// elements it shows the first and last three positions of each dim longer than six. If these still
// have more than 5000 elements, it shows no elements.
func (t *Tensor) String() string {
	p := printer{excerpt: t.Size() > excerptOver}
	switch n := p.count(t.view.Shape); {
	case n == 0:
		return fmt.Sprintf("%v %v\n[]", t.dtype, t.view.Shape)
	case n > mostShown:
		return fmt.Sprintf("%v %v\n[...]", t.dtype, t.view.Shape)
	}
	if err := p.collect(t); err != nil {
		return fmt.Sprintf("%v %v: %v", t.dtype, t.view.Shape, err)
	}
	for _, s := range p.texts {
		p.width = max(p.width, len(s))
	}
	gap := "\n"
	if len(t.view.Shape) == 0 {
		gap = " "
	}
	fmt.Fprintf(&p.out, "%v %v%s", t.dtype, t.view.Shape, gap)
	p.print(t.view.Shape, 0)
	return p.out.String()
}

// A printer prints a tensor in two passes: it collects the texts of elements, then pads them to one
// width.
type printer struct {
	excerpt bool
	texts   []string // the elements shown, row-major
	width   int
	out     strings.Builder
}

// shown yields the positions of a dim to show, and -1 for a gap.
func (p *printer) shown(size int) []int {
	var at []int
	for i := 0; i < size; i++ {
		if p.excerpt && size > 2*edge && i == edge {
			at = append(at, -1)
			i = size - edge
		}
		at = append(at, i)
	}
	return at
}

// count returns the number of elements shown of a shape. It may stop counting beyond mostShown.
func (p *printer) count(shape []int) int {
	n := 1
	for _, size := range shape {
		if p.excerpt {
			size = min(size, 2*edge)
		}
		if n = min(n, mostShown+1) * size; n == 0 {
			return 0
		}
	}
	return n
}

func (p *printer) collect(t *Tensor) error {
	if len(t.view.Shape) == 0 {
		s, err := t.itemText()
		p.texts = append(p.texts, s)
		return err
	}
	for _, i := range p.shown(t.view.Shape[0]) {
		if i < 0 {
			continue
		}
		if err := p.collect(t.row(i)); err != nil {
			return err
		}
	}
	return nil
}

// print prints the next elements of p.texts as an array of the given shape.
func (p *printer) print(shape []int, depth int) {
	if len(shape) == 0 {
		if depth > 0 {
			p.out.WriteString(strings.Repeat(" ", p.width-len(p.texts[0])))
		}
		p.out.WriteString(p.texts[0])
		p.texts = p.texts[1:]
		return
	}
	p.out.WriteByte('[')
	for n, i := range p.shown(shape[0]) {
		if n > 0 {
			p.separate(len(shape), depth)
		}
		if i < 0 {
			p.out.WriteString("...")
			continue
		}
		p.print(shape[1:], depth+1)
	}
	p.out.WriteByte(']')
}

// separate begins the next entry of an array with dims dims: numbers on one line, arrays on
// separate lines.
func (p *printer) separate(dims, depth int) {
	if dims == 1 {
		p.out.WriteByte(' ')
		return
	}
	p.out.WriteString(strings.Repeat("\n", dims-1))
	p.out.WriteString(strings.Repeat(" ", depth+1))
}

// Texts implements [Ops]: it returns the texts that String prints. It returns an error if an
// element cannot be read.
func (v *ops) Texts() ([]string, error) {
	var p printer
	err := p.collect((*Tensor)(v))
	return p.texts, err
}

// itemText returns the text of a scalar's value.
func (t *Tensor) itemText() (text string, err error) {
	if !t.dtype.valid() {
		return "", errZero
	}
	var failed error
	err = t.use(func(mem []byte) {
		item := t.own(mem)
		if t.dtype == Bool {
			failed = CheckBools(item)
		}
		text = string(elemtext.Of(t.dtype.String()).Append(nil, item))
	})
	return text, cmp.Or(failed, err)
}
