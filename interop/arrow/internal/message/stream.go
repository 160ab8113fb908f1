package message

import (
	"bytes"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
)

// A Stream reads a stream batch by batch. Not safe for concurrent use.
type Stream struct {
	*decoder
	frames *frames
}

// NewStream reads the schema of the stream in r, and returns the stream. A file in the file format
// is read in order, without its footer. Its errors, and the errors of its methods, are [*Error]s,
// as for [Open], and errors of r.
func NewStream(r io.Reader, opt Options) (*Stream, error) {
	s := &Stream{}
	err := s.open(&readerSource{r: r, most: columns.MemoryOf(opt.MaxMemory)}, opt)
	return s, In(opt.Path, "", "", err)
}

// open reads the schema.
func (s *Stream) open(src *readerSource, opt Options) error {
	start, err := src.read(make([]byte, 0, 8), 8)
	if err == nil {
		err = version1(start)
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	s.frames = newFrames(src)
	if s.frames.file = isFile(start); !s.frames.file {
		src.r = io.MultiReader(bytes.NewReader(start), src.r)
	}
	p, err := s.frames.next()
	if err == nil {
		s.decoder, err = newDecoder(p.header, opt)
	}
	return err
}

// Next returns the selected columns of the next batch, or io.EOF after the last one. It is valid
// until the next call, which uses its memory again. Nobody needs to release it.
func (s *Stream) Next() (arrow.RecordBatch, error) {
	p, err := s.next()
	if err != nil {
		return nil, err
	}
	rec, err := s.record(p)
	return rec, In(s.opt.Path, p.name, "", err)
}

// Skip skips the next batch. It returns io.EOF after the last one.
func (s *Stream) Skip() error {
	_, err := s.next()
	return err
}

// next returns the next batch, and reads the dictionaries before it.
func (s *Stream) next() (part, error) {
	for {
		p, err := s.frames.next()
		if err == io.EOF {
			return p, err
		}
		if err == nil && p.kind == kindDictionary {
			err = s.dictionary(p, true, true)
		}
		if err != nil || p.kind == kindBatch {
			return p, In(s.opt.Path, p.name, "", err)
		}
	}
}
