package natscache

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

const (
	heartbeat = 500 * time.Millisecond    // between signs of life of a consumer
	silence   = 2*heartbeat + heartbeat/2 // after which a consumer is taken for dead
)

// follow applies the messages of the log until the life ends. Each time it begins at the last
// message that was applied: if another one is in its place, servers have lost messages.
func (l *life) follow() {
	for l.ctx.Err() == nil {
		l.p.mu.Lock()
		last, sum := l.ledger.Seq, l.sum
		l.p.mu.Unlock()
		end, err := l.p.end(l.ctx)
		if err == nil && end < last {
			err = errRewound
		}
		if err != nil {
			l.stop(err)
			return
		}
		from := jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(last, 1)}
		err = l.p.tail(l.ctx, "log", from, func(m *nats.Msg, about *nats.MsgMetadata) {
			seq := about.Sequence.Stream
			if seq == last && sum != nil && *sum != crc32.ChecksumIEEE(m.Data) {
				l.stop(errRewound)
			}
			l.fold(seq, about.Timestamp, m.Data)
		})
		if lasting(err) {
			l.stop(err)
		}
	}
}

// missed returns the error of events that the log does not have any more: errGap if a snapshot has
// them.
func (l *life) missed() error {
	var newest uint64
	err := l.p.ask(l.p.ctx, func(ctx context.Context) error {
		h, _, err := l.p.head(ctx)
		newest = h.Seq
		return err
	})
	if err == nil && newest+1 < l.gap {
		err = fmt.Errorf("%w: events up to %d are missing, and the newest snapshot is of event %d", engine.ErrCorrupt, l.gap-1, newest)
	}
	return cmp.Or(err, errGap)
}

// tail calls handle with the messages of a stream, until the servers are silent, the connection or
// a message is lost, or ctx ends. It returns the error of a server.
func (p *process) tail(ctx context.Context, stream string, from jetstream.ConsumerConfig, handle func(m *nats.Msg, about *nats.MsgMetadata)) error {
	p.mu.Lock()
	link := p.link
	p.mu.Unlock()
	while, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(link, cancel)()
	inbox := p.nc.NewInbox()
	sub, err := p.nc.SubscribeSync(inbox)
	if err != nil {
		sleep(ctx, pause)
		return explain(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be closed
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return explain(err)
	}
	from.DeliverSubject, from.AckPolicy, from.IdleHeartbeat = inbox, jetstream.AckNonePolicy, heartbeat
	from.InactiveThreshold, from.MemoryStorage, from.Replicas = 10*time.Second, true, 1
	err = p.once(ctx, func(ctx context.Context) error {
		_, err := p.js.CreatePushConsumer(ctx, p.site.stream(stream), from)
		return err
	})
	if err != nil {
		sleep(ctx, pause)
		return err
	}
	for count := uint64(0); ; {
		waits, cancel := context.WithTimeout(while, silence)
		m, err := sub.NextMsgWithContext(waits)
		cancel()
		if err != nil {
			return nil
		}
		if len(m.Data) == 0 && m.Header.Get("Status") == "100" {
			if last, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64); err == nil && last != count {
				return nil
			}
			continue
		}
		about, err := m.Metadata()
		if err != nil || about.Sequence.Consumer != count+1 {
			return nil
		}
		count++
		handle(m, about)
	}
}
