package nrt

import (
	"context"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged/joint"
)

// Save writes j to a file, which it creates or replaces as a whole. It is [SaveWith] without
// options.
func Save(path string, j *joint.Joint) error {
	return SaveWith(context.Background(), path, j, SaveOptions{})
}

// SaveOptions say how [SaveWith] saves. The zero value is the default.
type SaveOptions struct {
	// NoSync does not wait for the disk. If the process ends, the file is still either the whole
	// old one or the whole new one; but if the machine stops within about half a minute, it may be
	// neither.
	NoSync bool
}

// SaveWith writes j to a file, as [Write] does. If it returns nil, the file holds j, durably. After
// an error or a crash, the file is either the whole old one or the whole new one. The new file has
// the permissions of the old one. If path is a link, it stays one. j may have been opened from that
// file; such a collection keeps the old content. Some systems do not replace a mapped file. The
// first save of a process in a directory removes leftovers of saves that were killed.
//
// If j is a part of a collection, such as a range of rows, only that part is written. The name of
// its tree is not saved.
//
// SaveWith returns a [FileError] with
//
//   - [ErrUnsupported], with the field, for anything that the format does not have: features,
//     several trees, complex numbers and bfloat16, and a field "lengths" that readers would
//     ignore
//   - shapeops.ErrKind if j is nil
//   - [ErrClosed] or [ErrFault] for values in mapped files
//   - fs.ErrInvalid for a path that does not end in the name of a file, and fs.ErrExist if
//     something other than a regular file is there
//   - errors of the system, such as fs.ErrNotExist if the directory does not exist
//   - the error of ctx if ctx ends first
func SaveWith(ctx context.Context, path string, j *joint.Joint, opt SaveOptions) error {
	return fileformat.SaveFailed(path, save(ctx, path, j, opt))
}

func save(ctx context.Context, path string, j *joint.Joint, opt SaveOptions) error {
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
