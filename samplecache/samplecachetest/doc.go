// Package samplecachetest checks engines of package samplecache, as testing/fstest checks file
// systems. The author of an engine writes one test, which calls [TestEngine].
//
//	func TestEngine(t *testing.T) {
//		samplecachetest.TestEngine(t, samplecachetest.Driver{Create: create, Engine: open})
//	}
//
// Each rule is a subtest. Its name says the rule, and its number in the contract of samplecache,
// W01 and so on, if it has one. Run the test with the race detector, too. The test takes a few
// seconds if the engine publishes a generation in about a millisecond. With the environment
// variable TENSORDICT_LONG rules do more, and it takes minutes. Rules that cannot be checked for an
// engine are skipped, and listed at the end with the reasons.
//
// # Places
//
// A place is the name of a cache: at most 32 ASCII letters, digits and hyphens. No two caches have
// the same place. The caches of several places exist at the same time. Several sessions, of one
// process and of several, join each of them.
//
// # Processes
//
// Some rules start processes and kill them. With -short, these rules are skipped.
//
// Each process runs the test's own binary, os.Executable, with -test.run set to the name of the
// test that called [TestEngine]. The environment variable SAMPLECACHETEST_JOB says what the process
// has to do, and at which place. So the test runs again in that process, and calls TestEngine,
// which does what the variable says instead of checking the engine.
//
// Everything that the test does before it calls TestEngine happens in these processes too. If all
// processes share a server or a directory, make it only if [Child] returns false, and pass its
// address to the others in a variable set by t.Setenv.
//
// If a process is killed, everything that it held must be free within one second plus the
// About.Lease of its sessions.
//
// # Networks
//
// If sessions implement [Cutter], rules disconnect them from their servers: replies to Commit are
// lost, and sessions are silent for longer than the lease. Calls must then return within two
// seconds after their contexts have ended, with the error of the context or engine.ErrUnavailable.
package samplecachetest
