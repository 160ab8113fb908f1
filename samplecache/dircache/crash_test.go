//go:build unix

package dircache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// small is how caches of these tests are made.
var small = samplecache.Config{Samples: 4, MaxHeld: 2}

// newCache makes a cache and returns its directory.
func newCache(t testing.TB, config samplecache.Config) string {
	t.Helper()
	dir := filepath.Join(testkit.MemoryDir(t), "cache")
	require.NoError(t, dircache.Create(dir, stamp{}.marked(), config))
	return dir
}

// passed returns how often a process passes each crash point in three rounds, alone or with
// another.
func passed(t *testing.T, alone bool) map[string]int {
	t.Helper()
	s := newSite(t, small)
	if !alone {
		s.open()
	}
	p := s.startHand(alone, 1, 3, fall{point: "trace"})
	if !alone {
		s.atWork(p)
	}
	require.NoError(t, p.Ended(), "%s", p.Tail())
	s.hear(p)
	times := map[string]int{}
	for _, line := range p.Heard {
		if rest, ok := strings.CutPrefix(line, "point "); ok {
			n, point, _ := strings.Cut(rest, " ")
			times[point], _ = strconv.Atoi(n)
		}
	}
	if alone {
		s.open()
	}
	s.settled()
	s.close()
	return times
}

// TestW14 kills a process at each crash point that it passes, the first time, the second and the
// third, while it is alone and while another takes part. Rows W5, W6, W7 and W9 hold after each.
func TestW14(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprintf("alone=%v", alone), func(t *testing.T) {
			t.Parallel()
			times := passed(t, alone)
			var cases, killed atomic.Int64
			t.Run("point", func(t *testing.T) {
				for i, point := range crashPoints(t) {
					if alone { // else the other may be first
						require.Positive(t, times[point], "nobody passes %q", point)
					}
					for nth := 1; nth <= min(3, times[point]); nth++ {
						if !processkit.Full() && (nth != 1+i%3 || !alone && i%2 == 0) {
							continue
						}
						t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
							t.Parallel()
							cases.Add(1)
							if crash(t, alone, point, nth) {
								killed.Add(1)
							}
						})
					}
				}
			})
			t.Logf("%d crash points, %d of %d processes killed", len(times), killed.Load(), cases.Load())
			require.GreaterOrEqual(t, killed.Load(), cases.Load()*8/10)
		})
	}
}

// crash kills one process at a crash point, and checks what is left. It reports whether it was
// killed: in company it may pass crash points less often than before.
func crash(t *testing.T, alone bool, point string, nth int) bool {
	t.Helper()
	s := newSite(t, small)
	if !alone {
		s.open()
	}
	p := s.startHand(alone, 1, 3, fall{"kill", point, nth})
	if !alone {
		s.atWork(p)
	}
	err := p.Ended()
	require.True(t, p.Killed() || !alone && err == nil, "%v: %s", err, p.Tail())
	s.hear(p)
	if alone {
		s.open()
	}
	s.settled()
	s.close()
	return p.Killed()
}

// TestW14Twice kills a process at each crash point, and then those that recover the cache, one
// after the other, each some crash points later than the one before, until one comes through.
func TestW14Twice(t *testing.T) {
	t.Parallel()
	step, every := 6, longtests.Times(6, 3)
	if processkit.Full() {
		step, every = 1, 1
	}
	var all atomic.Int64
	t.Run("point", func(t *testing.T) {
		for i, point := range crashPoints(t) {
			if i%every != 0 {
				continue
			}
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, samplecache.Config{Samples: 4, Durable: processkit.Full() && i%4 == 0})
				p := s.startHand(true, 1, 3, fall{"kill", point, 1})
				require.Error(t, p.Ended())
				require.True(t, p.Killed(), "%s", p.Tail())
				s.hear(p)
				for n := 1 + i%step; p.Killed(); n += step {
					p = s.startHand(true, 10, 0, fall{"kill", "", n})
					err := p.Ended()
					require.True(t, p.Killed() || err == nil, "%v: %s", err, p.Tail())
					s.hear(p)
					all.Add(1)
				}
				s.open()
				s.settled()
				s.close()
			})
		}
	})
	t.Logf("%d processes recovered caches", all.Load())
}

// TestProcessCreates is a process that creates a cache and is killed at the nth crash point.
// Arguments: directory, n.
func TestProcessCreates(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	dircache.KillAt("", k.Number(t, 1))
	require.NoError(t, dircache.Create(k.Args[0], stamp{}.marked(), small))
}

// TestW14Create kills processes at each crash point while they create a cache: it is there whole or
// not at all, and what is left beside it goes with the next of another process.
func TestW14Create(t *testing.T) {
	t.Parallel()
	top := testkit.MemoryDir(t)
	for n := 1; ; n++ {
		dir := filepath.Join(top, fmt.Sprint(n))
		p := start(t, "TestProcessCreates", dir, n)
		err := p.Ended()
		require.True(t, p.Killed() || err == nil, "%v: %s", err, p.Tail())
		if err == nil {
			require.Equal(t, []string{fmt.Sprint(n)}, namesIn(t, top), "left over")
			require.Greater(t, n, 5)
			t.Logf("%d processes killed", n-1)
			return
		}
		require.NoDirExists(t, dir)
		p = start(t, "TestProcessCreates", dir, 1<<20)
		require.NoError(t, p.Ended())
		require.Equal(t, []string{fmt.Sprint(n)}, namesIn(t, top), "left over")
		require.NoError(t, os.RemoveAll(dir))
	}
}

// TestW05W06 loses the control file while all four samples of a generation but one are committed,
// in each way, after what a producer may leave in the one that is not.
func TestW05W06(t *testing.T) {
	t.Parallel()
	leaves := map[string]func(t *testing.T, s *samplecache.Slot){
		"nothing is reserved": func(t *testing.T, s *samplecache.Slot) { require.NoError(t, s.Abort()) },
		"a slot is written":   func(t *testing.T, s *samplecache.Slot) { require.NoError(t, stamp{7, 7}.write(s.Sample())) },
	}
	for how, lost := range []string{"another boot", "cut", "zeros"} {
		for leaving, leave := range leaves {
			for _, durable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, durable=%v", lost, leaving, durable), func(t *testing.T) {
					s := newSite(t, samplecache.Config{Samples: 4, Durable: durable})
					s.open()
					p, err := s.c.Producer("p3")
					require.NoError(t, err)
					s.topUp(2)
					for range 3 {
						require.NoError(t, s.put(s.ctx, p, 3))
					}
					slot, err := p.Reserve(s.ctx)
					require.NoError(t, err)
					leave(t, slot)
					s.close()
					require.NoError(t, loseControl(s.dir, how))
					s.open()
					st := s.stats()
					require.EqualValues(t, 2, st.Latest)
					require.Equal(t, 3, st.Committed)
					p, err = s.c.Producer("p3")
					require.NoError(t, err)
					require.EqualValues(t, 3, p.Next())
					require.NoError(t, p.Close())
					s.settled()
					s.close()
				})
			}
		}
	}
}
