package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A cache is the counts of a cache without samples, one step at a time.
type cache struct {
	t      *testing.T
	p      Progress
	groups Groups
	filled int // samples committed of the generation that is being filled
	dead   map[uint64]bool
}

func newCache(t *testing.T, samples int, limits Limits) *cache {
	t.Helper()
	c := &cache{t: t, dead: map[uint64]bool{}}
	c.p = Progress{Config: Config{Samples: samples, Limits: limits}, Committed: func() int { return c.filled }}
	return c
}

// reserved returns how many samples there are.
func (c *cache) reserved() int64 {
	return int64(c.p.Latest)*int64(c.p.Config.Samples) + int64(c.filled)
}

// publish publishes generations, whatever limits say.
func (c *cache) publish(n int) {
	c.p.Latest += uint64(n)
	c.filled = 0
}

func (c *cache) enter(name string, world int) uint64 {
	c.t.Helper()
	holder, err := c.groups.Enter(&c.p, name, world, c.reserved())
	require.NoError(c.t, err)
	return holder
}

func (c *cache) begin(name string, epoch uint64) (holder, generation uint64) {
	c.t.Helper()
	holder, generation, err := c.groups.Begin(&c.p, name, epoch, 0)
	require.NoError(c.t, err)
	return holder, generation
}

// close ends holders, and tidies.
func (c *cache) close(holders ...uint64) {
	c.t.Helper()
	for _, h := range holders {
		c.dead[h] = true
	}
	require.True(c.t, c.tidy(), "nothing has changed")
	require.False(c.t, c.tidy(), "it is not idempotent")
}

func (c *cache) tidy() bool {
	return c.groups.Tidy(&c.p, func(holder uint64) bool { return !c.dead[holder] })
}

