package shelf

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Version is a dataset as a page reads it.
type Version struct {
	Set     *Set
	ID      string // name of the version in addresses; "" for a dictionary of the program
	Dict    *tdict.TensorDict
	Dataset *memmap.Dataset // nil for a dictionary that the program has opened
	Schema  tdict.Schema    // that was saved with the dataset, or nil
	Report  *inspect.Report
	Form    string
	Index   *Index
	Rows    int // size of the first batch dim; -1 if the batch shape has no dims
	Opened  time.Time
	Took    time.Duration // to open it

	elements any  // identity of the first file of elements, nil without one
	file     any  // identity of the dataset, nil for a dictionary
	stale    bool // the dataset was replaced before it was identified

	live   *memmap.Live // that lends Dataset
	users  int          // guarded by Set.mu, as looked
	looked time.Time    // when somebody last looked at it

	mu       sync.Mutex
	profiles map[ProfileKey][]inspect.Profile
}

// A ProfileKey names a profile: columns of a leaf, read in full or sampled.
type ProfileKey struct {
	At             int // number of the leaf in the Index
	Full           bool
	ByColumn       bool
	First, Columns int
}

// mostProfiles bounds the profiles that a version keeps. One takes a few kB.
const mostProfiles = 2000

// Profile returns the profile that is kept under a key. If there is none, it calls make and keeps
// the result.
func (v *Version) Profile(key ProfileKey, make func() ([]inspect.Profile, error)) ([]inspect.Profile, error) {
	if kept, ok := v.Kept(key); ok {
		return kept, nil
	}
	made, err := make()
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.profiles == nil {
		v.profiles = map[ProfileKey][]inspect.Profile{}
	}
	for old := range v.profiles { // any
		if len(v.profiles) < mostProfiles {
			break
		}
		delete(v.profiles, old)
	}
	v.profiles[key] = made
	return made, nil
}

// Kept returns the profile that is kept under a key.
func (v *Version) Kept(key ProfileKey) ([]inspect.Profile, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept, ok := v.profiles[key]
	return kept, ok
}

// Release ends the use of v.
func (v *Version) Release() {
	v.Set.mu.Lock()
	defer v.Set.mu.Unlock()
	v.Set.lookers--
	v.Set.looked = time.Now()
	v.looked = v.Set.looked
	v.Set.drop(v)
}

// Growing reports whether a Writer may append rows.
func (v *Version) Growing() bool { return v.Report.Growing }

// mostMapped bounds the leaves that are mapped when a dataset is opened, so that they can be read
// after a replacement. Mapping one takes about 20 us.
const mostMapped = 1000

// versionOf returns the version of a dataset that is open.
func versionOf(s *Set, ds *memmap.Dataset, began time.Time) (*Version, error) {
	report, err := inspect.Opened(s.Path, ds)
	if err != nil {
		return nil, err
	}
	if report.Leaves <= mostMapped {
		_ = ds.Advise(memmap.Normal) // a leaf that cannot be mapped is an error where it is read
	}
	v := &Version{Set: s, Dict: ds.TensorDict, Dataset: ds, Schema: ds.Schema(), Report: report, Form: report.Container.String()}
	v.elements, v.file = v.identify()
	if stale, err := ds.Stale(); err == nil && stale {
		v.elements, v.file, v.stale = nil, began, true // a new name
	}
	v.describe(began)
	return v, nil
}

// firstFile returns the identity of the first file of elements, and when it was changed; nil if
// there is none.
func (v *Version) firstFile() (id any, changed int64) {
	for _, e := range v.Report.Entries {
		if e.File == "" {
			continue
		}
		path := filepath.Join(v.Set.Path, filepath.FromSlash(e.File))
		info, err := os.Stat(path)
		if err != nil { // an archive, or it was just moved
			return nil, 0
		}
		return vfs.FileID(info, path), info.ModTime().UnixNano()
	}
	return nil, 0
}

// given returns the version of a dictionary that the program has opened.
func given(s *Set) *Version {
	v := &Version{Set: s, Dict: s.Dict, Schema: s.Schema, Form: s.Form}
	v.Report = &inspect.Report{Listing: memmap.ListingOf(s.Dict)}
	v.describe(time.Now())
	root := v.Index.Root()
	v.Report.Leaves, v.Report.Bytes = root.Leaves, root.Size
	return v
}

// An identity distinguishes a dataset from earlier datasets at its path. The number of the file
// alone does not: a system gives the number of a removed file to a new one.
type identity struct {
	file    any   // by vfs.FileID
	changed int64 // when its elements were changed, or when it began to grow, in nanoseconds
}

// lockFile is made when a dataset begins to grow, and never changed.
const lockFile = ".lock"

// identify returns the identities of the first file of elements and of the dataset.
func (v *Version) identify() (elements, dataset any) {
	elements, changed := v.firstFile()
	info, err := os.Stat(v.Set.Path)
	if err != nil { // it was just moved: it gets a new name
		return elements, time.Now()
	}
	if v.Growing() {
		changed = 0
		// A copy may lack the file.
		if lock, err := os.Stat(filepath.Join(v.Set.Path, lockFile)); err == nil {
			changed = lock.ModTime().UnixNano()
		}
	} else if changed == 0 {
		changed = info.ModTime().UnixNano()
	}
	return elements, identity{vfs.FileID(info, v.Set.Path), changed}
}

// describe sets the fields that are derived from the dictionary.
func (v *Version) describe(began time.Time) {
	v.Index = newIndex(v.Dict, v.Schema, v.Report.Entries)
	v.Rows = -1
	if shape := v.Dict.Shape(); len(shape) > 0 {
		v.Rows = shape[0]
	}
	v.Opened = time.Now()
	v.Took = v.Opened.Sub(began)
}
