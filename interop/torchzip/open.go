package torchzip

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A File is a file of torch.save that holds one tensor. Safe for concurrent use if its reader is.
type File struct {
	r       io.ReaderAt
	spec    spec
	meta    *tensor.Tensor
	payload zipfile.Entry // the storage
}

// Open reads the description of the tensor in a file of size bytes, but not its elements. It does
// not close r, which [File.Read] uses.
//
// Open returns a [FileError]: [ErrCorrupt], [ErrUnsupported] for a file that is not one tensor on
// the device "cpu", and errors of r.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f, err := open(r, size)
	return f, fileformat.Failed("open", "", "", err)
}

func open(r io.ReaderAt, size int64) (*File, error) {
	first := make([]byte, 2)
	if _, _ = r.ReadAt(first, 0); string(first) == "\x80\x02" { // zipfile returns the error
		return nil, unsupported("got the format of torch before version 1.6: load it and call torch.save")
	}
	a, err := zipfile.Open(r, size, zipfile.MaxEntries)
	if err != nil {
		return nil, err
	}
	if len(a.Entries) == 0 {
		return nil, corrupt("got an archive without entries")
	}
	dir, _, _ := strings.Cut(a.Entries[0].Name, "/")
	order, err := content(r, a, dir+"/byteorder")
	if err == nil && order != byteOrder() && (order != "" || byteOrder() != "little") { // old files have no entry
		err = unsupported("got byte order %q, want %q", order, byteOrder())
	}
	if err != nil {
		return nil, err
	}
	pickle, err := content(r, a, dir+"/data.pkl")
	if err != nil {
		return nil, err
	}
	f := &File{r: r}
	if f.spec, err = unpickle([]byte(pickle)); err == nil {
		f.meta, err = f.spec.check()
	}
	if err != nil {
		return nil, fileformat.In(dir+"/data.pkl", err)
	}
	var ok bool
	f.payload, ok = a.Find(dir + "/data/" + f.spec.key)
	width := int64(f.meta.DType().Size())
	switch {
	case !ok || f.payload.Size%width != 0 || f.payload.Size/width != int64(f.spec.n):
		return nil, corrupt("got no storage of %d %v as data/%s", f.spec.n, f.meta.DType(), f.spec.key)
	case f.payload.Method != zipfile.Stored:
		return nil, unsupported("got a storage that is compressed")
	}
	return f, nil
}

// content returns the content of a small entry; "" if there is none.
func content(r io.ReaderAt, a *zipfile.Archive, name string) (string, error) {
	e, _ := a.Find(name)
	if e.Size > maxPickle {
		return "", fileformat.In(name, unsupported("got %d bytes, want at most %d", e.Size, maxPickle))
	}
	b := make([]byte, e.Size)
	_, err := io.ReadFull(e.Reader(r), b)
	return string(b), fileformat.In(name, err)
}

// check returns a tensor without elements with the dtype and shape of s. It returns [ErrCorrupt] if
// s reaches beyond its storage.
func (s *spec) check() (*tensor.Tensor, error) {
	if len(s.shape) != len(s.strides) || len(s.shape) > maxDims {
		return nil, corrupt("got %d sizes and %d strides, want the same number, at most %d", len(s.shape), len(s.strides), maxDims)
	}
	meta, err := tensor.NewMeta(s.dtype, s.shape...)
	if err != nil {
		return nil, corrupt("%w", err)
	}
	s.span = 1
	room := s.n - s.offset // elements from the first on
	for dim, n := range s.shape {
		if n > 1 && s.strides[dim] > 0 && n-1 > room/s.strides[dim] {
			room = 0
		} else if n > 1 {
			s.span += (n - 1) * s.strides[dim]
			room -= (n - 1) * s.strides[dim]
		}
	}
	if meta.Size() > 0 && room < 1 {
		return nil, corrupt("shape %v, strides %v and offset %d reach beyond a storage of %d", s.shape, s.strides, s.offset, s.n)
	}
	return meta, nil
}

