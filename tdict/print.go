package tdict

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// String returns td as a tree of keys with shapes and dtypes.
func (td *TensorDict) String() string { return showDict(td, false) }

// Format implements fmt.Formatter: %v and %s print [TensorDict.String], %+v also how leaves lie in
// memory, how many bytes they take, and which dictionaries are locked.
func (td *TensorDict) Format(f fmt.State, verb rune) {
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(f, "%%!%c(*tdict.TensorDict)", verb)
		return
	}
	_, _ = io.WriteString(f, showDict(td, f.Flag('+')))
}

// showDict prints td on its own.
func showDict(td *TensorDict, more bool) string {
	var b strings.Builder
	td.print(&b, "", more)
	return b.String()
}

func (td *TensorDict) print(b *strings.Builder, indent string, more bool) {
	const step = "    "
	if td == nil {
		b.WriteString("<nil>")
		return
	}
	fmt.Fprintf(b, "TensorDict(\n%sfields={", indent+step)
	comma := ""
	for name, v := range td.entries.all() {
		fmt.Fprintf(b, "%s\n%s%s: ", comma, indent+step+step, printable(name))
		comma = ","
		if d, ok := asDict(v); ok {
			d.print(b, indent+step+step, more)
			continue
		}
		b.WriteString(opsOf(v).print(v, more))
	}
	fmt.Fprintf(b, "},\n%sbatch=%v", indent+step, td.batch)
	if td.Named() {
		fmt.Fprintf(b, ",\n%snames=%q", indent+step, td.names)
	}
	if more {
		fmt.Fprintf(b, ",\n%slocked=%t", indent+step, td.Locked())
	}
	b.WriteString(")")
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

func showData(d *Data, _ bool) string {
	if one, ok := d.Uniform(); ok {
		return fmt.Sprintf("Data(shape=%v, value=%s)", d.Shape(), shortened(jsonText(one)))
	}
	return fmt.Sprintf("Data(shape=%v)", d.Shape())
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
