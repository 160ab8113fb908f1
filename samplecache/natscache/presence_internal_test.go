package natscache

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// TestWatch hears messages, and finds who is silent.
func TestWatch(t *testing.T) {
	const most = tolerance
	for rule, is := range map[string]struct {
		hear func(w *watch)
		dead bool
	}{
		"one that was never heard has as much time as others": {func(w *watch) { beats(w, 1, most-1) }, false},
		"one that was never heard is dead":                    {func(w *watch) { beats(w, 1, most) }, true},
		"one that speaks lives": {func(w *watch) {
			for seq := range uint64(20) {
				w.hear("self", 2*seq+1)
				w.hear("other", 2*seq+2)
			}
		}, false},
		"one that spoke before is dead": {func(w *watch) { w.hear("other", 1); beats(w, 2, most) }, true},
		"a message that comes again does not count": {func(w *watch) {
			w.hear("other", 1)
			for seq := range uint64(most) {
				w.hear("other", 1)
				w.hear("self", seq+2)
			}
		}, true},
		"nobody is dead while this process is not heard": {func(w *watch) { w.hear("self", 1); w.hear("self", 1) }, false},
		"numbers that go back count": {func(w *watch) {
			w.hear("other", 1000)
			w.hear("self", 1001)
			beats(w, 1, most)
		}, true},
		"numbers of others that go back count": {func(w *watch) {
			w.hear("other", 1000)
			w.hear("self", 1001)
			for seq := range uint64(20) {
				w.hear("self", 2*seq+1)
				w.hear("other", 2*seq+2)
			}
		}, false},
	} {
		w := &watch{self: "self", heard: map[string]int{}, last: map[string]uint64{}}
		members := map[string]*ledger.Member{"self": {}, "other": {}}
		require.Empty(t, w.silent(members), rule)
		is.hear(w)
		require.Equal(t, is.dead, len(w.silent(members)) == 1, rule)
	}
}

// beats hears this process n times.
func beats(w *watch, seq uint64, n int) {
	for range n {
		w.hear("self", seq)
		seq++
	}
}
