package memmap

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// CopyOptions are the options of [Copy]. The zero value is the default.
type CopyOptions struct {
	Open OpenOptions // how to open the source; Writable is ignored
	Save SaveOptions // how to save the copy
	// SkipSums copies elements as they are, without comparing checksums; the copy gets new ones.
	SkipSums bool
}

// Copy reads the dictionary saved at the path from, a directory or a file, and saves it at the path
// to, in the form that [SaveOptions.Container] says. Copy keeps everything that [SaveWith] keeps:
// kinds of values, names of dims, and classes. It also keeps the schema, unless opt.Save has
// another. Nested tensors of Python's stay nested tensors, except in a consolidated file.
//
// Copy compares the checksums of the source's leaves while it copies, and returns [ErrCorrupt] with
// the path of a file that differs. If the elements were changed on purpose, as Python does in
// place, call [Seal] first, or set opt.SkipSums. Leaves without checksums are copied as they are.
//
// Copy copies leaf by leaf from the mapped files. It reads into memory Data, the lengths of ragged
// tensors, and compressed leaves, one at a time, of at most MaxCopy bytes each. A dataset that a
// [Writer] has not finished is copied as a finished one, with the committed rows. If the source is
// replaced during the copy, Copy starts over, and Progress counts from 0 again.
//
// If nothing is at the path to, the copy has the permissions of the source, before umask; the owner
// may always read and write.
//
// If entries cannot be copied, such as pickled ones, or ones with fields that only a later version
// of this module knows, Copy writes nothing, and returns a [DatasetError] about the first of them
// with the keys of the first few. Otherwise it returns the errors of [OpenWith] and SaveWith. After
// an error that is not [ErrDone] the path to holds the same as before.
func Copy(ctx context.Context, from, to string, opt CopyOptions) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("copy: %w on a big-endian machine", errors.ErrUnsupported)
	}
	at, err := vfs.Absolute(from)
	if err != nil {
		return fileError("copy", from, "", err)
	}
	opt.Open.Writable, opt.Open.CheckSums = false, !opt.SkipSums
	opt.Save.SkipSums = opt.SkipSums
	p := &opening{op: "copy", dir: from, at: at, opt: opt.Open}
	for try := 0; ; try++ {
		in, err := p.container(nil)
		if err != nil {
			return err
		}
		err = p.copy(ctx, in, to, opt.Save)
		replaced, _ := in.Replaced()
		_ = in.Close() // it was only read
		if err == nil || !replaced || try == 10 {
			return err
		}
	}
}

// copy saves the dictionary in a container.
func (p *opening) copy(ctx context.Context, in container, to string, opt SaveOptions) error {
	r := &reader{opening: p, in: in, damage: &collector{}, layouts: &pool.Layouts{}, copying: true}
	td, err := r.all()
	if err != nil {
		return err
	}
	modes, err := vfs.ModesOf(p.at)
	if err != nil {
		return err
	}
	if opt.Schema == nil {
		opt.Schema = r.schema
	}
	s := newSaver(vfs.WithModes(ctx, modes), to, opt)
	s.nested = r.nested
	return s.save(td)
}

// all reads the whole tree. If it is damaged, all returns one error about them.
func (r *reader) all() (*tdict.TensorDict, error) {
	td, err := r.top()
	if err == nil && td == nil && r.damage.number() == 0 {
		err = r.failAt("", unsupported("the whole dictionary is pickled"))
	}
	if err != nil {
		r.damage.add(err)
	}
	damage := r.damage.all
	if len(damage) == 0 {
		return td, nil
	}
	const most = 5
	err = damage[0].Err
	for _, f := range damage[1:min(len(damage), most)] {
		err = fmt.Errorf("%w; %s", err, f)
	}
	if more := len(damage) - most; more > 0 {
		err = fmt.Errorf("%w (and %d more)", err, more)
	}
	return nil, r.failAt(damage[0].File, err)
}