func TestGroups(t *testing.T) {
	passes := Limits{MinPasses: 1, MaxPasses: 2}
	ratio := Limits{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3}
	tests := []struct {
		name   string
		limits Limits // of generations of 4 samples
		check  func(c *cache)
	}{
		{"a group has as many members as ranks", Limits{}, func(c *cache) {
			one := c.enter("a", 2)
			c.enter("a", 2)
			_, err := c.groups.Enter(&c.p, "a", 2, 0)
			require.ErrorIs(c.t, err, ErrGroup)
			c.close(one)
			c.enter("a", 2)
		}},
		{"ranks agree on their number", Limits{}, func(c *cache) {
			c.enter("a", 2)
			_, err := c.groups.Enter(&c.p, "a", 3, 0)
			require.ErrorIs(c.t, err, ErrGroup)
			_, err = c.groups.Enter(&c.p, "b", 513, 0)
			require.ErrorIs(c.t, err, ErrGroup)
		}},
		{"a member without a pass may not begin one", passes, func(c *cache) {
			noPass := func(want bool) {
				c.t.Helper()
				require.Equal(c.t, want, c.groups.Stats(&c.p)[0].NoPass)
			}
			left, _ := c.enter("a", 2), c.enter("a", 2)
			c.publish(1)
			one, _ := c.begin("a", 0)
			other, _ := c.begin("a", 0)
			c.close(one)
			noPass(false) // the second pass may begin
			c.close(other)
			one, _ = c.begin("a", 1)
			noPass(false) // the other member may begin the second pass, too
			other, _ = c.begin("a", 1)
			noPass(false)
			c.close(one)
			noPass(true)
			c.close(left)
			noPass(false) // the member that is left has a pass
			c.close(other)
			noPass(true)
			c.publish(1)
			noPass(false)
		}},
		{"a pass that publishing does not wait for needs all its rows", Limits{MinPasses: 1, PerInsert: 2, MinSize: 1, MinDiff: 0, MaxDiff: 9}, func(c *cache) {
			c.enter("b", 1)
			require.False(c.t, c.groups.Stats(&c.p)[0].NoPass, "the first generation is awaited")
			c.publish(1)
			c.filled = 1 // (5-1)*2 rows are allowed, and the group counts as having taken them
			c.close(1)
			c.enter("a", 1)
			require.True(c.t, c.groups.Stats(&c.p)[0].NoPass)
			c.filled = 3
			require.False(c.t, c.groups.Stats(&c.p)[0].NoPass)
		}},
		{"there are 64 groups", Limits{}, func(c *cache) {
			holder := c.enter("a", 1)
			for i := range 63 {
				c.enter(fmt.Sprint(i), 1)
			}
			_, err := c.groups.Enter(&c.p, "b", 1, 0)
			require.ErrorIs(c.t, err, ErrGroup)
			c.close(holder)
			c.enter("b", 1)
		}},
		{"a group that is left begins anew", Limits{}, func(c *cache) {
			c.publish(1)
			c.close(c.enter("a", 1))
			require.Nil(c.t, c.groups.Group("a"))
			_, _, err := c.groups.Begin(&c.p, "a", 0, 0)
			require.ErrorIs(c.t, err, ErrGroup)
			c.enter("a", 2)
		}},
		{"a group without members is kept while it reads", Limits{}, func(c *cache) {
			c.publish(1)
			member := c.enter("a", 1)
			part, _ := c.begin("a", 0)
			c.close(member)
			require.NotNil(c.t, c.groups.Group("a"))
			require.False(c.t, c.groups.Needs(1), "nobody waits for it")
			require.Empty(c.t, c.groups.Stats(&c.p))
			c.close(part)
			require.Nil(c.t, c.groups.Group("a"))
		}},
		{"an epoch has one generation, for all ranks", Limits{}, func(c *cache) {
			c.enter("a", 2)
			_, _, err := c.groups.Begin(&c.p, "a", 5, 0)
			require.ErrorIs(c.t, err, ErrBlocked)
			c.publish(1)
			_, first := c.begin("a", 5)
			c.publish(2)
			_, second := c.begin("a", 5)
			_, next := c.begin("a", 6)
			require.Equal(c.t, []uint64{1, 1, 3}, []uint64{first, second, next})
			require.True(c.t, c.groups.Needs(1))
		}},
		{"an epoch has the generation that is wanted", Limits{}, func(c *cache) {
			c.enter("a", 1)
			c.publish(3)
			_, id, err := c.groups.Begin(&c.p, "a", 0, 2)
			require.NoError(c.t, err)
			require.EqualValues(c.t, 2, id)
		}},
		{"all bits of an epoch's number count", Limits{}, func(c *cache) {
			c.enter("a", 1)
			for i, epoch := range []uint64{0, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1<<64 - 1} {
				c.publish(1)
				_, id := c.begin("a", epoch)
				require.EqualValues(c.t, i+1, id)
			}
		}},
		{"eight epochs are remembered", Limits{}, func(c *cache) {
			c.enter("a", 1)
			for epoch := range uint64(20) {
				c.publish(1)
				c.begin("a", epoch)
			}
			require.Len(c.t, c.groups.Group("a").Epochs, 8)
			_, id := c.begin("a", 12)
			require.EqualValues(c.t, 13, id)
			_, _, err := c.groups.Begin(&c.p, "a", 11, 0)
			require.ErrorIs(c.t, err, ErrGenerationGone)
			require.False(c.t, c.groups.Needs(12))
			require.True(c.t, c.groups.Needs(13))
		}},
		{"an epoch that is forgotten is used up", Limits{PerInsert: 1, MinSize: 1, MinDiff: -99, MaxDiff: 99}, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			for epoch := range uint64(9) {
				require.Zero(c.t, c.groups.Group("a").Taken)
				c.begin("a", epoch)
			}
			require.EqualValues(c.t, 4, c.groups.Group("a").Taken)
			require.Equal(c.t, 7, c.groups.Group("a").Take(&c.p, 0, 7), "all of its rows are counted")
			require.EqualValues(c.t, 4, c.groups.Group("a").Taken)
		}},
		{"an epoch that is asked for again and again uses nothing up", Limits{}, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			for range 10_000 {
				part, _ := c.begin("a", 0)
				c.close(part)
			}
			one := c.groups.Group("a")
			require.Len(c.t, one.Epochs, 1)
			require.Empty(c.t, one.Epochs[0].Open)
		}},
		{"an epoch is over when as many as ranks have closed it", Limits{}, func(c *cache) {
			c.publish(1)
			first, second := c.enter("a", 2), c.enter("a", 2)
			one, _ := c.begin("a", 0)
			c.close(one)
			require.True(c.t, c.groups.Needs(1), "the second rank may come yet")
			other, _ := c.begin("a", 0)
			c.close(other)
			require.False(c.t, c.groups.Needs(1))
			c.close(first, second)
		}},
		{"a dead holder is counted once", Limits{}, func(c *cache) {
			c.publish(1)
			c.enter("a", 3)
			one, _ := c.begin("a", 0)
			c.begin("a", 0)
			c.close(one)
			require.Equal(c.t, 1, c.groups.Group("a").Epochs[0].Done)
			require.True(c.t, c.groups.Needs(1))
		}},
		{"a later epoch that is over settles the ones before", Limits{}, func(c *cache) {
			c.publish(1)
			c.enter("a", 2)
			c.begin("a", 0) // the other rank never comes
			c.publish(1)
			one, _ := c.begin("a", 1)
			other, _ := c.begin("a", 1)
			c.close(one, other)
			require.False(c.t, c.groups.Needs(1))
		}},
		{"a group makes MaxPasses", passes, func(c *cache) {
			c.enter("a", 1)
			for epoch := uint64(0); epoch < 6; epoch++ {
				if epoch%2 == 0 {
					require.ErrorIs(c.t, c.groups.Group("a").Begins(&c.p, epoch), ErrBlocked)
					c.publish(1)
				}
				part, id := c.begin("a", epoch)
				require.EqualValues(c.t, epoch/2+1, id)
				c.close(part)
				require.NoError(c.t, c.groups.Group("a").Begins(&c.p, epoch), "the epoch has a generation")
			}
		}},
		{"more than 65,535 passes are counted", Limits{MaxPasses: 70_000}, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			for epoch := range uint64(70_000) {
				part, _ := c.begin("a", epoch)
				c.dead[part] = true
				c.tidy()
			}
			require.ErrorIs(c.t, c.groups.Group("a").Begins(&c.p, 70_000), ErrBlocked)
			require.EqualValues(c.t, 4*70_000, c.groups.Stats(&c.p)[0].Current)
		}},
		{"passes that are begun in another order are counted", Limits{MaxPasses: 12}, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			n := 0
			for _, epoch := range []uint64{7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11} {
				part, _ := c.begin("a", epoch)
				c.close(part)
				n++
				require.EqualValues(c.t, 4*n, c.groups.Stats(&c.p)[0].Current)
			}
			require.ErrorIs(c.t, c.groups.Group("a").Begins(&c.p, 12), ErrBlocked)
		}},
		{"publishing waits for MinPasses", passes, func(c *cache) {
			c.publish(1)
			c.enter("late", 1)
			require.Empty(c.t, c.groups.Waits(&c.p), "it has joined after generation 1 was published")
			c.publish(1)
			require.Len(c.t, c.groups.Waits(&c.p), 1)
			c.begin("late", 0)
			require.Equal(c.t, 3, c.groups.Group("late").Take(&c.p, 0, 3))
			require.Equal(c.t, []string{`group "late", which has taken 3 rows of generation 2, want 4`}, c.groups.Waits(&c.p))
			require.Equal(c.t, 1, c.groups.Group("late").Take(&c.p, 0, 1))
			require.Empty(c.t, c.groups.Waits(&c.p))
		}},
		{"a pass that ends early is used up", passes, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			part, _ := c.begin("a", 0)
			c.close(part)
			require.Empty(c.t, c.groups.Waits(&c.p))
			require.EqualValues(c.t, 4, c.groups.Group("a").Taken)
			require.Equal(c.t, 9, c.groups.Group("a").Take(&c.p, 0, 9), "all of its rows are counted")
			require.EqualValues(c.t, 4, c.groups.Group("a").Taken)
		}},
		{"a group joins in balance", ratio, func(c *cache) {
			c.filled = 3
			c.enter("a", 1)
			require.EqualValues(c.t, 2, c.groups.Group("a").Taken)
			require.False(c.t, c.groups.CatchUp(&c.p, "a", c.reserved()))
			require.True(c.t, c.groups.CatchUp(&c.p, "a", c.reserved()+1))
			require.EqualValues(c.t, 3, c.groups.Group("a").Taken)
			require.False(c.t, c.groups.CatchUp(&c.p, "b", 9))
		}},
		{"nobody bounds samples when nobody reads", ratio, func(c *cache) {
			require.Equal(c.t, 4, c.groups.Room(&c.p))
			member := c.enter("a", 1)
			require.Equal(c.t, 4, c.groups.Room(&c.p))
			c.publish(1)
			require.Equal(c.t, 0, c.groups.Room(&c.p))
			c.close(member)
			require.Equal(c.t, 4, c.groups.Room(&c.p))
		}},
		{"rows wait for samples, and samples for rows", ratio, func(c *cache) {
			c.enter("a", 1)
			c.publish(1)
			c.begin("a", 0)
			require.Equal(c.t, 2, c.groups.Group("a").Take(&c.p, 0, 2))
			require.Equal(c.t, 2, c.groups.Room(&c.p))
			require.Equal(c.t, 2, c.groups.Group("a").Take(&c.p, 0, 2))
			require.Equal(c.t, 1, c.groups.Group("a").Take(&c.p, 0, 9), "MinDiff")
			require.Equal(c.t, 0, c.groups.Group("a").Take(&c.p, 0, 9))
		}},
		{"samples wait for the group that has taken least", ratio, func(c *cache) {
			c.enter("a", 1)
			c.enter("b", 1)
			c.publish(1)
			c.begin("a", 0)
			require.Equal(c.t, 4, c.groups.Group("a").Take(&c.p, 0, 4))
			require.Equal(c.t, 0, c.groups.Room(&c.p))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(newCache(t, 4, tt.limits)) })
	}
}

