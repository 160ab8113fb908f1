package samplecachetest

import (
	"strings"
	"testing"
)

// CheckRules checks an engine for the rules whose names begin with one of some words.
func CheckRules(t *testing.T, open Open, names ...string) {
	t.Helper()
	var some []rule
	for _, r := range rules {
		for _, name := range names {
			if strings.HasPrefix(r.name, name) {
				some = append(some, r)
			}
		}
	}
	if len(some) != len(names) {
		t.Fatalf("got %d rules that begin with one of %q", len(some), names)
	}
	check(t, open, some)
}
