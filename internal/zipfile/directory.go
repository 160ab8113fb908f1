package zipfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

const (
	recordMark  = "PK\x01\x02"
	recordBytes = 46 // without name, extra fields and comment
	zip64ID     = 1  // id of the extra field with 64-bit sizes and offset

	flagUTF8       = 1 << 11
	flagDescriptor = 1 << 3                     // checksum and sizes are after the payload
	flagsEncrypted = 1<<0 | 1<<5 | 1<<6 | 1<<13 // includes patches
)

// A record is an entry of the directory.
type record struct {
	Entry
	at int64 // offset of the local header
}

// readRecords reads the directory. Offsets of payloads are not set.
func readRecords(r io.ReaderAt, e end) ([]record, error) {
	b := bufio.NewReaderSize(io.NewSectionReader(r, int64(e.offset), int64(e.size)), 32<<10)
	const first = 1 << 12 // number of records to allocate at first, whatever the archive claims
	records := make([]record, 0, min(e.entries, first))
	var buffer []byte
	for i := range e.entries {
		text, err := readRecord(b, buffer)
		if err != nil {
			return nil, within(fmt.Sprintf("record %d of the directory", i), err)
		}
		rec, err := parseRecord(text)
		if err != nil {
			return nil, err
		}
		if len(records) == cap(records) {
			records = slices.Grow(records, min(len(records), int(e.entries)-len(records))) // at most doubles
		}
		records, buffer = append(records, rec), text
	}
	if _, err := b.ReadByte(); err == nil {
		return nil, within("directory", corrupt("got bytes after %d entries, want none", e.entries))
	}
	return records, nil
}

// readRecord returns the bytes of a record, in buffer if it is large enough.
func readRecord(r io.Reader, buffer []byte) ([]byte, error) {
	text := slices.Grow(buffer[:0], recordBytes)[:recordBytes]
	if err := readNext(r, text); err != nil {
		return nil, err
	}
	if got := string(text[:4]); got != recordMark {
		return nil, corrupt("got signature %q, want %q", got, recordMark)
	}
	more := int(le.Uint16(text[28:])) + int(le.Uint16(text[30:])) + int(le.Uint16(text[32:]))
	text = slices.Grow(text, more)[:recordBytes+more]
	return text, readNext(r, text[recordBytes:])
}

// readNext fills b with the next bytes of the directory.
func readNext(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("runs past the end of the directory")
	}
	return err
}

// parseRecord parses a record. Its errors have the name of the entry.
func parseRecord(b []byte) (record, error) {
	name, extra := int(le.Uint16(b[28:])), int(le.Uint16(b[30:]))
	rec := record{Entry: Entry{
		Name:     string(b[recordBytes:][:name]),
		Method:   le.Uint16(b[10:]),
		CRC:      le.Uint32(b[16:]),
		Modified: modified(le.Uint16(b[12:]), le.Uint16(b[14:])),
	}}
	err := checkFlags(le.Uint16(b[8:]))
	if err == nil {
		err = rec.setSizes(b, b[recordBytes+name:][:extra])
	}
	if err == nil {
		err = rec.check()
	}
	return rec, fileformat.In(rec.Name, err)
}

// setSizes sets the sizes and the offset, which are 32-bit numbers in the record b or 64-bit
// numbers in its extra fields.
func (rec *record) setSizes(b, extra []byte) error {
	size, packed, at := uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[42:]))
	if err := widen(extra, &size, &packed, &at); err != nil {
		return err
	}
	if disk := le.Uint16(b[34:]); disk != 0 {
		return unsupported("got disk %d, want 0", disk)
	}
	if max(size, packed, at) > math.MaxInt64 {
		return corrupt("got size %d, %d packed, at %d, want at most %d", size, packed, at, int64(math.MaxInt64))
	}
	rec.Size, rec.Packed, rec.at = int64(size), int64(packed), int64(at)
	return nil
}

// widen replaces each number that is the largest 32-bit number by the next number of the zip64
// extra field.
func widen(extra []byte, numbers ...*uint64) error {
	field, err := findZip64(extra)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if *n != math.MaxUint32 {
			continue
		}
		if len(field) < 8 {
			return corrupt("a 64-bit size or offset is missing in the extra fields")
		}
		*n, field = le.Uint64(field), field[8:]
	}
	return nil
}

// findZip64 returns the content of the first zip64 field among extra fields, or nil if there is
// none.
func findZip64(extra []byte) ([]byte, error) {
	for len(extra) >= 4 { // fewer bytes are padding
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if n > len(extra)-4 {
			return nil, corrupt("extra field %#04x: got a length of %d bytes, want at most %d", id, n, len(extra)-4)
		}
		if id == zip64ID {
			return extra[4:][:n], nil
		}
		extra = extra[4+n:]
	}
	return nil, nil
}

func checkFlags(flags uint16) error {
	if flags&flagsEncrypted != 0 {
		return unsupported("got flags %#04x, want none for encryption and patches", flags)
	}
	return nil
}

// check checks that the fields of an entry are consistent.
func (e *Entry) check() error {
	if err := checkName(e.Name); err != nil {
		return corrupt("%w", err)
	}
	switch {
	case e.Method != Stored && e.Method != Deflate:
		return unsupported("got method %d, want 0 (stored) or 8 (deflate)", e.Method)
	case e.Method == Stored && e.Packed != e.Size:
		return corrupt("got %d stored bytes, want %d, the size", e.Packed, e.Size)
	case e.Size/maxRatio > e.Packed:
		return corrupt("got size %d, want at most %d times the %d bytes packed", e.Size, maxRatio, e.Packed)
	case e.Size == 0 && e.CRC != 0:
		return corrupt("got CRC-32 %08x, want 0 for an empty content", e.CRC)
	case isDir(e.Name) && e.Size != 0:
		return corrupt("got a directory of %d bytes, want 0", e.Size)
	}
	return nil
}

// maxRatio is the largest number of bytes that one deflated byte can give: two bits can give 258
// bytes.
const maxRatio = 4 * 258
