package dircache

import (
	"fmt"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// How many there may be.
const (
	maxSessions  = 1024
	maxProducers = 4096 // names
	retiredKept  = 128  // generations whose time of retirement is stored
)

// headerBytes is where the words begin.
const headerBytes = 4096

// Words of the control file, by number.
const (
	sequenceWord = headerBytes/8 + iota // counts changes; its low 32 bits are a futex
	latestWord                          // sealed: the generation published last
	fillingWord                         // sealed: the generation that is filled; 0 if it has no store
	lockerWord                          // pid of the session that has the lock
	wantedWord                          // 1 if somebody waits for the lock
	sweptWord                           // when somebody last looked for slots and parts of the dead, us
	searchedWord                        // when it failed last to publish or to find a store, us; see searching
	swapAtWord                          // when the last generation was published, ms since 1970
	swapTookWord                        // how long that took, us
	firstTable   = headerBytes/8 + 64
)

// Tables: two words for each session (pid, since), each retired generation (which, since when; both
// sealed), and each slot (see slots.go; since when it is reserved). Times are in us.
const (
	sessionsTable = firstTable
	retiredTable  = sessionsTable + 2*maxSessions
	slotsTable    = retiredTable + 2*retiredKept
)

// wordsOf returns how many words a control file has, the header included.
func wordsOf(samples int) int { return slotsTable + 2*samples }

// words are the words of a control file. Except for the sealed ones they are hints: locks and
// records decide.
type words []atomic.Uint64

// sealed returns a sealed word: its high half is the complement of its low half.
func (w words) sealed(at int) (uint64, error) {
	v := w[at].Load()
	if uint32(v) != ^uint32(v>>32) {
		return 0, fmt.Errorf("%w: the word at byte %d is damaged", engine.ErrCorrupt, at*8)
	}
	return uint64(uint32(v)), nil
}

func (w words) seal(at int, v uint64) { w[at].Store(uint64(^uint32(v))<<32 | uint64(uint32(v))) }

// generations returns the one published last, and the one that is being filled.
func (w words) generations() (latest, filling uint64, err error) {
	if latest, err = w.sealed(latestWord); err == nil {
		filling, err = w.sealed(fillingWord)
	}
	return latest, filling, err
}

// pid returns the pid of a session, 0 if it is not known.
func (w words) pid(session int) int {
	if uint(session) >= maxSessions {
		return 0
	}
	return int(w[sessionsTable+2*session].Load())
}

// The words of a slot, and of a session.
func (w words) slot(i int) *atomic.Uint64    { return &w[slotsTable+2*i] }
func (w words) since(i int) *atomic.Uint64   { return &w[slotsTable+2*i+1] }
func (w words) session(i int) *atomic.Uint64 { return &w[sessionsTable+2*i] }
func (w words) joined(i int) *atomic.Uint64  { return &w[sessionsTable+2*i+1] }

// retired stores that a generation is retired as of now, unless that is known.
func (w words) retired(id uint64) {
	at := retiredTable + 2*int(id%retiredKept)
	if was, err := w.sealed(at); err != nil || was != id {
		w.seal(at+1, now()/1000)
		w.seal(at, id)
	}
}

// retiredFor returns how long ago a generation was retired, in ms, as far as that is known.
func (w words) retiredFor(id uint64) (ms uint64) {
	at := retiredTable + 2*int(id%retiredKept)
	was, err := w.sealed(at)
	then, failed := w.sealed(at + 1)
	if err != nil || failed != nil || was != id {
		return 0
	}
	return uint64(uint32(now()/1000) - uint32(then))
}
