package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// The types of pages, and their encodings.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3

	rle             = 3
	bitPacked       = 4
	deltaBinary     = 5
	deltaLength     = 6
	deltaByteArrays = 7
)

// The structs of a page header.
var (
	dataHeader = &kind{ints(1, 4)}
	dictHeader = &kind{ints(1, 2)}
	v2Header   = &kind{ints(1, 6)}
	pageHeader = &kind{ints(1, 3)}
)

func init() {
	v2Header.fields[7] = field{typ: typeTrue}
	for id, k := range map[int16]*kind{5: dataHeader, 7: dictHeader, 8: v2Header} {
		pageHeader.fields[id] = field{typ: typeStruct, of: k}
	}
}

// ints returns fields of integers.
func ints(from, to int16) map[int16]field {
	fields := map[int16]field{}
	for id := from; id <= to; id++ {
		fields[id] = field{typ: typeInt32}
	}
	return fields
}

// A Chunk is a column chunk, as the footer describes it.
type Chunk struct {
	Start, Size    int64 // of its pages in the file
	Values         int64
	Codec          compress.Compression
	Type           parquet.Type
	Width          int // of values of a fixed length
	MaxDef, MaxRep int16
}

// Facts has the size of the largest page and the encoding, from the headers of pages.
type Facts struct {
	Bytes    int  // the most bytes of a page, uncompressed
	Prefixes bool // a value is stored as its difference from the previous one
}

// A header is the header of a page.
type header struct {
	size, fill  int64 // compressed and uncompressed
	typ         int64
	of          map[int16]int64 // the fields of the header for the type
	headerBytes int
}

// Scan reads the headers of the pages of a chunk. It returns [ErrUnsupported] for an unknown codec;
// [ErrCorrupt] if pages are larger than the chunk or than their compressed bytes allow, if a
// dictionary has more values than bytes, or if encoded values claim more than any writer writes;
// [ErrMemory] if reading a page would take more than most bytes; and errors of r.
func Scan(r io.ReaderAt, c Chunk, most int64) (facts Facts, err error) {
	ratio, known := ratios[c.Codec]
	if !known {
		return facts, unsupported("compression %v", c.Codec)
	}
	at, end := c.Start, c.Start+c.Size
	for seen := int64(0); seen < c.Values && at < end; {
		h, err := readHeader(r, at, end)
		if err != nil {
			return facts, err
		}
		at += int64(h.headerBytes)
		values := h.of[1]
		switch {
		case h.size < 0 || h.size > end-at || h.fill < 0:
			return facts, corrupt("a page has %d bytes, %d uncompressed, and %d are left", h.size, h.fill, end-at)
		case h.fill/ratio > h.size+64:
			return facts, corrupt("%d bytes of a page cannot be %d bytes uncompressed", h.size, h.fill)
		case values < 0 || h.typ == dataPageV2 && h.of[3] < 0:
			return facts, corrupt("a page has %d values", values)
		case h.fill > most/4 || values > most/valueCost:
			return facts, fmt.Errorf("%w: a page of %d values in %d bytes, for %d bytes of memory: raise MaxMemory", ErrMemory, values, h.fill, most)
		}
		facts.Bytes = max(facts.Bytes, int(h.fill))
		if h.typ == dictionaryPage {
			if values > h.fill/minBytes(c) {
				return facts, corrupt("a dictionary of %d values in %d bytes", values, h.fill)
			}
			at += h.size
			continue
		}
		if h.typ == dataPageV2 {
			seen += h.of[3] // as the library counts
		} else {
			seen += values
		}
		encoding := h.encoding()
		facts.Prefixes = facts.Prefixes || encoding == deltaByteArrays
		if encoding >= deltaBinary && encoding <= deltaByteArrays {
			if err := checkDeltas(r, at, c, h); err != nil {
				return facts, err
			}
		}
		at += h.size
	}
	return facts, nil
}

// valueCost is the most memory that the library takes for a value of a page, in addition to its
// bytes.
const valueCost = 32

// minBytes returns the fewest bytes that a value of a dictionary takes.
func minBytes(c Chunk) int64 {
	switch c.Type {
	case parquet.Types.FixedLenByteArray:
		return max(1, int64(c.Width))
	case parquet.Types.ByteArray: // its length
		return 4
	}
	return int64(c.Type.ByteSize())
}

// encoding returns the encoding of the values of a data page.
func (h *header) encoding() int64 {
	if h.typ == dataPageV2 {
		return h.of[4]
	}
	return h.of[2]
}

// readHeader reads the header of a page.
func readHeader(r io.ReaderAt, at, end int64) (h header, err error) {
	for size := int64(256); ; size *= 8 {
		b := make([]byte, min(size, end-at))
		n, err := r.ReadAt(b, at)
		if err != nil && (err != io.EOF || n < len(b)) {
			return h, err
		}
		h, err = parseHeader(b)
		if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(b)) == end-at || size >= 1<<20 {
			return h, err
		}
	}
}

