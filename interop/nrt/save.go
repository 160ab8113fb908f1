package nrt

import (
	"context"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged"
)

// Save writes j to a file, which it makes or replaces as a whole. It is [SaveWith] without options.
func Save(path string, j *ragged.Joint) error {
	return SaveWith(context.Background(), path, j, SaveOptions{})
}

// SaveOptions say how [SaveWith] goes about it. The zero value is the default.
type SaveOptions struct {
	// NoSync does not wait for the disk. Whatever happens to the process, the file is all of the
	// old or all of the new; if the machine stops within the next half minute or so, it may be
	// neither.
	NoSync bool
}

// SaveWith writes j to a file, as [Write] does. If it returns nil, the file holds j, durably; on an
// error, and after a crash at any moment, it is the whole old file or the whole new one. The new
// file has the permissions of the old one, and a link to it stays a link. j can be one that was
// opened from that file, which lives on for whoever has it open; some systems do not replace a file
// that is mapped. The first save of a process in a directory removes what saves that were killed
// left there.
//
// Of a part of a collection, such as a range of rows, that part is written. The name of its tree is
// not kept.
//
// SaveWith returns a [FileError]: [ErrUnsupported], with the field, for what the format does not
// have: values with dims of their own, several trees, complex numbers and bfloat16, and a field
// "lengths" that readers would pass over; shapeops.ErrKind if j is nil, [ErrClosed] and [ErrFault]
// of values in mapped files, fs.ErrInvalid for a path that is no name for a file, fs.ErrExist if
// something other than a regular file is there, what the system says, such as fs.ErrNotExist if the
// directory is not there, and ctx's error if that ends first.
func SaveWith(ctx context.Context, path string, j *ragged.Joint, opt SaveOptions) error {
	return fileformat.SaveFailed(path, save(ctx, path, j, opt))
}

func save(ctx context.Context, path string, j *ragged.Joint, opt SaveOptions) error {
	p, err := newPlan(j)
	if err != nil {
		return err
	}
	at, err := vfs.ResolveFile(path)
	if err != nil {
		return err
	}
	return vfs.SaveFile(ctx, vfs.OS, at, vfs.FileOptions{NoSync: opt.NoSync}, func(f vfs.File) error { return p.writeTo(f) })
}
