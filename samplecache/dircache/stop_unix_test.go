//go:build unix

package dircache_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// roles are what TestProcessPlays does.
var roles = map[string]func(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error{
	"slot": playSlot, "lock": playLock, "reader": playReader, "trainer": playTrainer, "parent": playParent,
	"in Wait": playWait, "in Reserve": playReserve, "in Epoch": playEpoch,
	"act": playAct,
}

// TestProcessPlays is a process that does what a test wants, and waits there. Arguments: directory,
// role, and what that takes.
func TestProcessPlays(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	switch k.Args[1] {
	case "lock":
		dircache.DoAt(k.Args[2], 1, stopMyself)
	case "act":
		falls(t, k, 4)
		falling.Store(false) // until it acts
	}
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: k.Args[0]}, samplecache.Options{OnError: func(err error) { k.Tell("error %v", err) }})
	require.NoError(t, err)
	require.NoError(t, roles[k.Args[1]](t.Context(), k, c))
	falling.Store(false) // nobody would let it go on
	k.Tell("done")
	require.NoError(t, c.Close())
}

// playSlot holds all slots that are free, and commits one of them when it is told to.
func playSlot(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	p, err := c.Producer("p1")
	if err != nil {
		return err
	}
	var first *samplecache.Slot
	for err == nil {
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		var s *samplecache.Slot
		if s, err = p.Reserve(soon); first == nil {
			first = s
		}
		cancel()
	}
	if !errors.Is(err, samplecache.ErrBlocked) {
		return err
	}
	k.Tell("ready")
	k.Wait()
	m := stamp{1, int64(first.Number())}
	if err := m.write(first.Sample()); err != nil {
		return err
	}
	return first.Commit(ctx)
}

// goneOn is set by the stop of a process that stops itself.
var goneOn atomic.Bool

// playLock puts samples until it stops itself: others may be faster to publish what it has put.
func playLock(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	k.Tell("ready")
	w := &part{c: c, tell: k.Tell}
	p, err := c.Producer("p1")
	for err == nil && !goneOn.Load() {
		err = w.put(ctx, p, 1)
	}
	return err
}

// playReader holds the latest generation, and reads it again when it is told to.
func playReader(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	g, err := c.Latest(ctx)
	if err != nil {
		return err
	}
	view, err := g.Slice(0, g.Len())
	if err != nil {
		return err
	}
	before, err := stampsOf(view)
	if err != nil {
		return err
	}
	k.Tell("ready")
	k.Wait()
	after, err := stampsOf(view)
	if err == nil && fmt.Sprint(before) != fmt.Sprint(after) {
		err = fmt.Errorf("got %v, want %v", after, before)
	}
	return errors.Join(err, g.Close())
}

// playTrainer begins an epoch, and reads it when it is told to.
func playTrainer(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	g, err := c.Group("train", 1).Epoch(ctx, 0)
	if err != nil {
		return err
	}
	k.Tell("ready")
	k.Wait()
	_, err = readStamps(ctx, g)
	return errors.Join(err, g.Close())
}

// playParent holds a slot, the latest generation and an epoch, and starts programs that outlive it.
func playParent(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	g, err := c.Latest(ctx)
	if err != nil {
		return err
	}
	p, err := c.Producer("p1")
	if err == nil {
		_, err = p.Reserve(ctx)
	}
	if err == nil {
		_, err = c.Group("train", 1).Epoch(ctx, 0)
	}
	for range 3 {
		child := exec.Command("sleep", "60")
		if err == nil {
			err = child.Start()
		}
		if err == nil {
			k.Tell("%d", child.Process.Pid)
		}
	}
	if err != nil {
		return err
	}
	k.Tell("ready")
	k.Wait()
	return g.Close()
}

func playWait(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	k.Tell("ready")
	_, err := c.Wait(ctx, 1<<20)
	return err
}

func playReserve(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	p, err := c.Producer("")
	k.Tell("ready")
	for err == nil {
		_, err = p.Reserve(ctx)
	}
	return err
}

func playEpoch(ctx context.Context, k *processkit.Task, c *samplecache.Cache) error {
	k.Tell("ready")
	var err error
	for n := uint64(0); err == nil; n++ {
		_, err = c.Group("train", 1).Epoch(ctx, n)
	}
	return err
}

