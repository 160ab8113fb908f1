package tdict

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// String returns td as a tree of keys with shapes and dtypes.
func (td *TensorDict) String() string {
	var b strings.Builder
	td.print(&b, "", false)
	return b.String()
}

// Format implements fmt.Formatter: %v and %s print [TensorDict.String], %+v also how leaves lie in memory, how many bytes
// they take, and which dictionaries are locked.
func (td *TensorDict) Format(f fmt.State, verb rune) {
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(f, "%%!%c(*tdict.TensorDict)", verb)
		return
	}
	td.print(f, "", f.Flag('+'))
}

func (td *TensorDict) print(w io.Writer, indent string, more bool) {
	const step = "    "
	if td == nil {
		_, _ = io.WriteString(w, "<nil>")
		return
	}
	fmt.Fprintf(w, "TensorDict(\n%sfields={", indent+step)
	for i, name := range td.table.list() {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		fmt.Fprintf(w, "\n%s%s: ", indent+step+step, printable(name))
		if d, ok := asDict(td.values[i]); ok {
			d.print(w, indent+step+step, more)
			continue
		}
		printLeaf(w, td.values[i], more)
	}
	fmt.Fprintf(w, "},\n%sbatch=%v", indent+step, td.batch)
	if more {
		fmt.Fprintf(w, ",\n%slocked=%t", indent+step, td.Locked())
	}
	_, _ = io.WriteString(w, ")")
}

// printable returns a name as it is, or quoted if it would not print on one line.
func printable(name nestedkey.Key) string {
	if s := string(name); strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return string(name)
}

func printLeaf(w io.Writer, v Value, more bool) {
	t, ok := asTensor(v)
	if !ok {
		fmt.Fprintf(w, "%T(shape=%v)", v, v.Shape())
		return
	}
	fmt.Fprintf(w, "Tensor(shape=%v, dtype=%v", t.Shape(), t.DType())
	if more {
		fmt.Fprintf(w, ", bytes=%d, memory=%s", t.ByteSize(), memoryText(t))
		if !t.View().IsContiguous() {
			fmt.Fprintf(w, ", strides=%v", t.View().Strides)
		}
	}
	_, _ = io.WriteString(w, ")")
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
