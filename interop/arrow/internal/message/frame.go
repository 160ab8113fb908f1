package message

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// A part is a message: a copy of its flatbuffer, and its body.
type part struct {
	message
	raw  []byte
	body []byte
	name string // in errors
}

// A source has messages, one after the other.
type source interface {
	// meta returns the next n bytes, valid until the next call. If there are fewer, it returns them
	// with io.ErrUnexpectedEOF, or io.EOF for none.
	meta(n int64) ([]byte, error)
	// body returns the next n bytes. Unless they are to be kept, they are valid until the next
	// call.
	body(n int64, keep bool) ([]byte, error)
}

// frames splits a source into messages.
type frames struct {
	source
	first   bool // whether the next message is the first
	file    bool // whether it is a file that is read in order
	batches int  // number of batches so far
}

// newFrames returns the messages of a source, which begins with a schema.
func newFrames(s source) *frames { return &frames{source: s, first: true} }

// continuation begins a message, except in streams from before version 0.15 of the libraries.
const continuation = 0xffffffff

// next returns the next message, or io.EOF after the last one. Its errors name the part.
func (f *frames) next() (part, error) {
	p := part{name: fmt.Sprintf("batch %d", f.batches)}
	if f.first {
		p.name = "schema"
	}
	size, err := f.size()
	if err == io.EOF && !f.first {
		return p, err
	}
	if err == nil {
		err = f.read(&p, size)
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: the stream ends here", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return p, In("", p.name, "", err)
	}
	f.first = false
	return p, nil
}

// size returns the number of bytes of the next flatbuffer, or io.EOF after the last one.
func (f *frames) size() (int64, error) {
	b, err := f.meta(4)
	if err == nil && le.Uint32(b) == continuation {
		if b, err = f.meta(4); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	} else if err == nil && f.first && le.Uint32(b) > 1<<26 {
		if string(b) == "PAR1" {
			return 0, corrupt("it is a Parquet file: tdparquet reads it")
		}
		return 0, corrupt("got neither a file nor a stream: it begins with %q", b)
	}
	if err != nil {
		return 0, err
	}
	size := int64(int32(le.Uint32(b)))
	switch {
	case size == 0:
		return 0, io.EOF
	case size < 0:
		return 0, corrupt("got a message of %d bytes", size)
	}
	return size, nil
}

// read reads a message with a flatbuffer of size bytes.
func (f *frames) read(p *part, size int64) (err error) {
	if p.raw, err = f.meta(size); err != nil {
		return fmt.Errorf("%w: got %d bytes of a message of %d bytes", err, len(p.raw), size)
	}
	if err := p.parse(); err != nil {
		return err
	}
	if p.kind == kindBatch {
		f.batches++
	}
	if f.first && f.file && p.kind != kindSchema {
		return unsupported("the schema is only in the footer of the file, which is read last: use ReadFile")
	}
	if f.first != (p.kind == kindSchema) {
		return corrupt("got a message of kind %d, want a schema (1), and only at the beginning", p.kind)
	}
	p.body, err = f.body(p.message.body, p.kind == kindDictionary)
	if err != nil {
		return fmt.Errorf("%w: got %d bytes of a body of %d bytes", err, len(p.body), p.message.body)
	}
	return nil
}

// parse parses a copy of the flatbuffer: a mapped file may change.
func (p *part) parse() (err error) {
	if p.message, err = parse(slices.Clone(p.raw)); err != nil {
		return err
	}
	switch p.kind {
	case kindSchema, kindBatch:
	case kindDictionary:
		p.name = fmt.Sprintf("dictionary %d", p.header.num(0, 8))
	default:
		return unsupported("got a message of kind %d, want a schema (1), a dictionary (2) or a batch (3)", p.kind)
	}
	return p.header.f.err
}

// A memorySource has its messages in memory. Bodies alias it.
type memorySource struct{ b []byte }

// take returns the next n bytes, or fewer with an error.
func (m *memorySource) take(n int64) ([]byte, error) {
	var err error
	if n > int64(len(m.b)) {
		n, err = int64(len(m.b)), io.ErrUnexpectedEOF
		if n == 0 {
			err = io.EOF
		}
	}
	b := m.b[:n:n]
	m.b = m.b[n:]
	return b, err
}

func (m *memorySource) meta(n int64) ([]byte, error) { return m.take(n) }

func (m *memorySource) body(n int64, _ bool) ([]byte, error) { return m.take(n) }

// A readerSource has its messages in an io.Reader. It takes memory for the bytes that the reader
// has, not for the sizes that messages claim.
type readerSource struct {
	r    io.Reader
	most int64  // largest part of a message
	room []byte // for bodies
	head [8]byte
}

func (s *readerSource) meta(n int64) ([]byte, error) { return s.read(s.head[:0:8], n) }

func (s *readerSource) body(n int64, keep bool) ([]byte, error) {
	if keep {
		return s.read(nil, n)
	}
	b, err := s.read(s.room[:0], n)
	s.room = b
	return b, err
}

// read appends the next n bytes to dst, which is empty.
func (s *readerSource) read(dst []byte, n int64) ([]byte, error) {
	if n > s.most {
		return dst, tooMuch(n, s.most)
	}
	return readN(dst, s.r, int(n))
}
