package engine

import (
	"encoding/json"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

// queue are limits that Check accepts for 4 samples: each row is taken once.
var queue = Limits{MinPasses: 1, MaxPasses: 1, PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3}

func TestLimitsCheck(t *testing.T) {
	with := func(change func(l *Limits)) Limits {
		l := queue
		change(&l)
		return l
	}
	tests := []struct {
		name   string
		limits Limits
		want   string // of the error; "" means success
	}{
		{"the zero value", Limits{}, ""},
		{"passes without a ratio", Limits{MinPasses: 2, MaxPasses: 2}, ""},
		{"passes without an end", Limits{MinPasses: 2}, ""},
		{"a queue", queue, ""},
		{"a ratio without passes", Limits{PerInsert: 0.5, MinSize: 4, MinDiff: -1, MaxDiff: 2}, ""},
		{"negative MinPasses", Limits{MinPasses: -1}, "got MinPasses -1, want at least 0"},
		{"negative MaxPasses", Limits{MaxPasses: -1}, "got MaxPasses -1, want at least 0"},
		{"more passes wanted than begun", Limits{MinPasses: 3, MaxPasses: 2}, "got MinPasses 3, want at most MaxPasses = 2"},
		{"MinSize without a ratio", Limits{MinSize: 1}, "got MinSize 1, want 0 without PerInsert"},
		{"MinDiff without a ratio", Limits{MinDiff: -1}, "got MinDiff -1, want 0 without PerInsert"},
		{"MaxDiff without a ratio", Limits{MaxDiff: 1}, "got MaxDiff 1, want 0 without PerInsert"},
		{"negative PerInsert", with(func(l *Limits) { l.PerInsert = -1 }), "got PerInsert -1, want at least 0"},
		{"NaN PerInsert", with(func(l *Limits) { l.PerInsert = math.NaN() }), "got PerInsert NaN, want at least 0"},
		{"infinite PerInsert", with(func(l *Limits) { l.PerInsert = math.Inf(1) }), "got PerInsert +Inf, want a finite number"},
		{"NaN MinDiff", with(func(l *Limits) { l.MinDiff = math.NaN() }), "got MinDiff NaN, want a finite number"},
		{"infinite MinDiff", with(func(l *Limits) { l.MinDiff = math.Inf(-1) }), "got MinDiff -Inf, want a finite number"},
		{"NaN MaxDiff", with(func(l *Limits) { l.MaxDiff = math.NaN() }), "got MaxDiff NaN, want a finite number"},
		{"infinite MaxDiff", with(func(l *Limits) { l.MaxDiff = math.Inf(1) }), "got MaxDiff +Inf, want a finite number"},
		{"no MinSize", with(func(l *Limits) { l.MinSize = 0 }), "got MinSize 0, want at least 1"},
		{"MinSize beyond a generation", with(func(l *Limits) { l.MinSize = 5 }), "got MinSize 5, want at most samples = 4"},
		{"bounds too close for one step", Limits{PerInsert: 0.1, MinSize: 4, MinDiff: -1.5, MaxDiff: 0.4},
			"got MaxDiff-MinDiff 1.9, want at least 2*max(1, PerInsert) = 2"},
		{"bounds too close for a generation", with(func(l *Limits) { l.MinDiff = -1 }),
			"got MaxDiff-MinDiff 4, want at least PerInsert*samples+1 = 5"},
		{"the first generation cannot be filled", with(func(l *Limits) { l.MaxDiff, l.MinDiff = 2, -3 }),
			"got MaxDiff 2, want at least PerInsert*(samples-MinSize) = 3"},
		{"nothing is taken of MinSize samples", with(func(l *Limits) { l.MinDiff, l.MaxDiff = 1.5, 7 }),
			"got MinDiff 1.5, want at most PerInsert*MinSize = 1"},
		{"nothing is taken of the first generation",
			Limits{PerInsert: 1, MinSize: 4, MinDiff: 0, MaxDiff: 5},
			"got MinDiff 0, want at most PerInsert*(samples-MinSize)-1 = -1"},
		{"more passes wanted than rows", with(func(l *Limits) { l.MinPasses, l.MaxPasses = 2, 0 }),
			"got MinPasses 2, want at most PerInsert = 1"},
		{"more rows wanted than passes", Limits{MaxPasses: 1, PerInsert: 2, MinSize: 4, MinDiff: -1, MaxDiff: 8},
			"got PerInsert 2, want at most MaxPasses = 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.limits.Check(4)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrLimits)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestLimitsJSON(t *testing.T) {
	text, err := json.Marshal(Limits{})
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))
	text, err = json.Marshal(queue)
	require.NoError(t, err)
	require.Equal(t,
		`{"min_passes":1,"max_passes":1,"per_insert":1,"min_size":1,"min_diff":-2,"max_diff":3}`, string(text))
	var got Limits
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, queue, got)
}

