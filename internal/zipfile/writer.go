package zipfile

import (
	"compress/flate"
	"hash/crc32"
	"io"
	"io/fs"
	"time"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// A Header says how to write an entry.
type Header struct {
	Name     string      // as in [Entry]; not the name of a directory
	Modified time.Time   // only its clock counts, not its zone; the zero time means 1980-01-01
	Perm     fs.FileMode // permissions: tensordict uses 0o644, NumPy 0o600
	Deflate  bool        // compress the payload
	Aligned  bool        // begin the payload at a multiple of 64, unless it is compressed
}

// A Writer writes an archive, payload by payload. After an error it writes nothing more, and
// returns the same error again. Not safe for concurrent use.
type Writer struct {
	out     output
	done    []written
	names   map[string]bool
	payload *payload // the current payload, or nil
	deflate *flate.Writer
	err     error
}

// NewWriter returns a Writer of an archive that begins at the start of f.
func NewWriter(f File) *Writer {
	return &Writer{out: output{f: f}, names: map[string]bool{}}
}

// Create begins an entry. The bytes written to the payload, until the next Create or Close, are its
// content.
//
// Create returns [ErrUnsupported] for a name that [Open] would refuse, for a Perm with bits that
// are not permissions, and for a time before 1980 or after 2107, [fs.ErrExist] for a name that the
// archive already has, [fs.ErrClosed] after Close, and errors of the file.
func (w *Writer) Create(h Header) (io.Writer, error) {
	w.finish()
	if w.err == nil {
		w.payload, w.err = w.create(h)
		w.err = fileformat.In(h.Name, w.err)
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.payload, nil
}

func (w *Writer) create(h Header) (*payload, error) {
	e, err := newWritten(h, w.out.end())
	if err != nil {
		return nil, err
	}
	if w.names[h.Name] {
		return nil, fs.ErrExist
	}
	w.names[h.Name] = true
	if _, err := w.out.Write(e.local()); err != nil {
		return nil, err
	}
	return w.newPayload(e), nil
}

// newWritten returns an entry without content whose local header is at offset at.
func newWritten(h Header, at int64) (written, error) {
	e := written{Header: h, at: at}
	if err := checkName(h.Name); err != nil {
		return e, unsupported("%w", err)
	}
	if isDir(h.Name) {
		return e, unsupported("the name is the name of a directory")
	}
	if h.Perm&^fs.ModePerm != 0 {
		return e, unsupported("got mode %v, want only permissions", h.Perm)
	}
	var err error
	e.clock, e.date, err = stamp(h.Modified)
	return e, err
}

// finish ends the current entry.
func (w *Writer) finish() {
	p := w.payload
	if p == nil || w.err != nil {
		return
	}
	w.payload = nil
	if w.err = fileformat.In(p.entry.Name, p.close()); w.err == nil {
		w.done = append(w.done, p.entry)
	}
}

// Close ends the last entry and writes the directory. It neither syncs nor closes the file. A
// second call returns [fs.ErrClosed].
func (w *Writer) Close() error {
	w.finish()
	if w.err != nil {
		return w.err
	}
	if w.err = within("directory", w.finishArchive()); w.err != nil {
		return w.err
	}
	w.err = fs.ErrClosed
	return nil
}

func (w *Writer) finishArchive() error {
	begin := w.out.end()
	for i := range w.done {
		if _, err := w.out.Write(w.done[i].record()); err != nil {
			return err
		}
	}
	if _, err := w.out.Write(endRecords(len(w.done), begin, w.out.end()-begin)); err != nil {
		return err
	}
	return w.out.flush()
}

// A payload is the content of the current entry.
type payload struct {
	w     *Writer
	entry written
	begin int64         // offset of the payload
	pack  *flate.Writer // nil if the entry is stored
}

func (w *Writer) newPayload(e written) *payload {
	p := &payload{w: w, entry: e, begin: w.out.end()}
	if !e.Deflate {
		return p
	}
	if w.deflate == nil {
		w.deflate, _ = flate.NewWriter(&w.out, flate.DefaultCompression) // the level is valid
	}
	w.deflate.Reset(&w.out)
	p.pack = w.deflate
	return p
}

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
		n, err = p.w.out.Write(b)
	}
	p.entry.crc = crc32.Update(p.entry.crc, crc32.IEEETable, b[:n])
	p.entry.size += int64(n)
	p.w.err = fileformat.In(p.entry.Name, err)
	return n, err
}

// close completes the payload, then the header before it.
func (p *payload) close() error {
	if p.pack != nil {
		if err := p.pack.Close(); err != nil {
			return err
		}
	}
	p.entry.packed = p.w.out.end() - p.begin
	return p.w.out.replace(p.entry.local(), p.entry.at)
}
