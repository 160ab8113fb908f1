package zipfile

import (
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	alignment  = 64
	paddingID  = 0x6474 // "td", the id of the extra field of zeros
	version    = 45     // required for zip64
	systemUnix = 3
	zip64Extra = 4 + 16 // size of the zip64 field of a local header

	// Python writes larger sizes as zip64, although the format allows twice as much without it.
	maxNarrow  = math.MaxInt32
	maxEntries = math.MaxUint16
)

// A written is an entry that was written, or is being written.
type written struct {
	Header
	clock, date  uint16
	crc          uint32
	size, packed int64
	at           int64 // offset of the local header
}

func (e *written) method() uint16 {
	if e.Deflate {
		return Deflate
	}
	return Stored
}

func (e *written) flags() uint16 {
	if strings.ContainsFunc(e.Name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return flagUTF8
	}
	return 0
}

// padding returns the extra field that aligns the payload, or nil.
func (e *written) padding() []byte {
	if !e.Aligned || e.Deflate {
		return nil
	}
	before := e.at + localBytes + int64(len(e.Name)) + 4 + zip64Extra
	n := -before & (alignment - 1)
	return append(le.AppendUint16(le.AppendUint16(nil, paddingID), uint16(n)), make([]byte, n)...)
}

// local returns the local header, which is before the payload.
func (e *written) local() []byte {
	extra := appendZip64(e.padding(), e.size, e.packed)
	b := le.AppendUint16([]byte(localMark), version)
	b = e.appendCommon(b, math.MaxUint32, math.MaxUint32, len(extra))
	return slices.Concat(b, []byte(e.Name), extra)
}

// StartsWith reports whether a file begins like an archive from a [Writer], or from Python's
// zipfile with force_zip64, whose first entry has the given name. Other programs write small sizes
// in 32 bits. It reads only the first local header.
func StartsWith(r io.ReaderAt, name string) (bool, error) {
	e := written{Header: Header{Name: name}}
	want, got := e.local(), make([]byte, localBytes+len(name))
	if n, err := r.ReadAt(got, 0); n < len(got) {
		return false, notEnd(err)
	}
	const sizes = 18 // before them are flags, method, time and CRC-32
	same := func(from, to int) bool { return string(got[from:to]) == string(want[from:to]) }
	return same(0, 6) && same(sizes, localBytes-2) && same(localBytes, len(got)), nil
}

// notEnd returns err unless it is io.EOF.
func notEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// appendCommon appends the fields that the local header and the directory record share.
func (e *written) appendCommon(b []byte, packed, size uint32, extra int) []byte {
	for _, n := range []uint16{e.flags(), e.method(), e.clock, e.date} {
		b = le.AppendUint16(b, n)
	}
	for _, n := range []uint32{e.crc, packed, size} {
		b = le.AppendUint32(b, n)
	}
	return le.AppendUint16(le.AppendUint16(b, uint16(len(e.Name))), uint16(extra))
}

// record returns the directory record.
func (e *written) record() []byte {
	size, packed, at := uint32(e.size), uint32(e.packed), uint32(e.at)
	var wide []int64
	if max(e.size, e.packed) > maxNarrow {
		wide = append(wide, e.size, e.packed)
		size, packed = math.MaxUint32, math.MaxUint32
	}
	if e.at > maxNarrow {
		wide = append(wide, e.at)
		at = math.MaxUint32
	}
	extra := append(appendZip64(nil, wide...), e.padding()...)
	b := append([]byte(recordMark), version, systemUnix, version, 0)
	b = e.appendCommon(b, packed, size, len(extra))
	b = append(b, 0, 0, 0, 0, 0, 0) // comment, disk, internal attributes
	b = le.AppendUint32(b, uint32(e.Perm)<<16)
	b = le.AppendUint32(b, at)
	return slices.Concat(b, []byte(e.Name), extra)
}

// appendZip64 appends a zip64 extra field with the numbers, if there are any.
func appendZip64(b []byte, numbers ...int64) []byte {
	if len(numbers) == 0 {
		return b
	}
	b = le.AppendUint16(le.AppendUint16(b, zip64ID), uint16(8*len(numbers)))
	for _, n := range numbers {
		b = le.AppendUint64(b, uint64(n))
	}
	return b
}

// endRecords returns the records after a directory of size bytes at offset at.
func endRecords(entries int, at, size int64) (b []byte) {
	if entries > maxEntries || max(at, size) > maxNarrow {
		b = appendEnd64(b, entries, at, size)
	}
	b = append(b, endMark...)
	b = append(b, 0, 0, 0, 0) // disks
	narrow := uint16(min(entries, maxEntries))
	b = le.AppendUint16(le.AppendUint16(b, narrow), narrow)
	b = le.AppendUint32(b, uint32(min(size, math.MaxUint32)))
	b = le.AppendUint32(b, uint32(min(at, math.MaxUint32)))
	return append(b, 0, 0) // comment
}

// appendEnd64 appends the zip64 end record and its locator.
func appendEnd64(b []byte, entries int, at, size int64) []byte {
	b = append(b, end64Mark...)
	b = le.AppendUint64(b, end64Bytes-12)
	b = append(b, version, 0, version, 0)
	b = le.AppendUint64(b, 0) // disks
	for _, n := range []int64{int64(entries), int64(entries), size, at} {
		b = le.AppendUint64(b, uint64(n))
	}
	b = append(b, locatorMark...)
	b = le.AppendUint32(b, 0) // disk
	b = le.AppendUint64(b, uint64(at+size))
	return le.AppendUint32(b, 1) // disks
}
