package samplecachetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
)

// cutter returns the session of m as a Cutter, or skips the test.
func (k *kit) cutter(m *member) Cutter {
	k.Helper()
	c, ok := m.session.(Cutter)
	if !ok {
		k.skip("sessions have no method Cut")
	}
	return c
}

// parted reports whether err is nil, or an error that a disconnected session may return.
func parted(err error) bool {
	return err == nil || errors.Is(err, samplecache.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// retry calls fn until the servers answer.
func (k *kit) retry(fn func(ctx context.Context) error) error {
	for {
		err := fn(k.ctx)
		if !errors.Is(err, samplecache.ErrUnavailable) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// repliesLost checks W07: if the outcome of a Commit is unknown, another Commit or Abort finds it
// out, and the sample is stored once.
func repliesLost(k *kit) {
	numbers := uint64(longtests.Times(100, 2000))
	place := k.create(samplecache.Config{Samples: 5, Limits: everySeen})
	a, m := place.audit(), place.join()
	cutter, p, rng, lost := k.cutter(m), m.producer("gen"), rand.New(rand.NewPCG(7, 8)), 0
	took := k.shortWait // time of the fastest Commit
	for number := range numbers {
		var s *samplecache.Slot
		k.must(k.retry(func(ctx context.Context) (err error) { s, err = p.ReserveAt(ctx, number); return err }))
		k.write(s, "gen")
		began, after, cut := time.Now(), time.Duration(rng.Int64N(int64(2*took))), make(chan struct{})
		go func() {
			for time.Since(began) < after {
				runtime.Gosched() // Sleep takes longer than Commit
			}
			cutter.Cut(true)
			close(cut)
		}()
		if err := k.briefly("Commit", k.shortWait, s.Commit); err == nil {
			took = max(min(took, time.Since(began)), time.Microsecond)
		} else if lost++; !parted(err) {
			k.fatalf("Commit of a session that is cut off: %v", err)
		}
		<-cut
		cutter.Cut(false)
		if rng.IntN(3) > 0 {
			k.must(k.retry(s.Commit))
			continue
		}
		_ = s.Abort() // its outcome may be unknown, too
		k.must(k.retry(func(ctx context.Context) error { return p.PutAt(ctx, number, idOf("gen", number).sample()) }))
	}
	k.Logf("%d of %d replies to Commit were lost", lost, numbers)
	a.finish(map[string]uint64{"gen": numbers})
}

// silence checks W09: everything held by a session that is silent for longer than the lease becomes
// free. When the session is back, it stores no sample twice, and reads only rows of its generation.
func silence(k *kit) {
	h := k.holding()
	m := h.place.join()
	cutter := k.cutter(m)
	slots, g := m.takeAll()
	want := got(g.Fetch(k.ctx, to(2), nil))(k)
	cutter.Cut(true)
	h.freed()
	other := h.writer.claim(heldName)
	k.must(other.PutAt(k.ctx, 1, idOf(heldName, 1).sample()))
	k.must(other.Close())
	cutter.Cut(false)
	rows, err := g.Fetch(k.ctx, to(2), nil)
	if err == nil {
		k.same("rows of a session that was silent", rows, want)
	} else if !parted(err) && !errors.Is(err, samplecache.ErrGenerationGone) {
		k.fatalf("Fetch of a session that was silent: %v", err)
	}
	k.must(k.retry(slots[0].Commit))
	if err := k.retry(slots[1].Commit); err != nil { // another session has stored the sample
		k.Logf("Commit of a sample that another has stored: %v", err)
	}
	_, _ = g.Close(), m.Group(heldName, 1).Close() // otherwise publishing waits for the group
	h.audit.finish(map[string]uint64{heldName: 2})
}

// cutOff checks W09: a session that was disconnected continues, and so do its calls that wait. Its
// calls return when their contexts end, and Close does not wait for the servers.
func cutOff(k *kit) {
	place := k.create(samplecache.Config{Samples: 1})
	m, other := place.join(), place.join()
	cutter, p, q := k.cutter(m), m.producer("gen"), other.producer("other")
	waiter := k.crew()
	waiter.start(func(k *kit) {
		k.must(k.retry(func(ctx context.Context) error { _, err := m.Wait(ctx, 0); return err }))
	})
	time.Sleep(k.shortWait)
	cutter.Cut(true)
	other.fill(q, 1)
	for what, call := range map[string]func(ctx context.Context) error{
		"Latest":  func(ctx context.Context) error { _, err := m.Latest(ctx); return err },
		"Reserve": func(ctx context.Context) error { _, err := p.ReserveAt(ctx, 40); return err },
		"Epoch":   func(ctx context.Context) error { _, err := m.Group("train", 1).Epoch(ctx, 0); return err },
	} {
		what += " of a session that is cut off"
		if err := k.briefly(what, k.shortWait, call); !parted(err) {
			k.Errorf("%s: %v", what, err)
		}
	}
	cutter.Cut(false)
	began := time.Now()
	waiter.finish()
	k.soon(began, m.within(), "Wait, when the servers answered again,")
	k.must(k.retry(func(ctx context.Context) error { return p.Put(ctx, idOf("gen", 0).sample()) }))
	k.must(k.retry(reserving(p)))
	cutter.Cut(true)
	began = time.Now()
	_ = m.Close() // the servers do not get it
	k.puts(q, 1)
	k.soon(began, m.within(), "freeing the slot of a closed session")
}
