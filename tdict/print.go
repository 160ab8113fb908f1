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

// String returns td as a tree of keys with shapes and dtypes. If that takes more than about 40
// lines, some entries are left out, and String says how many leaves that are. Each entry of td gets
// one line, as far as there are lines. The lines that remain go to the entries of nested
// dictionaries, small dictionaries first. A dictionary whose entries get no lines is one line with
// its number of leaves.
func (td *TensorDict) String() string { return showDict(td, false) }

// Format implements fmt.Formatter: %v and %s print [TensorDict.String]. %+v prints every entry,
// with the memory and the number of bytes of each leaf, and which dictionaries are locked.
func (td *TensorDict) Format(f fmt.State, verb rune) {
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(f, "%%!%c(*tdict.TensorDict)", verb)
		return
	}
	_, _ = io.WriteString(f, showDict(td, f.Flag('+')))
}

// showDict prints td, which is not an entry of a printed dictionary.
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
	dictLines = 3  // lines of a dictionary besides its entries
)

// A treePrinter prints a dictionary and the dictionaries in it.
type treePrinter struct {
	out   strings.Builder
	more  bool // print all entries and details
	short bool // something was left out
}

// print prints td with room lines for its entries.
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

// entries prints the first entries, entry i in rooms[i] lines, and the number of leaves of the
// others.
func (p *treePrinter) entries(td *TensorDict, indent string, rooms []int) {
	comma, i, left := "", 0, 0
	for name, v := range td.entries.all() {
		if i < len(rooms) {
			fmt.Fprintf(&p.out, "%s\n%s%s: ", comma, indent, errtext.Line(string(name)))
			p.value(v, indent, rooms[i])
			comma = ","
		} else {
			left++
			if d, ok := v.(*TensorDict); ok {
				left += d.countLeaves() - 1
			}
		}
		i++
	}
	if i > len(rooms) {
		p.short = true
		fmt.Fprintf(&p.out, "%s\n%s... and %d more %s", comma, indent, left, plural(left, "leaf", "leaves"))
	}
}

// value prints an entry in room lines.
func (p *treePrinter) value(v Value, indent string, room int) {
	d, ok := v.(*TensorDict)
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

// share returns the number of lines of each of the first entries of td. Each gets one line. The
// remaining lines go to dictionaries, the smallest first.
func (p *treePrinter) share(td *TensorDict, room int) []int {
	if p.more {
		return slices.Repeat([]int{math.MaxInt}, td.entries.len())
	}
	rooms := slices.Repeat([]int{1}, min(td.entries.len(), room))
	left := room - len(rooms)
	type need struct{ entry, lines int }
	var needs []need
	for _, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok && left > 0 {
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

// lines returns the number of lines that d takes with all entries, or limit+1 if that is more than
// limit.
func lines(d *TensorDict, limit int) int {
	n := dictLines
	for _, v := range d.entries.all() {
		if n > limit {
			break
		}
		if inner, ok := v.(*TensorDict); ok {
			n += lines(inner, limit-n)
		} else {
			n++
		}
	}
	return min(n, limit+1)
}

func leavesText(n int) string { return fmt.Sprintf("%d %s", n, plural(n, "leaf", "leaves")) }

func showTensor(t *tensor.Tensor, more bool) string {
	text := fmt.Sprintf("Tensor(shape=%v, dtype=%v", t.Shape(), t.DType())
	if t.Device() != tensor.CPU {
		text += fmt.Sprintf(", device=%v", t.Device())
	} else if more {
		memory := "go"
		if l := t.Lender(); l != nil && l.ReadOnly() {
			memory = "lent, read-only"
		} else if l != nil {
			memory = "lent"
		}
		text += fmt.Sprintf(", bytes=%d, memory=%s", t.ByteSize(), memory)
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

// shownValues is the number of values that an entry of Data shows.
const shownValues = 3

func showData(d *Data, _ bool) string {
	if one, ok := d.Uniform(); ok {
		return fmt.Sprintf("Data(shape=%v, value=%s)", d.Shape(), shortened(jsonText(one)))
	}
	return fmt.Sprintf("Data(shape=%v, values=%s)", d.Shape(), d.firstTexts(shownValues))
}

// shortened returns s, cut if it is long.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