func TestLimitsWithoutRatio(t *testing.T) {
	for _, n := range []int64{0, 1, 1 << 48} {
		require.EqualValues(t, math.MaxInt64, Limits{}.MaxInserts(n))
		require.EqualValues(t, math.MaxInt64, Limits{}.MaxTaken(n))
		require.Zero(t, Limits{}.Joins(n))
	}
}

// TestLimitsCounts compares with counting up from 0.
func TestLimitsCounts(t *testing.T) {
	for _, spi := range []float64{0.1, 0.5, 1, 1.5, 3, 7.3} {
		for _, size := range []int{1, 3} {
			for _, diff := range []float64{-3, -0.5, 0, 0.3, 2} {
				l := Limits{PerInsert: spi, MinSize: size, MinDiff: diff, MaxDiff: diff + 5}
				for n := range int64(40) {
					require.Equal(t, naiveInserts(l, n), l.MaxInserts(n), "MaxInserts(%d) of %+v", n, l)
					require.Equal(t, naiveTaken(l, n, l.MinDiff), l.MaxTaken(n), "MaxTaken(%d) of %+v", n, l)
					require.Equal(t, naiveTaken(l, n, max(0, l.MinDiff)), l.Joins(n), "Joins(%d) of %+v", n, l)
				}
			}
		}
	}
}

func naiveInserts(l Limits, taken int64) (inserts int64) {
	for n := inserts + 1; n <= int64(l.MinSize) || l.diff(n, taken) <= l.MaxDiff; n++ {
		inserts = n
	}
	return inserts
}

func naiveTaken(l Limits, inserts int64, least float64) (taken int64) {
	for n := taken + 1; inserts >= int64(l.MinSize) && l.diff(inserts, n) >= least; n++ {
		taken = n
	}
	return taken
}

func TestLimitsLargeCounts(t *testing.T) {
	const large = 1 << 48
	l := Limits{PerInsert: 2.5, MinSize: 2, MinDiff: -1.5, MaxDiff: 9}
	require.EqualValues(t, (large-2)/2*5+1, l.MaxTaken(large))
	require.EqualValues(t, (large-2)/2*5, l.Joins(large))
	require.EqualValues(t, large+3, l.MaxInserts((large-2)/2*5)) // 3 more are 7.5, 4 more are 10

	steep := Limits{PerInsert: math.MaxFloat64, MinSize: 1}
	require.EqualValues(t, math.MaxInt64, steep.MaxTaken(large))
	require.EqualValues(t, 1, steep.MaxInserts(large))
	flat := Limits{PerInsert: math.SmallestNonzeroFloat64, MinSize: 1, MinDiff: -0.5, MaxDiff: 0.5}
	require.EqualValues(t, 0, flat.MaxTaken(large))
	require.EqualValues(t, math.MaxInt64, flat.MaxInserts(0))
}

