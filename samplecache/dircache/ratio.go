package dircache

import (
	"fmt"
	"iter"
	"math"
)

// bound returns how many slots of a generation may be reserved: those with the least indices, so
// that no two processes need agree on who has the last.
func (s *session) bound(w words, generation uint64) int {
	c := s.fixed.Config
	if c.Limits.PerInsert == 0 {
		return c.Samples
	}
	least := int64(math.MaxInt64)
	for g := range s.live(w) {
		least = min(least, int64(w.load(s.layout.group(g)+groupTaken)))
	}
	if least == math.MaxInt64 {
		return c.Samples
	}
	before := int64(generation-1) * int64(c.Samples)
	return int(min(max(c.Limits.MaxInserts(least)-before, 0), int64(c.Samples)))
}

// waitsFor says what keeps a full generation from being published.
func (s *session) waitsFor(w words) (reasons []string) {
	need := uint64(s.fixed.Config.Limits.MinPasses) * uint64(s.layout.samples)
	latest := w.load(latestWord)
	if need == 0 || latest == 0 {
		return nil
	}
	for g := range s.live(w) {
		at := s.layout.group(g)
		if w.load(at+groupSince) >= latest {
			continue // it came later
		}
		if rows := s.rowsOf(w, g, latest); rows < need {
			reasons = append(reasons, fmt.Sprintf("group %q, which has taken %d rows of generation %d, want %d",
				w.loadName(at+groupName), rows, latest, need))
		}
	}
	return reasons
}

// rowsOf returns how many rows of a generation a group has taken, each once a pass. Passes that are
// settled, or so old that they are not remembered, count as whole.
func (s *session) rowsOf(w words, group int, generation uint64) (rows uint64) {
	first, whole := uint64(math.MaxUint64), uint64(s.layout.samples)
	for at, v := range s.epochsOf(w, group, generation) {
		first = min(first, whichPass(v))
		if v&settledBit != 0 {
			rows += whole
		} else {
			rows += min(w.load(at+epochTaken), whole)
		}
	}
	if first == math.MaxUint64 {
		return 0
	}
	return rows + (first-1)*whole
}

// passes returns how many passes over a generation a group has begun.
func (s *session) passes(w words, group int, generation uint64) (n uint64) {
	for _, v := range s.epochsOf(w, group, generation) {
		n = max(n, whichPass(v))
	}
	return n
}

// epochsOf yields the entries of the epochs of a group that have a generation, and which they are.
func (s *session) epochsOf(w words, group int, generation uint64) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i := range epochsKept {
			at := s.layout.epoch(group, i)
			v := w.load(at + epochWhich)
			if w.load(at+epochNumber) != 0 && whichGeneration(v) == generation && !yield(at, v) {
				return
			}
		}
	}
}

// promised returns how many rows a group has taken, and may take in the passes that it has begun
// and in one more.
func (s *session) promised(w words, group int) int64 {
	rows := int64(w.load(s.layout.group(group)+groupTaken)) + int64(s.layout.samples)
	for i := range epochsKept {
		at := s.layout.epoch(group, i)
		if w.load(at+epochNumber) != 0 && w.load(at+epochWhich)&settledBit == 0 {
			rows += max(int64(s.layout.samples)-int64(w.load(at+epochTaken)), 0)
		}
	}
	return rows
}

// inserts returns how many samples were committed, ever: at least so many, and all if it is exact.
func (s *session) inserts(w words, exact bool) int64 {
	if s.fixed.Config.Limits.PerInsert == 0 {
		return 0 // nobody asks
	}
	latest := w.load(latestWord)
	n := int64(latest) * int64(s.layout.samples)
	if exact {
		return n + int64(s.layout.committed(w, latest+1))
	}
	if v := w.load(fullWord); hintTag(v) == (latest+1)&tagMax {
		n += int64(hintIndex(v))
	}
	return n
}
