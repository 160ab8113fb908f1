package dircache

import (
	"cmp"
	"slices"
	"time"
)

// A survivor is a sample that is sound after a crash.
type survivor struct {
	slot   int
	name   string
	life   uint64
	number uint64
	time   time.Time
}

func survivorOf(r record, slot int) survivor {
	_, life := r.producer()
	info := r.info(0)
	return survivor{slot, info.Producer, life, info.Number, info.Time}
}

// counted returns the survivors that are committed, each number of a producer once: of two, the
// newer, since the older one was not heard to be committed. Their numbers are added to those of
// their producers, in order; those of a name that was forgotten and began anew are not.
func (s *session) counted(w words, rows []survivor) (kept []survivor) {
	lives := map[string]uint64{}
	for _, r := range rows {
		lives[r.name] = max(lives[r.name], r.life)
	}
	slices.SortStableFunc(rows, func(a, b survivor) int {
		return cmp.Or(cmp.Compare(a.life, b.life), cmp.Compare(a.number, b.number), b.time.Compare(a.time))
	})
	for i, r := range rows {
		twin := i > 0 && r.life == rows[i-1].life && r.number == rows[i-1].number
		if r.name == "" || !twin && s.countOnce(w, r, lives[r.name]) {
			kept = append(kept, r)
		}
	}
	return kept
}

// countOnce adds the number of a survivor to those of its producer, whose life is now. It reports
// whether it was not there.
func (s *session) countOnce(w words, r survivor, life uint64) bool {
	entry := s.findName(w, r.name)
	if entry >= 0 && w.load(s.layout.producer(entry)+producerLife) < life {
		w.storeName(s.layout.producer(entry)+producerName, "") // it was forgotten
		entry = -1
	}
	if entry < 0 {
		entry = s.addName(w, r.name, life)
	}
	if entry < 0 {
		return false
	}
	if r.life < w.load(s.layout.producer(entry)+producerLife) {
		return true
	}
	win := s.window(w, entry)
	if win.Has(r.number) || !win.Reaches(r.number) {
		return false
	}
	s.done(w, entry, r.number)
	return true
}