func TestLimitsBegins(t *testing.T) {
	ratio := Limits{MinPasses: 1, MaxPasses: 3, PerInsert: 2, MinSize: 1, MinDiff: 0, MaxDiff: 20}
	tests := []struct {
		name     string
		limits   Limits
		begun    int
		awaited  bool
		promised int64 // of 6, with 4 samples put
		want     bool
	}{
		{"without limits", Limits{}, 99, true, 99, true},
		{"no pass after the last", ratio, 3, true, 0, false},
		{"a pass that is waited for", ratio, 0, true, 99, true},
		{"a pass beyond, that can be ended", ratio, 1, true, 6, true},
		{"a pass beyond, that cannot be ended", ratio, 1, true, 7, false},
		{"of one that joined, that can be ended", ratio, 0, false, 6, true},
		{"of one that joined, that cannot be ended", ratio, 0, false, 7, false},
		{"nothing is waited for", Limits{PerInsert: 1, MinSize: 1}, 9, true, 99, true},
		{"passes alone", Limits{MinPasses: 1, MaxPasses: 2}, 1, true, 99, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.limits.Begins(tt.begun, tt.awaited, tt.promised, 4))
		})
	}
}

// FuzzLimits checks that counts keep their inequality, that one more would not, and that they grow
// with what they are asked for.
func FuzzLimits(f *testing.F) {
	f.Add(1.5, 2, -3.0, 4.0, int64(1<<48))
	f.Add(0.1, 1, 0.5, 1e300, int64(3))
	f.Add(1e300, 7, -1e300, 0.0, int64(math.MaxInt64-1))
	f.Fuzz(func(t *testing.T, spi float64, size int, low, high float64, n int64) {
		l := Limits{PerInsert: spi, MinSize: size, MinDiff: low, MaxDiff: high}
		if err := l.Check(max(size, 1)); err != nil && !errors.Is(err, ErrLimits) {
			t.Fatalf("unclassified error %v", err)
		}
		if !(spi > 0) || math.IsInf(spi, 0) || math.IsNaN(low+high) || size < 0 || n < 0 || n == math.MaxInt64 {
			return
		}
		inserts, taken, joins := l.MaxInserts(n), l.MaxTaken(n), l.Joins(n)
		requireLargest(t, inserts, int64(size), func(i int64) bool { return l.diff(i, n) <= high })
		if n >= int64(size) {
			requireLargest(t, taken, 0, func(i int64) bool { return l.diff(n, i) >= low })
			requireLargest(t, joins, 0, func(i int64) bool { return l.diff(n, i) >= max(0, low) })
		}
		require.GreaterOrEqual(t, l.MaxInserts(n+1), inserts)
		require.GreaterOrEqual(t, l.MaxTaken(n+1), taken)
		require.GreaterOrEqual(t, l.Joins(n+1), joins)
		require.LessOrEqual(t, joins, taken)
	})
}

func requireLargest(t *testing.T, n, least int64, holds func(n int64) bool) {
	t.Helper()
	require.GreaterOrEqual(t, n, least)
	require.True(t, n == least || holds(n), "%d is too large", n)
	require.False(t, n < math.MaxInt64 && holds(n+1), "%d is too small", n)
}

// A model is a cache without samples: all that limits look at, under every order of events.
type model struct {
	Limits
	samples int
	groups  int  // that are there from the start, and can be there; at most 2
	ranks   int  // of each group, 1 or 2; each takes its parts of passes in turn
	churn   bool // groups join and leave
	hasty   bool // Begins is not asked, but for MaxPasses
}

// A moment is a state of a model. Passes that are over are zero.
type moment struct {
	inserts   int64
	filled    int
	published bool
	group     [2]party
}

// A party is one group at a moment.
type party struct {
	live    bool
	awaited bool // it joined before the current generation was published
	begun   int8 // passes over the current generation, as far as limits ask
	rows    int8 // taken of the current generation, as far as MinPasses asks
	taken   int64
	passes  [2]session // in progress, the older first
}

// A session is a pass in progress.
type session struct {
	left   [2]int8 // rows, by rank
	behind bool    // it is over an older generation than the current one
}

// rest returns how many rows are left.
func (p session) rest() int64 { return int64(p.left[0]) + int64(p.left[1]) }

// A visit is told what comes next, and whether it is a publication.
type visit func(next moment, publishes bool)

