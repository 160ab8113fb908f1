//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tensor"
)

// goesOn is how long those who wait may go on waiting, once they need not: on a busy machine, too,
// and less than the two seconds after which a search finds what was missed.
const goesOn = 1800 * time.Millisecond

// sweeps is longer than the sweeps after which callers that wait try again.
const sweeps = time.Second

// ratioConfig has groups take a row for each sample, two samples later.
var ratioConfig = samplecache.Config{
	Samples: 4, Retain: 4, MaxHold: time.Minute,
	Limits: samplecache.Limits{MaxPasses: 1, PerInsert: 1, MinSize: 1, MinDiff: 1, MaxDiff: 40},
}

// A crowd is twelve sessions, which wait in Reserve, Wait, Epoch and Fetch.
type crowd struct {
	*site
	members []*samplecache.Cache
	turns   int
	worst   time.Duration // that a member has waited although it could go on
}

func newCrowd(t *testing.T, limit time.Duration) *crowd {
	t.Helper()
	s := newSite(t, ratioConfig)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	s.ctx = ctx
	s.open()
	c := &crowd{site: s}
	for range kinds {
		one, err := samplecache.Open(ctx, dircache.Engine{Dir: s.dir}, samplecache.Options{OnError: s.hears})
		require.NoError(t, err)
		c.members = append(c.members, one)
		s.sessions++
	}
	s.topUp(1)
	return c
}

// A waiter is a member that waits.
type waiter struct {
	kind string
	do   func() error
	done chan error
	at   time.Time // when it was done
}

// kinds are what members wait in.
var kinds = []string{"Reserve", "Reserve", "Reserve", "Reserve", "Wait", "Wait", "Wait", "Epoch", "Epoch", "Epoch", "Fetch", "Fetch"}

// prepare returns the members, which will wait for a slot, the generation after the latest, the
// next epoch, and rows that limits do not allow yet. Their groups count what is reserved now.
func (c *crowd) prepare(latest uint64) (all []*waiter) {
	c.t.Helper()
	c.turns++
	for i, m := range c.members {
		g := m.Group(fmt.Sprintf("%d-%d", c.turns, i), 1)
		w := &waiter{kind: kinds[i], done: make(chan error, 1)}
		switch w.kind {
		case "Reserve":
			w.do = func() error { return c.putOne(m) }
		case "Wait":
			w.do = func() error { return closed(m.Wait(c.ctx, latest)) }
		case "Epoch":
			require.NoError(c.t, closed(g.Epoch(c.ctx, 0)))
			w.do = func() error { return errors.Join(closed(g.Epoch(c.ctx, 1)), g.Close()) }
		case "Fetch":
			gen, err := g.Epoch(c.ctx, 0)
			require.NoError(c.t, err)
			w.do = func() error { _, err := readStamps(c.ctx, gen); return errors.Join(err, gen.Close(), g.Close()) }
		}
		all = append(all, w)
	}
	return all
}

// wait has all members wait.
func (c *crowd) wait(all []*waiter) {
	c.t.Helper()
	for _, w := range all {
		go func() {
			err := w.do()
			w.at = time.Now()
			w.done <- err
		}()
	}
	time.Sleep(30 * time.Millisecond) // until they wait
	for _, w := range all {
		require.Empty(c.t, w.done, w.kind)
	}
}

// closed closes a generation.
func closed(g *samplecache.Generation, err error) error {
	if err != nil {
		return err
	}
	return g.Close()
}

// putOne puts a sample.
func (c *crowd) putOne(m *samplecache.Cache) error {
	p, err := m.Producer("")
	if err != nil {
		return err
	}
	return errors.Join(c.put(c.ctx, p, nobodyElse), p.Close())
}

// actor is the producer of a process that falls.
const actor = unnamed - 1

