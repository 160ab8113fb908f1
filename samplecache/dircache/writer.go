package dircache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A writer is a store that is mapped, for writing or for reading. It stays mapped while later
// generations, with other names, fill the same store again: the first use of each page of a new
// mapping takes longer than to copy the page.
type writer struct {
	leaves  []leafSpec
	files   []*place // of the leaves, nil for one without bytes; nil until mapLeaves
	records *mapping.Mapping
	table   []byte // of records
	users   int    // number of reserved rows, or of generations that are held
}

// A place lends a mapped file. It implements tensor.Lender.
type place struct{ *mapping.Mapping }

func (p *place) Borrow() ([]byte, error) { return p.Acquire() }

func (p *place) Return() { p.Release() }

func (p *place) ReadOnly() bool { return false }

// writer maps the records of the generation that is being filled. It caches the result, since no
// two generations have the same name. s.mu is held.
func (s *session) writer(generation uint64) (w *writer, err error) {
	if s.filled != nil && s.filling == generation {
		return s.filled, nil
	}
	if err = s.present(); err == nil {
		err = s.dropStores()
	}
	if err == nil {
		w, err = s.mapped(generation, s.stores, s.mode)
	}
	if err == nil {
		s.filling, s.filled = generation, w
	}
	return w, err
}

// mapped returns the store of a generation from stores, where mapped adds it if it is not there. A
// store is known by the number of its file of records: while a file is mapped, no other one gets
// its number. s.mu is held.
func (s *session) mapped(generation uint64, stores map[any]*writer, mode mapping.Mode) (*writer, error) {
	id, err := s.storeID(storeName(generation))
	if err != nil {
		return nil, err
	}
	if stores[id] != nil {
		return stores[id], nil
	}
	w := &writer{leaves: s.fixed.Schema}
	if w.records, err = s.mapRecords(generation, mode); err == nil {
		w.table, err = w.records.Acquire()
	}
	if err != nil {
		return nil, errors.Join(failed("map", s.dir, recordsPath(generation), err), w.close())
	}
	stores[id] = w
	return w, nil
}

// fill is writer for a session that writes to the leaves. s.mu is held.
func (s *session) fill(generation uint64) (*writer, error) {
	w, err := s.writer(generation)
	if err != nil || w.files != nil {
		return w, err
	}
	err = s.present()
	var id any
	if err == nil {
		id, err = s.storeID(storeName(generation))
	}
	if err == nil && s.stores[id] != w {
		err = s.fail(recordsPath(generation), fmt.Errorf("%w: the file was replaced", engine.ErrCorrupt))
	}
	if err != nil {
		return nil, err
	}
	ds, err := s.openStore(generation)
	if err != nil {
		return nil, err
	}
	err = w.mapLeaves(ds, mapping.ReadWrite)
	return w, failed("map", s.dir, storeName(generation), errors.Join(err, ds.Close()))
}

// storeID returns the vfs.FileID of the records of a store.
func (s *session) storeID(name string) (any, error) {
	at := filepath.Join(name, recordsName)
	info, err := os.Lstat(s.path(name))
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: not a directory", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(name, err)
	}
	if info, err = os.Lstat(s.path(at)); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the file is missing", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(at, err)
	}
	return vfs.FileID(info, s.path(at)), nil
}

// mapLeaves maps the leaves of the store, whose dataset is ds, unless they are mapped.
func (w *writer) mapLeaves(ds *memmap.Dataset, mode mapping.Mode) (err error) {
	if w.files != nil {
		return nil
	}
	files := make([]*place, len(w.leaves))
	for i, l := range w.leaves {
		if err == nil && l.bytes > 0 {
			files[i], err = mapLeaf(ds, l, mode)
		}
	}
	if err != nil {
		return errors.Join(err, closeAll(files))
	}
	w.files = files
	return nil
}

// leafFile returns the file of a leaf.
func leafFile(ds *memmap.Dataset, l leafSpec) (*mapfile.File, error) {
	x, err := ds.Tensor(l.Key)
	if err != nil {
		return nil, err
	}
	f, ok := x.Lender().(*mapfile.File)
	if !ok {
		return nil, fmt.Errorf("%w: %q has no file", engine.ErrCorrupt, l.Key)
	}
	return f, nil
}

// mapLeaf maps the file of a leaf.
func mapLeaf(ds *memmap.Dataset, l leafSpec, mode mapping.Mode) (*place, error) {
	from, err := leafFile(ds, l)
	if err != nil {
		return nil, err
	}
	f, err := openFile(from.String(), flagOf(mode))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mapping.Map(f, from.Size(), mode)
	return &place{m}, err
}

