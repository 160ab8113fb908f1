package npy

import (
	"bytes"
	"context"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// A File is an array in a mapped file. It embeds a Tensor; where a *tensor.Tensor is required, pass
// f.Tensor. The zero File has none; the methods of File itself then return [ErrClosed].
//
// Writing to elements in the mapped file is tensor.ErrReadOnly. Elements that were copied, such as
// those in the other byte order, can be written without a change of the file. Safe for concurrent
// use, except for writing elements.
type File struct {
	*tensor.Tensor
	mem *mapfile.Single
}

// Options say how [OpenWith] opens. The zero value is the default.
type Options struct {
	// MaxCopy is the largest number of bytes to copy into memory, for elements in the other byte
	// order; 0 or less means 1 GiB.
	MaxCopy int64
}

// Open opens an array for reading. It is [OpenWith] without options.
func Open(path string) (*File, error) { return OpenWith(path, Options{}) }

// OpenWith opens the array of a .npy file for reading. Its elements are in the mapped file; in
// Fortran order the tensor is a permuted view, in the other byte order it is a copy. The caller
// closes the File.
//
// OpenWith returns a [FileError] with
//
//   - [ErrCorrupt]
//   - [ErrUnsupported] for elements that are not numbers of a tensor's dtype, for a structured
//     array or an archive, which are dictionaries: see [OpenDict], for more than one array, and
//     beyond MaxCopy
//   - [ErrLimit], or an error of the system, such as fs.ErrNotExist
func OpenWith(path string, opt Options) (*File, error) {
	mem, err := mapfile.OpenSingle(path, fileformat.Mapped(path))
	if err != nil {
		return nil, err
	}
	var t *tensor.Tensor
	err = mem.View(func(b []byte) (err error) {
		t, err = openArray(&mem.Part, b, opt)
		return err
	})
	if err != nil {
		_ = mem.Close() // nothing was written
		return nil, fileformat.Failed("open", path, "", err)
	}
	return &File{t, mem}, nil
}

// openArray returns the array of a file with bytes b.
func openArray(file *mapfile.Part, b []byte, opt Options) (*tensor.Tensor, error) {
	if isArchive(b) {
		return nil, unsupported("got an archive of arrays, want one: use OpenDict")
	}
	h, elements, err := mappedArray(file, b, nil)
	if err != nil {
		return nil, err
	}
	return h.array(elements, newRoom(opt.MaxCopy))
}

// mappedArray returns the header and the elements of an array in p, a part of a file with bytes b.
func mappedArray(p *mapfile.Part, b []byte, known headers) (*header, body, error) {
	h, err := readHeader(bytes.NewReader(b[p.Offset():][:p.Size()]), known)
	if err == nil {
		err = h.checkContent(int64(p.Size() - h.length))
	}
	if err != nil {
		return nil, nil, err
	}
	return h, func(d tensor.DType, shape ...int) (*tensor.Tensor, error) {
		return tensor.FromLender(d, p, p.Offset()+h.length, shape...)
	}, nil
}

// Read reads the array of a .npy file from r, and not a byte more, so that it can be called
// repeatedly for consecutive arrays. The memory that it takes is in proportion to the bytes that r
// has.
//
// Read returns a [FileError]: io.EOF if r has no bytes, [ErrCorrupt], [ErrUnsupported] as in
// [OpenWith], and errors of r.
func Read(r io.Reader) (*tensor.Tensor, error) {
	t, err := read(r)
	return t, fileformat.Failed("read", "", "", err)
}

func read(r io.Reader) (*tensor.Tensor, error) {
	unlimited := room{math.MaxInt64}
	h, err := readHeader(r, nil)
	if err != nil {
		return nil, err
	}
	return h.array(h.readBody(r, &unlimited), &unlimited)
}

// readBody returns a body for the elements that follow the header in r. It reads them on its first
// call, if the room allows it.
func (h *header) readBody(r io.Reader, room *room) body {
	var b []byte
	return func(d tensor.DType, shape ...int) (*tensor.Tensor, error) {
		if b == nil {
			err := room.take(h.content)
			if err == nil {
				b, err = readElements(r, h.content)
			}
			if err != nil {
				return nil, err
			}
		}
		return tensor.FromBytes(d, b, shape...)
	}
}

// Close refuses new operations on elements, which then return [ErrClosed], and unmaps the file. It
// does not wait for running operations, which complete; the last of them unmaps the file. Slices
// from tensor.Of must not be used after Close. Shapes stay, and so do elements that were copied.
// Close returns ErrClosed if it was called before.
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