// steps calls progress with all that can come next, but other with what must not count as progress:
// passes that end early, groups that join or leave.
func (m model) steps(s moment, progress, other visit) {
	m.put(s, progress)
	m.publish(s, progress)
	for i := range m.groups {
		for rank := range m.ranks {
			m.begin(s, i, rank, progress)
			m.take(s, i, rank, progress)
		}
		m.end(s, i, other)
		m.turn(s, i, other)
	}
}

func (m model) put(s moment, next visit) {
	most := int64(math.MaxInt64)
	for _, g := range s.group {
		if g.live {
			most = min(most, m.MaxInserts(g.taken))
		}
	}
	if s.filled < m.samples && s.inserts < most {
		s.inserts++
		s.filled++
		next(s, false)
	}
}

func (m model) publish(s moment, next visit) {
	if s.filled < m.samples {
		return
	}
	for i := range s.group {
		g := &s.group[i]
		if g.awaited && int(g.rows) < m.MinPasses*m.samples {
			return
		}
		g.awaited, g.begun, g.rows = g.live, 0, 0
		for j, p := range g.passes {
			g.passes[j].behind = p.rest() > 0
		}
	}
	s.filled, s.published = 0, true
	next(s, true)
}

func (m model) begin(s moment, i, rank int, next visit) {
	g := &s.group[i]
	older, newer := g.passes[0], g.passes[1]
	if !g.live || !s.published || older.left[rank] > 0 || newer.rest() > 0 {
		return
	}
	promised := g.taken + older.rest() + int64(m.samples)
	if m.hasty {
		promised = 0
	}
	if !m.Begins(int(g.begun), g.awaited, promised, s.inserts) {
		return
	}
	begun := session{}
	for r := range m.ranks {
		begun.left[r] = int8(m.samples / m.ranks)
	}
	g.passes[1] = begun
	g.begun = min(g.begun+1, int8(max(m.MinPasses, m.MaxPasses)))
	g.tidy()
	next(s, false)
}

// tidy moves the newer pass up if the older one is over.
func (g *party) tidy() {
	if g.passes[0].rest() == 0 {
		g.passes[0], g.passes[1] = g.passes[1], session{}
	}
}

func (m model) take(s moment, i, rank int, next visit) {
	g := &s.group[i]
	j := slices.IndexFunc(g.passes[:], func(p session) bool { return p.left[rank] > 0 })
	if j < 0 || m.PerInsert > 0 && g.taken+1 > m.MaxTaken(s.inserts) {
		return
	}
	if m.PerInsert > 0 {
		g.taken++
	}
	g.passes[j].left[rank]--
	m.count(g, j, 1)
	next(s, false)
}

// count counts rows of a pass.
func (m model) count(g *party, j int, rows int64) {
	if !g.passes[j].behind {
		g.rows = int8(min(int64(g.rows)+rows, int64(m.MinPasses*m.samples)))
	}
	if g.passes[j].rest() == 0 {
		g.passes[j] = session{}
	}
	g.tidy()
}

// end ends passes early.
func (m model) end(s moment, i int, next visit) {
	for j, p := range s.group[i].passes {
		if p.rest() == 0 {
			continue
		}
		ended := s
		g := &ended.group[i]
		if m.PerInsert > 0 {
			g.taken = max(g.taken, min(g.taken+p.rest(), m.MaxTaken(s.inserts)))
		}
		g.passes[j].left = [2]int8{}
		m.count(g, j, p.rest())
		next(ended, false)
	}
}

// turn has a group join or leave.
func (m model) turn(s moment, i int, next visit) {
	if !m.churn {
		return
	}
	if s.group[i].live {
		s.group[i] = party{}
	} else {
		s.group[i] = party{live: true, taken: m.Joins(s.inserts)}
	}
	next(s, false)
}

// low takes whole generations off the counts: what can happen depends on their difference alone, so
// there are finitely many moments.
func (m model) low(s moment) moment {
	inserts := int64(2 * m.samples) // whole rows, even if PerInsert ends in a half
	rows := int64(float64(inserts) * m.PerInsert)
	for s.published && s.inserts-inserts >= int64(m.MinSize) {
		for _, g := range s.group {
			if g.live && g.taken < rows {
				return s
			}
		}
		s.inserts -= inserts
		for i, g := range s.group {
			if g.live {
				s.group[i].taken -= rows
			}
		}
	}
	return s
}

