package dircache

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A writer is a store that is mapped to be written. It stays mapped as the store is filled again
// and again, under other names.
type writer struct {
	set     *mapfile.Set
	files   []*mapfile.File // of the leaves; nil for one without elements
	records *mapping.Mapping
}

// settleIn gives a row its store, mapped, which stays as long as the row is not committed or
// aborted. No name of a generation is used twice, so the store of one is looked for once.
func (s *session) settleIn(r *row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling != r.generation {
		w, err := s.writer(store{generationRole, r.generation})
		if err != nil {
			return err
		}
		s.filling, s.filled = r.generation, w
	}
	r.w = s.filled
	s.rows[r] = true
	return nil
}

// writer returns a store, mapped. s.mu is held.
func (s *session) writer(st store) (*writer, error) {
	if err := s.present(); err != nil {
		return nil, err
	}
	info, err := os.Lstat(s.path(st.name()))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: not a directory", samplecache.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(st.name(), bare(err))
	}
	id := vfs.FileID(info, s.path(st.name()))
	w := s.writers[id]
	if w == nil {
		if w, err = s.mapStore(st); err != nil {
			return nil, failed("map", s.dir, st.name(), bare(err))
		}
		s.writers[id] = w
	}
	w.set.Moved(s.path(st.name()))
	return w, nil
}

// mapStore maps all files of a store.
func (s *session) mapStore(st store) (w *writer, err error) {
	ds, err := s.openStore(st)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	w = new(writer)
	if w.set, err = mapfile.Open(s.path(st.name()), mapfile.Options{Writable: true}); err != nil {
		return nil, err
	}
	for _, l := range s.fixed.Schema {
		f, err := w.add(ds, l)
		if err != nil {
			return nil, errors.Join(err, w.set.Close())
		}
		w.files = append(w.files, f)
	}
	err = w.set.MapAll()
	if err == nil {
		w.records, err = s.mapRecords(st, mapping.ReadWrite)
	}
	if err != nil {
		return nil, errors.Join(err, w.set.Close())
	}
	return w, nil
}

// add adds the file of a leaf.
func (w *writer) add(ds *memmap.Dataset, l leafSpec) (*mapfile.File, error) {
	x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
	if err != nil || l.bytes == 0 {
		return nil, err
	}
	from, ok := x.Lender().(*mapfile.File)
	if !ok {
		return nil, fmt.Errorf("%w: %q has no file", samplecache.ErrCorrupt, l.Key)
	}
	dir, at := w.set.Top(), ""
	for _, part := range splitDir(from.Path()) {
		at = path.Join(at, part)
		info, err := w.set.Root().Lstat(at)
		if err != nil {
			return nil, err
		}
		dir = w.set.Dir(dir, at, info)
	}
	info, err := w.set.Root().Lstat(from.Path())
	if err != nil {
		return nil, err
	}
	return w.set.Add(dir, from.Path(), info, x.ByteSize()), nil
}

// splitDir returns the directories on the way to a file.
func splitDir(file string) []string {
	var parts []string
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		parts = append(parts, path.Base(dir))
	}
	slices.Reverse(parts)
	return parts
}

// openStore opens the dataset of a store, and checks that it is what the MANIFEST says.
func (s *session) openStore(st store) (*memmap.Dataset, error) {
	ds, err := memmap.Open(s.path(st.name()))
	if err != nil {
		return nil, err
	}
	if err := s.checkStore(ds); err != nil {
		return nil, errors.Join(failed("open", s.dir, st.name(), err), ds.Close())
	}
	return ds, nil
}

func (s *session) checkStore(ds *memmap.Dataset) error {
	if !slices.Equal(ds.Shape(), []int{s.layout.samples}) {
		return fmt.Errorf("%w: got batch shape %v, want [%d]", samplecache.ErrCorrupt, ds.Shape(), s.layout.samples)
	}
	n := 0
	for range ds.Leaves() {
		n++
	}
	for _, l := range s.fixed.Schema {
		x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
		if err != nil || x.DType() != l.dtype || !slices.Equal(x.Shape()[1:], l.Shape) {
			return fmt.Errorf("%w: %q is not as the MANIFEST says", samplecache.ErrCorrupt, l.Key)
		}
	}
	if n != len(s.fixed.Schema) {
		return fmt.Errorf("%w: got %d leaves, want %d", samplecache.ErrCorrupt, n, len(s.fixed.Schema))
	}
	return nil
}

func (w *writer) close() error { return errors.Join(w.set.Close(), w.records.Close()) }

// dropStores closes the stores that are not there any more, so that their room is free. Those that
// rows are in stay: a directory that is renamed meanwhile may be missed.
func (s *session) dropStores() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return s.fail("", err)
	}
	there := map[any]bool{}
	for _, e := range entries {
		if _, ok := parseStore(e.Name()); ok {
			if info, err := e.Info(); err == nil {
				there[vfs.FileID(info, filepath.Join(s.at, e.Name()))] = true
			}
		}
	}
	used := map[*writer]bool{}
	err = errors.Join(err, s.use(func(w words) { used[s.filled] = w.load(fillingWord) == s.filling }))
	for r := range s.rows {
		used[r.w] = true
	}
	for id, w := range s.writers {
		if !there[id] && !used[w] {
			err = errors.Join(err, w.close())
			delete(s.writers, id)
			if w == s.filled {
				s.filling, s.filled = 0, nil
			}
		}
	}
	return err
}
