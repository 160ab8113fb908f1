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

// A File is an array in a mapped file. It has all methods of the Tensor in it; where a
// *tensor.Tensor is wanted, pass f.Tensor. The methods of File itself return [ErrClosed] for the
// zero File, which holds no Tensor.
//
// Elements in the mapped file cannot be written: that is tensor.ErrReadOnly. Elements that were
// copied, as those in the other byte order are, lie in memory of their own: they can be written,
// and the file stays as it is. Safe for concurrent use, but for writing them.
type File struct {
	*tensor.Tensor
	mem *mapfile.Single
}

// Options say how [OpenWith] opens. The zero value is the default.
type Options struct {
	// MaxCopy is how many bytes may be copied into memory, as elements in the other byte order are;
	// 0, or less, means 1 GiB.
	MaxCopy int64
}

// Open opens an array for reading. It is [OpenWith] without options.
func Open(path string) (*File, error) { return OpenWith(path, Options{}) }

// OpenWith opens the array of a .npy file for reading. Its elements lie in the mapped file; in
// Fortran order they are a permuted view, in the other byte order a copy. Closing is up to the
// caller.
//
// OpenWith returns a [FileError]: [ErrCorrupt], [ErrUnsupported] for elements that are not numbers
// which tensors hold, for a structured array and an archive, which are dictionaries, see
// [OpenDict], for more than one array and for more than MaxCopy allows, [ErrLimit], or an error of
// the system, such as fs.ErrNotExist.
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
		_ = mem.Close() // it was only read
		return nil, fileformat.Failed("open", path, "", err)
	}
	return &File{t, mem}, nil
}

// openArray returns the array of a file of bytes b.
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

// mappedArray returns the header and the elements of an array that is a part of a file of bytes b.
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

// Read reads the array of a .npy file from r, and not a byte more, so that it can be called again
// where several arrays follow one another. Memory is in proportion to the bytes that r has.
//
// Read returns a [FileError]: io.EOF if r has no bytes, [ErrCorrupt], [ErrUnsupported] as
// [OpenWith] has it, and errors of r.
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

// readBody returns the elements that follow the header in r, which it reads, if there is room, when
// they are wanted.
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

// Close refuses new operations on elements, which return [ErrClosed] from now on, and unmaps the
// file. It does not wait for operations under way, which read to the end what they have begun to
// read: the file is unmapped when the last of them ends. Slices that tensor.Of handed out must not
// be used any more. Shapes stay, and so do elements that were copied. Close returns ErrClosed if it
// was called before.
func (f *File) Close() error {
	if f == nil || f.mem == nil {
		return ErrClosed
	}
	return f.mem.Close()
}

// CloseWait begins the close if it has not begun, as [File.Close] does, and waits until the file is
// unmapped; some systems refuse to replace it until then. It returns the error of ctx if that ends
// first. It may be called any number of times, before and after Close.
func (f *File) CloseWait(ctx context.Context) error {
	if f == nil || f.mem == nil {
		return ErrClosed
	}
	return f.mem.CloseWait(ctx)
}
