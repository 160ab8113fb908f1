package natscache

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// A life is one membership of a process in a cache. It ends if the process was silent for too long,
// so that others have taken it for dead; then another life begins.
//
// A life has one message at a time under way. So the numbers of its messages are in order in the
// log, and whatever waits meanwhile goes with the next message, however many sessions there are.
type life struct {
	p       *process
	id      string
	before  []string // earlier lives that may still be members: the first message ends them
	running sync.WaitGroup
	ctx     context.Context
	stop    context.CancelCauseFunc // ends ctx
	gap     uint64                  // with errGap: the first event that is there

	// p.mu guards the rest.
	ready  bool
	ledger *ledger.Ledger
	heard  time.Time // when the ledger changed
	sum    *uint32   // CRC-32 of the last message; nil for a snapshot
	queue  []*request
	number uint64     // of the last message
	flight []*request // its requests
	landed chan struct{}
	filled chan struct{} // has an element if queue is not empty
	spoken int           // requests for rows that are in queue or flight
}

func newLife(p *process, before []string) *life {
	l := &life{p: p, id: rand.Text(), before: before, filled: make(chan struct{}, 1)}
	l.ctx, l.stop = context.WithCancelCause(p.ctx)
	return l
}

// live joins, and follows the log until the life ends. It returns the reason.
func (l *life) live() error {
	state, err := l.p.snapshot(l.ctx)
	if err != nil {
		return err
	}
	if state.Charter.ID != l.p.charter.ID {
		return errReplaced
	}
	if end, err := l.p.end(l.ctx); err != nil || end < state.Seq {
		return cmp.Or(err, fmt.Errorf("%w: the servers have lost events, as after a loss of power: event %d is the last, and there was one with number %d", engine.ErrCorrupt, end, state.Seq))
	}
	l.p.mu.Lock()
	l.ledger, l.heard = state, time.Now()
	for id := range l.p.lapsed {
		if state.Generation(id) == nil {
			l.p.lapse(id)
		}
	}
	l.p.mu.Unlock()
	first := []ledger.Event{{Kind: ledger.Process, Host: l.p.host, PID: os.Getpid()}}
	for _, id := range l.before {
		first = append(first, ledger.Event{Kind: ledger.Gone, Name: id})
	}
	var requests []*request
	for _, e := range first {
		requests = append(requests, newRequest(e))
	}
	l.p.mu.Lock()
	l.enqueue(requests...)
	l.p.mu.Unlock()
	l.running.Go(l.send)
	l.running.Go(l.attend)
	l.running.Go(func() {
		select {
		case <-requests[0].done:
			l.p.turnTo(l)
		case <-l.ctx.Done():
		}
	})
	l.follow()
	if err := context.Cause(l.ctx); err != errGap {
		return err
	}
	return l.missed()
}

// errReplaced is the error of a process whose cache is gone.
var errReplaced = fmt.Errorf("%w: the cache was deleted, and there is another one of its name: open it again", fs.ErrNotExist)

// end ends the life. Requests without an outcome get errAnew.
func (l *life) end(err error) {
	l.stop(err)
	l.running.Wait()
	l.p.turnTo(nil) // first, so that who gets errAnew finds the next life
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.ready = false
	for _, r := range slices.Concat(l.flight, l.queue) {
		r.settle(ledger.Outcome{Err: errAnew})
	}
	l.flight, l.queue = nil, nil
}

// enqueue gives requests to send. p.mu is held.
func (l *life) enqueue(requests ...*request) {
	for _, r := range requests {
		if r.event.Kind == ledger.Reserve {
			l.spoken++
		}
	}
	l.queue = append(l.queue, requests...)
	select {
	case l.filled <- struct{}{}:
	default:
	}
}

// The limits of a message.
const (
	messageEvents = 256
	messageBytes  = 512 << 10
)

// send appends the queue to the log, message by message.
func (l *life) send() {
	for {
		select {
		case <-l.filled:
		case <-l.ctx.Done():
			return
		}
		for {
			m, landed := l.next()
			if m == nil {
				break
			}
			if !l.publish(m, landed) {
				return
			}
		}
	}
}