// A graph holds all moments of a model that can be reached.
type graph struct {
	index   map[moment]int
	moments []moment
	before  [][]int // the moments from which progress leads here
	dead    []int   // those without progress
	publish []int   // those in which a generation can be published
}

// explore reaches all moments.
func explore(t *testing.T, m model) *graph {
	t.Helper()
	g := &graph{index: map[moment]int{}}
	first := moment{}
	for i := range m.groups {
		first.group[i].live = true
	}
	g.reach(first)
	for at := 0; at < len(g.moments); at++ {
		if at == 1_000_000 {
			t.Fatalf("too many moments of %+v", m)
		}
		moves, publishes := 0, 0
		m.steps(g.moments[at], func(next moment, publication bool) {
			to := g.reach(m.low(next))
			g.before[to] = append(g.before[to], at)
			moves++
			if publication {
				publishes++
			}
		}, func(next moment, _ bool) { g.reach(m.low(next)) })
		if moves == 0 {
			g.dead = append(g.dead, at)
		}
		if publishes > 0 {
			g.publish = append(g.publish, at)
		}
	}
	return g
}

// reach returns the number of a moment.
func (g *graph) reach(s moment) int {
	at, known := g.index[s]
	if !known {
		at = len(g.moments)
		g.index[s] = at
		g.moments, g.before = append(g.moments, s), append(g.before, nil)
	}
	return at
}

// stuck returns the moments from which no progress leads to a publication, the dead among them.
func (g *graph) stuck() (stuck []moment) {
	good := make([]bool, len(g.moments))
	for todo := slices.Clone(g.publish); len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !good[at] {
			good[at] = true
			todo = append(todo, g.before[at]...)
		}
	}
	for at, ok := range good {
		if !ok {
			stuck = append(stuck, g.moments[at])
		}
	}
	return stuck
}

// A setting is limits and the size of a generation.
type setting struct {
	Limits
	samples int
}

// settings returns an iterator over small settings, whether Check accepts them or not.
func settings(most int) iter.Seq[setting] {
	return func(yield func(setting) bool) {
		for samples := 1; samples <= most; samples++ {
			for passes := range 12 {
				l := Limits{MinPasses: passes % 3, MaxPasses: passes / 3}
				if !yield(setting{l, samples}) || !ratios(setting{l, samples}, yield) {
					return
				}
			}
		}
	}
}

// ratios yields s with ratios; it reports whether yield wants more.
func ratios(s setting, yield func(setting) bool) bool {
	for _, s.PerInsert = range []float64{0.5, 1, 1.5, 2, 3} {
		for s.MinSize = 1; s.MinSize <= 2*s.samples+1; s.MinSize++ {
			for low := -4; low <= 4; low++ {
				for high := -2; high <= 16; high += 1 + s.samples/3 {
					s.MinDiff, s.MaxDiff = float64(low)/2, float64(high)/2
					if !yield(s) {
						return false
					}
				}
			}
		}
	}
	return true
}

// every returns an iterator over every n-th setting that keep accepts.
func every(n, most int, keep func(s setting) bool) iter.Seq[setting] {
	return func(yield func(setting) bool) {
		kept := 0
		for s := range settings(most) {
			if !keep(s) {
				continue
			}
			if kept++; kept%n == 0 && !yield(s) {
				return
			}
		}
	}
}

// accepted reports whether Check accepts s.
func accepted(s setting) bool { return s.Check(s.samples) == nil }

