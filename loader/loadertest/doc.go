// Package loadertest checks implementations of loader.Source. It is to sources what testing/fstest
// is to file systems.
//
//	func TestRecords(t *testing.T) {
//		if err := loadertest.TestSource(t.Context(), openRecords("testdata")); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// Run it with the race detector, too: Fetch must be safe for concurrent use.
package loadertest
