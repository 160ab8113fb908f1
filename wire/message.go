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

// Append appends td in the consolidated form to b. Leaves are aligned if the form begins at a
// multiple of 16 bytes in memory. It does so if b is empty and has the capacity that [Size]
// returns.
//
// Append returns an [Error]: [ErrName], [ErrUnsupported], shapeops.ErrShape for more than 64 dims,
// tensor.ErrMeta, tdict.ErrKind if td is nil, and the errors of lent memory. On an error it returns
// b unchanged.
func Append(b []byte, td tdict.Dictionary) ([]byte, error) {
	var p tdc.Plan
	if err := p.Make(tdict.Of(td)); err != nil {
		return b, failed("write", err)
	}
	trailer := p.Trailer(nil)
	w := appender{slices.Grow(b, p.Size()+len(trailer))}
	if err := p.WriteData(&w); err != nil {
		return b, failed("write", err)
	}
	return append(w.b, trailer...), nil
}

// An appender is an io.Writer that appends to b.
type appender struct{ b []byte }

// Write implements io.Writer.
func (w *appender) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// Size returns the number of bytes that [Append] appends for td. It returns the errors of Append.
func Size(td tdict.Dictionary) (int, error) {
	var p tdc.Plan
	if err := p.Make(tdict.Of(td)); err != nil {
		return 0, failed("write", err)
	}
	return p.Size() + len(p.Trailer(nil)), nil
}

// WriteTo writes the bytes that [Append] appends for td to w. It copies only leaves that are not
// contiguous. It returns the number of bytes written, and the errors of Append and of w.
func WriteTo(w io.Writer, td tdict.Dictionary) (int64, error) {
	var p tdc.Plan
	if err := p.Make(tdict.Of(td)); err != nil {
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

// Parse returns the dictionary whose form is the whole memory of lender. Its tensors are views of
// that memory, read-only if lender is; only the lengths of ragged tensors are copied. Parse checks
// the whole form before it makes a tensor. The dictionary is locked if the form says so.
//
// Parse returns an [Error]: [ErrCorrupt], [ErrUnsupported], and the errors of lender.
func Parse(lender tensor.Lender) (*tdict.TensorDict, error) {
	td, err := parse(lender)
	return td, failed("read", err)
}

func parse(lender tensor.Lender) (*tdict.TensorDict, error) {
	if lender == nil {
		return nil, fmt.Errorf("%w: got a nil Lender", tensor.ErrKind)
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
	var f *tdc.Contents
	failure := tensor.Read(all, func(b []uint8) { f, err = parseBytes(b) })
	if err = cmp.Or(failure, err); err != nil {
		return nil, err
	}
	return f.Dict(tdc.Maker{Tensor: func(l *tdc.Leaf) (*tensor.Tensor, error) {
		return tensor.FromLender(l.DType, lender, l.Start, l.Shape...)
	}})
}

// parseBytes reads the trailer of a form.
func parseBytes(b []byte) (*tdc.Contents, error) {
	text, data, _, err := tdc.Cut(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	return tdc.Parse(text, data, tdc.Limits{})
}

// A Message is a dictionary that encodes itself in the consolidated form, for packages such as
// encoding/gob.
type Message struct{ Dict *tdict.TensorDict }

var (
	_ encoding.BinaryAppender    = Message{}
	_ encoding.BinaryMarshaler   = Message{}
	_ encoding.BinaryUnmarshaler = (*Message)(nil)
)

// AppendBinary appends m.Dict to b, as [Append] does.
func (m Message) AppendBinary(b []byte) ([]byte, error) { return Append(b, m.Dict) }

// MarshalBinary returns m.Dict in the consolidated form.
func (m Message) MarshalBinary() ([]byte, error) { return Append(nil, m.Dict) }

// UnmarshalBinary sets m.Dict to the dictionary of the form data. Its tensors lie in a copy of
// data. It returns an [Error], [ErrCorrupt] or [ErrUnsupported]; then m is unchanged.
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

// room returns an empty slice with capacity for n bytes, which begins at a multiple of 16 bytes.
// Smaller allocations might not.
func room(n int) []byte { return make([]byte, 0, max(n, 32)) }

// owned returns a Maker of tensors in mem, which is a form in Go memory.
func owned(mem []byte) tdc.Maker {
	return tdc.Maker{Tensor: func(l *tdc.Leaf) (*tensor.Tensor, error) {
		end := l.Start + l.Size
		return tensor.FromBytes(l.DType, mem[l.Start:end:end], l.Shape...)
	}}
}
