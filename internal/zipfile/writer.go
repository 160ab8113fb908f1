package zipfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"time"

	"github.com/go-tensordict/tensordict/internal/fileformat"
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

// A Writer writes an archive, payload by payload. After an error it writes nothing more, and
// returns the same error again. Not safe for concurrent use.
type Writer struct {
	file    counted
	out     *bufio.Writer // of file
	zip     *zip.Writer   // writes to out
	payload *payload      // the current payload, or nil
	deflate *flate.Writer
	held    []byte // a small payload, until it is complete
	err     error
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

// Create begins an entry. The bytes written to the payload, until the next Create or Close, are its
// content.
//
// Create returns [ErrUnsupported] for a name that [Open] would refuse, [fs.ErrClosed] after Close,
// and errors of the file. It does not compare names.
func (w *Writer) Create(h Header) (io.Writer, error) {
	w.finish()
	if w.err == nil {
		if err := checkName(h.Name); err != nil {
			w.err = fileformat.In(h.Name, unsupported("%w", err))
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	w.payload = &payload{w: w, head: newHead(h), aligned: h.Aligned && !h.Deflate}
	if h.Deflate {
		if w.deflate == nil {
			w.deflate, _ = flate.NewWriter(nil, flate.DefaultCompression) // the level is valid
		}
		w.deflate.Reset(packed{w.payload})
		w.payload.pack = w.deflate
	}
	return w.payload, nil
}

// finish ends the current entry.
func (w *Writer) finish() {
	if p := w.payload; p != nil && w.err == nil {
		w.payload, w.err = nil, fileformat.In(p.head.Name, p.close())
	}
}

// Close ends the last entry and writes the directory. It neither syncs nor closes the file. A
// second call returns [fs.ErrClosed].
func (w *Writer) Close() error {
	if w.finish(); w.err != nil {
		return w.err
	}
	w.err = fs.ErrClosed
	if err := w.zip.Close(); err != nil {
		w.err = fmt.Errorf("directory: %w", err)
		return w.err
	}
	return nil
}

// A payload is the current entry. It is held until it is complete, or large.
type payload struct {
	w       *Writer
	head    *zip.FileHeader
	aligned bool
	padding []byte        // extra field
	pack    *flate.Writer // nil if the entry is stored
	raw     io.Writer     // nil while the payload is held
	at      int64         // offset of the local header, once raw is set

	crc          uint32
	size, packed uint64
}

// Write adds to the content.
func (p *payload) Write(b []byte) (n int, err error) {
	if p.w.err != nil {
		return 0, p.w.err
	}
	if p.w.payload != p {
		return 0, fs.ErrClosed
	}
	if p.pack != nil {
		n, err = p.pack.Write(b)
	} else {
		n, err = packed{p}.Write(b)
	}
	p.crc = crc32.Update(p.crc, crc32.IEEETable, b[:n])
	p.size += uint64(n)
	p.w.err = fileformat.In(p.head.Name, err)
	return n, err
}

// A packed writes the bytes of a payload.
type packed struct{ *payload }

// Write implements io.Writer.
func (p packed) Write(b []byte) (int, error) {
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

// close completes the payload, then the header before it, and its record for the directory.
func (p *payload) close() (err error) {
	if p.pack != nil {
		err = p.pack.Close()
	}
	if err == nil && p.raw == nil {
		err = p.begin()
	} else if err == nil {
		err = p.writeAgain()
	}
	p.setRecord()
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
