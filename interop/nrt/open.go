package nrt

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// A File is a collection whose values are in a mapped file. It embeds a Joint; where a
// *joint.Joint is required, as by Save or joint.Collate, pass f.Joint. The zero File has none;
// the methods of File itself then return [ErrClosed].
//
// Writing to values is tensor.ErrReadOnly. Safe for concurrent use.
type File struct {
	*joint.Joint
	mem *mapfile.Single
}

// Options say how [OpenWith] opens. The zero value is the default.
type Options struct {
	// Keys are the names of the fields to open, in this order; nil means all, in the order of their
	// names. Other fields are neither read nor checked.
	Keys []string
	// MaxCopy is the largest number of bytes of bounds to copy into memory; 0 or less means 1 GiB.
	// It bounds the work that a malicious file, which may be large and sparse, can cause.
	MaxCopy int64
}

// Open opens a file, with all of its fields, for reading. It is [OpenWith] without options.
func Open(path string) (*File, error) { return OpenWith(path, Options{}) }

// OpenWith opens a file for reading:
//
//	dim{D}/key, an array of V values -> key [N * *], with D levels, and V values
//	dim-1/key, of 1 value            -> key [], a scalar
//
// The values of fields stay in the mapped file; bounds are copied. The caller closes the File.
//
// OpenWith returns a [FileError] with the file and the array: [ErrCorrupt], for bounds that
// decrease also ragged.ErrOffsets, [ErrUnsupported], joint.ErrName for a key that the file does
// not have, [ErrLimit], or an error of the system, such as fs.ErrNotExist.
func OpenWith(path string, opt Options) (*File, error) {
	f, err := open(path, opt)
	if err != nil {
		return nil, fileformat.Failed("open", path, "", err)
	}
	return f, nil
}

func open(path string, opt Options) (*File, error) {
	file, err := mapfile.OpenSingle(path, fileformat.Mapped(path))
	if err != nil {
		return nil, err
	}
	j, err := read(file, path, opt)
	if err == nil {
		err = file.Map() // closes the descriptor
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return &File{j, file}, nil
}

// read reads everything but values.
func read(file *mapfile.Single, path string, opt Options) (*joint.Joint, error) {
	head, err := header(file, int64(file.Size()))
	if err != nil {
		return nil, err
	}
	r := &reader{op: "open", path: path, from: file, head: head, keys: opt.Keys, most: opt.MaxCopy}
	r.values = func(d tensor.DType, at, n int) (*tensor.Tensor, error) { return tensor.FromLender(d, file, at, n) }
	return r.joint()
}

// header reads the header of a file of size bytes.
func header(r io.ReaderAt, size int64) (*safetensors.Header, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	return safetensors.Read(r, size)
}

// Close refuses new operations on values, which then return [ErrClosed], and unmaps the file. It
// does not wait for running operations, which complete; the last of them unmaps the file. Slices
// from tensor.Of must not be used after Close. Names, lengths and bounds stay. Close returns
// ErrClosed if it was called before.
func (f *File) Close() error {
	if f == nil || f.mem == nil {
		return ErrClosed
	}
	return f.mem.Close()
}

// CloseWait closes f, as [File.Close] does, if it is open, and waits until the file is unmapped;
// some systems do not replace it until then. If ctx ends first, it returns the error of ctx. It may
// be called any number of times, before and after Close.
func (f *File) CloseWait(ctx context.Context) error {
	if f == nil || f.mem == nil {
		return ErrClosed
	}
	return f.mem.CloseWait(ctx)
}
