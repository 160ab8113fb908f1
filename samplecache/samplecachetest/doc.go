// Package samplecachetest checks engines of package samplecache, as testing/fstest checks file
// systems. The author of an engine writes one test:
//
//	func TestEngine(t *testing.T) {
//		samplecachetest.TestEngine(t, open)
//	}
//
//	func open(
//		t testing.TB, place string, schema *tdict.TensorDict, config samplecache.Config,
//	) samplecache.Engine {
//		if schema != nil {
//			if err := mine.Create(place, schema, config); err != nil {
//				t.Fatal(err)
//			}
//		}
//		return mine.Engine{At: place}
//	}
//
// Each promise of samplecache is a subtest, named after it and, where there is one, by its number
// in the contract of the package, W01 and so on. Run the test with the race detector, too. It takes
// a few seconds if an engine needs about a millisecond to publish a generation.
//
// # Places
//
// A place is where a cache is kept. It is the path of a file that does not exist, in a directory of
// the test's own; an engine that does not keep its caches in files uses it as a name, which no
// other test has. The caches of several places are there at the same time, and each is joined by
// several sessions, of one process and of several.
//
// # Processes
//
// The last subtests start processes and kill them. Each is the test's own binary, os.Executable,
// with -test.run set to the name of the test that has called [TestEngine], and with environment
// variables, which begin with SAMPLECACHETEST, that say what it is to do and at which place. So the
// test is run again in the process, and calls TestEngine, which does what the variables say instead
// of checking the engine. What the test does before it calls TestEngine must be possible in these
// processes, too: a server that all share is to be started only if [Child] is false.
//
// With -short, these subtests are skipped.
package samplecachetest
