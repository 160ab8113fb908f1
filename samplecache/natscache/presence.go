package natscache

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// patienceWith returns how long a process with a lease may be dead before all that it had is free:
// others look four times in a lease.
func patienceWith(lease time.Duration) time.Duration { return lease + lease/2 }

// attend tells others that this process lives, and looks for processes that are silent for longer
// than the lease. It also says that time has passed, when a generation is held for too long.
func (l *life) attend() {
	p, lease := l.p, l.p.charter.Lease
	w := &watch{lease: lease, heard: map[string]time.Time{}, since: time.Now()}
	l.running.Go(func() {
		for l.ctx.Err() == nil {
			err := p.tail(l.ctx, "here", jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy}, func(m *nats.Msg, _ *nats.MsgMetadata) {
				p.mu.Lock()
				defer p.mu.Unlock()
				w.heard[m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]] = time.Now()
			})
			if lasting(err) {
				l.stop(err) // nobody would notice the death of a process
			}
		}
	})
	beat := time.NewTicker(lease / 4)
	defer beat.Stop()
	due := time.NewTicker(max(min(p.charter.Config.MaxHold/4, time.Second), 5*time.Millisecond))
	defer due.Stop()
	_ = p.nc.Publish(p.site.here(l.id), nil) // if it is lost, others wait for the next
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-beat.C:
			_ = p.nc.Publish(p.site.here(l.id), nil)
			p.mu.Lock()
			for _, id := range w.silent(time.Now(), l.id, l.ledger.Processes) {
				l.enqueue(newRequest(ledger.Event{Kind: ledger.Gone, Name: id, Number: l.ledger.Processes[id].Heard}))
			}
			p.mu.Unlock()
		case <-due.C:
			p.mu.Lock()
			if at := l.ledger.Due(); at > 0 && l.now() >= at && len(l.queue) == 0 && l.flight == nil {
				l.enqueue(newRequest(ledger.Event{Kind: ledger.Tick}))
			}
			p.mu.Unlock()
		}
	}
}

// A watch knows when processes were last heard. Only durations count, so clocks may differ.
type watch struct {
	lease time.Duration
	heard map[string]time.Time
	since time.Time // when the watch began, or went on after it heard nothing, not even itself
	last  time.Time // when it last looked
}

// silent returns the processes that were not heard for longer than the lease. It accuses nobody
// unless the watch has heard its own process all the time.
func (w *watch) silent(now time.Time, self string, members map[string]*ledger.Member) (dead []string) {
	if now.Sub(w.heard[self]) > w.lease/2 || now.Sub(w.last) > w.lease/2 {
		w.since = now
	}
	w.last = now
	for id := range w.heard {
		if members[id] == nil && id != self {
			delete(w.heard, id)
		}
	}
	for id := range members {
		heard, met := w.heard[id]
		if !met || heard.Before(w.since) {
			w.heard[id] = now // from now on
		} else if id != self && now.Sub(heard) > w.lease {
			dead = append(dead, id)
			w.heard[id] = now.Add(-w.lease / 2) // ask again later
		}
	}
	return dead
}
