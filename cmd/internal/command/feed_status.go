package command

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/feed"
)

// Times between two lines with the state of a feed: on a terminal, where a line replaces the
// previous one, and elsewhere.
const (
	feedLine = time.Second
	feedLog  = 10 * time.Second
)

// watch prints the state of a feed at intervals, until stop is called.
func (s *session) watch(f *feed.Feed) (stop func()) {
	every, begin, end := feedLog, "tdict: feed: ", "\n"
	if s.wantBars {
		every, begin, end = feedLine, "\r", "\x1b[K"
	}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for before := f.Stats(); ; {
			select {
			case <-done:
				if s.wantBars {
					fmt.Fprint(s.stderr, "\r\x1b[K")
				}
				return
			case <-ticks.C:
			}
			now := f.Stats()
			text := feedState(before, now, every)
			if s.wantBars { // one line: a longer one could not be replaced
				text = text[:min(len(text), max(0, s.columns()-1))]
			}
			if s.wantBars || text != feedIdle {
				fmt.Fprint(s.stderr, begin, text, end)
			}
			before = now
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

// feedIdle is the state of a feed without consumers.
const feedIdle = "no consumer"

// feedState describes the time between two stats: rows a second, the consumer that waited longest
// for the feed, and the consumer for which the feed waited longest.
func feedState(before, now []feed.Stats, took time.Duration) string {
	var epoch uint64
	rows, connected, hungry, slow := 0, 0, 0, 0
	var empty, full time.Duration
	for i := range now {
		rows += now[i].Rows - before[i].Rows
		if now[i].Connected {
			connected++
			epoch = max(epoch, now[i].Epoch)
		}
		if d := now[i].Empty - before[i].Empty; d > empty {
			empty, hungry = d, i
		}
		if d := now[i].Full - before[i].Full; d > full {
			full, slow = d, i
		}
	}
	if connected == 0 && rows == 0 {
		return feedIdle
	}
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d, %.0f rows/s", epoch, float64(rows)/took.Seconds())
	name := func(i int) string { return "the consumer" }
	if len(now) > 1 {
		fmt.Fprintf(&b, ", %d of %d consumers", connected, len(now))
		name = func(i int) string { return fmt.Sprint("consumer ", i) }
	}
	share := func(d time.Duration) float64 { return min(100, 100*d.Seconds()/took.Seconds()) }
	if share(empty) >= 1 {
		fmt.Fprintf(&b, "; %s waits %.0f%% of the time for the feed", name(hungry), share(empty))
	}
	if share(full) >= 1 {
		fmt.Fprintf(&b, "; the feed waits %.0f%% of the time for %s", share(full), name(slow))
	}
	return b.String()
}
