// Package samplecachetest checks engines of package samplecache, as testing/fstest checks file
// systems. The author of an engine writes one test, which calls [TestEngine].
//
//	func TestEngine(t *testing.T) {
//		samplecachetest.TestEngine(t, samplecachetest.Driver{Create: create, Engine: open})
//	}
//
// Each promise is a subtest, named after it and, where there is one, by its number in the contract
// of samplecache, W01 and so on. Run the test with the race detector, too. It takes a few seconds
// if an engine needs about a millisecond to publish a generation. With the environment variable
// TENSORDICT_LONG rules do more, and it takes minutes. Rules that an engine cannot be checked for
// are skipped, and listed at the end with the reasons.
//
// # Places
//
// A place is where a cache is kept: a name of ASCII letters, digits and hyphens, at most 32, that
// no other cache has. The caches of several places are there at the same time, and each is joined
// by several sessions, of one process and of several.
//
// # Processes
//
// Some rules start processes and kill them. Each is the test's own binary, os.Executable, with
// -test.run set to the name of the test that has called [TestEngine], and with an environment
// variable, SAMPLECACHETEST_JOB, that says what it is to do and at which place. So the test is run
// again in the process, and calls TestEngine, which does what the variable says instead of checking
// the engine. What the test does before it calls TestEngine must be possible in these processes,
// too: a server that all share, or a directory, is to be made only if [Child] is false, and found
// by a variable that t.Setenv sets. With -short, these rules are skipped.
//
// What a process that was killed holds must be free within the About.Lease of its sessions, and a
// second.
//
// # Networks
//
// If sessions are [Cutter], they are parted from their servers: replies to Commit are lost, and
// sessions are silent for longer than the lease. Calls then return within two seconds after their
// contexts have ended; their error is that of the context, or engine.ErrUnavailable.
package samplecachetest
