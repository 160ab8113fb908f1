// Package longtests says how much tests do. Each run of `go test ./...` takes little time; with the
// environment variable TENSORDICT_LONG, which CI sets, tests do all that they can within half an
// hour. Only tests import it.
//
//	for range longtests.Times(10, 1000) {
//		...
//	}
package longtests

import "os"

// On reports whether TENSORDICT_LONG is set.
func On() bool { return os.Getenv("TENSORDICT_LONG") != "" }

// Times returns few, or many if [On].
func Times(few, many int) int {
	if On() {
		return many
	}
	return few
}
