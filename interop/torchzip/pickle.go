package torchzip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

const (
	maxPickle = 64 << 10 // bytes
	maxDims   = 64       // as in torch
)

// The names in pickles: module and name, each followed by a newline. The second function also takes
// a dtype, and a storage of bytes.
const (
	rebuild      global = "torch._utils\n_rebuild_tensor_v2\n"
	rebuildTyped global = "torch._utils\n_rebuild_tensor_v3\n"
	orderedDict  global = "collections\nOrderedDict\n"
	sparseLayout global = "torch.serialization\n_get_layout\n" // of a sparse tensor, which is refused
)

// pickled returns the pickle of a tensor whose storage is its elements. pickletools.dis of Python
// shows it in words.
func pickled(d tensor.DType, shape shapeops.Shape) string {
	class, n, build, dtype := classes[d], shape.Size(), rebuild, ""
	if class == untyped {
		n, build, dtype = n*d.Size(), rebuildTyped, "ctorch\n"+d.String()+"\n"
	}
	strides := shape.AppendStrides(nil)
	return fmt.Sprintf("\x80\x02c%s((%sc%s%s%s%stQ%s(%st(%st\x89c%s)R%stR.", build,
		text("storage"), class, text("0"), text("cpu"), integers(n), integers(0), integers(shape...), integers(strides...), orderedDict, dtype)
}

func text(s string) string { return fmt.Sprintf("X%c\x00\x00\x00%s", len(s), s) }

func integers(all ...int) string {
	var b []byte
	for _, n := range all {
		b = binary.LittleEndian.AppendUint64(append(b, 0x8a, 8), uint64(n))
	}
	return string(b)
}

// The values that a pickle can make, besides int, bool and string.
type (
	global string
	tuple  []any
	mark   struct{} // the beginning of a tuple
	// A storage is a buffer: n elements of a dtype, or bytes if that is 0.
	storage struct {
		key   string
		dtype tensor.DType
		n     int
	}
	// A spec is a tensor: a view of a storage.
	spec struct {
		storage
		offset, span   int // span: elements of the storage from its first to its last
		shape, strides []int
	}
)

// A machine interprets a pickle. After the first error it goes on with nil values, until the end of
// the opcode.
type machine struct {
	rest  []byte
	stack tuple
	memo  [256]any
	err   error
}

// unpickle returns the tensor that a pickle describes.
func unpickle(b []byte) (spec, error) {
	m := machine{rest: b}
	for m.err == nil {
		if op := m.integer(1); op != '.' {
			m.step(op)
			continue
		}
		v := m.pop()
		s, ok := v.(spec)
		if _, several := v.(tuple); several {
			m.advise("one of its tensors", "a tuple")
		} else if !ok {
			m.refuse("another value")
		}
		m.check(len(m.stack)+len(m.rest) == 0, "trailing data after the tensor")
		return s, m.err
	}
	return spec{}, m.err
}

// step executes an opcode.
func (m *machine) step(op int) {
	switch op {
	case 0x80: // the version of pickle
		m.take(1)
	case '(':
		m.push(mark{})
	case 0x88, 0x89:
		m.push(op == 0x88)
	case 'K', 'M':
		m.push(m.integer(1 + op/'M'))
	case 'J':
		m.push(int(int32(m.integer(4))))
	case 0x8a:
		n := m.integer(1)
		rest := 64 - 8*min(n, 8) // bits that repeat the sign
		m.push(m.integer(n) << rest >> rest)
	case 'X':
		m.push(string(m.take(m.integer(4))))
	case 'c':
		m.push(global(m.line()) + global(m.line()))
	case ')', 0x85, 0x86, 0x87:
		m.push(m.cut(len(m.stack) - strings.Index(")\x85\x86\x87", string([]byte{byte(op)}))))
	case 't':
		start := len(m.stack) - 1
		for start >= 0 && m.stack[start] != any(mark{}) {
			start--
		}
		t := m.cut(start + 1)
		m.pop()
		m.push(t)
	case 'q':
		v := m.pop()
		m.memo[m.integer(1)] = v
		m.push(v)
	case 'h':
		m.push(m.memo[m.integer(1)])
	case 'Q':
		m.push(m.storage())
	case 'R':
		m.push(m.call())
	case '}':
		m.collection("a dict")
	case ']':
		m.collection("a list")
	default:
		m.refuse("opcode %#02x", op)
	}
}

// collection sets the error of a pickle with a dict or a list.
func (m *machine) collection(what string) {
	if slices.Contains(m.stack, any(rebuild)) || slices.Contains(m.stack, any(rebuildTyped)) {
		m.advise("x.resolve_conj().resolve_neg()", "a tensor with metadata, such as a conjugate or negative view")
		return
	}
	m.advise("one of its tensors", "%s", what)
}

