package tdict

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// String returns td as a tree of keys with shapes and dtypes: all of it if that takes about 40
// lines, and else its first entries and how many leaves are left out.
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
	p := treePrinter{more: more, room: screen, left: td.countLeaves()}
	if more {
		p.room = math.MaxInt
	}
	p.print(td, "")
	return p.out.String()
}

const (
	screen    = 40 // lines of entries that String prints
	dictLines = 3  // that a dictionary takes besides its entries
)

// A treePrinter prints a dictionary and those in it.
type treePrinter struct {
	out  strings.Builder
	more bool
	room int // lines that are left
	left int // leaves that are not printed yet
}

func (p *treePrinter) print(td *TensorDict, indent string) {
	const step = "    "
	b := &p.out
	fmt.Fprintf(b, "TensorDict(\n%sfields={", indent+step)
	comma := ""
	for name, v := range td.entries.all() {
		if p.room <= 0 {
			p.cut(comma, indent+step+step)
			break
		}
		fmt.Fprintf(b, "%s\n%s%s: ", comma, indent+step+step, printable(name))
		comma = ","
		p.value(v, indent+step+step)
	}
	fmt.Fprintf(b, "},\n%sbatch=%v", indent+step, td.batch)
	if td.Named() {
		fmt.Fprintf(b, ",\n%snames=%q", indent+step, td.names)
	}
	if p.more {
		fmt.Fprintf(b, ",\n%slocked=%t", indent+step, td.Locked())
	}
	b.WriteString(")")
}

// value prints an entry.
func (p *treePrinter) value(v Value, indent string) {
	if d, ok := asDict(v); ok {
		p.room -= dictLines
		p.print(d, indent)
		return
	}
	p.room--
	p.left--
	p.out.WriteString(opsOf(v).print(v, p.more))
}

// cut prints, once, how many leaves are left out.
func (p *treePrinter) cut(comma, indent string) {
	if p.left > 0 {
		fmt.Fprintf(&p.out, "%s\n%s... and %d more %s", comma, indent, p.left, plural(p.left, "leaf", "leaves"))
		p.left = 0
	}
}

// printable returns a name as it is, or quoted if it would not print on one line.
func printable(name nestedkey.Key) string {
	if s := string(name); strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return string(name)
}

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
	text := fmt.Sprintf("Ragged(shape=%s, dtype=%v", t.ShapeText(), t.DType())
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