// playAct holds slots. Then it aborts one, joins and leaves, claims and forgets, reads, commits and
// publishes, and falls. Arguments: slots, where to keep a generation, and when it falls.
func playAct(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	n, err := strconv.Atoi(k.Args[2])
	if err != nil {
		return err
	}
	p, err := c.Producer(producerOf(actor))
	if err != nil {
		return err
	}
	var slots []*samplecache.Slot
	for range n {
		s, err := p.Reserve(ctx)
		if err != nil {
			return err
		}
		slots = append(slots, s)
	}
	k.Tell("ready")
	k.Wait()
	falling.Store(true)
	if n > 1 { // others put the sample while it does other things, so that its own is the last
		err, slots = slots[0].Abort(), slots[1:]
	}
	err = errors.Join(err, comeAndGo(ctx, k.Args[0]), readAndKeep(ctx, c, k.Args[3]))
	for _, s := range slots {
		m := stamp{actor, int64(s.Number())}
		if err == nil {
			err = m.write(s.Sample())
		}
		if err == nil {
			k.Tell("put %d %d", m.who, m.number)
			err = s.Commit(ctx)
		}
		if err == nil {
			k.Tell("ok %d %d", m.who, m.number)
		}
	}
	return errors.Join(err, p.Close())
}

// comeAndGo joins a cache, puts nothing, and leaves.
func comeAndGo(ctx context.Context, dir string) error {
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
	if err != nil {
		return err
	}
	p, err := c.Producer("nobody")
	if err == nil {
		err = p.Close()
	}
	if err == nil {
		err = c.Forget(ctx, "nobody")
	}
	if errors.Is(err, samplecache.ErrProducer) {
		err = nil // nothing was put
	}
	return errors.Join(err, c.Close())
}