// TestGroupsAtRandom goes on at random, and compares with counts of all that has ever happened:
// limits are kept at every step, and what each group has taken of each generation is right.
func TestGroupsAtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limits := []Limits{
			{}, {MinPasses: 1, MaxPasses: 1}, {MinPasses: 2, MaxPasses: 3},
			{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3},
			{PerInsert: 2.5, MinSize: 2, MinDiff: -4, MaxDiff: 8, MaxPasses: 3},
			{PerInsert: 1.5, MinSize: 1, MinDiff: -3, MaxDiff: 5, MinPasses: 1, MaxPasses: 2},
		}[seed%6]
		require.NoError(t, limits.Check(4))
		w := &walk{cache: newCache(t, 4, limits), rng: rng, naive: map[string]*naive{}}
		for range 1000 {
			w.step()
			w.check()
		}
		require.Greater(t, w.p.Latest, uint64(5), "limits %+v: it has come to a stop", limits)
	}
}

// A walk is a cache, and everything that has happened there.
type walk struct {
	*cache
	rng   *rand.Rand
	naive map[string]*naive // groups that have members
	parts []part            // that are open
}

// A part is a rank's part in an epoch.
type part struct {
	holder uint64
	group  string
	epoch  uint64
}

// A naive group keeps all of its epochs.
type naive struct {
	world   int
	members []uint64
	next    uint64            // epoch
	begun   map[uint64]int    // passes, by generation
	of      map[uint64]uint64 // generation, by epoch
}