// play starts a process, and returns once it waits.
func (s *site) play(role string, args ...any) *process {
	s.t.Helper()
	p := start(s.t, "TestProcessPlays", append([]any{s.dir, role}, args...)...)
	p.Until(s.t, "ready")
	return p
}

// stopped returns once a process is stopped.
func (p *process) stopped(t testing.TB) {
	t.Helper()
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(p.Cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, p.Cmd.Process.Pid, pid)
		require.True(t, status.Stopped(), "%v: %s", status, p.Tail())
		return
	}
}

// stop stops a process.
func (p *process) stop(t testing.TB) {
	t.Helper()
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGSTOP))
	p.stopped(t)
}

// endings are how the stop of a process ends: it goes on and does what it was about to do, or it
// is killed.
var endings = map[string]func(t *testing.T, p *process){
	"goes on": func(t *testing.T, p *process) {
		require.NoError(t, p.Cmd.Process.Signal(syscall.SIGCONT))
		p.Proceed(t)
		p.Until(t, "done")
	},
	"is killed": func(t *testing.T, p *process) { p.Kill(t) },
}

// eachEnding runs a test for each way in which a stop ends.
func eachEnding(t *testing.T, test func(t *testing.T, end func(t *testing.T, p *process))) {
	for how, end := range endings {
		t.Run("who "+how, func(t *testing.T) { t.Parallel(); test(t, end) })
	}
}

// requireBlocked checks that something waits until its context ends, soon, and returns what it says
// it waited for.
func requireBlocked(t *testing.T, fn func(ctx context.Context) error) string {
	t.Helper()
	var err error
	for n := 0; n < 10 && !errors.Is(err, samplecache.ErrBlocked); n++ { // it may do other things first
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		err = fn(ctx)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.ErrorIs(t, err, samplecache.ErrBlocked)
	return err.Error()
}

// TestStoppedWithSlots stops a producer that holds slots: they are never given to others, who are
// told of it.
func TestStoppedWithSlots(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, end func(t *testing.T, p *process)) {
		s := newSite(t, samplecache.Config{Samples: 3})
		s.open()
		own, err := s.c.Producer("")
		require.NoError(t, err)
		require.NoError(t, s.put(s.ctx, own, nobodyElse))
		p := s.play("slot")
		p.stop(t)
		for range 2 {
			text := requireBlocked(t, func(ctx context.Context) error { return s.put(ctx, own, nobodyElse) })
			require.Regexp(t, fmt.Sprintf("slot [12] longest, by pid %d for ", p.Cmd.Process.Pid), text)
		}
		slots := s.stats().Slots
		require.Len(t, slots, 2)
		require.Equal(t, []int{p.Cmd.Process.Pid, p.Cmd.Process.Pid}, []int{slots[0].PID, slots[1].PID})
		end(t, p)
		for s.seeAll() == 0 {
			require.NoError(t, s.put(s.ctx, own, nobodyElse))
		}
	})
}

// TestStoppedWithLock stops a process that has the lock, as it claims a name and as it publishes:
// what needs the lock waits until its context ends, and says for whom; all else goes on. Once the
// process goes on, or is dead, all is done that it had begun.
func TestStoppedWithLock(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"locked", "publishing", "manifest renamed", "latest stored", "store renamed"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			eachEnding(t, func(t *testing.T, end func(t *testing.T, p *process)) {
				s := newSite(t, samplecache.Config{Samples: 2, Retain: 16})
				s.open()
				latest := s.topUp(18) // from now on each publication renames a store
				p := s.play("lock", point)
				p.stopped(t)
				who := fmt.Sprintf("pid %d", p.Cmd.Process.Pid)
				own, err := s.c.Producer("")
				require.NoError(t, err)
				for what, fn := range map[string]func(ctx context.Context) error{
					"join":    func(ctx context.Context) error { return s.join(ctx) },
					"forget":  func(ctx context.Context) error { return s.c.Forget(ctx, "p2") },
					"enter":   func(ctx context.Context) error { return closed(s.c.Group("g", 1).Epoch(ctx, 0)) },
					"publish": func(ctx context.Context) error { return s.putAll(ctx, own) },
				} {
					require.Contains(t, requireBlocked(t, fn), who, what)
				}
				require.Contains(t, s.stats().PublishWaits, who)
				require.NoError(t, s.tellOf(s.ctx, latest), "reads go on")
				end(t, p)
				_ = p.Ended()
				s.hear(p)
				s.settled()
			})
		})
	}
}