// flagOf returns the flag with which a file is opened to be mapped.
func flagOf(mode mapping.Mode) int {
	if mode == mapping.ReadWrite {
		return os.O_RDWR
	}
	return os.O_RDONLY
}

// openStore opens the dataset of a store, and checks it against the MANIFEST.
func (s *session) openStore(generation uint64) (*memmap.Dataset, error) {
	name := storeName(generation)
	ds, err := memmap.Open(s.path(name))
	if err != nil {
		return nil, s.storeError(name, err)
	}
	if err := s.fixed.checkStore(ds); err != nil {
		return nil, errors.Join(failed("open", s.dir, name, err), ds.Close())
	}
	return ds, nil
}

// storeError returns an error of opening a store as [engine.ErrCorrupt], unless it is an error of
// the operating system, or the store does not exist.
func (s *session) storeError(name string, err error) error {
	of, ok := errors.AsType[*memmap.DatasetError](err)
	_, system := errors.AsType[syscall.Errno](err)
	system = system || errors.Is(err, fs.ErrNotExist)
	damaged := errors.Is(err, memmap.ErrCorrupt) || errors.Is(err, memmap.ErrForeign)
	if !ok || errors.Is(err, memmap.ErrLimit) || system && !damaged {
		return err
	}
	text := strings.TrimPrefix(of.Err.Error(), engine.ErrCorrupt.Error()+": ")
	return failed("open", s.dir, filepath.Join(name, of.Path), fmt.Errorf("%w: %s", engine.ErrCorrupt, text))
}

// checkStore returns [engine.ErrCorrupt] unless ds has the shape and the leaves that the MANIFEST
// says.
func (m *manifest) checkStore(ds *memmap.Dataset) error {
	if !slices.Equal(ds.Shape(), []int{m.Config.Samples}) {
		return fmt.Errorf("%w: got batch shape %v, want [%d]", engine.ErrCorrupt, ds.Shape(), m.Config.Samples)
	}
	for _, l := range m.Schema {
		x, err := ds.Tensor(l.Key)
		if err != nil || x.DType() != l.dtype || !slices.Equal(x.Shape()[1:], l.Shape) {
			return fmt.Errorf("%w: %q differs from the MANIFEST", engine.ErrCorrupt, l.Key)
		}
	}
	n := 0
	for range ds.Leaves() {
		n++
	}
	if n != len(m.Schema) {
		return fmt.Errorf("%w: got %d leaves, want %d", engine.ErrCorrupt, n, len(m.Schema))
	}
	return nil
}

// mapRecords maps the records of a store.
func (s *session) mapRecords(generation uint64, mode mapping.Mode) (m *mapping.Mapping, err error) {
	name := recordsPath(generation)
	f, err := openFile(s.path(name), flagOf(mode))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the file is missing", engine.ErrCorrupt)
	}
	if err != nil {
		return nil, s.fail(name, err)
	}
	defer f.Close()
	if err = s.fixed.checkRecords(f); err == nil {
		m, err = mapping.Map(f, s.fixed.recordsSize(), mode)
	}
	return m, s.fail(name, err)
}

// record returns the record of a row.
func (w *writer) record(row int) record { return rowRecord(w.table, row, len(w.leaves)) }

// sumsAgree reports whether the sample of a row has the checksums of its record.
func (w *writer) sumsAgree(r record, row int) bool {
	for i, l := range w.leaves {
		if l.bytes == 0 {
			continue
		}
		b, err := w.files[i].Acquire()
		if err != nil {
			return false
		}
		sum := crc32.ChecksumIEEE(b[row*l.bytes:][:l.bytes])
		w.files[i].Release()
		if sum != r.sum(i) {
			return false
		}
	}
	return true
}

func closeAll(files []*place) (err error) {
	for _, f := range files {
		if f != nil && f.Mapping != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

func (w *writer) close() error {
	err := closeAll(w.files)
	if w.table != nil {
		w.records.Release()
		err = errors.Join(err, w.records.Close())
	}
	return err
}

// dropStores closes the stores that were removed, so that their room on the disk is freed. Stores
// with users stay open. s.mu is held.
func (s *session) dropStores() error {
	entries, err := os.ReadDir(s.at)
	if err != nil {
		return s.fail("", err)
	}
	there := map[any]bool{}
	for _, e := range entries {
		if _, ok := parseStore(e.Name()); ok {
			id, _ := s.storeID(e.Name()) // nil if it goes meanwhile
			there[id] = true
		}
	}
	for _, stores := range []map[any]*writer{s.stores, s.read} {
		for id, w := range stores {
			if !there[id] && w.users == 0 {
				if s.filled == w {
					s.filled = nil
				}
				err = errors.Join(err, w.close())
				delete(stores, id)
			}
		}
	}
	return err
}
