package pages

import (
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Codecs is added to the number of a codec of Parquet for a codec that writes no more than a page
// has room for. The library looks codecs up by their numbers; other programs do not use these.
const Codecs = 1 << 20

// ratios bounds how many times larger a page can be than its compressed bytes.
var ratios = map[compress.Compression]int64{
	compress.Codecs.Uncompressed: 1, compress.Codecs.Snappy: 24, compress.Codecs.Gzip: 1040, compress.Codecs.Lz4Raw: 256,
	compress.Codecs.Zstd: 1 << 16, compress.Codecs.Brotli: 1 << 16,
}

// A codec decodes into the room that it is given.
type codec struct {
	compress.Codec
	decode func(dst, src []byte) ([]byte, error)
}

// DecodeWithError implements compress.ErrorCodec.
func (c codec) DecodeWithError(dst, src []byte) ([]byte, error) { return c.decode(dst, src) }

var unzstd, _ = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))

func init() {
	for of := range ratios {
		is, err := compress.GetCodec(of)
		if err != nil {
			continue
		}
		c := codec{is, func(dst, src []byte) ([]byte, error) { return compress.Decode(is, dst, src) }}
		switch of {
		case compress.Codecs.Snappy:
			c.decode = func(dst, src []byte) ([]byte, error) {
				if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
					return nil, corrupt("snappy data of %d bytes, want %d", n, len(dst))
				}
				return snappy.Decode(dst, src)
			}
		case compress.Codecs.Zstd:
			c.decode = func(dst, src []byte) ([]byte, error) { return unzstd.DecodeAll(src, dst[:0:len(dst)]) }
		}
		compress.RegisterCodec(of+Codecs, c)
	}
}
