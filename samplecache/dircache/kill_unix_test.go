//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// soakConfig has room for readers that are slow, and a group that the generations wait for: it is
// the one whose ledger must see all of them.
var soakConfig = samplecache.Config{Samples: 16, Retain: 2, MaxHeld: 8, Limits: samplecache.Limits{MinPasses: 1, MaxPasses: 1}}

// TestProcessPuts is a process that puts samples until it is killed: under a name, without one, and
// from slots that it gives back now and then. Arguments: directory, number of its producer, seed,
// and when it falls.
func TestProcessPuts(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	falls(t, k, 3)
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(uint64(k.Number(t, 2)), 0))
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: k.Args[0]}, samplecache.Options{OnError: func(err error) { k.Tell("error %v", err) }})
	require.NoError(t, err)
	w := &part{c: c, tell: k.Tell, base: int64(k.Number(t, 1))}
	named, err := c.Producer(producerOf(w.base))
	require.NoError(t, err, "the name of one that was killed is free")
	nameless, err := c.Producer("")
	require.NoError(t, err)
	k.Tell("open")
	for {
		switch n := rng.IntN(8); n {
		case 0:
			s, err := nameless.Reserve(ctx)
			require.NoError(t, err)
			require.NoError(t, s.Abort())
		case 1, 2, 3:
			require.NoError(t, w.put(ctx, nameless, unnamed+int64(k.Number(t, 2))))
		default:
			require.NoError(t, w.put(ctx, named, w.base))
		}
	}
}

// TestProcessReads is a process that reads until it is killed: the latest generation, again and
// again, and epochs of a group. It tells how many rows it has read. Arguments: directory, group,
// seed, and when it falls.
func TestProcessReads(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	falls(t, k, 3)
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(uint64(k.Number(t, 2)), 0))
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: k.Args[0]}, samplecache.Options{OnError: func(err error) { k.Tell("error %v", err) }})
	require.NoError(t, err)
	k.Tell("open")
	var slow *samplecache.Generation // held for long
	for last, epoch := uint64(0), uint64(0); ; epoch++ {
		var g *samplecache.Generation
		if epoch%2 == 0 && k.Args[1] != "" {
			g, err = c.Group(k.Args[1], 1).Epoch(ctx, epoch)
		} else {
			g, err = c.Wait(ctx, last*uint64(rng.IntN(2)))
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, g.ID(), last, "W3: what was published is not taken back")
		last = g.ID()
		k.Tell("rows %d", readSome(t, g))
		if slow == nil {
			slow = g
			continue
		}
		require.NoError(t, g.Close())
		if rng.IntN(8) == 0 {
			k.Tell("rows %d", readSome(t, slow))
			require.NoError(t, slow.Close())
			slow = nil
		}
	}
}

// readSome reads all rows of a generation, which must be whole, and returns how many there are.
func readSome(t *testing.T, g *samplecache.Generation) int {
	t.Helper()
	stamps, err := readStamps(t.Context(), g)
	require.NoError(t, err)
	require.Len(t, stamps, soakConfig.Samples)
	return len(stamps)
}

// A soak is a cache in which processes fall at random. Its own session is a group that each
// generation waits for.
type soak struct {
	site
	rng         *rand.Rand
	crashPoints []string
	all         []*member
	rows        atomic.Int64
	fallen      map[string]int
	seeds       int

	stop    context.CancelFunc // of the watch
	watched chan error         // how it ended

	swap    sync.Mutex
	swapped time.Time     // the last swap
	longest time.Duration // between two
	swaps   int
}

// A member is a process that falls; one that is killed is replaced.
type member struct {
	*process
	start func(f fall) *process
	done  chan struct{} // closed when what it told was entered
	stops atomic.Int64  // how often it has stopped itself
}

// newSoak starts processes: four that put samples, three that read, and two that do all there is to
// do.
func newSoak(t *testing.T, limit time.Duration) *soak {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	s := &soak{rng: processkit.Random(t), crashPoints: append(crashPoints(t), ""), site: site{t: t, ctx: ctx, dir: newCache(t, soakConfig), keep: testkit.MemoryDir(t), ledger: newLedger()},
		fallen: map[string]int{}, watched: make(chan error, 1)}
	s.tell = func(format string, args ...any) { s.read(fmt.Sprintf(format, args...)) }
	s.base = 500
	s.open()
	watching, stop := context.WithCancel(ctx)
	s.stop = stop
	go func() { s.watched <- s.watch(watching) }()
	require.Eventually(t, func() bool { return len(s.stats().Groups) == 1 }, time.Minute, time.Millisecond)
	for i := range 4 {
		s.add(func(f fall) *process {
			return start(t, "TestProcessPuts", s.dir, 1+i, s.seeds, f.point, f.nth, f.how)
		})
	}
	for _, group := range []string{"readers", "", "other readers"} {
		s.add(func(f fall) *process {
			return start(t, "TestProcessReads", s.dir, group, s.seeds, f.point, f.nth, f.how)
		})
	}
	for i := range 2 {
		s.add(func(f fall) *process { return s.startHand(false, 100+100*i, 1000, f) })
	}
	return s
}

