package npy

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Save writes t to a file, which it creates or replaces as a whole. It is [SaveWith] without
// options.
func Save(path string, t *tensor.Tensor) error {
	return SaveWith(context.Background(), path, t, SaveOptions{})
}

// SaveOptions say how [SaveWith] saves. The zero value is the default.
type SaveOptions struct {
	// NoSync does not wait for the disk. If the process ends, the file is still either the whole
	// old one or the whole new one; but if the machine stops within about half a minute, it may be
	// neither.
	NoSync bool
}

// SaveWith writes t to a .npy file, as [Write] does. If it returns nil, the file holds t, durably.
// After an error or a crash, the file is either the whole old one or the whole new one. The new
// file has the permissions of the old one. If path is a link, it stays one. t may have been opened
// from that file; such a tensor keeps the old content. Some systems do not replace a mapped file.
// The name of the file does not matter. The first save of a process in a directory removes
// leftovers of saves that were killed.
//
// SaveWith returns a [FileError] with
//
//   - [ErrUnsupported] for bfloat16 and for more than 64 dims
//   - tensor.ErrMeta for a tensor without elements, and shapeops.ErrKind if t is nil
//   - [ErrClosed] or [ErrFault] for elements in mapped files
//   - fs.ErrInvalid for a path that does not end in the name of a file, and fs.ErrExist if
//     something other than a regular file is there
//   - errors of the system, such as fs.ErrNotExist if the directory does not exist
//   - the error of ctx if ctx ends first
func SaveWith(ctx context.Context, path string, t *tensor.Tensor, opt SaveOptions) error {
	a, err := newArray(t)
	if err == nil {
		err = saveFile(ctx, path, opt.NoSync, func(f vfs.File) error { return a.writeTo(f) })
	}
	return fileformat.SaveFailed(path, err)
}

// Write writes to w the bytes that NumPy writes for the array: in Fortran order if the elements are
// stored in that order, otherwise in C order, with the header padded to a multiple of 64. Elements
// that are stored in one of these orders are written without a copy. After an error, a part may
// have been written. Write returns the errors of [SaveWith] about t, and the errors of w.
func Write(w io.Writer, t *tensor.Tensor) error {
	a, err := newArray(t)
	if err == nil {
		err = a.writeTo(w)
	}
	return fileformat.Failed("write", "", "", err)
}

// saveFile saves a file at path with the content that write writes.
func saveFile(ctx context.Context, path string, noSync bool, write func(vfs.File) error) error {
	at, err := vfs.ResolveFile(path)
	if err != nil {
		return err
	}
	return vfs.SaveFile(ctx, vfs.OS, at, vfs.FileOptions{NoSync: noSync}, write)
}

// An array is a file to be written.
type array struct {
	head []byte
	body *tensor.Tensor // the elements, row-major
}

// newArray returns the array for t. It does all checks of t.
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

// rowMajor returns t, or t with its dims reversed if its elements are stored in Fortran order.
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
	_, err := bundle.Write(w, a.body)
	return err
}
