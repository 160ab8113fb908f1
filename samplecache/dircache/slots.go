package dircache

// A slot is one word: the generation it is of, who holds it, and its state. It is changed by
// compare-and-swap only, except where a generation begins.
const (
	slotFree      = 0
	slotReserved  = 1 // its holder writes it
	slotCommitted = 2
)

func slotWord(generation uint64, holder int, state uint64) uint64 {
	return generation<<16 | uint64(holder)<<2 | state
}

func slotGeneration(v uint64) uint64 { return v >> 16 }
func slotHolder(v uint64) int        { return int(v >> 2 & (1<<14 - 1)) }
func slotState(v uint64) uint64      { return v & 3 }

// Where to look for a slot that is free, or not committed, is a word of two numbers: an index, and
// above it what tells when the index was found: for free slots, how often one has become free
// again; for those that are committed, the generation. Both only save looking: the slots themselves
// say what they are.
const (
	indexBits = 21
	indexMax  = 1<<indexBits - 1
	tagMax    = 1<<(wordBits-indexBits) - 1
)

func hint(tag uint64, index int) uint64 { return tag&tagMax<<indexBits | uint64(index) }
func hintIndex(v uint64) int            { return int(v & indexMax) }
func hintTag(v uint64) uint64           { return v >> indexBits }

// reserve takes a free slot of a generation below a bound, for a holder. All slots below the hint
// are not free, unless one became free since the hint was read, which then has another tag.
func (l *layout) reserve(w words, generation uint64, holder, bound int) (slot int, ok bool) {
	for {
		free := w.load(freeWord)
		i, current := l.seek(w, generation, hintIndex(free), bound)
		switch {
		case !current:
			return 0, false
		case i >= bound:
			if i == l.samples {
				w.cas(freeWord, free, hint(hintTag(free), i))
			}
			return 0, false
		}
		if w.cas(l.slots+i, slotWord(generation, 0, slotFree), slotWord(generation, holder, slotReserved)) {
			w.cas(freeWord, free, hint(hintTag(free), i+1))
			w.store(l.since+i, now())
			return i, true
		}
	}
}

// seek returns the first free slot of a generation from one on, or bound. It reports false if the
// next generation has begun: then nothing follows for the hint, which is of that.
func (l *layout) seek(w words, generation uint64, i, bound int) (slot int, current bool) {
	for ; i < bound; i++ {
		v := w.load(l.slots + i)
		if slotGeneration(v) != generation {
			return 0, false
		}
		if slotState(v) == slotFree {
			return i, true
		}
	}
	return i, true
}

// free gives a slot back that holder has reserved.
func (l *layout) free(w words, generation uint64, holder, slot int) bool {
	if !w.cas(l.slots+slot, slotWord(generation, holder, slotReserved), slotWord(generation, 0, slotFree)) {
		return false
	}
	passing("slot freed")
	l.lookFrom(w, slot)
	return true
}

// lookFrom has free slots looked for from one on, if not before that.
func (l *layout) lookFrom(w words, slot int) {
	for {
		free := w.load(freeWord)
		if w.cas(freeWord, free, hint(hintTag(free)+1, min(hintIndex(free), slot))) {
			return
		}
	}
}

// freeAll gives all slots back that a holder has reserved. Who was killed may have freed one of
// which the hint does not know yet, so all are looked at again.
func (l *layout) freeAll(w words, generation uint64, holder int) {
	for i := range l.samples {
		if w.load(l.slots+i) == slotWord(generation, holder, slotReserved) {
			l.free(w, generation, holder, i)
		}
	}
	l.lookFrom(w, 0)
}

// commit makes the sample in a slot one of its generation.
func (l *layout) commit(w words, generation uint64, holder, slot int) bool {
	return w.cas(l.slots+slot, slotWord(generation, holder, slotReserved), slotWord(generation, holder, slotCommitted))
}

// committed returns how many slots of a generation are committed.
func (l *layout) committed(w words, generation uint64) int {
	n := l.leading(w, generation)
	for i := n; i < l.samples; i++ {
		if v := w.load(l.slots + i); slotState(v) == slotCommitted && slotGeneration(v) == generation {
			n++
		}
	}
	return n
}

// full reports whether all slots of a generation are committed.
func (l *layout) full(w words, generation uint64) bool { return l.leading(w, generation) == l.samples }

// leading returns how many slots of a generation are committed before the first that is not.
func (l *layout) leading(w words, generation uint64) int {
	was := w.load(fullWord)
	i := 0
	if hintTag(was) == generation&tagMax {
		i = min(hintIndex(was), l.samples)
	}
	for i < l.samples {
		v := w.load(l.slots + i)
		if slotState(v) != slotCommitted || slotGeneration(v) != generation {
			break
		}
		i++
	}
	if v := hint(generation, i); v != was {
		w.cas(fullWord, was, v)
	}
	return i
}

// begin makes all slots free ones of a generation. The lock is held.
func (l *layout) begin(w words, generation uint64) {
	w.store(fillingWord, 0)
	for i := range l.samples {
		w.store(l.slots+i, slotWord(generation, 0, slotFree))
		w.store(l.since+i, 0)
	}
	w.store(freeWord, hint(hintTag(w.load(freeWord))+1, 0))
	w.store(fullWord, hint(generation, 0))
}
