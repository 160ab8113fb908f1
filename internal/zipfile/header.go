//lint:file-ignore SA1019 archive/zip writes the deprecated fields of a header, if the header is raw

package zipfile

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

var le = binary.LittleEndian

const (
	alignment  = 64
	paddingID  = 0x6474     // "td", the id of the extra field of zeros
	wideID     = 1          // of the extra field with 64-bit sizes
	wideBytes  = 4 + 4 + 16 // heads of both extra fields, and sizes
	version    = 45         // required for zip64
	systemUnix = 3
	flagUTF8   = 1 << 11
)

// newHead returns a header without sizes.
func newHead(h Header) *zip.FileHeader {
	head := &zip.FileHeader{Name: h.Name, CreatorVersion: systemUnix<<8 | version, ReaderVersion: version, ExternalAttrs: uint32(h.Perm) << 16}
	if strings.ContainsFunc(h.Name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		head.Flags = flagUTF8
	}
	if h.Deflate {
		head.Method = Deflate
	}
	t := h.Modified
	if t.Year() < 1980 || t.Year() > 2107 {
		t = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	head.ModifiedTime = uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2)
	head.ModifiedDate = uint16((t.Year()-1980)<<9 | int(t.Month())<<5 | t.Day())
	return head
}

// padding returns the extra field that moves a payload at offset at to a multiple of alignment.
func padding(at int64) []byte {
	n := -at & (alignment - 1)
	return append(le.AppendUint16(le.AppendUint16(nil, paddingID), uint16(n)), make([]byte, n)...)
}

// setLocal sets the local header, which stands before the payload.
func (p *payload) setLocal() {
	wide := le.AppendUint16(le.AppendUint16(nil, wideID), 16)
	wide = le.AppendUint64(le.AppendUint64(wide, p.size), p.packed)
	p.head.Extra = slices.Concat(p.padding, wide)
	p.head.CRC32, p.head.UncompressedSize64, p.head.CompressedSize64 = p.crc, math.MaxUint32, math.MaxUint32
}

// setRecord sets the header to what is in the directory, where archive/zip adds 64-bit sizes.
func (p *payload) setRecord() {
	p.head.Extra = p.padding
	p.head.CRC32, p.head.UncompressedSize64, p.head.CompressedSize64 = p.crc, p.size, p.packed
	p.head.UncompressedSize, p.head.CompressedSize = uint32(p.size), uint32(p.packed)
}

// StartsWith reports whether a file begins like an archive from a [Writer], or from Python's
// zipfile with force_zip64, whose first entry has the given name. Other programs write small sizes
// in 32 bits. It reads only the first local header.
func StartsWith(r io.ReaderAt, name string) (bool, error) {
	h := make([]byte, localBytes+len(name))
	if n, err := r.ReadAt(h, 0); n < len(h) {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	const sizes, lengths = 18, 26 // before them are flags, method, time and CRC-32
	return string(h[:6]) == "PK\x03\x04\x2d\x00" && string(h[sizes:lengths]) == strings.Repeat("\xff", lengths-sizes) &&
		int(le.Uint16(h[lengths:])) == len(name) && string(h[localBytes:]) == name, nil
}
