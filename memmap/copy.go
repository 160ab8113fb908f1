package memmap

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// CopyOptions say how [Copy] goes about it. The zero value is the default.
type CopyOptions struct {
	Open OpenOptions // of what is copied; Writable is not looked at
	Save SaveOptions // of the copy, with Progress; nested tensors of Python's stay such without being named
}

// Copy saves the dictionary at from, a directory or a file, at to, in the form that opt.Save.Form
// says: by default that of what is there, and where nothing is, an archive for a name that ends in
// .tdz, a consolidated file for .tdc, else a directory. It keeps what [SaveWith] keeps: kinds of
// value, names of dims and classes, offsets that are shared; and the schema, unless opt.Save has
// another.
//
// While it copies, Copy compares the checksums that leaves of from have, so that damage does not
// get new ones: a leaf whose sum is another is [ErrCorrupt], with its file in from. Leaves without
// checksums, as Python writes them, are copied as they are.
//
// It copies leaf by leaf from the mapped files. Held in memory are only views of Python's that pick
// rows by a list, up to MaxCopy bytes in all, and compressed leaves while they are copied, up to
// MaxCopy bytes each.
//
// What a [Writer] has not finished is copied as if it were, with the rows that are committed. If
// from is replaced meanwhile, Copy begins again, and so does Progress.
//
// Entries that cannot be copied, such as pickled ones, or ones with native fields of a later
// version of this module, are listed before anything is written: the error is a [FileError] about
// the first, whose text says the keys of the first few. Else the errors are those of [OpenWith] and
// SaveWith, and to holds what it held before.
func Copy(ctx context.Context, from, to string, opt CopyOptions) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("copy: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := vfs.Absolute(from)
	if err != nil {
		return fileError("copy", from, "", err)
	}
	opt.Open.Writable = false
	p := &place{op: "copy", dir: from, at: at, opt: opt.Open}
	differs := false
	for try := 0; ; try++ {
		in, err := p.container(nil)
		if err != nil {
			return err
		}
		err = p.copy(ctx, in, to, opt.Save)
		replaced, _ := in.Replaced()
		_ = in.Close() // it was only read
		if _, ok := errors.AsType[*mismatch](err); ok && !differs {
			differs = true // a writer may have made the sums void after they were read
			continue
		}
		if err == nil || !replaced || try == 10 {
			return err
		}
	}
}

// copy saves what is in a container.
func (p *place) copy(ctx context.Context, in container, to string, opt SaveOptions) error {
	r := &reader{place: p, in: in, faults: &collector{}, copying: true}
	td, err := r.all()
	if c, ok := in.(*consolidated); ok && err == nil { // its sums are not of leaves
		err = p.failAt("", c.verify(ctx))
	}
	if err != nil {
		return err
	}
	if opt.Schema == nil {
		opt.Schema = r.schema
	}
	opt.NestedTensors = append(r.nestedIn(td), opt.NestedTensors...)
	s := newSaver(ctx, to, opt)
	s.checks = p
	return s.save(td)
}

// all reads the whole tree, and returns an error about all that is wrong in it.
func (r *reader) all() (*tdict.TensorDict, error) {
	td, err := r.top()
	if err == nil && td == nil && r.faults.number() == 0 {
		err = r.failAt("", unsupported("the whole of it is pickled"))
	}
	if err != nil {
		r.faults.add(err)
	}
	faults := r.faults.faults
	if len(faults) == 0 {
		return td, nil
	}
	const most = 5
	err = faults[0].Err
	for _, f := range faults[1:min(len(faults), most)] {
		err = fmt.Errorf("%w; %s", err, f)
	}
	if more := len(faults) - most; more > 0 {
		err = fmt.Errorf("%w (and %d more)", err, more)
	}
	return nil, r.failAt(faults[0].File, err)
}

// nestedIn returns the keys of nested tensors of Python's that can be saved as such.
func (r *reader) nestedIn(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for _, key := range r.nested {
		if v, err := td.Get(key); err == nil && nestable(v) == nil {
			keys = append(keys, key)
		}
	}
	return keys
}
