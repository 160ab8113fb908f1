package memmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// CreateOptions say how [Create] goes about it. The zero value is the default.
type CreateOptions struct {
	// Hidden leaves what is at the directory as it is until [Dataset.Publish]. A dataset that is
	// closed before, or whose process ends, is gone.
	Hidden bool
	// Replace replaces the dataset that is at the directory, as [SaveWith] does. Without it Create,
	// and Publish, return fs.ErrExist if there is one.
	Replace bool
	// Progress, if not nil, is called after each leaf with the bytes that have room, and of all
	// leaves, by one goroutine at a time.
	Progress func(done, total int64)
	// NoSums leaves the leaves without checksums, for good: Flush and Close read none. It is for
	// elements that are written again and again, or summed elsewhere.
	NoSums bool
	// Workers, NoSync and Schema are those of [SaveOptions].
	Workers int
	NoSync  bool
	Schema  tdict.Schema
}

// Create makes a dictionary like prototype in the directory dir, with zeros for elements, and
// returns it open to be written: a dataset that need not fit into memory, nor be copied. The
// prototype tells keys, shapes and dtypes, the values of Data and of unbatched tensors, and the
// lengths of ragged rows; elements of its tensors are not looked at, so that expanded zeros, which
// take no memory, will do:
//
//	zero := tensor.Must(tensor.New(tensor.Float32))
//	frames := tensor.Must(zero.Expand(1_000_000, 3, 64, 64)) // 49 GB that are not there
//
// Room for all of it is set aside first, so a full disk is an error, and not a fault later. Several
// goroutines may write to it at the same time, as by SetIndex, where their rows differ; Flush,
// Close and Publish must come after.
//
// Others see the dictionary, whole, once Create returns, and zeros where nothing was written yet;
// after a crash nothing says how much was. With [CreateOptions.Hidden] they see it once
// [Dataset.Publish] returns, and what was there before until then. The leaves have no checksums
// before [Dataset.Flush], Publish or [Dataset.Close].
//
// Create returns fs.ErrExist if there is a dataset at dir, finished or not, unless
// [CreateOptions.Replace] is set, [ErrReplaced] if another replaces the new one at once, and the
// errors of [SaveWith]. Of several that create there at the same time without Replace, one
// succeeds. An empty directory is taken over.
func Create(dir string, prototype *tdict.TensorDict, opt CreateOptions) (*Dataset, error) {
	s := &saver{
		op: "create", ctx: context.Background(), dir: dir, reserve: true, noSums: opt.NoSums,
		opt: SaveOptions{Progress: opt.Progress, Workers: opt.Workers, NoSync: opt.NoSync, Schema: opt.Schema},
	}
	if !opt.Replace {
		s.may = replaceEmpty
	}
	how := OpenOptions{Writable: true, MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64}
	if err := checkDirectory(dir); err != nil {
		return nil, s.fail("", err)
	}
	old, at, err := s.lookAt(prototype)
	if err != nil {
		return nil, err
	}
	defer old.unlock()
	if openBlocksRename {
		old.unlock()
	}
	k, err := s.beside(vfs.OS, at, old, prototype)
	if err != nil {
		return nil, err
	}
	if opt.Hidden {
		return openHidden(dir, k, how)
	}
	return s.openNew(k, prototype.Shape(), how)
}

// openHidden opens what k made, which is not in its place yet.
func openHidden(dir string, k *dirSink, how OpenOptions) (*Dataset, error) {
	p := &place{op: "create", dir: dir, at: k.temp.New(), opt: how, hidden: k}
	d, _, err := p.dataset()
	if err != nil {
		return nil, errors.Join(err, k.abort())
	}
	return d, nil
}

// openNew puts what k made in its place and opens it, unless another has replaced it by then.
func (s *saver) openNew(k *dirSink, batch shapeops.Shape, how OpenOptions) (*Dataset, error) {
	var made *os.File // as long as it is open, no other directory gets its number
	if !openBlocksRename {
		var err error
		if made, err = vfs.OpenFile(k.temp.New(), os.O_RDONLY, 0); err != nil {
			return nil, s.fail("", errors.Join(err, k.abort()))
		}
		defer made.Close()
	}
	if err := k.commit(batch); err != nil {
		return nil, s.fail("", err)
	}
	d, err := openAt(s.dir, k.dir, how)
	if err != nil || made == nil {
		return d, err
	}
	is, err := d.set.Root().Lstat(".")
	was, failed := made.Stat()
	if err = errors.Join(err, failed); err == nil && !os.SameFile(is, was) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(s.fail("", err), d.Close())
	}
	return d, nil
}

// Publish puts a dataset that was made with [CreateOptions.Hidden] in its place, durably, after it
// has done what [Dataset.Flush] does; d stays open. Publish is a write, like Set. It returns
// fs.ErrExist if d is in its place, or if another dataset is and [CreateOptions.Replace] was not
// set, [ErrForeign] or [ErrBusy] if what is there must not be replaced, and [ErrClosed]. After an
// error d stays hidden, and Publish can be called again.
func (d *Dataset) Publish() error {
	if !d.open() || d.in.Closed() {
		return ErrClosed
	}
	k := d.hidden
	if k == nil {
		return d.fail("publish", "", fmt.Errorf("%w: it is in its place", fs.ErrExist))
	}
	if err := d.flush(); err != nil {
		return err
	}
	old, err := k.may.look(k.dir, d.Shape())
	if err != nil {
		return d.fail("publish", "", err)
	}
	defer old.unlock()
	k.old = old.info
	if openBlocksRename {
		old.unlock()
	}
	return d.fail("publish", "", d.appear(k))
}

// appear moves a hidden dataset to its place. If it cannot, it stays hidden.
func (d *Dataset) appear(k *dirSink) error {
	appeared, err := k.publish()
	if !appeared {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hidden, d.at = nil, k.dir
	d.set.Moved(k.dir)
	lock, failed := d.opt.lockWriters(k.dir)
	d.lock = lock
	return errors.Join(err, failed)
}
