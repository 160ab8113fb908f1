package zipfile

import (
	"cmp"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
)

const (
	localMark  = "PK\x03\x04"
	localBytes = 30  // without name and extra fields
	guess      = 128 // size of extra fields to read at once; few are larger
)

// A placer sets the offsets of payloads, in the order of the file.
type placer struct {
	r      io.ReaderAt
	buffer []byte
	prev   *record // nil at the start
	end    int64   // end of prev
	limit  int64   // start of the directory
}

// place sets the offsets of the payloads, which follow from the local headers, in an archive whose
// directory begins at byte limit. It checks that local headers agree with the records and that
// nothing overlaps.
func place(r io.ReaderAt, records []record, limit int64) error {
	order := make([]*record, len(records))
	for i := range records {
		order[i] = &records[i]
	}
	slices.SortFunc(order, func(a, b *record) int { return cmp.Compare(a.at, b.at) })
	p := &placer{r: r, limit: limit}
	for _, rec := range order {
		if err := p.place(rec); err != nil {
			return fileformat.In(rec.Name, err)
		}
	}
	if p.prev == nil && limit > 0 {
		return within("directory", unsupported("got %d bytes before an archive without entries, want none", limit))
	}
	return nil
}

func (p *placer) place(rec *record) error {
	switch {
	case rec.at > p.limit-localBytes:
		return corrupt("got offset %d, want at least %d bytes before the directory at %d", rec.at, localBytes, p.limit)
	case p.prev == nil && rec.at > 0:
		return unsupported("got %d bytes before the archive, want none", rec.at)
	case rec.at < p.end:
		return corrupt("got offset %d, want at least %d, the end of entry %s", rec.at, p.end, errtext.Quote(p.prev.Name))
	}
	h, err := p.read(rec)
	if err != nil {
		return within("local header", err)
	}
	if err := rec.agrees(h); err != nil {
		return within("local header", err)
	}
	rec.Offset = rec.at + int64(len(h))
	if room := p.limit - rec.Offset; rec.Packed > room {
		return corrupt("got a payload of %d bytes at %d, want at most %d, before the directory", rec.Packed, rec.Offset, room)
	}
	p.prev, p.end = rec, rec.Offset+rec.Packed
	return nil
}

// read returns the local header of an entry, which is valid until the next call.
func (p *placer) read(rec *record) ([]byte, error) {
	room := p.limit - rec.at
	h := p.grow(min(room, int64(localBytes+len(rec.Name)+guess)))
	if err := fileformat.ReadAt(p.r, h, rec.at); err != nil {
		return nil, err
	}
	if got := string(h[:4]); got != localMark {
		return nil, corrupt("got signature %q, want %q", got, localMark)
	}
	n := localBytes + int64(le.Uint16(h[26:])) + int64(le.Uint16(h[28:]))
	if n > room {
		return nil, corrupt("got a length of %d bytes, want at most %d, before the directory", n, room)
	}
	if n <= int64(len(h)) {
		return h[:n], nil
	}
	h = p.grow(n)
	return h, fileformat.ReadAt(p.r, h, rec.at)
}

// grow returns the buffer with n bytes.
func (p *placer) grow(n int64) []byte {
	p.buffer = slices.Grow(p.buffer[:0], int(n))[:n]
	return p.buffer
}

// agrees checks that a local header agrees with the directory. It does not read a data descriptor
// after the payload.
func (rec *record) agrees(h []byte) error {
	name, extra := h[localBytes:][:le.Uint16(h[26:])], h[localBytes+int(le.Uint16(h[26:])):]
	if string(name) != rec.Name {
		return corrupt("got name %s, want the name in the directory", errtext.Quote(string(name)))
	}
	if got := le.Uint16(h[8:]); got != rec.Method {
		return corrupt("got method %d, want %d as in the directory", got, rec.Method)
	}
	flags := le.Uint16(h[6:])
	if err := checkFlags(flags); err != nil || flags&flagDescriptor != 0 {
		return err
	}
	if got := le.Uint32(h[14:]); got != rec.CRC {
		return corrupt("got CRC-32 %08x, want %08x as in the directory", got, rec.CRC)
	}
	size, packed := uint64(le.Uint32(h[22:])), uint64(le.Uint32(h[18:]))
	if err := widen(extra, &size, &packed); err != nil {
		return err
	}
	if size != uint64(rec.Size) || packed != uint64(rec.Packed) {
		return corrupt("got size %d, %d packed, want %d, %d as in the directory", size, packed, rec.Size, rec.Packed)
	}
	return nil
}
