package dircache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A writer is a store that is mapped to be written. It stays mapped as the store is filled again
// and again, under other names.
type writer struct {
	files   []*place // of the leaves; nil for one without elements
	records *mapping.Mapping
	users   int // rows that are reserved
}

// A place lends a mapped file. It implements tensor.Lender.
type place struct{ *mapping.Mapping }

// Borrow implements tensor.Lender.
func (p *place) Borrow() ([]byte, error) { return p.Acquire() }

// Return implements tensor.Lender.
func (p *place) Return() { p.Release() }

// ReadOnly implements tensor.Lender.
func (p *place) ReadOnly() bool { return false }

// writers are the stores of a session that are mapped.
type writers struct {
	byID       map[any]*writer // by vfs.FileID of their directories
	generation uint64
	filled     *writer // with that generation
}

// writer returns the store of the generation that is being filled, mapped. No name of a generation
// is used twice, so that a store is looked for once. s.mu is held.
func (s *session) writer(generation uint64) (*writer, error) {
	if s.stores.filled != nil && s.stores.generation == generation {
		return s.stores.filled, nil
	}
	if err := s.present(); err != nil {
		return nil, err
	}
	name := store{generationRole, generation}.name()
	info, err := os.Lstat(s.path(name))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: not a directory", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(name, bare(err))
	}
	if err := s.dropStores(); err != nil {
		return nil, err
	}
	id := vfs.FileID(info, s.path(name))
	w := s.stores.byID[id]
	if w == nil {
		if w, err = s.mapStore(store{generationRole, generation}); err != nil {
			return nil, failed("map", s.dir, name, bare(err))
		}
		s.stores.byID[id] = w
	}
	s.stores.generation, s.stores.filled = generation, w
	return w, nil
}

// mapStore maps all files of a store.
func (s *session) mapStore(st store) (*writer, error) {
	ds, err := s.openStore(st)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	root, err := vfs.OpenRoot(s.path(st.name()))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := &writer{files: make([]*place, len(s.fixed.Schema))}
	for i, l := range s.fixed.Schema {
		if err == nil && l.bytes > 0 {
			w.files[i], err = mapLeaf(root, ds, l)
		}
	}
	if err == nil {
		w.records, err = s.mapRecords(st, mapping.ReadWrite)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// mapLeaf maps the file of a leaf.
func mapLeaf(root *vfs.Root, ds *memmap.Dataset, l leafSpec) (*place, error) {
	x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
	if err != nil {
		return nil, err
	}
	from, ok := x.Lender().(*mapfile.File)
	if !ok {
		return nil, fmt.Errorf("%w: %q has no file", engine.ErrCorrupt, l.Key)
	}
	f, err := root.OpenFile(from.Path(), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mapping.Map(f, x.ByteSize(), mapping.ReadWrite)
	return &place{m}, err
}

// openStore opens the dataset of a store, and checks that it is as the MANIFEST says.
func (s *session) openStore(st store) (*memmap.Dataset, error) {
	ds, err := memmap.Open(s.path(st.name()))
	if err != nil {
		return nil, s.corrupt(st, err)
	}
	if err := s.checkStore(ds); err != nil {
		return nil, errors.Join(failed("open", s.dir, st.name(), err), ds.Close())
	}
	return ds, nil
}

// corrupt returns an error of opening a store as [engine.ErrCorrupt], unless it comes from the
// system, or the store is not there.
func (s *session) corrupt(st store, err error) error {
	of, ok := errors.AsType[*memmap.FileError](err)
	switch {
	case !ok || errors.Is(err, memmap.ErrLimit):
		return err
	case of.Path == "" && errors.Is(err, fs.ErrNotExist) && !errors.Is(err, memmap.ErrForeign):
		return err
	case fromSystem(of.Err) && !errors.Is(err, memmap.ErrCorrupt) && !errors.Is(err, memmap.ErrForeign):
		return err
	}
	text := strings.TrimPrefix(of.Err.Error(), engine.ErrCorrupt.Error()+": ")
	return failed("open", s.dir, filepath.Join(st.name(), of.Path), fmt.Errorf("%w: %s", engine.ErrCorrupt, text))
}

func (s *session) checkStore(ds *memmap.Dataset) error {
	if !slices.Equal(ds.Shape(), []int{s.samples()}) {
		return fmt.Errorf("%w: got batch shape %v, want [%d]", engine.ErrCorrupt, ds.Shape(), s.samples())
	}
	n := 0
	for range ds.Leaves() {
		n++
	}
	for _, l := range s.fixed.Schema {
		x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
		if err != nil || x.DType() != l.dtype || !slices.Equal(x.Shape()[1:], l.Shape) {
			return fmt.Errorf("%w: %q is not as the MANIFEST says", engine.ErrCorrupt, l.Key)
		}
	}
	if n != len(s.fixed.Schema) {
		return fmt.Errorf("%w: got %d leaves, want %d", engine.ErrCorrupt, n, len(s.fixed.Schema))
	}
	return nil
}

// mapRecords maps the records of a store.
func (s *session) mapRecords(st store, mode mapping.Mode) (*mapping.Mapping, error) {
	name := filepath.Join(st.name(), recordsName)
	flag := os.O_RDONLY
	if mode == mapping.ReadWrite {
		flag = os.O_RDWR
	}
	f, err := openFile(s.path(name), flag)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: there is none", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(name, bare(err))
	}
	defer f.Close()
	leaves := len(s.fixed.Schema)
	m, err := mapping.Map(f, recordsSize(s.samples(), leaves), mode)
	if errors.Is(err, mapping.ErrSize) {
		err = fmt.Errorf("%w: %w", engine.ErrCorrupt, bare(err))
	}
	if err != nil {
		return nil, s.fail(name, bare(err))
	}
	b, err := m.Acquire()
	if err == nil {
		failed := mapping.Guard(func() { err = checkRecordsHeader(b, s.samples(), leaves) })
		err = errors.Join(err, failed)
		m.Release()
	}
	if err != nil {
		_ = m.Close() // nothing was done with it
		return nil, s.fail(name, err)
	}
	return m, nil
}

// record returns the record of a row. Whoever uses it is in a [mapping.Guard].
func (w *writer) record(row int) (record, error) {
	b, err := w.records.Acquire()
	if err != nil {
		return nil, err
	}
	defer w.records.Release() // the store is not closed while it is used: see dropStores
	return rowRecord(b, row, len(w.files)), nil
}

// committed reports whether the record of a row is one of a generation.
func (w *writer) committed(row int, generation uint64) bool {
	r, err := w.record(row)
	return err == nil && r.sound(generation)
}

func (w *writer) close() (err error) {
	for _, f := range w.files {
		if f != nil && f.Mapping != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if w.records != nil {
		err = errors.Join(err, w.records.Close())
	}
	return err
}

// close closes all.
func (all *writers) close() (err error) {
	for _, w := range all.byID {
		err = errors.Join(err, w.close())
	}
	return err
}

// dropStores closes the stores that are not there any more, so that their room is free. Those that
// rows are in stay. s.mu is held.
func (s *session) dropStores() error {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return s.fail("", bare(err))
	}
	there := map[any]bool{}
	for _, e := range entries {
		if _, ok := parseStore(e.Name()); ok {
			if info, err := e.Info(); err == nil {
				there[vfs.FileID(info, filepath.Join(s.at, e.Name()))] = true
			}
		}
	}
	for id, w := range s.stores.byID {
		if !there[id] && w.users == 0 {
			if s.stores.filled == w {
				s.stores.filled = nil
			}
			err = errors.Join(err, w.close())
			delete(s.stores.byID, id)
		}
	}
	return err
}