// step does something that limits allow.
func (w *walk) step() {
	name := string('a' + rune(w.rng.IntN(2)))
	g := w.naive[name]
	switch n := w.rng.IntN(20); {
	case n == 0 && (g == nil || len(g.members) < g.world):
		w.join(name, g)
	case n == 1 && g != nil && w.rng.IntN(4) == 0:
		w.leave(name, g)
	case n < 8:
		if w.filled < w.groups.Room(&w.p) {
			w.filled++
		}
		if w.filled == 4 && len(w.groups.Waits(&w.p)) == 0 {
			w.waited()
			w.publish(1)
		}
	case n < 11 && g != nil:
		w.pass(name, g)
	case n < 18 && len(w.parts) > 0:
		p := w.parts[w.rng.IntN(len(w.parts))]
		if one := w.groups.Group(p.group); one != nil {
			one.Take(&w.p, p.epoch, 1+w.rng.IntN(4))
		}
	case len(w.parts) > 0:
		i := w.rng.IntN(len(w.parts))
		w.dead[w.parts[i].holder] = true
		w.parts = slices.Delete(w.parts, i, i+1)
		w.tidy()
	}
}

func (w *walk) join(name string, g *naive) {
	if g == nil {
		if w.groups.Group(name) != nil {
			return // it reads on, without members
		}
		g = &naive{world: 1 + w.rng.IntN(2), begun: map[uint64]int{}, of: map[uint64]uint64{}}
		w.naive[name] = g
	}
	g.members = append(g.members, w.enter(name, g.world))
}

