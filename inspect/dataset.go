package inspect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Report describes a saved dataset, as far as that is known without opening a leaf.
type Report struct {
	*memmap.Listing          // Container, Growing, Batch, Names and Entries
	Leaves          int      // number of entries with elements in a file
	Bytes           int64    // size of their elements
	Summed          int      // number of leaves with checksums
	Committed       int      // number of committed rows, if the dataset is Growing
	Leftovers       []string // names of directories that killed saves have left beside it, sorted
}

// Dataset describes the dataset at path, a directory or a file, written by this module or by
// Python. It opens no leaf. The Report has the result of memmap.Look, its totals, and the names of
// directories that killed saves have left beside the dataset.
//
// Leftovers are directories with the names that a save gives, ".saving-" and letters.
// They may be of other datasets in the same directory, or of a save that is running. The next save
// there removes all that no process has locked.
//
// Dataset returns the errors of memmap.Open. [Opened] is for a dataset that is open already.
func Dataset(path string) (*Report, error) {
	l, err := memmap.Look(path, memmap.OpenOptions{})
	if err != nil {
		return nil, err
	}
	return report(path, l)
}

// Opened returns the [Dataset] report of a dataset that was opened at path.
func Opened(path string, ds *memmap.Dataset) (*Report, error) { return report(path, ds.Listing()) }

func report(path string, l *memmap.Listing) (r *Report, err error) {
	r = &Report{Listing: l}
	for _, e := range l.Entries {
		if e.File == "" && (e.Kind != tdict.KindStacked || e.Bytes == 0) { // each member has its own file
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

// leftovers returns the names of the directories that saves have left beside a path.
func leftovers(path string) (names []string, err error) {
	at, err := vfs.Absolute(path)
	if err != nil {
		return nil, err
	}
	parent := filepath.Dir(at)
	found, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrPermission) { // the directory around it cannot be read
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
