package inspect

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Report says what is known of a saved dataset without opening a leaf.
type Report struct {
	*memmap.Listing          // Form, Growing, Batch, Names and Entries
	Leaves          int      // entries that have elements in a file
	Bytes           int64    // of their elements
	Summed          int      // leaves that have checksums
	Committed       int      // rows that a Writer has committed, if the dataset is Growing
	Leftovers       []string // names of what killed saves have left beside it, in order
}

// Dataset returns what is known of the dataset at path, a directory or an archive, whoever wrote
// it, without opening a leaf: what memmap.Look returns, what that sums up to, and what saves that
// were killed have left beside it.
//
// Leftovers are directories with the names that a save gives, ".saving-" or ".aside-" and letters.
// They may be of other datasets in the same directory, and of a save that is under way. The next
// save there removes those that nobody holds.
//
// Dataset returns the errors of memmap.Open. [Opened] is for a dataset that is open already.
func Dataset(path string) (*Report, error) {
	l, err := memmap.Look(path, memmap.OpenOptions{})
	if err != nil {
		return nil, err
	}
	return report(path, l)
}

// Opened is [Dataset] of a dataset that was opened at path.
func Opened(path string, ds *memmap.Dataset) (*Report, error) { return report(path, ds.Listing()) }

func report(path string, l *memmap.Listing) (r *Report, err error) {
	r = &Report{Listing: l}
	for _, e := range l.Entries {
		if e.File == "" && (e.Kind != tdict.KindStacked || e.Bytes == 0) { // members have files each
			continue
		}
		r.Leaves++
		r.Bytes += e.Bytes
		if e.Summed {
			r.Summed++
		}
	}
	if l.Growing && len(l.Batch) > 0 {
		r.Committed = l.Batch[0]
	}
	r.Leftovers, err = leftovers(path)
	return r, err
}

// leftovers returns the names of what saves have left beside a path.
func leftovers(path string) (names []string, err error) {
	at, err := vfs.Absolute(path)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(at)
	found, err := vfs.ReadDir(parent)
	if errors.Is(err, fs.ErrPermission) { // what is beside it is not to be seen
		return nil, nil
	}
	for _, d := range found {
		if d.IsDir() && vfs.Ours(filepath.Join(parent, d.Name())) {
			names = append(names, d.Name())
		}
	}
	slices.Sort(names)
	return names, err
}
