package natscache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// underWay is how many chunks of a process may be sent at a time.
const underWay = 16

// patienceForRoom is how long a sample waits for the room of a generation that is being removed.
const patienceForRoom = 2 * time.Second

// upload publishes data to a stream in chunks, several at a time, and stores their sequence numbers
// in at. It leaves out chunks that have a number already, since an earlier upload has ended with
// ctx.
func (p *process) upload(ctx context.Context, stream, subject string, data []byte, at []uint64) error {
	began := time.Now()
	for {
		err := p.publish(ctx, subject, data, at)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrNoRoom) && time.Since(began) > patienceForRoom, lasting(err):
			return err
		case errors.Is(err, ErrNoRoom):
			p.report(p.sweep(ctx)) // takes as long as there is to remove
		case errors.Is(err, jetstream.ErrNoStreamResponse): // the stream may be gone
			there := func(ctx context.Context) error { _, err := p.js.Stream(ctx, p.site.stream(stream)); return err }
			if err := p.ask(ctx, there); err != nil {
				return err
			}
		}
		if !sleep(ctx, pause) {
			return ended(ctx, err)
		}
		if p.over() {
			return context.Cause(p.ctx)
		}
	}
}

// publish publishes the chunks whose number in at is 0, and stores their numbers there.
func (p *process) publish(ctx context.Context, subject string, data []byte, at []uint64) (err error) {
	acks := make([]jetstream.PubAckFuture, len(at))
	wait := func(i int) {
		if acks[i] == nil {
			return
		}
		select {
		case ack := <-acks[i].Ok():
			at[i] = ack.Sequence
		case failed := <-acks[i].Err():
			err = errors.Join(err, explain(failed))
		case <-ctx.Done():
			err = errors.Join(err, context.Cause(ctx))
		}
		<-p.room
		acks[i] = nil
	}
	waited := 0
	for i := range at {
		if at[i] != 0 {
			continue
		}
		for taken := false; !taken && err == nil; {
			select {
			case p.room <- struct{}{}:
				taken = true
			default:
				if waited < i { // finish own chunks first, so that some are always under way
					wait(waited)
					waited++
					continue
				}
				select {
				case p.room <- struct{}{}:
					taken = true
				case <-ctx.Done():
					err = context.Cause(ctx)
				}
			}
		}
		if err != nil {
			break
		}
		m := &nats.Msg{Subject: subject, Data: data[i*chunkSize : min((i+1)*chunkSize, len(data))]}
		var failed error
		if acks[i], failed = p.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0)); failed != nil {
			<-p.room
			acks[i], err = nil, explain(failed)
			break
		}
	}
	for ; waited < len(at); waited++ {
		wait(waited)
	}
	return err
}

// download copies pieces of samples of a generation. Pieces of one chunk follow one another.
func (r *rows) download(ctx context.Context, pieces []piece) error {
	var starts []int
	for i, one := range pieces {
		if i == 0 || one.row != pieces[i-1].row || one.chunk != pieces[i-1].chunk {
			starts = append(starts, i)
		}
	}
	return workers.Do(ctx, len(starts), r.s.p.layout.readers(), func(n int) error {
		end := len(pieces)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		return r.fetch(ctx, pieces[starts[n]:end])
	})
}

// fetch reads a chunk, and copies pieces of it.
func (r *rows) fetch(ctx context.Context, pieces []piece) error {
	one := pieces[0]
	record := &r.records[one.row]
	low := one.chunk * chunkSize
	data, err := r.chunk(ctx, one.row, record.At[one.chunk], r.s.p.site.row(r.id, record.Row))
	if want := min(chunkSize, r.s.p.layout.total-low); err == nil && len(data) != want {
		err = r.damaged(one.row, "chunk %d has %d bytes, want %d", one.chunk, len(data), want)
	}
	if err != nil {
		return err
	}
	for _, to := range pieces {
		copy(to.dst, data[to.from-low:to.to-low])
	}
	return nil
}

func (r *rows) damaged(row int, format string, args ...any) error {
	return &engine.RowError{Generation: r.id, Row: row, Err: fmt.Errorf("%w: "+format, append([]any{engine.ErrChecksum}, args...)...)}
}

// chunk reads a chunk. A server may not have it yet: then it asks again, and at last the leader,
// whose answer counts.
func (r *rows) chunk(ctx context.Context, row int, seq uint64, subject string) (data []byte, err error) {
	p, misses := r.s.p, 0
	err = p.ask(ctx, func(ctx context.Context) error {
		var m *jetstream.RawStreamMsg
		if misses < 3 {
			m, err = p.data.GetMsg(ctx, seq)
		} else {
			m, err = p.get(ctx, "data", map[string]any{"seq": seq})
		}
		switch {
		case err == nil && m.Subject != subject:
			return r.damaged(row, "message %d is another's", seq)
		case err == nil:
			data = m.Data
			return nil
		case errors.Is(err, nats.ErrNoResponders): // the stream may be gone: the leader knows
		case !errors.Is(err, jetstream.ErrMsgNotFound):
			return err
		case misses >= 3:
			return r.lost(ctx, row, seq)
		}
		misses++
		return err
	})
	return data, err
}

// lost returns the error of a chunk that is not there: the generation may be gone.
func (r *rows) lost(ctx context.Context, row int, seq uint64) error {
	kept, err := view(ctx, r.s.p, func(l *life) bool { return l.ledger.Generation(r.id) != nil })
	switch {
	case err != nil:
		return err
	case !kept:
		return engine.ErrGenerationGone
	}
	return r.damaged(row, "message %d is missing", seq)
}
