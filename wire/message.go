package wire

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Append appends td in the consolidated form to b. Leaves lie aligned in the result if the form
// begins at a multiple of 16 bytes in memory, as it does if b is empty and has the room that [Size]
// says.
//
// Append returns an [Error]: [ErrName], [ErrUnsupported], shapeops.ErrShape for more than 64 dims,
// tensor.ErrMeta, tdict.ErrKind if td is nil, and errors of memory that was lent and is gone. Then
// b is as it was.
func Append(b []byte, td *tdict.TensorDict) ([]byte, error) {
	var p tdc.Plan
	if err := p.Make(td); err != nil {
		return b, failed("write", err)
	}
	trailer := p.Trailer(nil)
	w := appender{slices.Grow(b, p.Size()+len(trailer))}
	if err := p.WriteData(&w); err != nil {
		return b, failed("write", err)
	}
	return append(w.b, trailer...), nil
}

// An appender appends what is written.
type appender struct{ b []byte }

// Write implements io.Writer.
func (w *appender) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// Size returns how many bytes [Append] appends for td. Its errors are those of Append.
func Size(td *tdict.TensorDict) (int, error) {
	var p tdc.Plan
	if err := p.Make(td); err != nil {
		return 0, failed("write", err)
	}
	return p.Size() + len(p.Trailer(nil)), nil
}

// WriteTo writes td in the consolidated form to w: what [Append] appends. Leaves are not copied,
// but for those that are not contiguous. It returns how many bytes were written, and the errors of
// Append and of w.
func WriteTo(w io.Writer, td *tdict.TensorDict) (int64, error) {
	var p tdc.Plan
	if err := p.Make(td); err != nil {
		return 0, failed("write", err)
	}
	trailer := p.Trailer(nil)
	g := gather{w: w}
	err := p.WriteData(&g)
	if err == nil {
		_, err = g.Write(trailer)
	}
	if err == nil {
		err = g.flush()
	}
	return g.sent, failed("write", err)
}

// Parse returns the dictionary whose form is all that lender lends. Its tensors are views of that
// memory, read-only if lender is; only offsets of ragged rows are copied. The whole form is checked
// before a tensor is made. It is locked if it says so.
//
// Parse returns an [Error]: [ErrCorrupt], [ErrUnsupported], and those of lender.
func Parse(lender tensor.Lender) (*tdict.TensorDict, error) {
	td, err := parse(lender)
	return td, failed("read", err)
}

func parse(lender tensor.Lender) (*tdict.TensorDict, error) {
	if lender == nil {
		return nil, fmt.Errorf("%w: got no lender", tensor.ErrKind)
	}
	b, err := lender.Borrow()
	if err != nil {
		return nil, err
	}
	n := len(b)
	lender.Return()
	all, err := tensor.FromLender(tensor.Uint8, lender, 0, n)
	if err != nil {
		return nil, err
	}
	var f *tdc.Form
	failure := tensor.Read(all, func(b []uint8) { f, err = parseBytes(b) })
	if err = cmp.Or(failure, err); err != nil {
		return nil, err
	}
	return f.Dict(tdc.Maker{Tensor: func(l *tdc.Leaf) (*tensor.Tensor, error) {
		return tensor.FromLender(l.DType, lender, l.Start, l.Shape...)
	}})
}

// parseBytes reads the trailer of a form.
func parseBytes(b []byte) (*tdc.Form, error) {
	text, data, _, err := tdc.Cut(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	return tdc.Parse(text, data, tdc.Limits{})
}

// A Message is a dictionary that encodes itself in the consolidated form, for packages such as
// encoding/gob and for whoever wants bytes.
type Message struct{ Dict *tdict.TensorDict }

var (
	_ encoding.BinaryAppender    = Message{}
	_ encoding.BinaryMarshaler   = Message{}
	_ encoding.BinaryUnmarshaler = (*Message)(nil)
)

// AppendBinary is [Append].
func (m Message) AppendBinary(b []byte) ([]byte, error) { return Append(b, m.Dict) }

// MarshalBinary is [Append] to nothing.
func (m Message) MarshalBinary() ([]byte, error) { return Append(nil, m.Dict) }

// UnmarshalBinary sets m.Dict to the dictionary whose form data is. Its tensors share memory that
// is a copy of data. It returns an [Error]: [ErrCorrupt] or [ErrUnsupported]; then m has not
// changed.
func (m *Message) UnmarshalBinary(data []byte) error {
	mem := append(room(len(data)), data...)
	f, err := parseBytes(mem)
	if err != nil {
		return failed("read", err)
	}
	td, err := f.Dict(owned(mem))
	if err != nil {
		return failed("read", err)
	}
	m.Dict = td
	return nil
}

// room returns memory for n bytes that begins at a multiple of 16 bytes: smaller pieces may not.
func room(n int) []byte { return make([]byte, 0, max(n, 32)) }

// owned makes tensors of Go memory that has a form.
func owned(mem []byte) tdc.Maker {
	return tdc.Maker{Tensor: func(l *tdc.Leaf) (*tensor.Tensor, error) {
		end := l.Start + l.Size
		return tensor.FromBytes(l.DType, mem[l.Start:end:end], l.Shape...)
	}}
}