// leave has all members leave, some of them with open parts.
func (w *walk) leave(name string, g *naive) {
	for _, holder := range g.members {
		w.dead[holder] = true
	}
	delete(w.naive, name)
	for _, p := range w.parts {
		if p.group == name {
			w.dead[p.holder] = true
		}
	}
	w.parts = slices.DeleteFunc(w.parts, func(p part) bool { return p.group == name })
	w.tidy()
}

// pass begins the next epoch, or one of the last for another rank.
func (w *walk) pass(name string, g *naive) {
	epoch := g.next - min(g.next, uint64(w.rng.IntN(3)))
	err := w.groups.Group(name).Begins(&w.p, epoch)
	known, ok := g.of[epoch]
	if ok {
		require.NoError(w.t, err)
	} else if err != nil {
		require.ErrorIs(w.t, err, ErrBlocked)
		return
	}
	holder, id := w.begin(name, epoch)
	w.parts = append(w.parts, part{holder, name, epoch})
	if ok {
		require.Equal(w.t, known, id, "the generation of epoch %d", epoch)
		return
	}
	require.Equal(w.t, w.p.Latest, id, "the generation of a new epoch")
	g.of[epoch], g.next = id, epoch+1
	g.begun[id]++
}

// waited checks that each group has made MinPasses of the generation published last, if it is not
// newer than the group.
func (w *walk) waited() {
	for name, g := range w.naive {
		if w.groups.Group(name).Since < w.p.Latest {
			require.GreaterOrEqual(w.t, g.begun[w.p.Latest], w.p.Config.Limits.MinPasses)
		}
	}
}

// check checks that limits are kept.
func (w *walk) check() {
	limits, inserts := w.p.Config.Limits, w.reserved()
	stats := Stats{Latest: w.p.Latest, Samples: 4, Committed: w.filled, Groups: w.groups.Stats(&w.p)}
	require.Len(w.t, stats.Groups, len(w.naive))
	for _, g := range stats.Groups {
		one := w.groups.Group(g.Name)
		if one.open() > 0 || slices.ContainsFunc(one.Epochs, func(e Epoch) bool { return !e.Settled }) {
			continue
		}
		waits := one.Begins(&w.p, math.MaxUint64) != nil || one.Taken >= limits.MaxTaken(inserts)
		require.Equal(w.t, waits, len(stats.groupWaits(w.p.Config, g)) > 0, "between passes: %+v", g)
	}
	for name, g := range w.naive {
		one := w.groups.Group(name)
		require.ElementsMatch(w.t, g.members, one.Members)
		if limits.MaxPasses > 0 {
			require.LessOrEqual(w.t, g.begun[w.p.Latest], limits.MaxPasses)
		}
		if limits.PerInsert > 0 && inserts > int64(limits.MinSize) {
			require.LessOrEqual(w.t, limits.diff(inserts, one.Taken), limits.MaxDiff, "group %q, %d samples, %d rows", name, inserts, one.Taken)
		}
		if limits.PerInsert > 0 && one.Taken > 0 {
			require.GreaterOrEqual(w.t, limits.diff(inserts, one.Taken), limits.MinDiff, "group %q, %d samples, %d rows", name, inserts, one.Taken)
		}
		if g.begun[w.p.Latest] == 0 {
			require.Zero(w.t, one.rows(&w.p, w.p.Latest))
		}
		require.LessOrEqual(w.t, one.rows(&w.p, w.p.Latest), int64(4*g.begun[w.p.Latest]))
		require.LessOrEqual(w.t, len(one.Epochs), 8)
	}
	require.False(w.t, w.tidy(), "Tidy is not idempotent")
}
