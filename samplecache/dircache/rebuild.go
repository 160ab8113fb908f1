package dircache

import (
	"cmp"
	"hash/crc32"
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rebuild makes what the control file says again, in place, from the MANIFEST and the records of the
// generation that is being filled. Nobody else takes part, and the lock is held.
func (s *session) rebuild() error {
	m, err := s.manifest()
	if err == nil {
		err = clearControl(s.file, s.samples())
	}
	passing("control cleared")
	if err == nil {
		err = s.file.Truncate(countsAt(s.samples()) + 2*countsBytes)
	}
	if err == nil {
		s.control, err = mapping.Map(s.file, wordsOf(s.samples())*8, mapping.ReadWrite)
	}
	if err == nil {
		err = s.recover(m)
	}
	passing("samples recovered")
	if err == nil {
		_, err = s.file.WriteAt(m.header(), 0)
	}
	return failed("rebuild", s.dir, controlName, err)
}

// recover finds the samples that are committed in the generation that is being filled: those with a
// sound record and the sums in it. Of two with one number the newer counts: the other was erased,
// and the disk has not heard of it. Records of others are erased.
func (s *session) recover(m *manifest) error {
	sh, err := s.lookAt(m)
	next := store{generationRole, m.Latest + 1}
	if err != nil || !sh.has(next) {
		return err
	}
	ds, err := s.openStore(next)
	if err != nil {
		return err
	}
	defer ds.Close()
	records, err := s.mapRecords(next, mapping.ReadWrite)
	if err != nil {
		return err
	}
	b, err := records.Acquire()
	if err != nil {
		return err
	}
	defer func() { records.Release(); _ = records.Close() }()
	return s.use(func(w words) error {
		w.seal(latestWord, m.Latest)
		s.recoverRows(w, next.id, ds, b)
		w.seal(fillingWord, next.id)
		return nil
	})
}

func (s *session) recoverRows(w words, generation uint64, ds *memmap.Dataset, records []byte) {
	var rows []int
	at := func(row int) record { return rowRecord(records, row, len(s.fixed.Schema)) }
	for i := range s.samples() {
		if at(i).sound(generation) && s.sumsAgree(ds, at(i), i) {
			rows = append(rows, i)
		} else {
			at(i).erase()
		}
	}
	slices.SortFunc(rows, func(i, j int) int {
		return cmp.Or(cmp.Compare(at(i).life(), at(j).life()), cmp.Compare(at(i).number(), at(j).number()), -at(i).time().Compare(at(j).time()))
	})
	for k, i := range rows {
		if k > 0 && at(i).life() != 0 && at(i).life() == at(rows[k-1]).life() && at(i).number() == at(rows[k-1]).number() {
			at(i).erase()
		} else {
			w.slot(i).Store(slotWord(generation, 0, slotCommitted))
		}
	}
}

// sumsAgree reports whether a sample is as its record says.
func (s *session) sumsAgree(ds *memmap.Dataset, r record, row int) bool {
	for i, l := range s.fixed.Schema {
		if l.bytes == 0 {
			continue
		}
		x, err := tdict.Get[*tensor.Tensor](ds.TensorDict, l.Key)
		if err != nil {
			return false
		}
		b, err := x.Lender().Borrow()
		if err != nil {
			return false
		}
		sum := crc32.Checksum(b[row*l.bytes:][:l.bytes], castagnoli)
		x.Lender().Return()
		if sum != r.sum(i) {
			return false
		}
	}
	return true
}
