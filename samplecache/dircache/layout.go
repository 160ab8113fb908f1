package dircache

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// The maximum numbers.
const (
	maxSessions  = 1024
	maxProducers = 4096 // names
	retiredKept  = 128  // stored times of retirement
)

// headerBytes is the offset of the words.
const headerBytes = 4096

// The words of the control file, by number.
const (
	sequenceWord = headerBytes/8 + iota // incremented by a change that somebody waits for; its low 32 bits are a futex
	latestWord                          // sealed: the generation published last
	fillingWord                         // sealed: the generation being filled; 0 if it has no store
	_                                   // not used
	wantedWord                          // 1 if a session waits for the lock
	sweptWord                           // when a session last looked for dead sessions, us
	searchedWord                        // when publishing, or finding a store, last failed, us; see searching
	_                                   // not used
	_                                   // not used
	swapTookWord                        // how long publishing took, us, above the low half of the generation
	firstTable   = headerBytes/8 + 64
)

// The tables. Each entry has two words: for a session its pid and when it joined; for a retired
// generation its number and when it was retired, both sealed. Times of sessions are in us, of
// generations in ms.
const (
	sessionsTable = firstTable
	retiredTable  = sessionsTable + 2*maxSessions
	wordsCount    = retiredTable + 2*retiredKept // including the header
)

// words are the words of a control file. Except for the sealed ones they are hints: if locks
// differ from them, the words are wrong.
type words []atomic.Uint64

// sealed returns the value of a sealed word: its high half is the complement of its low half, the
// value.
func (w words) sealed(at int) (uint64, error) {
	v := w[at].Load()
	if uint32(v) != ^uint32(v>>32) {
		return 0, fmt.Errorf("%w: the word at byte %d is damaged", engine.ErrCorrupt, at*8)
	}
	return uint64(uint32(v)), nil
}

func (w words) seal(at int, v uint64) { w[at].Store(uint64(^uint32(v))<<32 | uint64(uint32(v))) }

// generations returns the generation published last, and the generation that is being filled.
func (w words) generations() (latest, filling uint64, err error) {
	if latest, err = w.sealed(latestWord); err == nil {
		filling, err = w.sealed(fillingWord)
	}
	return latest, filling, err
}

// tookSwap stores how long it took to publish a generation.
func (w words) tookSwap(generation uint64, took time.Duration) {
	w[swapTookWord].Store(min(uint64(max(took, 0)/time.Microsecond), math.MaxUint32)<<32 | generation)
}

// swapTook returns how long it took to publish a generation, or 0 if that is not known.
func (w words) swapTook(generation uint64) time.Duration {
	v := w[swapTookWord].Load()
	if uint64(uint32(v)) != generation {
		return 0
	}
	return time.Duration(v>>32) * time.Microsecond
}

// pid returns the pid of a session, or 0 if it is not known.
func (w words) pid(session int) int {
	if uint(session) >= maxSessions {
		return 0
	}
	return int(w[sessionsTable+2*session].Load())
}

// The words of a session.
func (w words) session(i int) *atomic.Uint64 { return &w[sessionsTable+2*i] }
func (w words) joined(i int) *atomic.Uint64  { return &w[sessionsTable+2*i+1] }

// retired stores that a generation is retired as of now, unless a time is stored for it.
func (w words) retired(id uint64) {
	at := retiredTable + 2*int(id%retiredKept)
	if was, err := w.sealed(at); err != nil || was != id {
		w.seal(at+1, now()/1000)
		w.seal(at, id)
	}
}

// retiredFor returns how long ago a generation was retired, in ms, or 0 if that is not known.
func (w words) retiredFor(id uint64) (ms uint64) {
	at := retiredTable + 2*int(id%retiredKept)
	was, err := w.sealed(at)
	then, failed := w.sealed(at + 1)
	if err != nil || failed != nil || was != id {
		return 0
	}
	return uint64(uint32(now()/1000) - uint32(then))
}
