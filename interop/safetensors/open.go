package safetensors

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A File is a dictionary whose tensors are in a mapped file, or in the mapped shards of a set. It
// embeds a TensorDict, which is locked; where a *tdict.TensorDict is required, pass f.TensorDict.
// The zero File has none; the methods of File itself then return [ErrClosed].
//
// Writing to elements is tensor.ErrReadOnly. Safe for concurrent use while it is locked.
type File struct {
	*tdict.TensorDict
	files    []*mapfile.Single
	metadata map[string]string
	closed   atomic.Bool
}

// Metadata returns the strings of the file's __metadata__ by name, without the string that holds
// batch shapes. For a set it returns the strings of the index. The caller may change the map.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Options say how [OpenWith] opens. The zero value is the default.
type Options struct {
	// Keys are the keys to open, in this order; nil means all, sorted. A key includes the keys
	// nested in it. Of other tensors only the header is read, and shards of a set without a tensor
	// to open are not opened.
	Keys []nestedkey.Key
	// Batch is the batch shape. Nil means the saved batch shape or, if none was saved, the longest
	// common prefix of the shapes of all opened tensors.
	Batch []int
	// BatchDims is the largest number of batch dims; a negative number means no batch dims. 0 means
	// the saved batch shape or, if none was saved, no limit.
	BatchDims int
	// Separator separates the parts of a name; "" means ".".
	Separator string
	// Flat makes each name a key of one part.
	Flat bool
	// RawFloat8 opens the bytes of 8-bit floats as uint8; otherwise they are [ErrUnsupported].
	RawFloat8 bool
	// Metadata is a key for the strings of the file's __metadata__, as Data: one tdict.Object for
	// all rows. For a set it is the index's metadata, in which values other than strings are JSON.
	// "" leaves them out.
	Metadata nestedkey.Key
}

// Open opens a file, or the set of an index, with all of its tensors, for reading. It is [OpenWith]
// without options.
func Open(path string) (*File, error) { return OpenWith(path, Options{}) }

// OpenWith opens a file for reading. If the path ends in ".index.json", it opens the set of files
// whose tensors that index lists:
//
//	"obs.pos", F32 [B... F...] -> obs/pos, float32 [B... F...]
//
// The tensors stay in the mapped files. A tensor that is not aligned for its dtype can be moved,
// computed with and cloned; only tensor.Of returns tensor.ErrLayout for it. A File holds no
// descriptors. The caller closes the File.
//
// OpenWith returns a [FileError] with the file and the tensor:
//
//   - [ErrCorrupt] or [ErrUnsupported]
//   - tdict.ErrExists if two names have one key, or if the key of a tensor is nested in the key
//     of another; Flat allows that
//   - tdict.ErrMissing for a key in Keys that the file does not have
//   - tdict.ErrDepth for a name of too many parts
//   - shapeops.ErrShape for a tensor whose shape does not begin with Batch
//   - [ErrLimit], or an error of the system, such as fs.ErrNotExist for a file or a shard
func OpenWith(path string, opt Options) (*File, error) {
	r := &reader{path: path, opt: opt, shards: map[string]*shard{}}
	td, err := r.dictionary()
	if err != nil {
		for _, file := range r.files {
			_ = file.Close() // nothing was lent
		}
		return nil, fileformat.Failed("open", path, "", err)
	}
	return &File{TensorDict: td, files: r.files, metadata: r.texts()}, nil
}

// Close refuses new operations on elements, which then return [ErrClosed], and unmaps the files. It
// does not wait for running operations, which complete; the last of them unmaps the file. Slices
// from tensor.Of must not be used after Close. Keys, shapes and data stay. Close returns ErrClosed
// if it was called before.
func (f *File) Close() error {
	if f == nil || f.TensorDict == nil || f.closed.Swap(true) {
		return ErrClosed
	}
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// CloseWait closes f, as [File.Close] does, if it is open, and waits until the files are unmapped;
// some systems do not replace them until then. If ctx ends first, it returns the error of ctx. It
// may be called any number of times, before and after Close.
func (f *File) CloseWait(ctx context.Context) error {
	if f == nil || f.TensorDict == nil {
		return ErrClosed
	}
	_ = f.Close() // closes all files before waiting for one; its errors are returned below too
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.CloseWait(ctx))
	}
	return errors.Join(errs...)
}
