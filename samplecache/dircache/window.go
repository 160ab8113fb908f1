package dircache

import (
	"slices"

	"github.com/go-tensordict/tensordict/samplecache"
)

// window returns the numbers of a producer that are committed. Of each 64 that follow each other,
// the word of a number is 1 + the largest committed one of its residue: so one store, whoever does
// it and however often, adds a number. The first that is not committed is less than 64 above each
// that is, since none is reserved farther off.
func (s *session) window(w words, entry int) samplecache.Window {
	at := s.layout.producer(entry) + producerDone
	var done [samplecache.WindowSize]uint64
	for i := range done {
		done[i] = w.load(at + i)
	}
	has := func(n uint64) bool { return done[n%samplecache.WindowSize] > n }
	win := samplecache.Window{Floor: slices.Max(done[:])}
	win.Floor -= min(win.Floor, samplecache.WindowSize)
	for has(win.Floor) {
		win.Floor++
	}
	for n := win.Floor; n < win.Floor+samplecache.WindowSize; n++ {
		if has(n) {
			win = win.With(n)
		}
	}
	return win
}

// done adds a number to those of a producer.
func (s *session) done(w words, entry int, number uint64) {
	w.raise(s.layout.producer(entry)+producerDone+int(number%samplecache.WindowSize), number+1)
}

// restore sets the numbers of a producer.
func (s *session) restore(w words, entry int, win samplecache.Window) {
	for n := win.Floor - min(win.Floor, samplecache.WindowSize); n < win.Floor+samplecache.WindowSize; n++ {
		if win.Has(n) {
			s.done(w, entry, n)
		}
	}
}

// windows returns the numbers of all producers, given what they were when the last generation was
// published, and the entries of those who have a sample in the one that is being filled.
func (s *session) windows(before []producerSpec, entries map[int]bool) (list []producerSpec, err error) {
	known := make(map[uint64]samplecache.Window, len(before)) // by their lives
	for _, p := range before {
		known[p.Life] = p.Window
	}
	err = s.use(func(w words) {
		list = make([]producerSpec, 0, len(before))
		for i := range w.below(namesWord, maxProducers) {
			name, life := w.loadName(s.layout.producer(i)+producerName), w.load(s.layout.producer(i)+producerLife)
			if name == "" {
				continue
			}
			win, ok := known[life]
			if entries[i] || !ok {
				win = s.window(w, i)
			}
			list = append(list, producerSpec{name, life, win})
		}
	})
	return list, err
}
