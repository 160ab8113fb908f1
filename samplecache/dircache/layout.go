package dircache

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/samplecache"
)

// How many there may be.
const (
	maxPeers     = 1024 // processes, or rather sessions
	maxProducers = 4096 // names
	maxGroups    = 64
	maxSeats     = 8192 // memberships of groups and ranks' parts in epochs
	maxName      = 64   // bytes of the name of a producer or a group
	epochsKept   = 8    // of a group
	retiredKept  = 128  // generations of which it is known when they were retired
)

// headerBytes is where the words begin.
const headerBytes = 4096

// Words of the control file, by number.
const (
	latestWord   = headerBytes/8 + iota // the generation published last
	fillingWord                         // the generation that is filled; 0 if it has no directory
	freeWord                            // where a free slot may be: see freeHint
	fullWord                            // slots below it are committed: see fullHint
	joinsWord                           // how often a session has joined
	peersWord                           // peers from this number on were never used
	livesWord                           // how many lives of names there were
	namesWord                           // producers from this number on were never used
	seatsWord                           // seats from this number on were never used
	lockerWord                          // 1 + the peer that has the lock; 0 if none has
	searchedWord                        // when it failed last to publish or to find a store, us
	swapAtWord                          // when the last generation was published, ms since 1970
	swapTookWord                        // how long that took, us
	firstTable   = headerBytes/8 + 64
)

// Words of an entry of a table.
const (
	peerJoin = iota // which join it was, from 1; 0 for a free entry
	peerPID
	peerSince   // us
	peerWaiting // which changes it wants to be told of: see tell
	peerWords
)

const (
	producerOwner = iota                     // 1 + the peer that has the name; 0 if none has
	producerLife                             // a name that was forgotten begins another
	producerName                             // see name
	producerDone  = producerName + nameWords // for each residue modulo 64, 1 + the last number
	producerWords = producerDone + samplecache.WindowSize
)

const (
	groupWorld   = iota                  // 0 for a free entry
	groupName                            // see name
	groupSince   = groupName + nameWords // the generation that was the latest when it was entered
	groupTaken   = groupSince + 1        // rows, as limits count them
	groupMembers = groupTaken + 1        // how many seats are memberships, counted by tidy
	groupEpochs  = groupMembers + 1
	groupWords   = groupEpochs + epochsKept*epochWords
)

const (
	epochNumber = iota // 1 + the number; 0 for a free entry
	epochWhich         // its generation, which pass of that, whether settled: see which
	epochTaken         // rows
	epochWords
)

const (
	retiredID = iota
	retiredAt // us
	retiredWords
)

// A layout says where the tables of a control file are, in words.
type layout struct {
	samples                                                int
	peers, producers, groups, seats, retired, slots, since int
	end                                                    int
}

func newLayout(samples int) layout {
	l := layout{samples: samples, peers: firstTable}
	l.producers = l.peers + maxPeers*peerWords
	l.groups = l.producers + maxProducers*producerWords
	l.seats = l.groups + maxGroups*groupWords
	l.retired = l.seats + maxSeats
	l.slots = l.retired + retiredKept*retiredWords
	l.since = l.slots + samples
	l.end = l.since + samples
	return l
}

func (l *layout) peer(i int) int     { return l.peers + i*peerWords }
func (l *layout) producer(i int) int { return l.producers + i*producerWords }
func (l *layout) group(i int) int    { return l.groups + i*groupWords }
func (l *layout) epoch(group, i int) int {
	return l.group(group) + groupEpochs + i*epochWords
}

// nameWords is how many words a name takes: its length, and 6 bytes each.
const nameWords = 1 + (maxName+5)/6

// loadName returns a name.
func (w words) loadName(at int) string {
	n := int(w.load(at))
	text := make([]byte, 0, nameWords*6)
	for i := 1; i <= (n+5)/6 && i < nameWords; i++ {
		v := w.load(at + i)
		for shift := 40; shift >= 0; shift -= 8 {
			text = append(text, byte(v>>shift))
		}
	}
	return string(text[:min(n, len(text))])
}

// storeName stores a name of at most [maxName] bytes; its length comes last, so that it is there
// whole or not.
func (w words) storeName(at int, name string) {
	w.store(at, 0)
	for i := range nameWords - 1 {
		var v uint64
		for j := range 6 {
			v <<= 8
			if k := i*6 + j; k < len(name) {
				v |= uint64(name[k])
			}
		}
		w.store(at+1+i, v)
	}
	w.store(at, uint64(len(name)))
}

// hasName reports whether a name is the one at a place.
func (w words) hasName(at int, name string) bool {
	return int(w.load(at)) == len(name) && w.loadName(at) == name
}

// checkName returns an error if a producer or a group cannot be called so.
func checkName(what error, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("%w: got a name of %d bytes, want 1 to %d, in UTF-8", what, len(name), maxName)
	}
	return nil
}
