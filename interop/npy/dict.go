package npy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Dict is a dictionary of arrays in a mapped file: the members of an .npz archive, or the fields
// of a structured array. It embeds a TensorDict; where a *tdict.TensorDict is required, pass
// d.TensorDict. The zero Dict has none; the methods of Dict itself then return [ErrClosed].
//
// The dictionary is locked. Writing to elements in the mapped file is tensor.ErrReadOnly. Elements
// that were copied, as [OpenDictWith] says, can be written without a change of the file. Safe for
// concurrent use, except for writing elements.
type Dict struct {
	*tdict.TensorDict
	mem *mapfile.Single
}

// DictOptions say how [OpenDictWith] opens. The zero value is the default.
type DictOptions struct {
	// Keys are the keys to open, in this order; nil means all, in the order of the file. A key
	// includes the keys nested in it. Other members are not read.
	Keys []nestedkey.Key
	// Batch is the batch shape. If it is nil, the batch shape is the longest common prefix of the
	// shapes of all arrays, or the shape of the structured array, with at most BatchDims dims.
	Batch []int
	// BatchDims is the largest number of batch dims if Batch is nil. 0 means no limit, a negative
	// number no batch dims.
	BatchDims int
	// Separator separates the parts of a key in the name of a member; "" means "/".
	Separator string
	// Flat makes the name of each member a key of one part. Fields of records stay nested.
	Flat bool
	// MaxCopy is the largest number of bytes to inflate or copy into memory; 0 or less means 1 GiB.
	// It bounds the memory that a malicious file can make OpenDict allocate.
	MaxCopy int64
	// SkipSums reads stored members without comparing their checksums.
	SkipSums bool
	// SkipUnsupported leaves out members and fields that would be [ErrUnsupported]: members that
	// are not arrays, and elements that are not numbers of a tensor's dtype.
	SkipUnsupported bool
}

// OpenDict opens an .npz archive, or a structured array, for reading. It is [OpenDictWith] without
// options.
func OpenDict(path string) (*Dict, error) { return OpenDictWith(path, DictOptions{}) }

// OpenDictWith opens an .npz archive, or a .npy file with a structured array, for reading. It
// recognizes the format by the content of the file, not by its name. Members and fields become
// tensors:
//
//	member "obs/x.npy", an array [A B]            -> key "obs/x" [A B]
//	field "x" of an array [N], with dims [D]      -> key "x" [N D]
//	field "x" of member "v.npy", an array [N]     -> key "v/x" [N]
//
// The elements of stored members are in the mapped file, aligned or not. OpenDictWith copies
//
//   - deflated members
//   - elements in the other byte order
//   - fields whose offset or record size is not a multiple of the size of their numbers
//
// The CRC-32 of a stored member is compared when its elements are first used, and only then; the
// operation returns [ErrCorrupt] if it differs. [Verify] compares all. The caller closes the Dict.
//
// OpenDictWith returns a [FileError] that names the member or field: [ErrCorrupt], [ErrUnsupported]
// for anything that SkipUnsupported would leave out, or beyond MaxCopy, tdict.ErrMissing for a key
// that the file does not have, tdict.ErrExists for a key that is given twice or that two arrays
// have, shapeops.ErrShape for an array whose shape does not begin with Batch, [ErrLimit], or an
// error of the system, such as fs.ErrNotExist.
func OpenDictWith(path string, opt DictOptions) (*Dict, error) {
	mem, err := mapfile.OpenSingle(path, fileformat.Mapped(path))
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, mem: mem, opt: opt, room: newRoom(opt.MaxCopy), known: headers{}, wanted: newChoice(opt.Keys)}
	var td *tdict.TensorDict
	err = mem.View(func(b []byte) (err error) {
		r.bytes = b
		td, err = r.dict()
		return err
	})
	if err != nil {
		_ = mem.Close() // nothing was written
		return nil, fileformat.Failed("open", path, "", err)
	}
	return &Dict{td, mem}, nil
}

// Close is [File.Close] for all arrays. Keys and shapes stay.
func (d *Dict) Close() error {
	if d == nil || d.mem == nil {
		return ErrClosed
	}
	return d.mem.Close()
}

