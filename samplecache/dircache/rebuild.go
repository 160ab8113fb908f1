package dircache

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// nobody is the holder of slots whose process is not known any more.
const nobody = 1<<14 - 1

// rebuild makes the control file again, from the MANIFEST and the records of the generation that is
// being filled. Nobody else takes part, and the lock is held.
func (s *session) rebuild() error {
	if s.control != nil {
		if err := s.control.Close(); err != nil {
			return err
		}
		s.control = nil
	}
	if err := s.dropBells(); err != nil {
		return err
	}
	passing("rebuilding")
	err := s.makeControl(s.at)
	if err == nil {
		err = s.openControl(newPrefix+controlName, false)
	}
	passing("control made")
	if err == nil {
		err = s.remember()
	}
	if err == nil {
		err = os.Rename(s.path(newPrefix+controlName), s.path(controlName))
	}
	passing("control renamed")
	return failed("rebuild", s.dir, controlName, err)
}

// remember stores in a new control file what is known.
func (s *session) remember() error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	if err := s.recall(m); err != nil {
		return err
	}
	return s.recover(m)
}

// dropBells removes the bells of those who are dead.
func (s *session) dropBells() (err error) {
	if s.bell != nil {
		err = s.bell.Close()
		s.bell = nil
	}
	entries, failed := os.ReadDir(s.path(peersName))
	err = errors.Join(err, failed)
	for _, e := range entries {
		if !isBell(e) {
			continue
		}
		err = errors.Join(err, os.Remove(filepath.Join(s.path(peersName), e.Name())))
	}
	return err
}

// recall stores what the MANIFEST says.
func (s *session) recall(m *manifest) error {
	return s.use(func(w words) {
		w.store(latestWord, m.Latest)
		for _, p := range m.Producers {
			if entry := s.addName(w, p.Name, p.Life); entry >= 0 {
				s.restore(w, entry, p.Window)
			}
		}
	})
}

// recover finds the samples that are committed in the generation that is being filled: those with a
// sound record and the sums in it. One that is there twice, as its producer was killed before it
// heard that it was committed and put it again, counts once.
func (s *session) recover(m *manifest) error {
	sh, err := lookAt(s.at, m)
	if err != nil {
		return failed("rebuild", s.dir, "", err)
	}
	next := store{generationRole, m.Latest + 1}
	if !sh.has(next) {
		return nil
	}
	ds, err := s.openStore(next)
	if err != nil {
		return err
	}
	records, err := s.mapRecords(next, mapping.ReadOnly)
	if err == nil {
		err = s.recoverRows(next.id, ds, records)
		err = errors.Join(err, records.Close())
	}
	return errors.Join(err, ds.Close())
}

func (s *session) recoverRows(generation uint64, ds *memmap.Dataset, records *mapping.Mapping) error {
	b, err := records.Acquire()
	if err != nil {
		return err
	}
	defer records.Release()
	return s.useBoth(store{generationRole, generation}, func(w words) {
		s.layout.begin(w, generation)
		var rows []survivor
		for i := range s.layout.samples {
			r := rowRecord(b, i, len(s.fixed.Schema))
			if r.sound(generation) && s.sumsAgree(ds, r, i) {
				rows = append(rows, survivorOf(r, i))
			}
		}
		for _, row := range s.counted(w, rows) {
			w.store(s.layout.slots+row.slot, slotWord(generation, nobody, slotCommitted))
		}
		w.store(fillingWord, generation)
	})
}

// sumsAgree reports whether a sample is what its record says.
func (s *session) sumsAgree(ds *memmap.Dataset, r record, row int) bool {
	for i, l := range s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
		if err != nil {
			return false
		}
		if sum, err := sumOf(x.Lender(), row*l.bytes, l.bytes); err != nil || sum != r.sum(i) {
			return false
		}
	}
	return true
}
