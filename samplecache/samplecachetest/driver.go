package samplecachetest

import (
	"strings"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Driver makes caches, and joins them.
type Driver struct {
	// Create makes the cache of a place. If the engine does not support config, Create returns
	// [errors.ErrUnsupported], and the rules that need such a cache are skipped.
	Create func(t testing.TB, place string, schema *tdict.TensorDict, config engine.Config) error
	// Engine returns the engine of the cache of a place. Create made the cache, perhaps in another
	// process.
	Engine func(t testing.TB, place string) engine.Engine
	// OneProcess says that other processes cannot join a cache. Then the rules of processes are
	// skipped.
	OneProcess bool
}

// A Cutter is a session that can be disconnected from its servers. If the sessions of an engine are
// Cutters, rules check that no sample is lost or stored twice when they are disconnected.
type Cutter interface {
	// Cut(true) disconnects the session from its servers until Cut(false). Requests and replies
	// that are under way are lost, too. The servers get nothing from the session.
	Cut(on bool)
}

// TestEngine checks an engine against the contract of samplecache, each rule in a subtest of t. In
// a process that TestEngine started, it does the job of that process instead: see the package
// documentation.
func TestEngine(t *testing.T, d Driver) {
	t.Helper()
	newSuite(t, d).check(t, rules)
}

// A suite is one check of an engine.
type suite struct {
	Driver
	test      string        // name of the test that called TestEngine
	skipped   []string      // skipped rules with the reasons
	patience  time.Duration // how long a rule may take; an event may take half of it
	shortWait time.Duration // how long a rule observes a call that must wait for ever
	grace     time.Duration // how long a call may take to return after its context ended
}

func newSuite(t *testing.T, d Driver) *suite {
	t.Helper()
	patience := time.Duration(longtests.Times(1, 20)) * time.Minute
	return &suite{Driver: d, test: t.Name(), patience: patience, shortWait: 20 * time.Millisecond, grace: 2 * time.Second}
}

// check checks an engine against rules, or does the job of this process.
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

// skip skips the test, and records the reason.
func (k *kit) skip(why string) {
	k.Helper()
	k.skipped = append(k.skipped, k.Name()+": "+why)
	k.Skip(why)
}

// A rule is one check of an engine.
type rule struct {
	name  string
	check func(k *kit)
}

// rules are all rules of the contract.
var rules = []rule{
	{"W01 W02 W03 W13 readers see whole generations, in order and without a gap", wholeGenerations},
	{"W04 a generation that is held does not change", heldStays},
	{"W04 Reserve waits while too many generations are held", tooManyHeld},
	{"W04 a generation that is held for too long is gone", heldTooLong},
	{"W04 W08 each generation is published once, and kept for as long as was asked for", publishedOnce},
	{"W07 a name and its numbers belong to one producer, until they are forgotten", names},
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
	{"W12 the ranks of an epoch get the same generation, and no more ranks can join", ranksAgree},
	{"W12 an epoch can be asked for any number of times", epochsAgain},
	{"W13 groups read at the same time", groupsAtOnce},
	{"W16 every kind of tensor comes back byte for byte", fidelity},
	{"W18 sessions come and go in any order", comeAndGo},
	{"W18 Close frees what is held, and the engine says ErrClosed", closeFrees},
	{"processes put and read, and are killed", processes},
}