// next makes a message of the queue, or returns nil if that is empty.
func (l *life) next() (*ledger.Message, <-chan struct{}) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if len(l.queue) == 0 {
		return nil, nil
	}
	l.number++
	m, bytes, n := &ledger.Message{Process: l.id, Number: l.number}, 0, 0
	for n < min(len(l.queue), messageEvents) && (n == 0 || bytes < messageBytes) {
		e := l.queue[n].event
		m.Events = append(m.Events, e)
		bytes += 200 + 12*len(e.Sums) + 21*len(e.At)
		n++
	}
	l.flight, l.queue, l.landed = l.queue[:n:n], l.queue[n:], make(chan struct{})
	return m, l.landed
}

// publish appends a message, again and again until it is there. It returns false if the life ends
// before.
func (l *life) publish(m *ledger.Message, landed <-chan struct{}) bool {
	data, err := m.Encode()
	if err != nil {
		l.stop(err)
		return false
	}
	id := jetstream.WithMsgID(fmt.Sprintf("%s-%d", l.id, m.Number))
	for {
		err := l.p.once(l.ctx, func(ctx context.Context) error {
			ack, err := l.p.js.PublishMsg(ctx, &nats.Msg{Subject: l.p.site.log(), Data: data}, id, jetstream.WithRetryAttempts(0))
			if err == nil {
				l.compare(ack.Sequence, landed)
			}
			return err
		})
		wait := pause
		if err == nil {
			wait = attempt // then a server may have lost it
		}
		if lasting(err) {
			l.p.report(err)
		}
		select {
		case <-landed:
			return true
		case <-time.After(wait):
		case <-l.ctx.Done():
			return false
		}
	}
}

// compare ends the life if the message that is under way got a number that another message had.
func (l *life) compare(seq uint64, landed <-chan struct{}) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	select {
	case <-landed:
	default:
		if seq <= l.ledger.Seq {
			l.stop(errRewound)
		}
	}
}

// errGap says that the log has no events any more that the ledger has not seen.
var errGap = fmt.Errorf("%w: events were removed before they were read", engine.ErrUnavailable)

// errRewound says that servers have lost messages that they had acknowledged.
var errRewound = fmt.Errorf("%w: the servers have lost events, as after a loss of power", engine.ErrUnavailable)

// fold applies a message of the log.
func (l *life) fold(seq uint64, at time.Time, data []byte) {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.ctx.Err() != nil || seq <= l.ledger.Seq {
		return
	}
	if seq > l.ledger.Seq+1 { // also while the servers were sending those before it
		l.gap = seq
		l.stop(errGap)
		return
	}
	step, err := l.ledger.Apply(seq, at, data)
	if err != nil {
		l.stop(err)
		return
	}
	sum := crc32.ChecksumIEEE(data)
	l.heard, l.sum = time.Now(), &sum
	own := step.Process == l.id
	if own && step.Outcomes != nil {
		l.land(&step)
	}
	if l.ready && l.ledger.Processes[l.id] == nil {
		l.stop(errAnew)
	}
	for _, id := range step.Dropped {
		p.lapse(id)
	}
	if own {
		l.clean(&step)
	}
	if p.folded != nil {
		close(p.folded)
		p.folded = nil
	}
	if step.Wakes {
		p.wake()
	}
}

// land gives the requests of a message their outcomes. p.mu is held.
func (l *life) land(s *ledger.Step) {
	for i, r := range l.flight {
		if r.event.Kind == ledger.Reserve {
			l.spoken--
			s.Wakes = s.Wakes || s.Outcomes[i].Err != nil // others counted on less room
		}
		r.settle(s.Outcomes[i])
		l.discard(r)
	}
	l.flight = nil
	close(l.landed)
}

// now returns the time of the servers, ns, as far as it is known. p.mu is held.
func (l *life) now() int64 { return l.ledger.Now + int64(time.Since(l.heard)) }
