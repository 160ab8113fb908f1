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
	// Separator separates the parts of a key in a name; "" means ".".
	Separator string
	// Metadata is added to the file's __metadata__. Python's transformers opens files with
	// "format": "pt". The name "tensordict" is reserved.
	Metadata map[string]string
	// SkipOthers leaves out data, ragged and unbatched tensors. Otherwise they are
	// [ErrUnsupported].
	SkipOthers bool
	// NoSync does not wait for the disk. If the process ends, the file is still either the whole
	// old one or the whole new one; but if the machine stops within about half a minute, it may be
	// neither.
	NoSync bool
}

// Save writes td to a file, which it creates or replaces as a whole. It is [SaveWith] without
// options.
func Save(path string, td tdict.Dictionary) error {
	return SaveWith(context.Background(), path, td, SaveOptions{})
}

// SaveWith writes td to a file, as [Write] does. If it returns nil, the file holds td, durably.
// After an error or a crash, the file is either the whole old one or the whole new one. The new
// file has the permissions of the old one. If path is a link, it stays one. td may have been opened
// from that file; such a dictionary keeps the old content. Some systems do not replace a mapped
// file. The name of the file does not matter, but must not end in ".index.json". The first save of
// a process in a directory removes leftovers of saves that were killed.
//
// SaveWith returns a [FileError] with
//
//   - [ErrUnsupported] for complex128; for leaves that are not tensors, with all their keys,
//     unless SkipOthers is set; and for keys that contain the separator if batch shapes of nested
//     dictionaries are saved
//   - tdict.ErrExists if two tensors have one name, and shapeops.ErrKind if td is nil
//   - [ErrClosed] or [ErrFault] for values in mapped files, and tensor.ErrMeta for tensors
//     without elements
//   - fs.ErrInvalid for a path that does not end in the name of a file or ends in ".index.json",
//     and fs.ErrExist if something other than a regular file is there
//   - errors of the system, such as fs.ErrNotExist if the directory does not exist
//   - the error of ctx if ctx ends first
func SaveWith(ctx context.Context, path string, td tdict.Dictionary, opt SaveOptions) error {
	p, err := newPlan(tdict.Of(td), opt)
	at := ""
	if err == nil && strings.HasSuffix(path, indexEnd) {
		err = fmt.Errorf("%w: a name that ends in %q is for the index of a set", fs.ErrInvalid, indexEnd)
	}
	if err == nil {
		at, err = vfs.ResolveFile(path)
	}
	if err == nil {
		err = vfs.SaveFile(ctx, vfs.OS, at, vfs.FileOptions{NoSync: opt.NoSync}, func(f vfs.File) error { return p.writeTo(f) })
	}
	return fileformat.SaveFailed(path, err)
}
