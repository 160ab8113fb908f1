package inspect

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/sizetext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// PrintOptions are the options of [Print]. The zero value is the default.
type PrintOptions struct {
	// Depth is the number of levels of dictionaries that are printed; 0 means all. A dictionary at
	// the last level is one line.
	Depth int
	// Sort prints the entries of each dictionary in the order of their keys.
	Sort bool
	// Rows bounds the lines after the first; 0 means 40, and a negative Rows means all.
	Rows int
	// Schema, if not nil, says which entries are text, and the meaning of the values: each line
	// ends with Spec.Meaning.
	Schema tdict.Schema
	// Bytes prints sizes in bytes: 12345678 B instead of 12.3 MB.
	Bytes bool
}

// Print writes td as a tree of keys, with one line for each: dtype, shape with a star for sizes
// that differ between rows, bytes of the elements, and where they are: mapped from a file, in
// memory, or nowhere (tensor.Meta).
//
//	dictionary [1797], 3 leaves, 137 kB
//	  image: uint8 [1797 8 8], 115 kB, mapped
//	  meta: dictionary [1797], 2 leaves, 21.6 kB
//	    index: int32 [1797], 7.19 kB, mapped
//	    label: int64 [1797], 14.4 kB, mapped
//
// If there are more lines than opt.Rows, each dictionary shows its first entries and then, on one
// line, the number of its other leaves. Keys that are empty, are not UTF-8, or would not print, are
// quoted. Print reads no element.
//
// It returns tdict.ErrKind for a nil dictionary, and the errors of w.
func Print(w io.Writer, td tdict.Dictionary, opt PrintOptions) error {
	d := tdict.Of(td)
	if _, err := newSelection("print", nil, d); err != nil {
		return err
	}
	p := &printer{out: bufio.NewWriter(w), opt: opt, specs: map[nestedkey.Key]tdict.Spec{}}
	for _, s := range opt.Schema {
		p.specs[s.Key] = s
	}
	rows := opt.Rows
	if rows == 0 {
		rows = 40
	} else if rows < 0 {
		rows = math.MaxInt
	}
	fmt.Fprintf(p.out, "%s\n", p.text(d))
	p.dict("", d, 1, rows)
	return p.out.Flush() // returns the first error of all writes
}

// A printer prints one dictionary.
type printer struct {
	out   *bufio.Writer
	opt   PrintOptions
	specs map[nestedkey.Key]tdict.Spec
}

// An item is an entry to be printed. rows is the number of lines below its own.
type item struct {
	name  nestedkey.Key
	value tdict.Value
	rows  int
}

// dict prints the entries of td, which is at a depth, in at most rows lines. outer is before their
// keys.
func (p *printer) dict(outer nestedkey.Key, td *tdict.TensorDict, depth, rows int) {
	items := p.items(td)
	shown, more := len(items), 0
	if shown > rows {
		shown, more = rows-1, 1
	}
	p.share(items[:shown], depth, rows-shown-more)
	indent := strings.Repeat("  ", depth)
	for _, it := range items[:shown] {
		name := errtext.Line(string(it.name))
		if name == "" {
			name = `""`
		}
		spec := p.specs[outer+it.name]
		fmt.Fprintf(p.out, "%s%s: %s\n", indent, name, withMeaning(p.text(it.value), spec))
		if it.rows > 0 {
			p.dict(outer+it.name+"/", it.value.(*tdict.TensorDict), depth+1, it.rows)
		}
	}
	left := 0
	for _, it := range items[shown:] {
		left += leavesOf(it.value)
	}
	if more > 0 {
		fmt.Fprintf(p.out, "%s... %s more\n", indent, grouped(left))
	}
}

// withMeaning returns the text of a value with the meaning in its spec.
func withMeaning(text string, spec tdict.Spec) string {
	if spec.Kind == tdict.KindText {
		text = strings.Replace(text, "ragged uint8", "text", 1)
	}
	if meaning := spec.Meaning(); meaning != "" {
		text += ", " + meaning
	}
	return text
}

// items returns the entries of a dictionary in the order of printing.
func (p *printer) items(td *tdict.TensorDict) []item {
	items := make([]item, 0, td.NumEntries())
	for name, v := range td.All() {
		items = append(items, item{name: name, value: v})
	}
	if p.opt.Sort {
		slices.SortFunc(items, func(a, b item) int { return nestedkey.Compare(a.name, b.name) })
	}
	return items
}

// share divides rows lines among the dictionaries in items: each gets an equal part of the
// remaining lines, and leaves the lines that it does not need to the next ones.
func (p *printer) share(items []item, depth, rows int) {
	if p.opt.Depth > 0 && depth >= p.opt.Depth {
		return
	}
	dicts := 0
	for _, it := range items {
		if _, ok := it.value.(*tdict.TensorDict); ok {
			dicts++
		}
	}
	for i := range items {
		if td, ok := items[i].value.(*tdict.TensorDict); ok {
			items[i].rows = p.lines(td, depth+1, rows/dicts)
			rows -= items[i].rows
			dicts--
		}
	}
}

// lines returns the number of lines for the entries of td, at most most.
func (p *printer) lines(td *tdict.TensorDict, depth, most int) int {
	n := min(td.NumEntries(), most)
	if p.opt.Depth > 0 && depth >= p.opt.Depth {
		return n
	}
	for _, v := range td.All() {
		if n == most {
			break
		}
		if inner, ok := v.(*tdict.TensorDict); ok {
			n += p.lines(inner, depth+1, most-n)
		}
	}
	return n
}

// text describes a value on one line.
func (p *printer) text(v tdict.Value) string {
	text := described(v)
	switch v := v.(type) {
	case *tdict.TensorDict:
		n := leavesOf(v)
		text += fmt.Sprintf(", %s %s, %s", grouped(n), plural(n, "leaf", "leaves"), p.size(v.ByteSize()))
		if named(v.Names()) {
			text += fmt.Sprintf(", dims %q", v.Names())
		}
		if v.Class() != "" {
			text += ", class " + errtext.Line(v.Class())
		}
	case *tensor.Tensor:
		text += ", " + p.elements(v)
	case *tdict.Unbatched:
		text += ", " + p.elements(v.Tensor())
	case *tdict.Stacked:
		text += fmt.Sprintf(", along dim %d", v.Dim())
	case *ragged.Tensor:
		text += ", " + p.size(v.ByteSize())
		if values, err := v.ValuesView(); err == nil {
			text += ", " + storage(values)
		}
	}
	return text
}

// elements describes the memory of a tensor.
func (p *printer) elements(t *tensor.Tensor) string {
	return p.size(t.ByteSize()) + ", " + storage(t)
}

// storage returns where the elements of a tensor are.
func storage(t *tensor.Tensor) string {
	switch {
	case t.Device() == tensor.Meta:
		return "nowhere"
	case t.Lender() != nil:
		return "mapped"
	}
	return "in memory"
}

// size returns n bytes as text, with three digits unless opt.Bytes is set.
func (p *printer) size(n int) string {
	if p.opt.Bytes {
		return fmt.Sprintf("%d B", n)
	}
	return sizetext.Bytes(int64(n))
}

// named reports whether a dim has a name.
func named(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != "" })
}

// leavesOf returns the number of leaves in a value; 1 for a leaf.
func leavesOf(v tdict.Value) (n int) {
	td, ok := v.(*tdict.TensorDict)
	if !ok {
		return 1
	}
	for _, v := range td.All() {
		n += leavesOf(v)
	}
	return n
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// grouped returns a number with a comma before every three digits: 9,960.
func grouped(n int) string { return sizetext.Grouped(strconv.Itoa(n)) }