// parseHeader parses the header at the beginning of b.
func parseHeader(b []byte) (h header, err error) {
	fields := map[*kind]map[int16]int64{}
	w := &walker{b: b, most: 1 << 30}
	w.see = func(k *kind, id int16, v int64) error {
		if id == 0 {
			fields[k] = map[int16]int64{}
		} else if v != int64(int32(v)) {
			return corrupt("a header of a page has the number %d", v)
		} else {
			fields[k][id] = v
		}
		return nil
	}
	if err := w.structure(pageHeader, 0); err != nil {
		return h, err
	}
	page := fields[pageHeader]
	h = header{size: page[3], fill: page[2], typ: page[1], headerBytes: w.at}
	switch h.typ {
	case dataPage:
		h.of = fields[dataHeader]
	case dataPageV2:
		h.of = fields[v2Header]
	case dictionaryPage:
		h.of = fields[dictHeader]
	default:
		return h, corrupt("got a page of type %d", h.typ)
	}
	if h.of == nil {
		return h, corrupt("a page of type %d lacks its header", h.typ)
	}
	return h, nil
}

// checkDeltas checks the claims of a page whose values are stored as differences.
func checkDeltas(r io.ReaderAt, at int64, c Chunk, h header) error {
	b := make([]byte, h.size)
	if n, err := r.ReadAt(b, at); n < len(b) {
		return err
	}
	b, err := h.values(b, c)
	if err != nil {
		return err
	}
	at0, err := checkDelta(b, h.of[1])
	if err == nil && h.encoding() == deltaByteArrays {
		_, err = checkDelta(b[at0:], h.of[1])
	}
	return err
}

// values returns the values of a page, uncompressed and without levels.
func (h *header) values(b []byte, c Chunk) ([]byte, error) {
	if h.typ == dataPageV2 {
		levels := h.of[5] + h.of[6]
		if h.of[5] < 0 || h.of[6] < 0 || levels > int64(len(b)) || levels > h.fill {
			return nil, corrupt("a page of %d bytes has levels of %d", len(b), levels)
		}
		compressed, says := h.of[7]
		if says && compressed == 0 {
			return b[levels:], nil
		}
		return decode(b[levels:], h.fill-levels, c.Codec)
	}
	b, err := decode(b, h.fill, c.Codec)
	if err == nil && c.MaxRep > 0 {
		b, err = afterLevels(b, h.of[4], h.of[1], c.MaxRep)
	}
	if err == nil && c.MaxDef > 0 {
		b, err = afterLevels(b, h.of[3], h.of[1], c.MaxDef)
	}
	return b, err
}

// decode uncompresses n bytes.
func decode(b []byte, n int64, of compress.Compression) ([]byte, error) {
	if of == compress.Codecs.Uncompressed {
		return b, nil
	}
	c, err := compress.GetCodec(of + Codecs)
	if err != nil {
		return nil, err
	}
	return compress.Decode(c, make([]byte, n), b)
}

// afterLevels returns the bytes after the levels of a page.
func afterLevels(b []byte, encoding, values int64, most int16) ([]byte, error) {
	n := (values*int64(bits.Len16(uint16(most))) + 7) / 8
	if encoding == rle {
		if len(b) < 4 {
			return nil, errShort
		}
		n = 4 + int64(binary.LittleEndian.Uint32(b))
	} else if encoding != bitPacked {
		return nil, corrupt("levels have encoding %d", encoding)
	}
	if n > int64(len(b)) {
		return nil, corrupt("levels of %d bytes in a page of %d", n, len(b))
	}
	return b[n:], nil
}

// maxBlock is the most values of a block of differences. Writers use 128, and up to a few thousand.
const maxBlock = 1 << 16

// checkDelta checks values that are stored as differences, and returns where they end.
func checkDelta(b []byte, values int64) (end int, err error) {
	w := &walker{b: b}
	var head [3]uint64 // values of a block, parts of a block, values
	for i := range head {
		if head[i], err = w.varint(); err != nil {
			return 0, err
		}
	}
	if _, err = w.varint(); err != nil {
		return 0, err
	}
	block, parts, total := head[0], head[1], head[2]
	if block == 0 || block > maxBlock || parts == 0 || parts > block || block%parts != 0 || total > uint64(values) {
		return 0, corrupt("%d values in blocks of %d in %d parts, in a page of %d", total, block, parts, values)
	}
	for left := int64(total) - 1; left > 0; {
		if _, err = w.varint(); err != nil {
			return 0, err
		}
		widths := w.at
		if err = w.skip(parts); err != nil {
			return 0, err
		}
		for i := uint64(0); i < parts && left > 0; i++ {
			if err = w.skip((uint64(b[widths+int(i)])*(block/parts) + 7) / 8); err != nil {
				return 0, err
			}
			left -= int64(block / parts)
		}
	}
	return w.at, nil
}
