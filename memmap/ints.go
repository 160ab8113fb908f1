package memmap

import (
	"errors"
	"io"
	"io/fs"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func (t *dirTree) ints(name, ext string, n int, each func([]int64) error) (sums []uint32, err error) {
	file, info, err := t.find(name, ext)
	if err == nil {
		err = holdsInts(info, n)
	}
	if err != nil {
		return nil, t.fail(file, err)
	}
	f, err := openIn(t.root, file)
	if err != nil {
		return nil, t.fail(file, err)
	}
	is, err := f.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = unlike(is, "a file")
	}
	if err != nil {
		return nil, t.fail(file, errors.Join(err, f.Close()))
	}
	sums, err = readInts(f, n, each)
	return sums, t.fail(file, errors.Join(err, f.Close()))
}

// holdsInts returns an error unless info is a file of at least n int64.
func holdsInts(info fs.FileInfo, n int) error {
	if info == nil || !info.Mode().IsRegular() {
		return unlike(info, "a file")
	}
	if info.Size()/8 < int64(n) {
		return corrupt("got %d bytes, want %d", info.Size(), 8*n)
	}
	return nil
}

// readInts calls each with the next of n int64, and returns the sums of their bytes.
func readInts(f io.Reader, n int, each func([]int64) error) ([]uint32, error) {
	var s tdc.Summer
	for numbers := make([]int64, min(n, 1<<13)); n > 0; n -= len(numbers) {
		numbers = numbers[:min(n, len(numbers))]
		b := cast.Bytes(numbers)
		_, err := io.ReadFull(f, b)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, corrupt("it became shorter while it was read: %w", err)
		}
		if err != nil {
			return nil, err
		}
		s.Add(b)
		if err := each(numbers); err != nil {
			return nil, err
		}
	}
	return s.Sums(), nil
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
