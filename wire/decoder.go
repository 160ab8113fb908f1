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

// DecoderOptions are the options of a [Decoder]. The zero value is the default.
type DecoderOptions struct {
	// MaxFrame bounds the bytes of a frame; 0 means 1 GiB.
	MaxFrame int64
	// MaxEntries bounds the entries of a dictionary, at all levels together; 0 means 200,000. It
	// bounds the work that a hostile frame can cause.
	MaxEntries int
	// Own gives each dictionary its own memory. By default a dictionary lies in memory of the
	// Decoder, and is [ErrClosed] after the next Decode.
	Own bool
}

func (o DecoderOptions) maxFrame() int64 { return cmp.Or(o.MaxFrame, 1<<30) }

// A Decoder receives the dictionaries that an [Encoder] sends. Not safe for concurrent use. Without
// [DecoderOptions].Own, a received dictionary must not be in use during the next Decode either.
type Decoder struct {
	opt DecoderOptions
	r   *bufio.Reader
	err error // of a frame that did not arrive whole

	mem   []byte // the last frame
	loan  *loan  // of mem, if a dictionary lies in it; otherwise nil
	large int    // length of the longest frame so far

	contents *tdc.Contents // of the last frame
	text     []byte        // its trailer
	plan     tdc.Plan      // of a destination
	fits     []byte        // trailer of the destination, if the last frame fits it; otherwise nil
}

// readAhead is the size of the read buffer, in bytes. Longer reads go straight to their
// destination.
const readAhead = 64 << 10

// NewDecoder returns a Decoder that reads from r. It reads ahead, so nobody else may read from r.
func NewDecoder(r io.Reader, opt DecoderOptions) *Decoder {
	return &Decoder{opt: opt, r: bufio.NewReaderSize(r, readAhead)}
}

// Decode receives the next dictionary. Its tensors lie in memory of the Decoder, which the next
// Decode reuses. To keep a dictionary, Clone it, or set [DecoderOptions].Own.
//
// Decode returns io.EOF if r ends before a frame. Otherwise its errors are an [Error]:
// io.ErrUnexpectedEOF if r ends within a frame, [ErrFrame], [ErrCorrupt], [ErrUnsupported], and the
// errors of r. After an error within a frame the Decoder cannot be used any more: Decode returns
// the same error again. After an error before a frame, such as io.EOF or a deadline that has
// passed, Decode may be called again.
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
		if err != io.EOF { // nothing of the frame was taken from d.r, so Decode can be called again
			err = failed("decode", err)
		}
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

// broken returns err. If it is not nil, d cannot be used any more.
func (d *Decoder) broken(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		d.err = failed("decode", err)
	}
	return err
}

// full reads len(b) bytes to b.
func (d *Decoder) full(b []byte) error {
	_, err := io.ReadFull(d.r, b)
	return d.broken(err)
}

// end invalidates the last dictionary, if it lies in memory of d.
func (d *Decoder) end() {
	if d.loan != nil {
		d.loan.over.Store(true)
		d.loan = nil
	}
}

// whole receives a frame of n bytes and returns its dictionary.
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

// fill reads n bytes. It allocates at most twice the bytes that have arrived, or the length of an
// earlier frame.
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

// parse returns the form of a frame. If the trailer equals the last trailer, it is the last form.
func (d *Decoder) parse(mem []byte) (*tdc.Contents, error) {
	text, size, _, err := tdc.Cut(mem, int64(len(mem)))
	if err != nil {
		return nil, err
	}
	return d.parsed(mem[size:], text, size)
}

// parsed returns the form of a trailer with the JSON text, after size bytes of data.
func (d *Decoder) parsed(trailer, text []byte, size int) (*tdc.Contents, error) {
	if d.contents != nil && d.contents.Size() == size && bytes.Equal(trailer, d.text) {
		return d.contents, nil
	}
	d.contents, d.fits = nil, nil
	d.text = append(d.text[:0], trailer...)
	f, err := tdc.Parse(d.text[:len(text)], size, tdc.Limits{Entries: cmp.Or(d.opt.MaxEntries, 200_000)})
	if err != nil {
		return nil, err
	}
	d.contents = f
	return f, nil
}

// A loan is the memory of a Decoder in which a dictionary lies, until the next frame.
type loan struct {
	mem  []byte
	over atomic.Bool
}

// errOver is the error for a dictionary whose memory holds another frame by now.
var errOver = fmt.Errorf("%w: the Decoder has read another frame: Clone the dictionary before, or set Own", ErrClosed)

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

// lentBy returns a Maker of tensors in the memory of l.
func lentBy(l *loan) tdc.Maker {
	return tdc.Maker{Tensor: func(leaf *tdc.Leaf) (*tensor.Tensor, error) {
		return tensor.FromLender(leaf.DType, l, leaf.Start, leaf.Shape...)
	}}
}