// TestLimitsNeverDeadlock reaches every moment that small caches can come to. Under limits that
// Check accepts, something can always go on, and reading and putting alone lead to another
// publication.
func TestLimitsNeverDeadlock(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		every int // settings; those between are like it, and there are many
		most  int // samples of a generation
		model model
	}{
		{"one group that joins and leaves", 5, 3, model{groups: 1, ranks: 1, churn: true}},
		{"two groups", 101, 2, model{groups: 2, ranks: 1}},
		{"two groups that join and leave", 23, 1, model{groups: 2, ranks: 1, churn: true}},
		{"two ranks whose passes overlap", 11, 2, model{groups: 1, ranks: 2, churn: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checked, moments := 0, 0
			fits := func(s setting) bool { return accepted(s) && s.samples >= tt.model.ranks }
			step := tt.every
			if !longtests.On() {
				step = 7*tt.every + 1
			}
			for s := range every(step, tt.most, fits) {
				g := explore(t, tt.model.of(s))
				require.Empty(t, g.dead, "%+v", s)
				require.Empty(t, g.stuck(), "%+v", s)
				checked, moments = checked+1, moments+len(g.moments)
			}
			require.Positive(t, checked)
			t.Logf("%d settings, %d moments", checked, moments)
		})
	}
}

// of returns m with a setting.
func (m model) of(s setting) model {
	m.Limits, m.samples = s.Limits, s.samples
	return m
}

// deadlocks reports whether one group can come to a stop under s.
func deadlocks(t *testing.T, s setting, hasty bool) bool {
	t.Helper()
	return len(explore(t, model{groups: 1, ranks: 1, churn: hasty, hasty: hasty}.of(s)).dead) > 0
}

// TestLimitsHastyPasses shows what Begins is for: without it, a pass that outlasts its generation
// takes the rows that the next must have, wherever PerInsert is less than MinPasses+1.
func TestLimitsHastyPasses(t *testing.T) {
	t.Parallel()
	dead, last := 0, setting{}
	for s := range every(11, 2, accepted) {
		if deadlocks(t, s, true) {
			dead, last = dead+1, s
			require.Positive(t, s.MinPasses)
			require.Greater(t, float64(s.MinPasses+1), s.PerInsert)
		}
	}
	require.Positive(t, dead)
	t.Logf("%d settings come to a stop, one is %+v", dead, last)
}

// TestLimitsBoundsAreNeeded finds, for each bound, limits that it alone refuses and that deadlock.
// There are none for two bounds of Reverb's; they refuse what is likely a mistake, and that MinSize
// is at least 1 is a third.
func TestLimitsBoundsAreNeeded(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	for s := range settings(3) {
		name := onlyBroken(s)
		if name != "" && !needed[name] {
			needed[name] = deadlocks(t, s, false)
			if needed[name] {
				t.Logf("%s: but for it, %+v deadlocks", name, s)
			}
		}
	}
	require.Equal(t, map[string]bool{
		"MaxDiff-MinDiff at least 2*max(1, PerInsert)":  false,
		"MinDiff at most PerInsert*MinSize":             false,
		"MinSize at most samples":                       true,
		"MaxDiff at least PerInsert*(samples-MinSize)":  true,
		"MaxDiff-MinDiff at least PerInsert*samples+1":  true,
		"MinDiff at most PerInsert*(samples-MinSize)-1": true,
		"MinPasses at most PerInsert":                   true,
		"PerInsert at most MaxPasses":                   true,
		"MinPasses at most MaxPasses":                   true,
	}, needed)
}

// onlyBroken returns the name of the bound that s breaks, "" if it breaks none or several.
func onlyBroken(s setting) (name string) {
	for _, b := range s.bounds(float64(s.samples)) {
		switch {
		case b.kept:
		case name != "":
			return ""
		default:
			formula, _, _ := strings.Cut(b.want, " = ")
			name = b.field + " " + formula
		}
	}
	return name
}

// TestLimitsOfReverb counts limits that Reverb's refusals let pass and that deadlock nevertheless.
func TestLimitsOfReverb(t *testing.T) {
	t.Parallel()
	checked, dead := 0, 0
	for s := range every(23, 2, func(s setting) bool {
		width := s.MaxDiff - s.MinDiff
		return s.PerInsert > 0 && width >= 2*max(1, s.PerInsert) && s.MinDiff <= s.PerInsert*float64(s.MinSize)
	}) {
		checked++
		if deadlocks(t, s, false) {
			dead++
		}
	}
	require.Positive(t, dead)
	t.Logf("%d of %d settings deadlock", dead, checked)
}
