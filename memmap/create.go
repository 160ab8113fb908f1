package memmap

import (
	"context"
	"errors"
	"math"
	"os"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// CreateOptions are the options of [Create]. The zero value is the default.
type CreateOptions struct {
	// Replace replaces the dataset at the directory, as [SaveWith] does. Without it, Create returns
	// fs.ErrExist if a dataset is there.
	Replace bool
	// Progress, if not nil, is called after each leaf with the bytes reserved so far and the total,
	// by one goroutine at a time.
	Progress func(done, total int64)
	// NoSums makes leaves that never have checksums, so Close reads no leaf. It is for
	// elements that are written again and again, or have checksums elsewhere.
	NoSums bool
	// Workers, NoSync and Schema are as in [SaveOptions].
	Workers int
	NoSync  bool
	Schema  tdict.Schema
}

// Create makes a dictionary like prototype in the directory dir, with zero elements, and returns it
// open with Writable. The dictionary may be larger than memory.
//
// The prototype gives keys, shapes and dtypes, the values of Data and of unbatched tensors, and the
// lengths of ragged tensors. Create does not read the elements of its tensors, so expanded zeros,
// which take no memory, will do:
//
//	zero := tensor.Must(tensor.New(tensor.Float32))
//	frames := tensor.Must(zero.Expand(1_000_000, 3, 64, 64)) // 49 GB that take no memory
//
// Create reserves disk space for all leaves first, so that a full disk is an error of Create and
// not a fault later. Several goroutines may write to different rows at the same time, as by
// SetIndex; Flush and Close must come after that.
//
// Others see the whole dictionary when Create returns, with zeros where nothing was written yet.
// After a crash nothing records which elements were written. If others must not see it before all
// elements are written, use [SaveRows], or Create beside the place and os.Rename after Close. The
// leaves have no checksums before [Dataset.Close].
//
// Create returns fs.ErrExist if a dataset, finished or not, is at dir, unless
// [CreateOptions.Replace] is set; an empty directory is replaced. If several Creates without
// Replace run at the same time, one succeeds. Create returns [ErrReplaced] if another process
// replaces the new dataset before Create has opened it, and the errors of [SaveWith].
func Create(dir string, prototype *tdict.TensorDict, opt CreateOptions) (*Dataset, error) {
	s := &saver{
		op: "create", ctx: context.Background(), dir: dir, create: &opt,
		opt: SaveOptions{Progress: opt.Progress, Workers: opt.Workers, NoSync: opt.NoSync, Schema: opt.Schema},
	}
	if !opt.Replace {
		s.may = replaceEmpty
	}
	how := OpenOptions{Writable: true, MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64}
	if err := checkDirectory(dir); err != nil {
		return nil, s.fail("", err)
	}
	if err := s.check(prototype); err != nil {
		return nil, err
	}
	old, at, err := s.lookAt()
	if err != nil {
		return nil, err
	}
	defer old.unlock()
	k, err := s.beside(vfs.OS, at, old, prototype)
	if err != nil {
		return nil, err
	}
	return s.openNew(k, how)
}

// openNew publishes the dataset that k wrote, and opens it. It returns ErrReplaced if another
// process has replaced it by then.
func (s *saver) openNew(k *dirSink, how OpenOptions) (*Dataset, error) {
	made, err := os.OpenFile(k.temp.New(), os.O_RDONLY, 0) // while it is open, no other directory gets its inode number
	if err != nil {
		return nil, s.fail("", errors.Join(err, k.abort()))
	}
	defer made.Close()
	if err := k.commit(); err != nil {
		return nil, s.fail("", err)
	}
	d, err := openAt(s.dir, k.dir, how)
	if err != nil {
		return d, vfs.Done("the dataset was made", err)
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