// add starts a process.
func (s *soak) add(begin func(f fall) *process) {
	m := &member{start: begin}
	s.all = append(s.all, m)
	s.begin(m)
}

// begin starts a process, in the place of one that was killed, and enters what it tells. It may be
// killed before it has joined. Half of them fall by themselves.
func (s *soak) begin(m *member) {
	f := fall{[]string{"kill", "stop"}[s.rng.IntN(2)], s.crashPoints[s.rng.IntN(len(s.crashPoints))], 1 + s.rng.IntN(10)}
	if s.rng.IntN(2) == 0 {
		f = fall{}
	}
	s.seeds++
	m.process, m.done = m.start(f), make(chan struct{})
	go func(p *process, done chan struct{}) {
		defer close(done)
		for line := range p.Lines {
			switch {
			case strings.HasPrefix(line, "rows "):
				s.rows.Add(int64(soakConfig.Samples))
			case line == "stops":
				m.stops.Add(1)
				go p.goOn()
			default:
				s.read(line)
				p.Heard = append(p.Heard[max(0, len(p.Heard)-20):], line)
			}
		}
	}(m.process, m.done)
}

// goOn has a process go on that is about to stop itself.
func (p *process) goOn() {
	for _, after := range []time.Duration{20, 80, 1000} { // it may not have stopped yet
		time.Sleep(after * time.Millisecond)
		_ = p.Cmd.Process.Signal(syscall.SIGCONT) // it may be dead
	}
}

// end kills a process, unless it was killed before.
func (s *soak) end(m *member) {
	s.t.Helper()
	_ = m.Cmd.Process.Kill()
	<-m.done
	_ = m.Ended()
	require.True(s.t, m.Killed(), "%v: %s", m.Ended(), m.Tail())
	s.fallen["kill"]++
	s.fallen["stop"] += int(m.stops.Swap(0))
}

// pause stops a process for a moment.
func (s *soak) pause(m *member) {
	s.t.Helper()
	if m.Cmd.Process.Signal(syscall.SIGSTOP) == nil {
		time.Sleep(time.Duration(s.rng.IntN(int(20 * time.Millisecond))))
		_ = m.Cmd.Process.Signal(syscall.SIGCONT)
		s.fallen["stop"]++
	}
}

// watch sees each generation, until ctx ends: it is the group that they wait for.
func (s *soak) watch(ctx context.Context) error {
	group := s.c.Group("ledger", 1)
	for epoch := uint64(0); ; epoch++ {
		g, err := group.Epoch(ctx, epoch)
		if errors.Is(err, context.Canceled) {
			return group.Close()
		}
		if err != nil {
			return err
		}
		stamps, err := readStamps(s.ctx, g) // also if ctx has ended meanwhile
		if err != nil {
			return err
		}
		s.saw(g.ID(), stamps)
		s.count()
		if err := g.Close(); err != nil {
			return err
		}
	}
}

// count counts a swap.
func (s *soak) count() {
	s.swap.Lock()
	defer s.swap.Unlock()
	now := time.Now()
	if s.swaps > 0 {
		s.longest = max(s.longest, now.Sub(s.swapped))
	}
	s.swapped, s.swaps = now, s.swaps+1
}

// TestW09 kills and stops processes at random, and has them fall at crash points, and starts others
// in the places of the dead: generations go on after each, nothing that was acknowledged is lost or
// there twice, and nobody reads what is torn. In the end all are killed, and the control file is
// lost.
func TestW09(t *testing.T) {
	n, rows := processkit.Kills(t, 10, 300, 10_000), int64(processkit.Kills(t, 500, 1000, 1_000_000))
	s := newSoak(t, max(time.Minute, time.Duration(n)*500*time.Millisecond))
	began := time.Now()
	for s.fallen["kill"] < n || s.rows.Load() < rows {
		time.Sleep(time.Duration(s.rng.IntN(int(50 * time.Millisecond))))
		m := s.all[s.rng.IntN(len(s.all))]
		if s.rng.IntN(4) == 0 {
			s.pause(m)
			continue
		}
		s.end(m)
		if other := s.all[s.rng.IntN(len(s.all))]; other != m && s.rng.IntN(4) == 0 { // two at once
			s.end(other)
			s.begin(other)
		}
		s.begin(m)
	}
	took := time.Since(began)
	for _, m := range s.all {
		s.end(m)
	}
	require.NoError(t, s.ctx.Err())
	s.stop()
	require.NoError(t, <-s.watched)
	s.seeAll()
	s.close()
	require.NoError(t, loseControl(s.dir, s.rng.IntN(3)))
	s.open()
	s.settled()
	s.close()
	t.Logf("%d kills and %d stops in %v: %d generations, %d samples acknowledged, %d rows read, none lost, there twice or torn, longest time between two swaps %v",
		s.fallen["kill"], s.fallen["stop"], took.Round(time.Millisecond), s.swaps, len(s.acked), s.rows.Load(), s.longest.Round(time.Millisecond))
	require.Less(t, s.longest, 30*time.Second)
}
