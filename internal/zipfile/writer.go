package zipfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io"
	"io/fs"
	"time"
)

// A File is an empty file to write to.
type File interface {
	io.Writer
	io.WriterAt
}

// A Header says how to write an entry.
type Header struct {
	Name     string      // as in [Entry]; not the name of a directory
	Modified time.Time   // only its clock counts, not its zone; 1980-01-01 if the format has no such time
	Perm     fs.FileMode // permissions: tensordict uses 0o644, NumPy 0o600
	Deflate  bool        // compress the payload
	Aligned  bool        // begin the payload at a multiple of 64, unless it is compressed
}

// A Writer writes an archive, entry by entry. Not safe for concurrent use.
type Writer struct {
	file    counted
	out     *bufio.Writer // of file
	zip     *zip.Writer   // writes to out
	deflate *flate.Writer
	held    []byte // a small payload, until it is complete
}

// A counted file counts the bytes that were written to it.
type counted struct {
	File
	n int64
}

// Write implements io.Writer.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.File.Write(b)
	c.n += int64(n)
	return n, err
}

const heldBytes = 32 << 10

// NewWriter returns a Writer of an archive that begins at the start of f.
func NewWriter(f File) *Writer {
	w := &Writer{file: counted{File: f}}
	w.out = bufio.NewWriterSize(&w.file, heldBytes)
	w.zip = zip.NewWriter(w.out) // adds no other buffer
	return w
}

// Add adds an entry. write writes its content.
//
// Add returns [ErrUnsupported] for a name that [Open] would refuse, and errors of write and of the
// file, after which the archive cannot be completed. It does not compare names.
func (w *Writer) Add(h Header, write func(io.Writer) error) error {
	if err := checkName(h.Name); err != nil {
		return unsupported("%w", err)
	}
	p := &payload{w: w, head: newHead(h), aligned: h.Aligned && !h.Deflate}
	content := &summed{Writer: p}
	if h.Deflate {
		if w.deflate == nil {
			w.deflate, _ = flate.NewWriter(nil, flate.DefaultCompression) // the level is valid
		}
		w.deflate.Reset(p)
		content.Writer = w.deflate
	}
	err := write(content)
	if err == nil && h.Deflate {
		err = w.deflate.Close()
	}
	if err != nil {
		return err
	}
	p.crc, p.size = content.crc, content.size
	if p.raw == nil {
		err = p.begin()
	} else {
		err = p.writeAgain()
	}
	p.setRecord()
	return err
}

// Close writes the directory. It neither syncs nor closes the file.
func (w *Writer) Close() error { return w.zip.Close() }

// A summed counts and sums what is written.
type summed struct {
	io.Writer
	crc  uint32
	size uint64
}

// Write implements io.Writer.
func (s *summed) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	s.crc, s.size = crc32.Update(s.crc, crc32.IEEETable, b[:n]), s.size+uint64(n)
	return n, err
}

// A payload is the payload of a new entry. It is held until it is complete, or large.
type payload struct {
	w       *Writer
	head    *zip.FileHeader
	aligned bool
	padding []byte    // extra field
	raw     io.Writer // nil while the payload is held
	at      int64     // offset of the local header, once raw is set

	crc          uint32 // of the content, like size; 0 until it is complete
	size, packed uint64
}

// Write implements io.Writer.
func (p *payload) Write(b []byte) (int, error) {
	p.packed += uint64(len(b))
	if p.raw == nil && p.packed <= heldBytes {
		p.w.held = append(p.w.held, b...)
		return len(b), nil
	}
	if p.raw == nil {
		if err := p.begin(); err != nil {
			return 0, err
		}
	}
	return p.raw.Write(b)
}

// begin writes the local header and the bytes that were held.
func (p *payload) begin() (err error) {
	p.at = p.w.file.n + int64(p.w.out.Buffered())
	if p.aligned {
		p.padding = padding(p.at + localBytes + int64(len(p.head.Name)) + wideBytes)
	}
	p.setLocal()
	if p.raw, err = p.w.zip.CreateRaw(p.head); err == nil {
		_, err = p.raw.Write(p.w.held)
	}
	p.w.held = p.w.held[:0]
	return err
}

// writeAgain replaces the local header.
func (p *payload) writeAgain() error {
	if err := p.w.out.Flush(); err != nil {
		return err
	}
	p.setLocal()
	var header bytes.Buffer
	z, head := zip.NewWriter(&header), *p.head
	_, _ = z.CreateRaw(&head) // it succeeded in begin
	_ = z.Flush()
	_, err := p.w.file.WriteAt(header.Bytes(), p.at)
	return err
}
