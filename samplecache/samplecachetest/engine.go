package samplecachetest

import (
	"testing"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Open returns the engine of the cache at a place. With a schema it makes the cache first, as
// config says; it is not there yet. With a nil schema the cache is there, and config counts for
// nothing. What goes wrong fails t.
type Open func(t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config) samplecache.Engine

// TestEngine checks that an engine keeps what samplecache promises, each promise in a subtest of t.
// In a process that it has started itself, it does what the process is for instead: see the
// documentation of the package.
func TestEngine(t *testing.T, open Open) {
	t.Helper()
	if j, ok := jobOf(t); ok {
		j.do(newKit(t, t.Name(), open))
		return
	}
	check(t, open, rules)
}

// A rule is something that engines promise.
type rule struct {
	name  string
	check func(k *kit)
}

// check checks an engine for some rules.
func check(t *testing.T, open Open, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(newKit(t, parentOf(t), open)) })
	}
}

// rules are all promises.
var rules = []rule{
	{"W01 W02 W03 readers see whole generations, in order and without a gap", wholeGenerations},
	{"W04 a generation that is held does not change", heldStays},
	{"W04 as many generations are kept as were asked for", retained},
	{"W04 Reserve waits while too many generations are held", tooManyHeld},
	{"W04 a generation that is held for too long is gone", heldTooLong},
	{"W07 a committed number is stored once", numberOnce},
	{"W07 each number is in one generation", numbersOnce},
	{"W07 Abort gives slot and number back", abortGivesBack},
	{"W07 numbers reach 64 beyond the first that is not committed", numbersReach},
	{"W07 a producer without a name has no memory", nameless},
	{"W07 a name is one producer's at a time", namesBusy},
	{"W07 a name that is forgotten begins anew", namesForgotten},
	{"W08 each generation is published once, by whoever completes it", publishedOnce},
	{"W10 Reserve waits for room before any work is done", roomFirst},
	{"W10 nothing that was committed is lost", nothingLost},
	{"W11 the ratio is kept at every moment, and nothing comes to a stop", ratioKept},
	{"W11 what waits returns when its context ends", contextsEnd},
	{"W12 a group makes MaxPasses over a generation", passesMost},
	{"W12 publishing waits for MinPasses", passesLeast},
	{"W12 a group that leaves or closes early holds up nobody", passesEarly},
	{"W12 the ranks of an epoch get the same generation", ranksAgree},
	{"W12 ranks and groups cannot be had otherwise", groupsRefused},
	{"W13 groups read at the same time", groupsAtOnce},
	{"W13 producers and readers", matrix},
	{"W16 every kind of tensor comes back byte for byte", fidelity},
	{"W16 samples that differ from the schema are refused", schemaRefused},
	{"W18 sessions come and go in any order", comeAndGo},
	{"W18 Close ends what waits", closeEndsWaits},
	{"W18 Close frees what is held", closeFrees},
	{"W18 everything is ErrClosed after Close", closedForAll},
	{"W19 ranks share an epoch", ranksShare},
	{"W19 a generation is a loader's source", isSource},
	{"processes put and read, and are killed", processes},
}
