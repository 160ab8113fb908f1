package memmap

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// An opening is a path to be opened, with options. It never changes.
type opening struct {
	op, dir string // for errors
	at      string // absolute
	opt     OpenOptions
}

// failAt returns err as a DatasetError about the file at a path; nil stays nil.
func (p *opening) failAt(at string, err error) error { return fileError(p.op, p.dir, at, err) }

// named returns an error of a mapped file as a DatasetError.
func (p *opening) named(op, at string, err error) error {
	err = bare(err)
	if p.op == "copy" {
		op = p.op
	}
	if errors.Is(err, mapping.ErrSize) || errors.Is(err, mapping.ErrNotRegular) || errors.Is(err, mapfile.ErrGone) {
		err = corrupt("%w", err)
	}
	return &DatasetError{op, p.dir, at, err}
}

// dataset opens the directory. replaced reports whether it failed because the directory was
// replaced meanwhile.
func (p *opening) dataset() (d *Dataset, replaced bool, err error) {
	d = &Dataset{dir: p.dir, at: p.at, opt: p.opt, gone: make(chan struct{})}
	if d.in, err = p.container(d.touch); err != nil {
		return nil, false, err
	}
	d.set, _ = d.in.(*mapfile.Set)
	if err = p.lock(d); err == nil {
		err = p.read(d)
	}
	if err == nil {
		return d, false, nil
	}
	replaced, _ = d.in.Replaced()
	if d.lock != nil {
		_ = d.lock.Unlock() // it was only read
	}
	return nil, replaced, errors.Join(err, d.in.Close())
}

// lock takes the shared lock of writers for d, if it is opened with Writable.
func (p *opening) lock(d *Dataset) (err error) {
	if !p.opt.Writable {
		return nil
	}
	if d.lock, err = p.opt.lockWriters(p.at); err != nil || d.lock == nil {
		return p.failAt("", err)
	}
	if replaced, err := d.set.Replaced(); replaced && err == nil { // the lock may be of the new directory
		return p.failAt("", ErrReplaced)
	}
	return nil
}

// whyLocked returns the reason in the error for changes of the structure of d.
func (p *opening) whyLocked(d *Dataset) string {
	if d.set == nil {
		return "its leaves lie in a mapped file: change a Copy and Save it"
	}
	return whyLocked
}

// read reads the whole tree into d.
func (p *opening) read(d *Dataset) error {
	r := &reader{opening: p, in: d.in, layouts: &d.layouts}
	td, err := r.top()
	if err != nil {
		return err
	}
	if td == nil {
		return p.failAt("", unsupported("the whole dictionary is pickled"))
	}
	td.Lock(p.whyLocked(d))
	d.TensorDict, d.files, d.nodes, d.growing, d.schema = td, r.files, r.nodes, r.grows, r.schema
	return nil
}
