package dircache

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
)

// rebuild makes what the control file says again, in place, from the MANIFEST and the records of the
// generation that is being filled. Nobody else takes part, and the lock is held.
func (s *session) rebuild() error {
	m, err := s.manifest()
	var header []byte
	if err == nil {
		header, err = m.header()
	}
	if err == nil {
		err = clearControl(s.file, s.samples())
	}
	passing("control cleared")
	if err == nil {
		err = s.file.Truncate(countsAt(s.samples()) + 2*countsBytes)
	}
	if err == nil {
		err = s.mapWords()
	}
	if err == nil {
		s.words.seal(latestWord, m.Latest)
		err = s.recover(m.Latest + 1)
	}
	passing("samples recovered")
	if err == nil {
		_, err = s.file.WriteAt(header, 0)
	}
	return failed("rebuild", s.dir, controlName, err)
}

// recover finds the samples that are committed in the generation that is being filled, if that has a
// store: those with a sound record and the sums in it. Of two with one number the newer counts: the
// other was erased, and the disk has not heard of it. Records of others are erased.
func (s *session) recover(generation uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.writer(generation)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var rows []int
	for i := range s.samples() {
		if r := st.record(i); r.sound(generation) && st.sumsAgree(r, i) {
			rows = append(rows, i)
		} else {
			r.erase()
		}
	}
	slices.SortFunc(rows, func(i, j int) int {
		a, b := st.record(i), st.record(j)
		return cmp.Or(cmp.Compare(a.life(), b.life()), cmp.Compare(a.number(), b.number()), -a.time().Compare(b.time()))
	})
	newer := put{}
	for _, i := range rows {
		r := st.record(i)
		if of := (put{r.life(), r.number()}); of.life != 0 && of == newer {
			r.erase()
		} else {
			newer = of
			s.words.slot(i).Store(slotWord(generation, 0, slotCommitted))
		}
	}
	s.words.seal(fillingWord, generation)
	return nil
}