// join joins and leaves.
func (s *site) join(ctx context.Context) error {
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: s.dir}, samplecache.Options{})
	if err != nil {
		return err
	}
	return c.Close()
}

// putAll puts samples while it can.
func (s *site) putAll(ctx context.Context, p *samplecache.Producer) (err error) {
	for err == nil {
		err = s.put(ctx, p, nobodyElse)
	}
	return err
}

// TestStoppedReader stops readers that hold generations: these stay as they are, and others go on
// as far as there is room.
func TestStoppedReader(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, end func(t *testing.T, p *process)) {
		s := newSite(t, samplecache.Config{Samples: 2, MaxHeld: 1})
		s.open()
		s.topUp(1)
		first := s.play("reader")
		first.stop(t)
		s.topUp(5)
		require.Equal(t, []uint64{1}, s.stats().Held)
		second := s.play("reader")
		second.stop(t)
		own, err := s.c.Producer("")
		require.NoError(t, err)
		text := requireBlocked(t, func(ctx context.Context) error { return s.putAll(ctx, own) })
		require.Contains(t, text, "are still read")
		require.Equal(t, []uint64{1, 6}, s.stats().Held)
		end(t, first)
		s.topUp(5)
		end(t, second)
		s.topUp(5)
		_, _ = first.Ended(), second.Ended()
		s.settled()
	})
}

// TestStoppedTrainer stops the trainer that the next generation waits for.
func TestStoppedTrainer(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, end func(t *testing.T, p *process)) {
		s := newSite(t, samplecache.Config{Samples: 2, Limits: samplecache.Limits{MinPasses: 1}})
		s.open()
		s.topUp(1)
		p := s.play("trainer")
		s.topUp(1) // it joined after that was published
		p.stop(t)
		own, err := s.c.Producer("")
		require.NoError(t, err)
		var text string
		if s.stats().Latest == 2 {
			text = requireBlocked(t, func(ctx context.Context) error { return s.putAll(ctx, own) })
		}
		require.Contains(t, text, `waits for group "train", which has taken 0 rows of generation 2, want 2`)
		if end(t, p); p.Killed() {
			s.topUp(3)
			return
		}
		require.NoError(t, p.Ended()) // it has left the group
		s.topUp(3)
	})
}

// TestW09Unnoticed kills a process that has all slots and joined while nobody asked for anything.
func TestW09Unnoticed(t *testing.T) {
	t.Parallel()
	s := newSite(t, samplecache.Config{Samples: 2})
	s.open()
	own, err := s.c.Producer("")
	require.NoError(t, err)
	late := 0
	for range 3 {
		p := s.play("slot")
		p.Kill(t)
		begun := time.Now()
		slot, err := own.Reserve(s.ctx)
		require.NoError(t, err)
		if time.Since(begun) > goesOn {
			late++
		}
		require.NoError(t, slot.Abort())
	}
	require.LessOrEqual(t, late, 1, "one on a busy machine")
}

// TestProgramsOutliveTheirParent kills a process whose programs go on: they keep nothing of it.
func TestProgramsOutliveTheirParent(t *testing.T) {
	t.Parallel()
	s := newSite(t, samplecache.Config{Samples: 2})
	s.open()
	s.topUp(1)
	p := s.play("parent")
	var programs []int
	for _, line := range p.Heard {
		if pid, err := strconv.Atoi(line); err == nil {
			programs = append(programs, pid)
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
	}
	require.Len(t, programs, 3)
	require.NoError(t, p.Cmd.Process.Kill())
	_, err := p.Cmd.Process.Wait() // the programs keep its output open
	require.NoError(t, err)
	s.settled()
	for _, pid := range programs {
		require.NoError(t, syscall.Kill(pid, 0), "the program has ended")
	}
}

// switches returns how many context switches all threads of a process have had.
func switches(t *testing.T, pid int) (n int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if _, count, ok := strings.Cut(line, "ctxt_switches:"); ok {
				of, err := strconv.Atoi(strings.TrimSpace(count))
				require.NoError(t, err)
				n += of
			}
		}
	}
	return n
}

