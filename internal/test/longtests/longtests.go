// Package longtests is the switch for long tests. By default tests do fewer rounds, so that `go
// test ./...` takes about a minute. With the environment variable TENSORDICT_LONG, which
// .ci/nightly sets, they do all rounds. Only tests, and packages that check implementations, import
// it.
//
//	for range longtests.Times(10, 1000) {
//		...
//	}
package longtests

import "os"

// On reports whether TENSORDICT_LONG is set.
func On() bool { return os.Getenv("TENSORDICT_LONG") != "" }

// Times returns few, or many if [On] returns true.
func Times(few, many int) int {
	if On() {
		return many
	}
	return few
}
