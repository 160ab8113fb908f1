package pages

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// The parts of a struct in the compact protocol.
func varint(v uint64) []byte { return binary.AppendUvarint(nil, v) }
func zigzag(v int64) []byte  { return varint(uint64(v<<1) ^ uint64(v>>63)) }

// value is a field with an id that is far from the one before.
func value(typ byte, id int64, parts ...[]byte) []byte {
	return append(append([]byte{typ}, zigzag(id)...), slices.Concat(parts...)...)
}

func i32(id, v int64) []byte { return value(typeInt32, id, zigzag(v)) }

func object(fields ...[]byte) []byte { return append(slices.Concat(fields...), typeStop) }

func list(typ byte, n int, elems ...[]byte) []byte {
	return append(append([]byte{15<<4 | typ}, varint(uint64(n))...), slices.Concat(elems...)...)
}

// element is an element of a schema with a number of children.
func element(children int64) []byte {
	if children == 0 {
		return object(value(typeBinary, 4, varint(1), []byte("x")))
	}
	return object(value(typeBinary, 4, varint(1), []byte("g")), i32(5, children))
}

func schema(elems ...[]byte) []byte {
	return value(typeList, 2, list(typeStruct, len(elems), elems...))
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestCheckFooter: each row is a footer with one claim that does not hold.
func TestCheckFooter(t *testing.T) {
	sound := schema(element(2), element(0), element(1), element(0))
	nested := bytes.Repeat([]byte{typeStruct, 2}, 100)
	chunk := object(value(typeStruct, 3, object(value(typeList, 2, list(typeInt32, 1, zigzag(0))), value(typeList, 3, list(typeBinary, 1, varint(1), []byte("x"))))))
	group := func(chunks []byte) []byte {
		return value(typeList, 4, list(typeStruct, 1, object(value(typeList, 1, chunks))))
	}
	deep := [][]byte{}
	for range 140 {
		deep = append(deep, element(1))
	}
	for name, tt := range map[string]struct {
		b    []byte
		want error
		says string
	}{
		"a sound one":                         {object(sound, group(list(typeStruct, 1, chunk))), nil, ""},
		"no schema":                           {object(), ErrCorrupt, "no schema"},
		"a list longer than the footer":       {object(value(typeList, 2, list(typeStruct, math.MaxInt32, element(0)))), ErrCorrupt, "elements in"},
		"a list of another type":              {object(value(typeList, 2, list(typeTrue, 3, []byte{1, 1, 1}))), ErrCorrupt, "elements of type 1, want 12"},
		"row groups longer than the footer":   {object(sound, value(typeList, 4, list(typeStruct, 1<<30))), ErrCorrupt, "elements in"},
		"columns longer than the footer":      {object(sound, group(list(typeStruct, 1<<30, chunk))), ErrCorrupt, "elements in"},
		"columns of another type":             {object(sound, group(list(typeBinary, 0))), ErrCorrupt, "of type 8, want 12"},
		"a text longer than the footer":       {object(sound, value(typeBinary, 6, varint(1<<31))), ErrCorrupt, "unexpected EOF"},
		"structs in structs":                  {object(sound, value(typeStruct, 99, nested)), ErrCorrupt, "nested more than"},
		"a schema that is nested":             {object(schema(append(deep, element(0))...)), ErrUnsupported, "nested more than"},
		"more children than elements":         {object(schema(element(math.MaxInt32), element(0))), ErrCorrupt, "lacks"},
		"more elements than children":         {object(schema(element(1), element(0), element(0))), ErrCorrupt, "more elements"},
		"a negative number of children":       {object(schema(element(-1), element(0))), ErrCorrupt, "-1 children"},
		"two numbers of children":             {object(schema(object(i32(5, 1), i32(5, 1)), element(0))), ErrCorrupt, "children"},
		"encryption":                          {object(sound, value(typeStruct, 8, object())), ErrUnsupported, "encrypted"},
		"a number of more than 64 bits":       {object(sound, value(typeInt64, 3, bytes.Repeat([]byte{0xff}, 11))), ErrCorrupt, "more than 64 bits"},
		"an unknown type":                     {object(sound, []byte{14, 2}), ErrCorrupt, "type 14"},
		"cut":                                 {sound[:len(sound)-3], ErrCorrupt, ""},
		"a map longer than the footer":        {object(sound, value(typeMap, 98, varint(1<<30), []byte{0x88})), ErrCorrupt, "a map of"},
		"a field that the library skips":      {object(sound, value(typeMap, 98, varint(1), []byte{0x88}, varint(1), []byte("a"), varint(0))), nil, ""},
		"more than memory":                    {object(schema(slices.Insert(slices.Repeat([][]byte{element(0)}, 2000), 0, element(2000))...)), ErrMemory, "raise MaxMemory"},
		"a list of columns that has no bytes": {object(sound, group(list(typeStruct, 200, bytes.Repeat([]byte{0}, 200)))), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			err := CheckFooter(tt.b, 1<<20)
			require.Less(t, allocated()-before, uint64(1<<20))
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// page returns a page: header and body.
func page(typ, fill, size int64, header []byte, body []byte) []byte {
	id := map[int64]int64{dataPage: 5, dictionaryPage: 7, dataPageV2: 8}[typ]
	return append(object(i32(1, typ), i32(2, fill), i32(3, size), value(typeStruct, id, header)), body...)
}

func dataV1(values, encoding int64) []byte {
	return object(i32(1, values), i32(2, encoding), i32(3, rle), i32(4, rle))
}

// delta returns the beginning of values that are stored as differences.
func delta(block, parts, total uint64, rest ...byte) []byte {
	return append(slices.Concat(varint(block), varint(parts), varint(total), zigzag(0)), rest...)
}

// TestScan: each row is a chunk with one claim that does not hold.
func TestScan(t *testing.T) {
	plain := func(n int) []byte {
		return page(dataPage, int64(8*n), int64(8*n), dataV1(int64(n), 0), make([]byte, 8*n))
	}
	body := func(b []byte, n, encoding int64) []byte {
		return page(dataPage, int64(len(b)), int64(len(b)), dataV1(n, encoding), b)
	}
	for name, tt := range map[string]struct {
		b     []byte
		codec compress.Compression
		want  error
		says  string
	}{
		"sound pages":                            {append(plain(5), plain(5)...), 0, nil, ""},
		"a page after the end":                   {append(plain(10), 0xff), 0, nil, ""},
		"a page larger than the chunk":           {page(dataPage, 800, 800, dataV1(10, 0), make([]byte, 80)), 0, ErrCorrupt, "are left"},
		"a negative size":                        {page(dataPage, -1, 8, dataV1(10, 0), make([]byte, 8)), 0, ErrCorrupt, "are left"},
		"more than the bytes without a codec":    {page(dataPage, 1<<30, 80, dataV1(10, 0), make([]byte, 80)), 0, ErrCorrupt, "cannot be"},
		"more than snappy can compress":          {page(dataPage, 1<<30, 80, dataV1(10, 0), make([]byte, 80)), compress.Codecs.Snappy, ErrCorrupt, "cannot be"},
		"more than memory":                       {page(dataPage, 1<<22, 80, dataV1(10, 0), make([]byte, 80)), compress.Codecs.Zstd, ErrMemory, "raise MaxMemory"},
		"more values than memory":                {page(dataPage, 80, 80, dataV1(1<<30, 0), make([]byte, 80)), 0, ErrMemory, "raise MaxMemory"},
		"a negative number of values":            {page(dataPage, 8, 8, dataV1(-1, 0), make([]byte, 8)), 0, ErrCorrupt, "-1 values"},
		"a number of more than 32 bits":          {page(dataPage, 1<<40, 8, dataV1(1, 0), make([]byte, 8)), 0, ErrCorrupt, "the number"},
		"an unknown page":                        {page(77, 8, 8, nil, make([]byte, 8)), 0, ErrCorrupt, "type 77"},
		"a page without its header":              {object(i32(1, dataPage), i32(2, 8), i32(3, 8)), 0, ErrCorrupt, "lacks"},
		"a header that is cut":                   {plain(10)[:5], 0, ErrCorrupt, "EOF"},
		"a dictionary of more values than bytes": {append(page(dictionaryPage, 80, 80, object(i32(1, 11), i32(2, 0)), make([]byte, 80)), plain(10)...), 0, ErrCorrupt, "a dictionary of 11"},
		"a dictionary":                           {append(page(dictionaryPage, 80, 80, object(i32(1, 10), i32(2, 0)), make([]byte, 80)), plain(10)...), 0, nil, ""},
		"an unknown codec":                       {plain(10), compress.Codecs.Lzo, ErrUnsupported, "compression"},
		"deltas":                                 {body(delta(128, 4, 10, append([]byte{0, 1, 1, 1, 1}, make([]byte, 4)...)...), 10, deltaBinary), 0, nil, ""},
		"blocks of many values":                  {body(delta(1<<32-128, 1, 10), 10, deltaBinary), 0, ErrCorrupt, "blocks of"},
		"blocks in no parts":                     {body(delta(128, 0, 10), 10, deltaLength), 0, ErrCorrupt, "in 0 parts"},
		"more deltas than values":                {body(delta(128, 4, 11), 10, deltaBinary), 0, ErrCorrupt, "11 values"},
		"deltas that are cut":                    {body(delta(128, 4, 10, 0, 64, 64, 64, 64), 10, deltaBinary), 0, ErrCorrupt, "EOF"},
		"second deltas that lie":                 {body(append(delta(128, 4, 1), delta(1<<30, 1, 1)...), 10, deltaByteArrays), 0, ErrCorrupt, "blocks of"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Chunk{Size: int64(len(tt.b)), Values: 10, Codec: tt.codec, Type: parquet.Types.Int64}
			before := allocated()
			facts, err := Scan(bytes.NewReader(tt.b), c, 1<<20)
			require.Less(t, allocated()-before, uint64(1<<20))
			if tt.want == nil {
				require.NoError(t, err)
				require.Positive(t, facts.Bytes)
				return
			}
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// TestCodecs: a codec writes what a page has room for, and no more, whatever its bytes claim.
func TestCodecs(t *testing.T) {
	const n = 1 << 16
	large := make([]byte, 64*n)
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	claims := append(binary.AppendUvarint(nil, 1<<32-1), 0xff, 0xff)
	for name, tt := range map[string]struct {
		of   compress.Compression
		b    []byte
		fits bool
	}{
		"snappy":               {compress.Codecs.Snappy, snappy.Encode(nil, make([]byte, n)), true},
		"snappy that is large": {compress.Codecs.Snappy, snappy.Encode(nil, large), false},
		"snappy that claims":   {compress.Codecs.Snappy, claims, false},
		"zstd":                 {compress.Codecs.Zstd, encoder.EncodeAll(make([]byte, n), nil), true},
		"zstd that is large":   {compress.Codecs.Zstd, encoder.EncodeAll(large, nil), false},
		"zstd that is cut":     {compress.Codecs.Zstd, encoder.EncodeAll(make([]byte, n), nil)[:9], false},
		"gzip that is none":    {compress.Codecs.Gzip, []byte("none"), false},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := compress.GetCodec(tt.of + Codecs)
			require.NoError(t, err)
			before := allocated()
			got, err := compress.Decode(c, make([]byte, n), tt.b)
			require.Less(t, allocated()-before, uint64(8*n))
			if tt.fits {
				require.NoError(t, err)
				require.Len(t, got, n)
				return
			}
			require.Error(t, err)
		})
	}
}

// FuzzScan scans any bytes.
func FuzzScan(f *testing.F) {
	f.Add(page(dataPage, 8, 8, dataV1(1, 0), make([]byte, 8)), uint8(0))
	f.Add(page(dataPage, 9, 9, dataV1(1, deltaBinary), delta(128, 4, 1)), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, codec uint8) {
		before := allocated()
		_, err := Scan(bytes.NewReader(b), Chunk{Size: int64(len(b)), Values: 100, Codec: compress.Compression(codec % 8), MaxDef: 1, MaxRep: 1}, 1<<20)
		_ = CheckFooter(b, 1<<20)
		require.Less(t, allocated()-before, uint64(64<<20))
		require.NotErrorIs(t, err, io.EOF)
	})
}
