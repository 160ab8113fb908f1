package dircache

import (
	"fmt"

	"os"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
)

// A folded is what fold has found.
type folded struct {
	committed int          // how many slots are
	bad       []int        // those of them whose records are damaged
	entries   map[int]bool // of producers with a sample in the generation
}

// fold adds the numbers of all committed samples of the generation that is being filled to those of
// their producers: who committed one may have been killed before it could. The lock is held.
func (s *session) fold() (f folded, err error) {
	f.entries = map[int]bool{}
	var generation uint64
	if err := s.use(func(w words) { generation = w.load(fillingWord) }); err != nil || generation == 0 {
		return f, err
	}
	st := store{generationRole, generation}
	records, err := s.mapRecords(st, mapping.ReadOnly)
	if err != nil {
		return f, err
	}
	defer records.Close()
	b, err := records.Acquire()
	if err != nil {
		return f, err
	}
	defer records.Release()
	err = s.useBoth(st, func(w words) {
		for i := range s.layout.samples {
			if v := w.load(s.layout.slots + i); slotState(v) == slotCommitted && slotGeneration(v) == generation {
				s.foldRow(w, &f, rowRecord(b, i, len(s.fixed.Schema)), generation, i)
			}
		}
	})
	return f, err
}

// foldRow adds the number of a sample, unless its producer was forgotten.
func (s *session) foldRow(w words, f *folded, r record, generation uint64, slot int) {
	f.committed++
	if !r.sound(generation) {
		f.bad = append(f.bad, slot)
		return
	}
	entry, life := r.producer()
	if entry < maxProducers && w.load(s.layout.producer(entry)+producerLife) == life {
		f.entries[entry] = true
		s.done(w, entry, r.number())
	}
}

// mapRecords maps the records of a store.
func (s *session) mapRecords(st store, mode mapping.Mode) (*mapping.Mapping, error) {
	name := st.name() + recordsSuffix
	flag := os.O_RDONLY
	if mode == mapping.ReadWrite {
		flag = os.O_RDWR
	}
	f, err := openFile(s.path(name), flag)
	if err != nil {
		return nil, s.fail(name, err)
	}
	defer f.Close()
	samples, leaves := s.layout.samples, len(s.fixed.Schema)
	m, err := mapping.Map(f, recordsSize(samples, leaves), mode)
	if err != nil {
		return nil, s.fail(name, fmt.Errorf("%w: %w", samplecache.ErrCorrupt, err))
	}
	b, err := m.Acquire()
	if err == nil {
		err = checkRecordsHeader(b, samples, leaves)
		m.Release()
	}
	if err != nil {
		_ = m.Close() // nothing was done with it
		return nil, s.fail(name, err)
	}
	return m, nil
}
