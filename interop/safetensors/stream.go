package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Reader reads files from a stream, one after the other, into tensors that exist. The stream does
// not say where a file ends: the caller knows the size of each, for instance from a length before
// it.
//
// Not safe for concurrent use.
type Reader struct {
	from   io.Reader
	prefix []byte // length and header of the file before
	parts  []part // of that header
	next   []byte // length and header of the file that is read
}

// A part is a tensor in a file.
type part struct {
	safetensors.Entry
	key   nestedkey.Key
	dtype tensor.DType
}

// NewReader returns a Reader of a stream. It reads headers in a few small pieces, and elements in
// pieces as large as the tensors.
func NewReader(from io.Reader) *Reader { return &Reader{from: from} }

const (
	lengthBytes = 8           // bytes of the length before the header
	maxHeader   = 100_000_000 // bytes
)

// ReadInto reads the next file, of size bytes, and writes its elements into the tensors of td:
//
//	"obs.pos", F32 [F...] -> obs/pos, float32 [F...]
//
// The file must have the keys, dtypes and shapes of td, whose leaves are contiguous tensors with
// elements; td may be locked. The elements go to the memory of td without a copy between, and the
// memory of r does not grow with them. It ignores the metadata of the file.
//
// ReadInto returns a [FileError], which wraps
//
//   - tdict.ErrSchema, before it changes an element, if the file has other keys, dtypes or shapes
//   - [ErrCorrupt] if the file or size breaks the format, or a bool is neither 0 nor 1
//   - io.ErrUnexpectedEOF if the stream ends before the file does, and errors of the stream
//   - [ErrClosed] or [ErrFault] for tensors in mapped files
//
// After an error the position in the stream is not known, and elements of td may have changed.
func (r *Reader) ReadInto(td *tdict.TensorDict, size int64) error {
	return fileformat.Failed("read", "", "", r.readInto(td, size))
}

func (r *Reader) readInto(td *tdict.TensorDict, size int64) error {
	if r == nil || r.from == nil {
		return fmt.Errorf("%w: got no stream", ErrClosed)
	}
	if err := r.header(size); err != nil {
		return err
	}
	into, err := r.match(td)
	if err != nil {
		return err
	}
	for i, p := range r.parts {
		if err := r.fill(into[i], p); err != nil {
			return fileformat.In(p.Name, err)
		}
	}
	return nil
}

// header reads a header. Mostly it has the bytes of the header before, whose parts stay.
func (r *Reader) header(size int64) error {
	if size < lengthBytes {
		return corrupt("got a file of %d bytes, want at least %d", size, lengthBytes)
	}
	r.next = slices.Grow(r.next[:0], max(len(r.prefix), lengthBytes))[:lengthBytes]
	if err := r.full(r.next); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(r.next)
	if n > min(uint64(size-lengthBytes), maxHeader) {
		return corrupt("got a header of %d bytes in a file of %d, want at most %d", n, size, min(size-lengthBytes, maxHeader))
	}
	for left := int(n); left > 0; { // the memory grows with the bytes that come, not with the length
		some := min(left, max(len(r.next), 1<<12))
		r.next = append(r.next, make([]byte, some)...)
		if err := r.full(r.next[len(r.next)-some:]); err != nil {
			return err
		}
		left -= some
	}
	if bytes.Equal(r.next, r.prefix) && len(r.parts) > 0 && r.parts[len(r.parts)-1].End == size-int64(len(r.next)) {
		return nil
	}
	h, err := safetensors.Read(bytes.NewReader(r.next), size)
	if err == nil {
		r.parts, err = partsOf(h)
	}
	if err == nil {
		r.prefix = append(r.prefix[:0], r.next...)
	} else {
		r.prefix = nil
	}
	return err
}

// partsOf returns the tensors of a header.
func partsOf(h *safetensors.Header) (parts []part, err error) {
	for _, e := range h.Entries {
		p := part{Entry: e}
		if p.dtype, err = dtypeOf(e.DType, false); err == nil {
			p.key, err = bundle.Key(e.Name, defaultSeparator)
		}
		if err != nil {
			return nil, fileformat.In(e.Name, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// match returns the tensors of td as bytes, in the order of the file.
func (r *Reader) match(td *tdict.TensorDict) ([]*tensor.Tensor, error) {
	into := make([]*tensor.Tensor, len(r.parts))
	for i, p := range r.parts {
		t, err := p.match(td)
		if err != nil {
			return nil, fileformat.In(p.Name, err)
		}
		into[i] = t
	}
	leaves := 0
	for range td.Leaves() {
		leaves++
	}
	if leaves == len(r.parts) {
		return into, nil
	}
	for key := range td.Leaves() {
		if !slices.ContainsFunc(r.parts, func(p part) bool { return p.key == key }) {
			return nil, errtext.With(tdict.ErrSchema, "got no tensor %s", errtext.Quote(string(key)))
		}
	}
	return into, nil
}

// match returns the tensor of td with the key of p, as bytes.
func (p *part) match(td *tdict.TensorDict) (*tensor.Tensor, error) {
	t, err := td.Tensor(p.key)
	switch {
	case errors.Is(err, tdict.ErrMissing):
		return nil, errtext.With(tdict.ErrSchema, "got a tensor that is not wanted")
	case err != nil:
		return nil, err
	case t.DType() != p.dtype || !slices.Equal(t.Shape(), p.Shape):
		return nil, errtext.With(tdict.ErrSchema, "got %v %v, want %v %v", p.dtype, p.Shape, t.DType(), t.Shape())
	}
	if len(t.Shape()) == 0 {
		t, err = t.Unsqueeze(0)
	}
	if err == nil {
		t, err = t.Reinterpret(tensor.Uint8)
	}
	return t, err
}

// fill reads the elements of a tensor, which t has as bytes.
func (r *Reader) fill(t *tensor.Tensor, p part) (err error) {
	if p.Begin == p.End {
		return nil
	}
	failed := tensor.Write(t, func(b []uint8) {
		if err = r.full(b); err == nil && p.dtype == tensor.Bool {
			err = checkBools(b)
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// checkBools returns ErrCorrupt unless each byte is a bool.
func checkBools(b []byte) error {
	if i := slices.IndexFunc(b, func(v byte) bool { return v > 1 }); i >= 0 {
		return corrupt("got byte %d for the bool with index %d, want 0 or 1", b[i], i)
	}
	return nil
}

// full fills b from the stream.
func (r *Reader) full(b []byte) error {
	_, err := io.ReadFull(r.from, b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
