package main

import "testing"

// TestLearns runs the example as it stands, with several shuffles: each must find at least 93 % of
// the labels held out.
func TestLearns(t *testing.T) {
	for seed := range uint64(5) {
		accuracy, err := run(t.TempDir(), seed)
		if err != nil {
			t.Fatal(err)
		}
		if accuracy < 0.93 {
			t.Errorf("seed %d: got accuracy %.3f, want at least 0.93", seed, accuracy)
		}
	}
}
