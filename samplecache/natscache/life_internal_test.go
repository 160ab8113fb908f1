package natscache

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// alone returns a life without servers, of a cache without samples.
func alone() *life {
	l := newLife(newProcess("alone"), nil)
	l.ledger = ledger.New(ledger.Charter{Version: ledger.Version, Config: engine.Config{Samples: 1}})
	return l
}

// TestGap gives a life messages of the log. If some were removed before they were read, whenever
// that was, it begins again at a snapshot.
func TestGap(t *testing.T) {
	data, err := (&ledger.Message{Process: "other", Number: 1, Events: []ledger.Event{{Kind: ledger.Process}}}).Encode()
	require.NoError(t, err)
	for name, x := range map[string]struct {
		seqs []uint64
		want error
		seq  uint64
	}{
		"one after the other":      {[]uint64{1, 2, 3}, nil, 3},
		"a message that was read":  {[]uint64{1, 1, 2}, nil, 2},
		"the first is not there":   {[]uint64{2}, errGap, 0},
		"one between is not there": {[]uint64{1, 3}, errGap, 1},
		"nothing after the gap":    {[]uint64{1, 3, 2}, errGap, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := alone()
			for _, seq := range x.seqs {
				l.fold(seq, time.Unix(1, 0), data)
			}
			require.Equal(t, x.want, context.Cause(l.ctx))
			require.Equal(t, x.seq, l.ledger.Seq)
		})
	}
}

// A late context has ended, but nobody has noticed it yet.
type late struct{ context.Context }

func (late) Done() <-chan struct{} { return nil }
func (late) Err() error            { return context.Canceled }

// TestOutcomeStays ends a context just after an outcome has come. What the event has made stays,
// because the caller gets it.
func TestOutcomeStays(t *testing.T) {
	l := alone()
	go func() {
		<-l.filled
		l.p.mu.Lock()
		defer l.p.mu.Unlock()
		r := l.queue[0]
		l.queue = nil
		r.settle(ledger.Outcome{ID: 7})
	}()
	o, err := l.p.do(late{t.Context()}, l, ledger.Event{Kind: ledger.Claim})
	require.NoError(t, err)
	require.EqualValues(t, 7, o.ID)
	require.Empty(t, l.queue, "it ends")
}

// TestNoReportOnceClosed reports an error while a process is closed: nothing is started then, and
// OnError is not called.
func TestNoReportOnceClosed(t *testing.T) {
	p, told := newProcess("closed"), 0
	p.onError[&session{p: p}] = func(error) { told++ }
	p.report(engine.ErrConfig)
	p.shut()
	require.Equal(t, 1, told, "shut waits for it")
	p.report(engine.ErrConfig)
	p.running.Wait()
	require.Equal(t, 1, told)
}