// check sets the error of a damaged pickle unless ok is true.
func (m *machine) check(ok bool, got string) {
	if !ok && m.err == nil {
		m.err = corrupt("got %s", got)
	}
}

// refuse sets the error of a pickle that is not a tensor.
func (m *machine) refuse(format string, args ...any) {
	m.advise("x.detach().cpu()", format, args...)
}

// advise is refuse, and says what to save instead.
func (m *machine) advise(save, format string, args ...any) {
	if m.err == nil {
		m.err = unsupported("got %s, want one tensor: save %s", fmt.Sprintf(format, args...), save)
	}
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

func (m *machine) pop() any {
	return append(m.cut(len(m.stack)-1), nil)[0]
}

// cut pops the values from a position on.
func (m *machine) cut(i int) tuple {
	m.check(i >= 0, "a stack that is too short")
	i = min(max(i, 0), len(m.stack))
	t := slices.Clone(m.stack[i:])
	m.stack = m.stack[:i]
	return t
}

// take returns the next n bytes.
func (m *machine) take(n int) []byte {
	m.check(n <= len(m.rest), "a pickle without its end")
	b := m.rest[:min(n, len(m.rest))]
	m.rest = m.rest[len(b):]
	return b
}

// line returns the bytes up to the next newline, inclusive.
func (m *machine) line() []byte {
	return m.take(1 + max(bytes.IndexByte(m.rest, '\n'), 0))
}

// integer returns the next n bytes as a number.
func (m *machine) integer(n int) int {
	m.check(n <= 8, "an integer of more than 8 bytes")
	var wide [8]byte
	copy(wide[:], m.take(n))
	return int(binary.LittleEndian.Uint64(wide[:]))
}

// storage makes a storage of its id: ("storage", class, key, device, n).
func (m *machine) storage() any {
	id, _ := m.pop().(tuple)
	if len(id) != 5 || id[0] != "storage" {
		m.refuse("a reference that is not a storage")
		return nil
	}
	class, _ := id[1].(global)
	s := storage{n: m.size(id[4])}
	s.key, _ = id[2].(string)
	d := slices.Index(classes[:], string(class))
	switch {
	case id[3] != "cpu":
		m.refuse("a tensor of a device other than cpu")
	case d <= 0:
		m.unknownClass(class)
	case class != untyped:
		s.dtype = tensor.DType(d)
	}
	return s
}

// unknownClass sets the error of a storage of a class that has no dtype.
func (m *machine) unknownClass(class global) {
	save := "x.detach().cpu()"
	if strings.HasPrefix(string(class), "torch\nQ") {
		save = "x.dequantize()"
	}
	m.advise(save, "elements of class %s", errtext.Quote(string(class)))
}

// call calls OrderedDict, the class of hooks, or a function that makes a tensor. Its arguments are
// storage, offset, shape, strides, whether it requires a gradient, hooks, and perhaps a dtype.
func (m *machine) call() any {
	args, _ := m.pop().(tuple)
	fn, _ := m.pop().(global)
	switch {
	case fn == orderedDict && len(args) == 0:
		return nil // hooks
	case fn == sparseLayout:
		m.advise("x.to_dense()", "a sparse tensor")
		return nil
	case (fn != rebuild || len(args) != 6) && (fn != rebuildTyped || len(args) != 7):
		m.refuse("a call of %s with %d arguments", errtext.Quote(string(fn)), len(args))
		return nil
	}
	s := spec{offset: m.size(args[1]), shape: m.sizes(args[2]), strides: m.sizes(args[3])}
	var ok bool
	s.storage, ok = args[0].(storage)
	m.check(ok && (s.dtype == 0) == (fn == rebuildTyped), "a tensor without a storage of its kind")
	if fn == rebuildTyped {
		name, _ := args[6].(global)
		d, err := tensor.ParseDType(strings.TrimSuffix(strings.TrimPrefix(string(name), "torch\n"), "\n"))
		if err != nil {
			m.refuse("elements of type %s", errtext.Quote(string(name)))
			return nil
		}
		m.check(s.n%d.Size() == 0, "a part of an element")
		s.dtype, s.n = d, s.n/d.Size()
	}
	return s
}

// size returns a number that is not negative.
func (m *machine) size(v any) int {
	n, ok := v.(int)
	m.check(ok && n >= 0, "a value that is not a size")
	return n
}

// sizes returns the numbers of a tuple.
func (m *machine) sizes(v any) (all []int) {
	t, ok := v.(tuple)
	m.check(ok, "a shape that is not a tuple")
	for _, v := range t {
		all = append(all, m.size(v))
	}
	return all
}
