package samplecachetest

import (
	"strings"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/longtests"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Driver makes caches, and joins them.
type Driver struct {
	// Create makes the cache of a place. If the engine cannot keep a cache as config says, it
	// returns [errors.ErrUnsupported]: then rules that need such a cache are skipped.
	Create func(t testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error
	// Engine returns the engine of the cache of a place, which Create has made, in another process
	// maybe.
	Engine func(t testing.TB, place string) engine.Engine
	// OneProcess says that no other process can join a cache: then rules of processes are skipped.
	OneProcess bool
}

// A Cutter is a session that can be parted from its servers. If the sessions of an engine are
// Cutters, it is checked that no sample is lost or stored twice when they are parted.
type Cutter interface {
	// Cut(true) parts the session from its servers, until Cut(false): requests and replies that are
	// under way are lost too, and for the servers the session is silent.
	Cut(on bool)
}

// TestEngine checks that an engine keeps what samplecache promises, each promise in a subtest of t.
// In a process that it has started itself, it does the job of that process instead: see the
// documentation of the package.
func TestEngine(t *testing.T, d Driver) {
	t.Helper()
	newSuite(t, d).check(t, rules)
}

// A suite is one check of an engine.
type suite struct {
	Driver
	test     string        // the test that has called TestEngine
	skipped  []string      // rules, and the reasons
	patience time.Duration // a rule may take; what it waits for may take half of that
	moment   time.Duration // something has to wait that should wait for ever
	grace    time.Duration // a call may take to return once its context has ended
}

func newSuite(t *testing.T, d Driver) *suite {
	t.Helper()
	patience := time.Duration(longtests.Times(1, 20)) * time.Minute
	return &suite{Driver: d, test: t.Name(), patience: patience, moment: 20 * time.Millisecond, grace: 2 * time.Second}
}

// check checks an engine for some rules, or does the job of the process.
func (s *suite) check(t *testing.T, rules []rule) {
	t.Helper()
	if name, at, ok := jobOf(t); ok {
		(&place{newKit(t, s), at}).work(name)
		return
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(newKit(t, s)) })
	}
	if len(s.skipped) > 0 {
		t.Logf("not checked:\n%s", strings.Join(s.skipped, "\n"))
	}
}

// skip ends the test, which is listed as skipped.
func (k *kit) skip(why string) {
	k.Helper()
	k.skipped = append(k.skipped, k.Name()+": "+why)
	k.Skip(why)
}

// A rule is something that engines promise.
type rule struct {
	name  string
	check func(k *kit)
}

// rules are all promises.
var rules = []rule{
	{"W01 W02 W03 W13 readers see whole generations, in order and without a gap", wholeGenerations},
	{"W04 a generation that is held does not change", heldStays},
	{"W04 Reserve waits while too many generations are held", tooManyHeld},
	{"W04 a generation that is held for too long is gone", heldTooLong},
	{"W04 W08 each generation is published once, and kept for as long as was asked for", publishedOnce},
	{"W07 a name and its numbers are one producer's, until they are forgotten", names},
	{"W07 W10 what was committed is in one generation, whatever else was tried", storedOnce},
	{"W07 a sample is stored once, though the reply to Commit is lost", repliesLost},
	{"W09 what a silent session holds is free within the lease", silence},
	{"W09 a session goes on after it was cut off", cutOff},
	{"W09 what a killed process holds is free within the lease", killedHolder},
	{"W10 Reserve waits for room, which Abort gives back", roomFirst},
	{"W11 the ratio is kept at every moment, and nothing comes to a stop", ratioKept},
	{"W11 what cannot be done yet is ErrBlocked at once", blockedAtOnce},
	{"W12 a group makes MaxPasses over a generation", passesMost},
	{"W12 publishing waits for MinPasses, and not for a group that leaves", passesLeast},
	{"W12 the ranks of an epoch get the same generation, and are no more", ranksAgree},
	{"W12 an epoch can be asked for without end", epochsAgain},
	{"W13 groups read at the same time", groupsAtOnce},
	{"W16 every kind of tensor comes back byte for byte", fidelity},
	{"W18 sessions come and go in any order", comeAndGo},
	{"W18 Close frees what is held, and the engine says ErrClosed", closeFrees},
	{"processes put and read, and are killed", processes},
}
