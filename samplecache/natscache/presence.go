package natscache

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// patienceWith returns how long a process with a lease may be dead before all that it had is free.
// Others notice it after five quarters of the lease.
func patienceWith(lease time.Duration) time.Duration { return lease + lease/2 }

// attend tells others that this process lives, four times in a lease, and looks for processes that
// are silent for longer. It also says that time has passed, when a generation is held for too long.
func (l *life) attend() {
	p, lease := l.p, l.p.charter.Lease
	w := &watch{self: l.id, heard: map[string]int{}, last: map[string]uint64{}}
	l.running.Go(func() {
		for l.ctx.Err() == nil {
			err := p.tail(l.ctx, "here", jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, FilterSubject: p.site.here("*")}, func(m *nats.Msg, about *nats.MsgMetadata) {
				p.mu.Lock()
				defer p.mu.Unlock()
				w.hear(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], about.Sequence.Stream)
			})
			if lasting(err) {
				l.stop(err) // nobody would notice the death of a process
			}
		}
	})
	beat := time.NewTicker(lease / 4)
	defer beat.Stop()
	var due <-chan time.Time // nil without MaxHold
	if most := p.charter.Config.MaxHold; most > 0 {
		check := time.NewTicker(max(min(most/4, time.Second), 5*time.Millisecond))
		defer check.Stop()
		due = check.C
	}
	_ = p.nc.Publish(p.site.here(l.id), nil) // if it is lost, others wait for the next
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-beat.C:
			_ = p.nc.Publish(p.site.here(l.id), nil)
			p.mu.Lock()
			for _, id := range w.silent(l.ledger.Processes) {
				l.enqueue(newRequest(ledger.Event{Kind: ledger.Gone, Name: id, Number: l.ledger.Processes[id].Heard}))
			}
			p.mu.Unlock()
		case <-due:
			p.mu.Lock()
			if at := l.ledger.Due(); at > 0 && l.now() >= at && len(l.queue) == 0 && l.flight == nil {
				l.enqueue(newRequest(ledger.Event{Kind: ledger.Tick}))
			}
			p.mu.Unlock()
		}
	}
}

// A watch counts how often this process was heard since others were heard last. It needs no clock:
// while the servers are away, or this process is stopped, it counts nothing.
type watch struct {
	self  string
	beats int               // number of own messages that came back
	heard map[string]int    // beats when a process was heard last
	last  map[string]uint64 // sequence number of the last message of each
}

// hear counts a message of a process, unless it was there before. After the connection was lost,
// the last message of each process comes again, and so does what was missed meanwhile. Numbers may
// go back when a server was killed.
func (w *watch) hear(id string, seq uint64) {
	if w.last[id] == seq {
		return
	}
	w.last[id] = seq
	if id == w.self {
		w.beats++
	} else {
		w.heard[id] = w.beats
	}
}

// tolerance is how many messages of this process may come without one of another: more than a lease
// has passed then.
const tolerance = 5

// silent returns the members that were not heard for longer than the lease.
func (w *watch) silent(members map[string]*ledger.Member) (dead []string) {
	for id := range w.heard {
		if members[id] == nil {
			delete(w.heard, id)
			delete(w.last, id)
		}
	}
	for id := range members {
		heard, met := w.heard[id]
		switch {
		case id == w.self:
		case !met:
			w.heard[id] = w.beats
		case w.beats-heard >= tolerance:
			dead = append(dead, id)
			w.heard[id] = w.beats - tolerance/2 // ask again later
		}
	}
	return dead
}
