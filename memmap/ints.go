package memmap

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"

	"github.com/go-tensordict/tensordict/internal/zipfile"
)

func (t *dirTree) ints(name, ext string, n int) (numbers []int64, sums []uint32, err error) {
	file, info, err := t.find(name, ext)
	if err == nil {
		err = t.mayRead(info, n)
	}
	if err != nil {
		return nil, nil, t.fail(file, err)
	}
	f, err := openIn(t.root, file)
	if err != nil {
		return nil, nil, t.fail(file, err)
	}
	is, err := f.Stat()
	if err == nil && !is.Mode().IsRegular() {
		err = unlike(is, "a file")
	}
	if err != nil {
		return nil, nil, t.fail(file, errors.Join(err, f.Close()))
	}
	numbers, sums, err = readInts(f, n)
	return numbers, sums, t.fail(file, errors.Join(err, f.Close()))
}

// mayRead returns an error unless info is a file of at least n int64, and the limit lets them be
// read into memory.
func (t *dirTree) mayRead(info fs.FileInfo, n int) error {
	if info == nil || !info.Mode().IsRegular() {
		return unlike(info, "a file")
	}
	if info.Size()/8 < int64(n) {
		return corrupt("got %d bytes, want %d", info.Size(), 8*n)
	}
	return t.r.takes(8 * n)
}

// readInts reads n int64, and computes the sums of their bytes.
func readInts(f io.Reader, n int) ([]int64, []uint32, error) {
	numbers, buf := make([]int64, n), make([]byte, min(8*n, 1<<16))
	var s summer
	for left := numbers; len(left) > 0; {
		b := buf[:min(8*len(left), len(buf))]
		_, err := io.ReadFull(f, b)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, corrupt("got %d bytes or less, want %d: %w", 8*(n-len(left))+len(b)-1, 8*n, err)
		}
		s.add(b)
		for ; len(b) > 0; b, left = b[8:], left[1:] {
			left[0] = int64(binary.LittleEndian.Uint64(b))
		}
	}
	return numbers, s.sums(), nil
}

// takes counts bytes of offsets that are read into memory, and returns an error beyond the limit.
func (r *reader) takes(bytes int) error {
	if r.taken += int64(bytes); r.taken > r.maxCopy() {
		return unsupported("got %d bytes of offsets of ragged tensors, want at most %d: raise MaxCopy", r.taken, r.maxCopy())
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
