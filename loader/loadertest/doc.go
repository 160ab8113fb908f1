// Package loadertest checks implementations of loader.Source, as testing/fstest checks file
// systems.
//
//	func TestRecords(t *testing.T) {
//		if err := loadertest.TestSource(t.Context(), openRecords("testdata")); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// Run it with the race detector too: Fetch must be safe for concurrent use.
package loadertest
