package npy

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Save writes t to a file, which it makes or replaces as a whole. It is [SaveWith] without options.
func Save(path string, t *tensor.Tensor) error {
	return SaveWith(context.Background(), path, t, SaveOptions{})
}

// SaveOptions say how [SaveWith] saves. The zero value is the default.
type SaveOptions struct {
	// NoSync does not wait for the disk. Whatever happens to the process, the file is all of the
	// old or all of the new; if the machine stops within the next half minute or so, it may be
	// neither.
	NoSync bool
}

// SaveWith writes t to a .npy file, as [Write] does. If it returns nil, the file holds t, durably;
// on an error, and after a crash at any moment, it is the whole old file or the whole new one. The
// new file has the permissions of the old one, and a link to it stays a link. t can be one that was
// opened from that file, which lives on for whoever has it open; some systems do not replace a file
// that is mapped. The name of the file is not looked at. The first save of a process in a directory
// removes what saves that were killed left there.
//
// SaveWith returns a [FileError]: [ErrUnsupported] for bfloat16 and for more than 64 dims,
// tensor.ErrMeta for a tensor without elements, shapeops.ErrKind if t is nil, [ErrClosed] and
// [ErrFault] of elements in mapped files, fs.ErrInvalid for a path that is no name for a file,
// fs.ErrExist if something other than a regular file is there, errors of the system, such as
// fs.ErrNotExist if the directory is not there, and ctx's error if that ends first.
func SaveWith(ctx context.Context, path string, t *tensor.Tensor, opt SaveOptions) error {
	a, err := newArray(t)
	if err == nil {
		err = saveFile(ctx, vfs.OS, path, opt.NoSync, func(f vfs.File) error { return a.writeTo(f) })
	}
	return fileformat.SaveFailed(path, err)
}

// Write writes to w the bytes that NumPy writes for the array: in Fortran order if its elements lie
// in that order, or in C order, the header padded to a multiple of 64. Elements go from where they
// are to w; elements that lie in neither order are copied before. After an error a part may have
// been written. Write returns the errors of [SaveWith] about t, and the errors of w.
func Write(w io.Writer, t *tensor.Tensor) error {
	a, err := newArray(t)
	if err == nil {
		err = a.writeTo(w)
	}
	return fileformat.Failed("write", "", "", err)
}

// saveFile puts a file with what write writes at path.
func saveFile(ctx context.Context, disk vfs.FS, path string, noSync bool, write func(vfs.File) error) error {
	at, err := vfs.ResolveFile(path)
	if err != nil {
		return err
	}
	return vfs.SaveFile(ctx, disk, at, vfs.FileOptions{NoSync: noSync}, write)
}

// An array is a file to be written.
type array struct {
	head []byte
	body *tensor.Tensor // the elements, row-major
}

// newArray checks all that can be wrong with t.
func newArray(t *tensor.Tensor) (array, error) {
	switch {
	case t == nil:
		return array{}, fmt.Errorf("%w: got a nil tensor", shapeops.ErrKind)
	case t.Device() == tensor.Meta:
		return array{}, tensor.ErrMeta
	}
	body, fortran, err := rowMajor(t)
	if err != nil {
		return array{}, err
	}
	head, err := newHeader(t.DType(), t.Shape(), fortran)
	return array{head, body}, err
}

// rowMajor returns t, or t with its dims reversed if its elements lie in Fortran order.
func rowMajor(t *tensor.Tensor) (body *tensor.Tensor, fortran bool, err error) {
	if t.View().IsContiguous() {
		return t, false, nil
	}
	order := make([]int, len(t.Shape()))
	for dim := range order {
		order[dim] = dim
	}
	slices.Reverse(order)
	turned, err := t.Permute(order...)
	if err != nil || !turned.View().IsContiguous() {
		return t, false, err
	}
	return turned, true, nil
}

func (a array) writeTo(w io.Writer) error {
	if _, err := w.Write(a.head); err != nil {
		return err
	}
	_, err := a.body.WriteTo(w)
	return err
}
