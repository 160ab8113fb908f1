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

// A File is a dictionary whose tensors lie in a mapped file, or in the mapped shards of a set. It
// has all methods of the TensorDict in it, which is locked; where a *tdict.TensorDict is wanted,
// pass f.TensorDict. The methods of File itself return [ErrClosed] for the zero File, which holds
// no TensorDict.
//
// Elements cannot be written: that is tensor.ErrReadOnly. Safe for concurrent use, as long as it
// stays locked.
type File struct {
	*tdict.TensorDict
	files    []*mapfile.Single
	metadata map[string]string
	closed   atomic.Bool
}

// Metadata returns the strings of the file's __metadata__ by name, of a set those of the index, but
// for the one with batch shapes. The caller may change the map.
func (f *File) Metadata() map[string]string { return maps.Clone(f.metadata) }

// Options say how [OpenWith] opens. The zero value is the default.
type Options struct {
	// Keys are the keys to open, in this order; nil means all, in the order of keys. A key stands
	// for all below it too. Of other tensors nothing but the header is read, and shards of a set
	// that hold none of Keys are not opened.
	Keys []nestedkey.Key
	// Batch is the batch shape; nil means the one that was saved, or if none was, the longest shape
	// with which the shapes of all opened tensors begin.
	Batch []int
	// BatchDims is how many dims the batch shape has at most; a negative number means none. 0 means
	// the batch shape that was saved, or if none was, no bound.
	BatchDims int
	// Separator is between the parts of a name; "" means ".".
	Separator string
	// Flat makes each name a key of one part, whatever it contains.
	Flat bool
	// RawFloat8 opens 8-bit floats as the uint8 that their bytes are; otherwise they are
	// [ErrUnsupported].
	RawFloat8 bool
	// Metadata is the key under which the strings of the file's __metadata__ are Data, one
	// tdict.Object for all rows; of a set they are the index's metadata, where values other than
	// strings are JSON. "" leaves them out.
	Metadata nestedkey.Key
}

// Open opens a file, or the set of an index, with all of its tensors, for reading. It is [OpenWith]
// without options.
func Open(path string) (*File, error) { return OpenWith(path, Options{}) }

// OpenWith opens a file for reading, or if the path ends in ".index.json", the set of files whose
// tensors that index lists:
//
//	"obs.pos", F32 [B... F...] -> obs/pos, float32 [B... F...]
//
// The tensors lie in the mapped files; one that is not aligned for its dtype can be moved, computed
// with and cloned, and tensor.Of returns tensor.ErrLayout for it. A File holds no descriptors.
// Closing is up to the caller.
//
// OpenWith returns a [FileError] that says where: [ErrCorrupt], [ErrUnsupported], tdict.ErrExists
// if two names have one key, or a tensor lies below another, which Flat allows, tdict.ErrMissing
// for one of Keys that the file does not have, tdict.ErrDepth for a name of too many parts,
// shapeops.ErrShape for a tensor that does not begin with Batch, [ErrLimit], or an error of the
// system, such as fs.ErrNotExist for a file or a shard.
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

// Close refuses new operations on elements, which return [ErrClosed] from now on, and unmaps the
// files. It does not wait for operations under way, which read to the end what they have begun to
// read: a file is unmapped when the last of them ends. Slices that tensor.Of handed out must not be
// used any more. Keys, shapes and data stay. Close returns ErrClosed if it was called before.
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

// CloseWait begins the close if it has not begun, as [File.Close] does, and waits until the files
// are unmapped; some systems refuse to replace them until then. It returns the error of ctx if that
// ends first. It may be called any number of times, before and after Close.
func (f *File) CloseWait(ctx context.Context) error {
	if f == nil || f.TensorDict == nil {
		return ErrClosed
	}
	_ = f.Close() // all of them, before any wait; errors are reported below
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.CloseWait(ctx))
	}
	return errors.Join(errs...)
}