// CloseWait is [File.CloseWait] for all arrays.
func (d *Dict) CloseWait(ctx context.Context) error {
	if d == nil || d.mem == nil {
		return ErrClosed
	}
	return d.mem.CloseWait(ctx)
}

// A reader reads a file as a dictionary.
type reader struct {
	path    string // for errors
	mem     *mapfile.Single
	bytes   []byte // of the file
	opt     DictOptions
	room    *room
	known   headers
	wanted  choice
	entries []bundle.Entry
	refused []*FileError // unsupported members and fields
}

// dict reads everything but elements.
func (r *reader) dict() (*tdict.TensorDict, error) {
	read := r.structured
	if isArchive(r.bytes) {
		read = r.archive
	}
	err := read()
	if err == nil {
		err = r.refusal()
	}
	if err != nil {
		return nil, err
	}
	keys := make([]nestedkey.Key, len(r.entries))
	for i, e := range r.entries {
		keys[i] = e.Key
	}
	picked, err := bundle.Select(keys, r.opt.Keys)
	if err != nil {
		return nil, err
	}
	entries := make([]bundle.Entry, len(picked))
	for i, at := range picked {
		entries[i] = r.entries[at]
	}
	td, err := bundle.Dict(entries, r.opt.Batch, r.opt.BatchDims)
	if errors.Is(err, tdict.ErrExists) && !r.opt.Flat {
		err = fmt.Errorf("%w: set Flat to keep names whole", err)
	}
	return td, err
}

// separator returns the separator of names, or "" for none.
func (r *reader) separator() string {
	if r.opt.Flat {
		return ""
	}
	return cmp.Or(r.opt.Separator, "/")
}

// structured reads a structured array.
func (r *reader) structured() error {
	h, elements, err := mappedArray(&r.mem.Part, r.bytes, nil)
	if err != nil {
		return err
	}
	if !h.record {
		return unsupported("got one array, which is not a dictionary: use Open")
	}
	if r.opt.Batch == nil {
		r.opt.Batch = h.shape[:min(len(h.shape), bound(r.opt.BatchDims))]
	}
	return r.columns(nil, h, elements)
}

// bound returns the largest number of batch dims.
func bound(dims int) int {
	if dims == 0 {
		return maxRank
	}
	return max(dims, 0)
}

// columns adds the selected columns of a structured array, whose key has the given parts.
func (r *reader) columns(parts []string, h *header, elements body) error {
	for _, c := range h.columns(column{key: parts}) {
		key := nestedkey.Of(c.key[0], c.key[1:]...)
		if !r.wanted.covers(key) {
			continue
		}
		t, err := h.value(c, elements, r.room)
		if err = r.add(key, string(key), t, err); err != nil {
			return err
		}
	}
	return nil
}

// maxArrays is the largest number of arrays in a dictionary.
const maxArrays = 1 << 20

// add adds an array. If err is not nil, it records err for name instead.
func (r *reader) add(key nestedkey.Key, name string, t *tensor.Tensor, err error) error {
	if err != nil {
		return r.refuse(name, err)
	}
	if len(r.entries) == maxArrays {
		return unsupported("got more than %d arrays", maxArrays)
	}
	r.entries = append(r.entries, bundle.Entry{Key: key, Value: t})
	return nil
}

// refuse records err for a member or field if it is ErrUnsupported. It returns other errors.
func (r *reader) refuse(name string, err error) error {
	if !errors.Is(err, ErrUnsupported) || errors.Is(err, errRoom) {
		return fileformat.Failed("open", r.path, name, err)
	}
	r.refused = append(r.refused, &FileError{Op: "open", Path: r.path, Name: name, Err: err})
	return nil
}

// refusal returns an error about everything that was refused, unless SkipUnsupported is set.
func (r *reader) refusal() error {
	switch {
	case len(r.refused) == 0 || r.opt.SkipUnsupported:
		return nil
	case len(r.refused) == 1:
		e := *r.refused[0]
		e.Err = fmt.Errorf("%w; SkipUnsupported leaves it out", e.Err)
		return &e
	}
	var all []string
	for _, e := range r.refused {
		all = append(all, errtext.Quote(e.Name)+": "+strings.TrimPrefix(e.Err.Error(), ErrUnsupported.Error()+": "))
	}
	return unsupported("%d members or fields, which SkipUnsupported leaves out: %s", len(all), strings.Join(all, "; "))
}
