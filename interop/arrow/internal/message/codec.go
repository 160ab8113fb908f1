package message

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/workers"
)

// A codec is how the buffers of a batch are compressed.
type codec int64

// The codecs, as batches number them.
const (
	lz4Frame  codec = 0
	zstandard codec = 1
	none      codec = -1
)

// maxWindow is the largest distance in a zstd frame; the decoder of zstd has the same limit.
const maxWindow = 128 << 20

// most returns the largest number of bytes that n compressed bytes can become: 4 bytes of zstd are
// a block of at most 128 KiB, a byte of lz4 becomes at most 255 bytes.
func (c codec) most(n int) int64 {
	if c == zstandard {
		return int64(min(n, math.MaxInt/32768)) * 32768
	}
	return int64(min(n, math.MaxInt/255)) * 255
}

// parallelBytes is how many bytes are worth one more goroutine.
const parallelBytes = 1 << 20

// aligned reports whether a buffer begins at a multiple of 8 bytes, as the library's slices must.
func aligned(b []byte) bool { return cast.Aligned(b, 8) }

// decoders are made when they are first used.
type decoders struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

// A room has memory for the buffers of a batch, which the next batch uses again.
type room struct {
	pool    *sync.Pool // of *decoders
	buffers [][]byte
}

// newPool returns a pool of decoders.
func newPool() *sync.Pool { return &sync.Pool{New: func() any { return new(decoders) }} }

// fill decompresses buffers, several at a time if they are large. They are valid until the next
// call. Its errors have the column.
func (r *room) fill(c codec, fills []fill) error {
	total := 0
	for _, f := range fills {
		total += f.size
	}
	for len(r.buffers) < len(fills) {
		r.buffers = append(r.buffers, nil)
	}
	count := min(runtime.GOMAXPROCS(0), 1+total/parallelBytes)
	return workers.Do(context.Background(), len(fills), count, func(i int) error {
		f, to, d := &fills[i], &r.buffers[i], r.pool.Get().(*decoders)
		defer r.pool.Put(d)
		var err error
		fault := mapping.Guard(func() { // of this goroutine
			err = Try(func() (err error) {
				*to, err = d.decode(c, (*to)[:0], f.from, f.size)
				return err
			})
		})
		if err != nil {
			err = corrupt("compressed: %w", err)
		}
		f.to.Reset(*to)
		return In("", "", f.name, cmp.Or(fault, err))
	})
}

// decode appends the size bytes that b is the compressed form of to dst, which is empty. It
// allocates as much as seems likely, and more only when that is full.
func (d *decoders) decode(c codec, dst, b []byte, size int) ([]byte, error) {
	likely := min(size, max(cap(dst), 64<<10, 64*len(b)))
	dst = slices.Grow(dst, max(likely, 64)) // what is small may not be aligned
	if c == lz4Frame {
		if d.lz4 == nil {
			d.lz4 = lz4.NewReader(nil)
		}
		d.lz4.Reset(bytes.NewReader(b))
		return readAll(dst, d.lz4, size)
	}
	if d.zstd == nil {
		var err error
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return dst, err
		}
	}
	if likely < size {
		if err := d.zstd.Reset(bytes.NewReader(b)); err != nil {
			return dst, err
		}
		return readAll(dst, d.zstd, size)
	}
	got, err := d.zstd.DecodeAll(b, dst[:0:size]) // in this memory, or an error
	if err == nil && len(got) != size {
		err = fmt.Errorf("got %d bytes, want %d", len(got), size)
	}
	return got, err
}

// readAll appends size bytes to dst, which is empty, and checks that r then ends.
func readAll(dst []byte, r io.Reader, size int) ([]byte, error) {
	dst, err := readN(dst, r, size)
	if err != nil {
		return dst, fmt.Errorf("got %d bytes, want %d: %w", len(dst), size, err)
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || err != io.EOF {
		return dst, fmt.Errorf("got more than %d bytes, or a bad end: %v", size, err)
	}
	return dst, nil
}

// readN appends n bytes of r to dst, which is empty. If r has fewer, it returns them with
// io.ErrUnexpectedEOF, or io.EOF for none. It doubles dst when it is full, since n is only claimed.
func readN(dst []byte, r io.Reader, n int) ([]byte, error) {
	for len(dst) < n {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, max(64, min(n-len(dst), max(len(dst), 1<<20))))
		}
		got, err := io.ReadFull(r, dst[len(dst):min(n, cap(dst))])
		dst = dst[:len(dst)+got]
		if err == io.EOF && len(dst) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}