// readAndKeep reads an epoch as far as limits allow, and keeps its generation.
func readAndKeep(ctx context.Context, c *samplecache.Cache, path string) error {
	g := c.Group("actors", 1)
	gen, err := g.Epoch(ctx, 0)
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err = gen.Fetch(soon, []int{0}, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return errors.Join(err, c.Keep(ctx, gen.ID(), path), gen.Close(), g.Close())
}

// turn has all members wait, and a process that has all slots fall. It reports whether it has, or
// came through before. On a busy machine a member may be late by chance: then all is done again,
// and may be late four times.
func (c *crowd) turn(f fall) (fallen bool) {
	c.t.Helper()
	for range 4 {
		fallen, late := c.tryTurn(f)
		if late == "" {
			return fallen
		}
		c.t.Log(late)
	}
	fallen, late := c.tryTurn(f)
	require.Empty(c.t, late)
	return fallen
}

// tryTurn is turn once. It returns which member went on too late, if one did.
func (c *crowd) tryTurn(f fall) (fallen bool, late string) {
	c.t.Helper()
	st := c.stats()
	all := c.prepare(st.Latest)
	keep := filepath.Join(c.keep, strconv.Itoa(c.turns))
	p := c.play("act", st.Samples-st.Committed, keep, f.point, f.nth, f.how)
	c.wait(all)
	p.Proceed(c.t)
	if f.how == "stop" && p.Until(c.t, "stops", "done") == "stops" {
		p.stopped(c.t)
		fallen = true
		time.Sleep(sweeps)
		c.requireNoneMissed(all, &st, f)
		require.NoError(c.t, p.Cmd.Process.Signal(syscall.SIGCONT))
	}
	err := p.Ended()
	since := time.Now()
	require.True(c.t, err == nil || p.Killed(), "%+v: %v: %s", f, err, p.Tail())
	c.hear(p)
	for _, w := range all {
		select {
		case err := <-w.done:
			require.NoError(c.t, err, "%+v: in %s", f, w.kind)
			took := w.at.Sub(since)
			if took >= goesOn {
				late = fmt.Sprintf("%+v: in %s: went on after %v", f, w.kind, took)
			}
			c.worst = max(c.worst, took)
		case <-time.After(10 * time.Second):
			require.FailNow(c.t, "still waits", "%+v: in %s, stats %+v", f, w.kind, c.stats())
		}
	}
	c.seeAll()
	require.NoError(c.t, os.RemoveAll(keep))
	return fallen || p.Killed(), late
}

// requireNoneMissed checks that nobody waits for what is there already, while a process is stopped.
// If that has the lock, it keeps others from epochs and from counting rows.
func (c *crowd) requireNoneMissed(all []*waiter, before *samplecache.Stats, f fall) {
	c.t.Helper()
	soon, cancel := context.WithTimeout(c.ctx, 10*time.Millisecond)
	defer cancel()
	free := errors.Is(c.c.Forget(soon, "nobody at all"), samplecache.ErrProducer)
	st := c.stats()
	put := (int(st.Latest)-int(before.Latest))*st.Samples + st.Committed - before.Committed
	can := map[string]bool{
		"Reserve": st.Committed+st.Reserved < st.Samples && st.PublishWaits == "",
		"Wait":    st.Latest > before.Latest,
		"Epoch":   st.Latest > before.Latest && free,
		"Fetch":   put >= st.Samples && free,
	}
	for _, w := range all {
		assert.False(c.t, can[w.kind] && len(w.done) == 0, "%+v: in %s, stats %+v", f, w.kind, st)
	}
}

// TestWaitersGoOn kills processes at each crash point that they pass and stops them at a third of
// the crash points, while twelve sessions wait for them: all go on soon. If tests are long, or with
// -kills, it does so at random, too.
func TestWaitersGoOn(t *testing.T) {
	t.Parallel()
	const lanes = 4
	var falls []fall
	for i, point := range crashPoints(t) {
		falls = append(falls, fall{"kill", point, 1})
		if i%3 == 0 { // each takes a second
			falls = slices.Insert(falls, 0, fall{"stop", point, 1})
		}
	}
	if n := processkit.Kills(t, 0, 300, 10_000); n > 0 {
		rng, names := processkit.Random(t), crashPoints(t)
		for range n {
			f := fall{"kill", "", 1 + rng.IntN(100)}
			if rng.IntN(2) == 0 {
				f = fall{"kill", names[rng.IntN(len(names))], 1 + rng.IntN(2)}
			}
			if rng.IntN(6) == 0 {
				f.how = "stop"
			}
			falls = append(falls, f)
		}
	}
	for lane := range lanes {
		t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
			t.Parallel()
			began, fallen := time.Now(), map[string]int{}
			c := newCrowd(t, time.Minute+time.Duration(len(falls)/lanes)*2*time.Second)
			for i := lane; i < len(falls); i += lanes {
				if c.turn(falls[i]) {
					fallen[falls[i].how]++
				}
			}
			for _, m := range c.members {
				require.NoError(t, m.Close())
				c.sessions--
			}
			c.settled()
			t.Logf("%d kills and %d stops in %v: %d generations, %d samples acknowledged, none lost or there twice; longest wait afterwards %v",
				fallen["kill"], fallen["stop"], time.Since(began).Round(time.Millisecond), len(c.seen), len(c.acked), c.worst)
		})
	}
}

// TestNobodyWaits fills generations while nobody waits for them and others have the lock now and
// then: each is published soon, but for one on a busy machine.
func TestNobodyWaits(t *testing.T) {
	dir := newCache(t, samplecache.Config{Samples: 1})
	open := func() *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	other := open()
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = tensor.Must(other.Producer("other")).Close()
		}
	}()
	c := open()
	p := tensor.Must(c.Producer(""))
	late := 0
	for n := range uint64(processkit.Kills(t, 100, 300, 20_000)) {
		require.NoError(t, p.Put(ctx, stamp{1, int64(n)}.marked()))
		begun := time.Now()
		for tensor.Must(c.Stats()).Latest <= n {
			require.Less(t, time.Since(begun), time.Minute, "generation %d", n+1)
			time.Sleep(100 * time.Microsecond)
		}
		if time.Since(begun) > goesOn {
			late++
		}
	}
	require.LessOrEqual(t, late, 1)
	cancel()
	<-ended
}
