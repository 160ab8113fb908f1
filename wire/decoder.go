package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DecoderOptions say how a [Decoder] receives. The zero value is the default.
type DecoderOptions struct {
	// MaxFrame is how many bytes a frame may have; 0 means 1 GiB.
	MaxFrame int64
	// MaxEntries is how many entries a dictionary may have, at all levels together; 0 means
	// 200,000. It bounds what a hostile frame can make Decode do.
	MaxEntries int
	// Own has each dictionary own its memory. By default it lies in that of the Decoder, and is
	// [ErrClosed] after the next Decode.
	Own bool
}

func (o DecoderOptions) maxFrame() int64 { return cmp.Or(o.MaxFrame, 1<<30) }

// A Decoder receives the dictionaries that an [Encoder] sends. Not safe for concurrent use; nor may
// a dictionary that lies in its memory be used during the next Decode.
type Decoder struct {
	opt DecoderOptions
	r   *bufio.Reader
	err error // of a frame that did not arrive

	mem   []byte // has the last frame
	loan  *loan  // of mem, if a dictionary lies in it
	large int    // the length of the longest frame that arrived

	form *tdc.Form // of the last frame
	text []byte    // its JSON, and the length of that
	plan tdc.Plan  // of a destination
	fits []byte    // the trailer of the destination that the last frame fitted; nil for none
}

// readAhead is how many bytes a Decoder reads ahead. More is read to where it belongs.
const readAhead = 64 << 10

// NewDecoder returns a Decoder that reads from r. It reads ahead, so nobody else may read from r.
func NewDecoder(r io.Reader, opt DecoderOptions) *Decoder {
	return &Decoder{opt: opt, r: bufio.NewReaderSize(r, readAhead)}
}

// Decode receives the next dictionary. Its tensors lie in the memory of the Decoder, which the next
// Decode uses again: Clone what is to stay, or set [DecoderOptions].Own.
//
// Decode returns io.EOF if r ends before a frame. Else it returns an [Error]: io.ErrUnexpectedEOF
// if r ends within it, [ErrFrame], [ErrCorrupt], [ErrUnsupported], and the errors of r. After an
// error within a frame the Decoder is of no more use, and Decode returns the same error again.
func (d *Decoder) Decode() (*tdict.TensorDict, error) {
	n, err := d.begin()
	if err != nil {
		return nil, err
	}
	td, err := d.whole(n)
	return td, failed("decode", err)
}

// begin reads the length of a frame.
func (d *Decoder) begin() (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	d.end()
	var header [frameHeader]byte
	if b, err := d.r.Peek(frameHeader); err != nil && !(err == io.EOF && len(b) > 0) {
		if err != io.EOF {
			err = failed("decode", err)
		}
		d.err = err
		return 0, err
	}
	if err := d.full(header[:]); err != nil {
		return 0, failed("decode", err)
	}
	length := binary.LittleEndian.Uint64(header[:])
	if length > uint64(d.opt.maxFrame()) {
		err = fmt.Errorf("%w: got %d bytes, want at most %d: raise MaxFrame", ErrFrame, length, d.opt.maxFrame())
		return 0, failed("decode", d.broken(err))
	}
	return int(length), nil
}

// broken returns err, if there is one, which ends the use of d.
func (d *Decoder) broken(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		d.err = failed("decode", err)
	}
	return err
}

// full fills b.
func (d *Decoder) full(b []byte) error {
	_, err := io.ReadFull(d.r, b)
	return d.broken(err)
}

// end ends the use of the memory of the last dictionary.
func (d *Decoder) end() {
	if d.loan != nil {
		d.loan.over.Store(true)
		d.loan = nil
	}
}

// whole receives a frame of n bytes in memory of d.
func (d *Decoder) whole(n int) (*tdict.TensorDict, error) {
	mem, err := d.fill(n)
	if err != nil {
		return nil, err
	}
	f, err := d.parse(mem)
	if err != nil {
		return nil, err
	}
	if d.opt.Own {
		return f.Dict(owned(mem))
	}
	d.loan = &loan{mem: mem}
	return f.Dict(lentBy(d.loan))
}

// fill reads n bytes. Its memory is at most twice what has arrived, or as long as a frame that did.
func (d *Decoder) fill(n int) ([]byte, error) {
	mem := d.mem[:0]
	if d.opt.Own {
		mem = nil
	}
	for len(mem) < n {
		if len(mem) == cap(mem) {
			more := room(min(n, max(d.large, 2*len(mem), readAhead)))
			mem = append(more, mem...)
		}
		from := len(mem)
		mem = mem[:min(n, cap(mem))]
		if err := d.full(mem[from:]); err != nil {
			return nil, err
		}
	}
	d.large = max(d.large, n)
	if !d.opt.Own {
		d.mem = mem
	}
	return mem, nil
}

// parse returns the form that a frame has: the last one again if the trailers are equal.
func (d *Decoder) parse(mem []byte) (*tdc.Form, error) {
	text, size, _, err := tdc.Cut(mem, int64(len(mem)))
	if err != nil {
		return nil, err
	}
	return d.parsed(mem[size:], text, size)
}

// parsed returns the form of a trailer, whose JSON is text, after size bytes of data.
func (d *Decoder) parsed(trailer, text []byte, size int) (*tdc.Form, error) {
	if d.form != nil && d.form.Size() == size && bytes.Equal(trailer, d.text) {
		return d.form, nil
	}
	d.form, d.fits = nil, nil
	d.text = append(d.text[:0], trailer...)
	f, err := tdc.Parse(d.text[:len(text)], size, tdc.Limits{Entries: cmp.Or(d.opt.MaxEntries, 200_000)})
	if err != nil {
		return nil, err
	}
	d.form = f
	return f, nil
}

// A loan is memory of a Decoder that a dictionary lies in, until the next frame.
type loan struct {
	mem  []byte
	over atomic.Bool
}

// errOver says that the memory has another frame by now.
var errOver = fmt.Errorf("%w: the Decoder has gone on to another frame: Clone before, or set Own", ErrClosed)

// Borrow implements tensor.Lender.
func (l *loan) Borrow() ([]byte, error) {
	if l.over.Load() {
		return nil, errOver
	}
	return l.mem, nil
}

// Return implements tensor.Lender.
func (l *loan) Return() {}

// Pin implements tensor.Lender.
func (l *loan) Pin() ([]byte, error) { return l.Borrow() }

// ReadOnly implements tensor.Lender.
func (l *loan) ReadOnly() bool { return false }

// lentBy makes tensors of what l lends.
func lentBy(l *loan) tdc.Maker {
	return tdc.Maker{Tensor: func(leaf *tdc.Leaf) (*tensor.Tensor, error) {
		return tensor.FromLender(leaf.DType, l, leaf.Start, leaf.Shape...)
	}}
}