// Meta returns a tensor without elements, with the dtype and shape of the tensor in the file.
func (f *File) Meta() *tensor.Tensor { return f.meta }

// Read reads the storage and returns the tensor as a view of it, with its strides in torch. If the
// strides let elements overlap, the tensor cannot be written to.
//
// Read returns a [FileError]: [ErrCorrupt] for elements that do not have their checksum, or bools
// that are neither 0 nor 1, and errors of the reader.
func (f *File) Read() (*tensor.Tensor, error) {
	b := cast.Uninit(int(f.payload.Size))
	err := f.fill(b)
	var x *tensor.Tensor
	if err == nil {
		x, err = f.spec.view(b)
	}
	return x, fileformat.Failed("read", "", f.payload.Name, err)
}

// pieceBytes is how many bytes are read at a time, so that their checksum is computed while they
// are in the processor's cache.
const pieceBytes = 128 << 10

// fill fills b with the storage.
func (f *File) fill(b []byte) error {
	r := f.payload.Reader(f.r)
	for piece := range slices.Chunk(b, pieceBytes) {
		if _, err := io.ReadFull(r, piece); err != nil {
			return err
		}
	}
	if f.spec.dtype == tensor.Bool && tensor.CheckBools(b) != nil {
		return corrupt("got a bool that is neither 0 nor 1")
	}
	return nil
}

// view returns the tensor of a storage.
func (s spec) view(b []byte) (*tensor.Tensor, error) {
	if slices.Contains(s.shape, 0) {
		return tensor.New(s.dtype, s.shape...)
	}
	x, err := tensor.FromBytes(s.dtype, b, s.n)
	if err == nil {
		x, err = x.Narrow(0, s.offset, s.span)
	}
	for dim, n := range s.shape {
		if err != nil {
			return nil, err
		}
		if n == 1 || s.strides[dim] == 0 {
			x, err = x.Unsqueeze(dim)
		} else { // windows with the elements of the dims after it: [... span] -> [... n rest]
			s.span -= (n - 1) * s.strides[dim]
			x, err = shapeops.Unfold(x, dim, s.span, s.strides[dim])
		}
	}
	if err == nil {
		x, err = x.Squeeze(-1)
	}
	if err != nil {
		return nil, err
	}
	return x.Expand(s.shape...)
}

// ReadInto reads the tensor into dst, which has the same dtype and shape. If the tensor is all of
// its storage and dst is contiguous, the elements are read into dst directly; otherwise the storage
// is read into memory first. If reading fails, the elements of dst may have changed.
//
// ReadInto returns a [FileError] with the errors of [File.Read], tensor.ErrDType or
// shapeops.ErrShape for a dst of another dtype or shape, shapeops.ErrKind for nil, and errors of
// the memory of dst.
func (f *File) ReadInto(dst *tensor.Tensor) error {
	var err error
	if !f.straight(dst) {
		err = f.copyInto(dst)
	} else if flat, reshaped := dst.Reshape(dst.Size()); reshaped == nil {
		flat, _ = flat.Reinterpret(tensor.Uint8) // always narrower or as wide
		lent := tensor.Write(flat, func(b []uint8) { err = f.fill(b) })
		err = errors.Join(err, lent)
	}
	return fileformat.Failed("read", "", f.payload.Name, err)
}

// copyInto copies the tensor to dst.
func (f *File) copyInto(dst *tensor.Tensor) error {
	if dst == nil {
		return shapeops.ErrKind
	}
	x, err := f.Read()
	if err != nil {
		return err
	}
	return dst.CopyFrom(x)
}

// straight reports whether the storage can be read into dst directly.
func (f *File) straight(dst *tensor.Tensor) bool {
	v := shapeops.View{Shape: f.spec.shape, Strides: f.spec.strides}
	return dst != nil && dst.DType() == f.spec.dtype && dst.Shape().Equal(v.Shape) && dst.Device() == tensor.CPU &&
		dst.View().IsContiguous() && v.IsContiguous() && f.spec.n > 0 && dst.Size() == f.spec.n
}
