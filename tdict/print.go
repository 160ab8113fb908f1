package tdict

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// String returns td as a tree of keys with shapes and dtypes: all of it if that takes about 40
// lines. Else each of td's own entries takes one line, as far as there are lines, and what is left
// goes to the entries of dictionaries in it, small ones first; a dictionary without lines for them
// is one line with the number of its leaves. Where leaves are left out it says how many.
func (td *TensorDict) String() string { return showDict(td, false) }

// Format implements fmt.Formatter: %v and %s print [TensorDict.String], %+v every entry, and also
// how leaves lie in memory, how many bytes they take, and which dictionaries are locked.
func (td *TensorDict) Format(f fmt.State, verb rune) {
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(f, "%%!%c(*tdict.TensorDict)", verb)
		return
	}
	_, _ = io.WriteString(f, showDict(td, f.Flag('+')))
}

// showDict prints td on its own.
func showDict(td *TensorDict, more bool) string {
	if td == nil {
		return "<nil>"
	}
	p := treePrinter{more: more}
	p.print(td, "", screen)
	if p.short {
		fmt.Fprintf(&p.out, " (%%+v prints all %s)", leavesText(td.countLeaves()))
	}
	return p.out.String()
}

const (
	screen    = 40 // lines of entries that String prints
	dictLines = 3  // that a dictionary takes besides its entries
)

// A treePrinter prints a dictionary and those in it.
type treePrinter struct {
	out   strings.Builder
	more  bool // print all
	short bool // something was left out
}

// print prints a dictionary with so many lines for its entries.
func (p *treePrinter) print(td *TensorDict, indent string, room int) {
	const step = "    "
	b := &p.out
	fmt.Fprintf(b, "TensorDict(\n%sfields={", indent+step)
	p.entries(td, indent+step+step, p.share(td, room))
	fmt.Fprintf(b, "},\n%sbatch=%v", indent+step, td.batch)
	if td.names != nil {
		fmt.Fprintf(b, ",\n%snames=%q", indent+step, td.names)
	}
	if td.class != "" {
		fmt.Fprintf(b, ",\n%sclass=%s", indent+step, td.class)
	}
	if p.more {
		fmt.Fprintf(b, ",\n%slocked=%t", indent+step, td.Locked())
	}
	b.WriteString(")")
}

// entries prints the first entries, each in so many lines, and how many leaves the others have.
func (p *treePrinter) entries(td *TensorDict, indent string, rooms []int) {
	comma, i, left := "", 0, 0
	for name, v := range td.entries.all() {
		if i < len(rooms) {
			fmt.Fprintf(&p.out, "%s\n%s%s: ", comma, indent, errtext.Line(string(name)))
			p.value(v, indent, rooms[i])
			comma = ","
		} else {
			left += leavesOf(v)
		}
		i++
	}
	if i > len(rooms) {
		p.short = true
		fmt.Fprintf(&p.out, "%s\n%s... and %d more %s", comma, indent, left, plural(left, "leaf", "leaves"))
	}
}

// value prints an entry in so many lines.
func (p *treePrinter) value(v Value, indent string, room int) {
	d, ok := asDict(v)
	switch {
	case !ok:
		p.out.WriteString(opsOf(v).print(v, p.more))
	case room > dictLines || room == lines(d, room):
		p.print(d, indent, room-dictLines)
	default:
		p.short = true
		fmt.Fprintf(&p.out, "TensorDict(%s, batch=%v)", leavesText(d.countLeaves()), d.batch)
	}
}

// share returns how many lines each of the first entries of td gets: one, and dictionaries what is
// left, the smallest first.
func (p *treePrinter) share(td *TensorDict, room int) []int {
	if p.more {
		return slices.Repeat([]int{math.MaxInt}, td.entries.len())
	}
	rooms := slices.Repeat([]int{1}, min(td.entries.len(), room))
	left := room - len(rooms)
	type need struct{ entry, lines int }
	var needs []need
	for _, v := range td.entries.all() {
		if d, ok := asDict(v); ok && left > 0 {
			needs = append(needs, need{len(needs), lines(d, left+1) - 1})
		} else {
			needs = append(needs, need{len(needs), 0})
		}
		if len(needs) == len(rooms) {
			break
		}
	}
	slices.SortStableFunc(needs, func(a, b need) int { return a.lines - b.lines })
	for _, n := range needs {
		more := min(n.lines, left)
		rooms[n.entry] += more
		left -= more
	}
	return rooms
}

// lines returns how many lines all of d takes, or limit+1 if they are more than limit.
func lines(d *TensorDict, limit int) int {
	n := dictLines
	for _, v := range d.entries.all() {
		if n > limit {
			break
		}
		if inner, ok := asDict(v); ok {
			n += lines(inner, limit-n)
		} else {
			n++
		}
	}
	return min(n, limit+1)
}

// leavesOf returns how many leaves v is or has.
func leavesOf(v Value) int {
	if d, ok := asDict(v); ok {
		return d.countLeaves()
	}
	return 1
}

func leavesText(n int) string { return fmt.Sprintf("%d %s", n, plural(n, "leaf", "leaves")) }

func showTensor(t *tensor.Tensor, more bool) string {
	text := fmt.Sprintf("Tensor(shape=%v, dtype=%v", t.Shape(), t.DType())
	if t.Device() != tensor.CPU {
		text += fmt.Sprintf(", device=%v", t.Device())
	} else if more {
		text += fmt.Sprintf(", bytes=%d, memory=%s", t.ByteSize(), memoryText(t))
		if !t.View().IsContiguous() {
			text += fmt.Sprintf(", strides=%v", t.View().Strides)
		}
	}
	return text + ")"
}

func showRagged(t *ragged.Tensor, more bool) string {
	text := fmt.Sprintf("Ragged(shape=%s, dtype=%v", nested(t).ShapeText(), t.DType())
	if more {
		text += fmt.Sprintf(", values=%d, bytes=%d", t.NumValues(), t.ByteSize())
	}
	return text + ")"
}

func showUnbatched(u *Unbatched, more bool) string {
	return "Unbatched(" + showTensor(u.tensor, more) + ")"
}

// shownValues is how many values of Data an entry shows.
const shownValues = 3

func showData(d *Data, _ bool) string {
	if one, ok := d.Uniform(); ok {
		return fmt.Sprintf("Data(shape=%v, value=%s)", d.Shape(), shortened(jsonText(one)))
	}
	return fmt.Sprintf("Data(shape=%v, values=%s)", d.Shape(), d.firstTexts(shownValues))
}

// shortened returns the beginning of a long text.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

func memoryText(t *tensor.Tensor) string {
	switch l := t.Lender(); {
	case l == nil:
		return "go"
	case l.ReadOnly():
		return "lent, read-only"
	}
	return "lent"
}
