package safetensors

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// SaveOptions say how [SaveWith] and [Write] write. The zero value is the default.
type SaveOptions struct {
	// Separator is put between the parts of a key; "" means ".".
	Separator string
	// Metadata is put into the file's __metadata__. Python's transformers opens files with
	// "format": "pt". The name "tensordict" is this package's.
	Metadata map[string]string
	// SkipOthers leaves out data, ragged and unbatched tensors. Otherwise they are
	// [ErrUnsupported].
	SkipOthers bool
	// NoSync does not wait for the disk. Whatever happens to the process, the file is all of the
	// old or all of the new; if the machine stops within the next half minute or so, it may be
	// neither.
	NoSync bool
}

// Save writes td to a file, which it makes or replaces as a whole. It is [SaveWith] without
// options.
func Save(path string, td *tdict.TensorDict) error {
	return SaveWith(context.Background(), path, td, SaveOptions{})
}

// SaveWith writes td to a file, as [Write] does. If it returns nil, the file holds td, durably; on
// an error, and after a crash at any moment, it is the whole old file or the whole new one. The new
// file has the permissions of the old one, and a link to it stays a link. td can be one that was
// opened from that file, which lives on for whoever has it open; some systems do not replace a file
// that is mapped. Of the name only a final ".index.json" matters, which is refused. The first save
// of a process in a directory removes what saves that were killed left there.
//
// SaveWith returns a [FileError]: [ErrUnsupported] for complex128, and unless SkipOthers is set for
// leaves that are not tensors, with all their keys, and for keys that contain the separator where
// batch shapes of nested dictionaries are saved, tdict.ErrExists if two tensors have one name,
// shapeops.ErrKind if td is nil, [ErrClosed] and [ErrFault] of values in mapped files,
// tensor.ErrMeta of tensors without elements, fs.ErrInvalid for a path that is no name for a file
// or ends in ".index.json", fs.ErrExist if something other than a regular file is there, errors of
// the system, such as fs.ErrNotExist if the directory is not there, and ctx's error if that ends
// first.
func SaveWith(ctx context.Context, path string, td *tdict.TensorDict, opt SaveOptions) error {
	p, err := newPlan(td, opt)
	at := ""
	if err == nil && strings.HasSuffix(path, indexEnd) {
		err = fmt.Errorf("%w: a name that ends in %q is that of the index of a set", fs.ErrInvalid, indexEnd)
	}
	if err == nil {
		at, err = vfs.ResolveFile(path)
	}
	if err == nil {
		err = p.save(ctx, vfs.OS, at)
	}
	return fileformat.SaveFailed(path, err)
}

// save saves the file at a path, which is as vfs.ResolveFile returns it.
func (p *plan) save(ctx context.Context, disk vfs.FS, at string) error {
	return vfs.SaveFile(ctx, disk, at, vfs.FileOptions{NoSync: p.opt.NoSync}, func(f vfs.File) error { return p.writeTo(f) })
}