// TestBlockedProcessesSleep counts the context switches of processes that wait: at most 150 in five
// seconds. Half a second, as without the flag, says less, and a machine that is busy in one is not
// in all of eight.
func TestBlockedProcessesSleep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	window, tries, most := 500*time.Millisecond, 8, 100
	if processkit.Full() {
		window, tries, most = 5*time.Second, 3, 150
	}
	for _, role := range []string{"in Wait", "in Reserve", "in Reserve without a store", "in Epoch"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, samplecache.Config{Samples: 2, MaxHeld: -1, Limits: samplecache.Limits{MaxPasses: 1}})
			s.open()
			if role == "in Reserve without a store" {
				role = "in Reserve"
				s.topUp(1)
				g, err := s.c.Latest(s.ctx)
				require.NoError(t, err)
				defer g.Close()
				s.topUp(2)
			} else if role == "in Epoch" {
				s.topUp(1)
			}
			all := []*process{s.play(role), s.play(role)}
			if role == "in Epoch" {
				all = append(all[:1], s.play("in Wait"))
			}
			time.Sleep(300 * time.Millisecond) // until they wait
			for i, p := range all {
				least := math.MaxInt
				for try := 0; try < tries && least > most; try++ {
					before := switches(t, p.Cmd.Process.Pid)
					time.Sleep(window)
					least = min(least, switches(t, p.Cmd.Process.Pid)-before)
				}
				t.Logf("waiter %d: %d context switches in %v", i, least, window)
				require.LessOrEqual(t, least, most)
			}
		})
	}
}

// follower is a reader that knows no more than the protocol of the directory: it holds the latest
// generation by a lock, and maps a leaf. Each line it is sent asks whether that is as it was, the
// last lets go.
const follower = `
import fcntl, json, mmap, os, sys
top = sys.argv[1]
while True:
    with open(os.path.join(top, "MANIFEST")) as f:
        path = os.path.join(top, "gen-%010d" % json.load(f)["latest"])
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        continue
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), os.stat(path)):
            break
    except OSError:
        pass
    os.close(fd)
with open(os.path.join(path, "image.memmap"), "rb") as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
first = m[:]
print("ready", flush=True)
for line in sys.stdin:
    if line == "close\n":
        m.close()
        os.close(fd)
        print("closed", flush=True)
    else:
        print("same" if m[:] == first else "changed", flush=True)
`

// follow starts a follower, which is asked by the function that is returned.
func follow(t *testing.T, dir string) (ask func(line string) string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.Command(python, "-c", follower, dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _, _, _ = cmd.Process.Kill(), in.Close(), cmd.Wait() })
	ask = func(line string) (answer string) {
		if line != "" {
			_, err := fmt.Fprintln(in, line)
			require.NoError(t, err)
		}
		_, err := fmt.Fscanln(out, &answer)
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, "ready", ask(""))
	return ask
}

// TestPythonFollows has a process in Python hold a generation: its bytes stay as they are however
// many are published, and its store is filled again once it is let go.
func TestPythonFollows(t *testing.T) {
	t.Parallel()
	t.Run("there is room to go on", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, samplecache.Config{Samples: 2, MaxHeld: 1})
		s.open()
		s.topUp(1)
		ask := follow(t, s.dir)
		for range 4 {
			s.topUp(3)
			require.Equal(t, "same", ask("?"))
		}
		require.Equal(t, []uint64{1}, s.stats().Held)
		require.Equal(t, "closed", ask("close"))
		s.settled()
	})
	t.Run("there is no other store", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, samplecache.Config{Samples: 2, MaxHeld: -1})
		s.open()
		s.topUp(1)
		was, err := os.Stat(filepath.Join(s.dir, "gen-0000000001"))
		require.NoError(t, err)
		ask := follow(t, s.dir)
		s.topUp(2)
		own, err := s.c.Producer("")
		require.NoError(t, err)
		text := requireBlocked(t, func(ctx context.Context) error { return s.put(ctx, own, nobodyElse) })
		require.Contains(t, text, "are still read")
		require.Equal(t, "same", ask("?"))
		require.Equal(t, "closed", ask("close"))
		s.topUp(1)
		is, err := os.Stat(filepath.Join(s.dir, "gen-0000000004"))
		require.NoError(t, err)
		require.True(t, os.SameFile(was, is), "its store was used again")
		s.settled()
	})
}
