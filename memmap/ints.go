package memmap

import (
	"errors"
	"io"
	"os"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func (t *dirTree) ints(name, ext string, n int, each func([]int64) error) error {
	file, _, err := t.holding(name, ext, 8*n)
	if err != nil {
		return t.fail(file, err)
	}
	f, err := openIn(t.root, file, os.O_RDONLY)
	if err != nil {
		return t.fail(file, err)
	}
	err = readInts(f, n, each)
	return t.fail(file, errors.Join(err, f.Close()))
}

// readInts calls each with the next of n int64.
func readInts(f io.Reader, n int, each func([]int64) error) error {
	for numbers := make([]int64, min(n, 1<<13)); n > 0; n -= len(numbers) {
		numbers = numbers[:min(n, len(numbers))]
		_, err := io.ReadFull(f, cast.Bytes(numbers))
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = corrupt("it became shorter while it was read: %w", err)
		}
		if err == nil {
			err = each(numbers)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takes counts bytes of lengths that are read into memory, and returns an error beyond the limit.
func (r *reader) takes(bytes int) error {
	if r.taken += int64(bytes); r.taken > r.maxCopy() {
		return unsupported("got %d bytes of lengths of ragged tensors, want at most %d: raise MaxCopy", r.taken, r.maxCopy())
	}
	return nil
}

// inflates counts the bytes of an entry that is compressed, and returns an error beyond the limit.
// The limit applies to all entries together or, for Copy, to each one.
func (r *reader) inflates(e zipfile.Entry) error {
	if e.Method == zipfile.Stored {
		return nil
	}
	if r.copying {
		r.unpacked = 0
	}
	if r.unpacked += e.Size; r.unpacked > r.maxCopy() || r.unpacked < 0 {
		return unsupported("got %d bytes of compressed entries, want at most %d: raise MaxCopy", r.unpacked, r.maxCopy())
	}
	return nil
}

// maxCopy returns OpenOptions.MaxCopy, or its default.
func (r *reader) maxCopy() int64 {
	if r.opt.MaxCopy > 0 {
		return r.opt.MaxCopy
	}
	return 1 << 30
}
