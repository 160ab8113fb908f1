package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
)

func TestFeedState(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name        string
		before, now []feed.Stats
		want        string
	}{
		{"nobody", make([]feed.Stats, 1), make([]feed.Stats, 1), "no consumer"},
		{"one that waits",
			[]feed.Stats{{Rows: 100, Empty: s}}, []feed.Stats{{Rows: 1100, Epoch: 3, Connected: true, Empty: 2 * s}},
			"epoch 3, 500 rows/s; the consumer waits 50% of the time for the feed"},
		{"one that is slow",
			make([]feed.Stats, 1), []feed.Stats{{Rows: 10, Connected: true, Full: 3 * s}},
			"epoch 0, 5 rows/s; the feed waits 100% of the time for the consumer"},
		{"several",
			make([]feed.Stats, 3), []feed.Stats{{Rows: 10, Connected: true, Empty: s}, {Rows: 4, Epoch: 1, Connected: true, Full: s / 2}, {Empty: s / 10}},
			"epoch 1, 7 rows/s, 2 of 3 consumers; consumer 0 waits 50% of the time for the feed; the feed waits 25% of the time for consumer 1"},
		{"one that has gone", []feed.Stats{{}}, []feed.Stats{{Rows: 8}}, "epoch 0, 4 rows/s"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, feedState(tt.before, tt.now, 2*s)) })
	}
}
