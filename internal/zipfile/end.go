package zipfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

var le = binary.LittleEndian

const (
	endMark     = "PK\x05\x06"
	end64Mark   = "PK\x06\x06"
	locatorMark = "PK\x06\x07"

	endBytes     = 22 // without a comment
	end64Bytes   = 56
	locatorBytes = 20
	maxComment   = math.MaxUint16
)

// An end is the description of the directory in the records at the end of an archive.
type end struct {
	disk, directoryDisk uint64
	entriesHere         uint64 // on this disk
	entries             uint64
	size, offset        uint64 // of the directory
}

// findEnd reads the end records of an archive of size bytes. The directory that they describe ends
// right before them.
func findEnd(r io.ReaderAt, size int64) (end, error) {
	text, at, err := readEnd(r, size)
	if err != nil {
		return end{}, err
	}
	e, at, err := wide(r, parseEnd(text), at)
	if err != nil {
		return end{}, err
	}
	return e, e.check(uint64(at))
}

// readEnd returns the end record and its offset. Only its comment follows it in the file.
func readEnd(r io.ReaderAt, size int64) ([]byte, int64, error) {
	if size < endBytes {
		return nil, 0, corrupt("got a file of %d bytes, want at least %d", size, endBytes)
	}
	text := make([]byte, endBytes)
	if err := fileformat.ReadAt(r, text, size-endBytes); err != nil {
		return nil, 0, err
	}
	if endsFile(text) {
		return text, size - endBytes, nil
	}
	text = make([]byte, min(size, endBytes+maxComment))
	if err := fileformat.ReadAt(r, text, size-int64(len(text))); err != nil {
		return nil, 0, err
	}
	i := bytes.LastIndex(text, []byte(endMark))
	if i < 0 || !endsFile(text[i:]) {
		return nil, 0, corrupt("the file does not end as a zip archive does")
	}
	return text[i:], size - int64(len(text)-i), nil
}

// endsFile reports whether text is exactly an end record and its comment.
func endsFile(text []byte) bool {
	return len(text) >= endBytes && string(text[:4]) == endMark && int(le.Uint16(text[20:])) == len(text)-endBytes
}

func parseEnd(b []byte) end {
	return end{
		disk: uint64(le.Uint16(b[4:])), directoryDisk: uint64(le.Uint16(b[6:])),
		entriesHere: uint64(le.Uint16(b[8:])), entries: uint64(le.Uint16(b[10:])),
		size: uint64(le.Uint32(b[12:])), offset: uint64(le.Uint32(b[16:])),
	}
}

func parseEnd64(b []byte) end {
	return end{
		disk: uint64(le.Uint32(b[16:])), directoryDisk: uint64(le.Uint32(b[20:])),
		entriesHere: le.Uint64(b[24:]), entries: le.Uint64(b[32:]), size: le.Uint64(b[40:]), offset: le.Uint64(b[48:]),
	}
}

// wide returns the zip64 end record and its offset, if a locator is right before the end record e,
// and otherwise e and its offset at.
func wide(r io.ReaderAt, e end, at int64) (end, int64, error) {
	var locator [locatorBytes]byte
	if at < locatorBytes {
		return e, at, nil
	}
	if err := fileformat.ReadAt(r, locator[:], at-locatorBytes); err != nil {
		return e, at, err
	}
	if string(locator[:4]) != locatorMark {
		return e, at, nil
	}
	at -= locatorBytes + end64Bytes
	e64, err := readEnd64(r, locator[:], at)
	if err != nil {
		return e, at, within("zip64 record", err)
	}
	return e64, at, within("zip64 record", e.agrees(e64))
}

// readEnd64 reads the zip64 end record, which must be at an offset.
func readEnd64(r io.ReaderAt, locator []byte, at int64) (end, error) {
	if disk, disks := le.Uint32(locator[4:]), le.Uint32(locator[16:]); disk != 0 || disks != 1 {
		return end{}, unsupported("got disk %d of %d, want 0 of 1", disk, disks)
	}
	if got := le.Uint64(locator[8:]); at < 0 || got != uint64(at) {
		return end{}, corrupt("got offset %d, want %d, %d bytes before its locator", got, max(0, at), end64Bytes)
	}
	var b [end64Bytes]byte
	if err := fileformat.ReadAt(r, b[:], at); err != nil {
		return end{}, err
	}
	if got := string(b[:4]); got != end64Mark {
		return end{}, corrupt("got signature %q, want %q", got, end64Mark)
	}
	if got := le.Uint64(b[4:]); got != end64Bytes-12 {
		return end{}, unsupported("got a length of %d bytes, want %d", got, end64Bytes-12)
	}
	return parseEnd64(b[:]), nil
}

// agrees checks that each number of e equals the number in the zip64 record, or refers to it.
func (e end) agrees(wide end) error {
	for _, n := range []struct {
		name            string
		got, want, most uint64
	}{
		{"disk", e.disk, wide.disk, math.MaxUint16},
		{"disk of the directory", e.directoryDisk, wide.directoryDisk, math.MaxUint16},
		{"entries on the disk", e.entriesHere, wide.entriesHere, math.MaxUint16},
		{"entries", e.entries, wide.entries, math.MaxUint16},
		{"bytes of the directory", e.size, wide.size, math.MaxUint32},
		{"offset of the directory", e.offset, wide.offset, math.MaxUint32},
	} {
		if n.got != n.want && n.got != n.most {
			return corrupt("%s: got %d, want %d as in the end record", n.name, n.want, n.got)
		}
	}
	return nil
}

// check checks the directory, which must end at byte at.
func (e end) check(at uint64) error {
	switch {
	case e.disk != 0 || e.directoryDisk != 0 || e.entriesHere != e.entries:
		return unsupported("got %d of %d entries on disk %d, the directory on disk %d, want one disk",
			e.entriesHere, e.entries, e.disk, e.directoryDisk)
	case e.size > at || e.offset > at || e.offset+e.size > at:
		return corrupt("got a directory of %d bytes at %d, want it to end at %d", e.size, e.offset, at)
	case e.offset+e.size < at:
		return unsupported("got %d bytes before the archive or after its directory, want none", at-e.offset-e.size)
	case e.entries > e.size/recordBytes:
		return corrupt("got %d entries in a directory of %d bytes", e.entries, e.size)
	}
	return nil
}
