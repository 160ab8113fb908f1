package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// A model is what a cache must be, in sets and lists, without limits on how slow it is.
type model struct {
	config     engine.Config
	now        int64
	processes  map[string]*life
	things     map[uint64]*item
	order      []uint64                   // numbers of things, and of some that have ended
	names      map[string]map[uint64]bool // committed numbers
	published  [][]sample
	filling    []sample
	room       bool
	kept       map[uint64]bool
	retired    map[uint64]int64
	groups     []*group
	wasDropped []uint64
	eras       map[string]int // how often a name was forgotten
	puts       []string       // all committed numbers of names
}

type life struct{ number, heard uint64 }

type sample struct {
	row, number uint64
	producer    string
}

// An item is a Thing.
type item struct {
	kind                          Kind
	process, name                 string
	session                       uint64
	number, generation, epoch, id uint64
}

// A group keeps all its epochs.
type group struct {
	name   string
	world  int
	since  uint64
	taken  int64
	epochs []*epoch
}

type epoch struct {
	number, generation uint64
	pass               int
	taken              int64
	begun              map[uint64]bool // passes of ranks, whether open or not
	over, forgotten    bool
}

func newModel(config engine.Config) *model {
	return &model{config: config, processes: map[string]*life{}, things: map[uint64]*item{}, names: map[string]map[uint64]bool{},
		room: true, eras: map[string]int{}, kept: map[uint64]bool{}, retired: map[uint64]int64{}}
}

func (m *model) latest() uint64 { return uint64(len(m.published)) }

// of returns the things of a kind that fit.
func (m *model) of(kind Kind, fits func(x *item) bool) (list []*item) {
	for _, id := range m.order {
		if x := m.things[id]; x != nil && x.kind == kind && (fits == nil || fits(x)) {
			list = append(list, x)
		}
	}
	return list
}

func (m *model) reserved() int { return len(m.of(Reserve, nil)) }

func (m *model) claimant(name string) bool {
	return name != "" && len(m.of(Claim, func(x *item) bool { return x.name == name })) > 0
}

func (m *model) inserts() int64 {
	return int64(len(m.published)*m.config.Samples + len(m.filling))
}

// diff is the difference that a ratio bounds.
func (m *model) diff(inserts, taken int64) float64 {
	return float64(inserts-int64(m.config.Limits.MinSize))*m.config.Limits.PerInsert - float64(taken)
}

// mayTake returns how many rows a group may take in all, with the least difference.
func (m *model) mayTake(inserts int64, least float64) int64 {
	switch l := m.config.Limits; {
	case l.PerInsert == 0:
		return math.MaxInt64
	case inserts < int64(l.MinSize):
		return 0
	}
	return max(int64(math.Floor(m.diff(inserts, 0)-least)), 0)
}

func (m *model) group(name string) *group {
	i := slices.IndexFunc(m.groups, func(g *group) bool { return g.name == name })
	if i < 0 {
		return nil
	}
	return m.groups[i]
}

func (m *model) members(g *group) []*item {
	return m.of(Enter, func(x *item) bool { return x.name == g.name })
}

func (m *model) open(g *group, e *epoch) []*item {
	return m.of(Begin, func(x *item) bool { return x.name == g.name && e.begun[x.id] })
}

// live returns the groups that have members.
func (m *model) live() (list []*group) {
	for _, g := range m.groups {
		if len(m.members(g)) > 0 {
			list = append(list, g)
		}
	}
	return list
}

func (g *group) remembers(number uint64) *epoch {
	for _, e := range g.epochs {
		if e.number == number && !e.forgotten {
			return e
		}
	}
	return nil
}

// passes returns how many passes over a generation were begun, as far as the group remembers.
func (g *group) passes(generation uint64) (n int) {
	for _, e := range g.epochs {
		if e.generation == generation && !e.forgotten {
			n = max(n, e.pass)
		}
	}
	return n
}

// free returns how many rows may be reserved.
func (m *model) free() (n int) {
	used := len(m.filling) + m.reserved()
	for n = 0; m.room && used+n < m.config.Samples; n++ {
		for _, g := range m.live() {
			after := m.inserts() + int64(m.reserved()+n+1)
			if l := m.config.Limits; l.PerInsert > 0 && after > int64(l.MinSize) && m.diff(after, g.taken) > l.MaxDiff {
				return n
			}
		}
	}
	return n
}

// waits returns the groups that publication waits for.
func (m *model) waits() (names []string) {
	for _, g := range m.live() {
		need := m.config.Limits.MinPasses * m.config.Samples
		if need > 0 && g.since < m.latest() && m.rows(g) < int64(need) {
			names = append(names, g.name)
		}
	}
	return names
}

// rows returns how many rows of the latest generation a group has taken.
func (m *model) rows(g *group) (n int64) {
	known := 0
	for _, e := range g.epochs {
		if e.generation != m.latest() || e.forgotten {
			continue
		}
		if known++; e.over {
			n += int64(m.config.Samples)
		} else {
			n += min(e.taken, int64(m.config.Samples))
		}
	}
	return n + int64(g.passes(m.latest())-known)*int64(m.config.Samples)
}

// begins reports whether a new pass may begin.
func (m *model) begins(g *group, number uint64) bool {
	l := m.config.Limits
	begun := g.passes(m.latest())
	switch {
	case g.remembers(number) != nil:
		return true
	case m.latest() == 0 || l.MaxPasses > 0 && begun >= l.MaxPasses:
		return false
	case l.MinPasses == 0 || g.since < m.latest() && begun < l.MinPasses:
		return true
	}
	rows := g.taken + int64(m.config.Samples)
	for _, e := range g.epochs {
		if !e.over && !e.forgotten {
			rows += max(int64(m.config.Samples)-e.taken, 0)
		}
	}
	return rows <= m.mayTake(m.inserts(), l.MinDiff)
}

// noPass reports whether a member that has no pass may not begin one.
func (m *model) noPass(g *group) bool {
	var last *epoch
	open := 0
	for _, e := range g.epochs {
		if e.forgotten {
			continue
		}
		open += len(m.open(g, e))
		if last == nil || cmp.Or(cmp.Compare(last.generation, e.generation), cmp.Compare(last.pass, e.pass)) < 0 {
			last = e
		}
	}
	idle := open < len(m.members(g)) && (last == nil || len(m.open(g, last)) < len(last.begun))
	return idle && m.latest() > 0 && !m.begins(g, math.MaxUint64)
}

// finish ends an epoch: rows that were not taken count as taken, as far as limits allow.
func (m *model) finish(g *group, e *epoch) {
	if left := int64(m.config.Samples) - e.taken; !e.over && left > 0 {
		g.taken = max(g.taken, min(g.taken+left, m.mayTake(m.inserts(), m.config.Limits.MinDiff)))
	}
	e.over = true
}

// settle does what is possible, again and again.
func (m *model) settle() {
	for _, g := range m.groups {
		slices.SortStableFunc(g.epochs, func(a, b *epoch) int {
			return cmp.Or(cmp.Compare(a.generation, b.generation), cmp.Compare(a.pass, b.pass))
		})
		for i, e := range g.epochs {
			if !e.forgotten && len(e.begun)-len(m.open(g, e)) >= g.world {
				for _, before := range g.epochs[:i+1] {
					if !before.forgotten {
						m.finish(g, before)
					}
				}
			}
		}
	}
	m.groups = slices.DeleteFunc(m.groups, func(g *group) bool {
		return len(m.members(g)) == 0 && len(m.of(Begin, func(x *item) bool {
			return x.name == g.name && slices.ContainsFunc(g.epochs, func(e *epoch) bool { return e.begun[x.id] && !e.forgotten })
		})) == 0
	})
	if len(m.filling) == m.config.Samples && len(m.waits()) == 0 {
		m.published, m.filling, m.room = append(m.published, m.filling), nil, false
		m.kept[m.latest()] = true
	}
	for _, id := range slices.Sorted(maps.Keys(m.kept)) {
		if m.latest()-id <= uint64(max(m.config.Retain, 0)) {
			continue
		}
		if m.retired[id] == 0 {
			m.retired[id] = m.now
		}
		if !m.needed(id) || m.config.MaxHold > 0 && m.now >= m.retired[id]+int64(m.config.MaxHold) {
			delete(m.kept, id)
			m.wasDropped = append(m.wasDropped, id)
		}
	}
	old := 0
	for id := range m.kept {
		if m.retired[id] > 0 {
			old++
		}
	}
	m.room = m.room || old <= max(m.config.MaxHeld, 0)
}

// needed reports whether anybody reads a generation.
func (m *model) needed(id uint64) bool {
	for _, g := range m.live() {
		for _, e := range g.epochs {
			if e.generation == id && !e.over && !e.forgotten {
				return true
			}
		}
	}
	return len(m.of(Hold, func(x *item) bool { return x.generation == id })) > 0
}

// end ends the things that fit.
func (m *model) end(fits func(x *item) bool) {
	maps.DeleteFunc(m.things, func(_ uint64, x *item) bool { return fits(x) })
	m.order = slices.DeleteFunc(m.order, func(id uint64) bool { return m.things[id] == nil })
}

// made adds a thing.
func (m *model) made(id uint64, x item) {
	if x.session == 0 {
		x.session = id
	}
	x.id = id
	m.things[id], m.order = &x, append(m.order, id)
}

// apply applies an event of a process. It returns the outcome that is wanted, without the texts of
// errors. id is the number of what is made.
func (m *model) apply(process string, e Event, id uint64) (want Outcome) {
	fail := func(err error) Outcome { return Outcome{Err: err} }
	if m.processes[process] == nil {
		return fail(ErrLost)
	}
	x := m.things[e.Of]
	needs := map[Kind]Kind{Claim: Join, Forget: Join, Hold: Join, Enter: Join, Reserve: Claim, Commit: Reserve, Begin: Enter, Take: Begin}[e.Kind]
	if (needs != "" || e.Kind == End) && (x == nil || x.process != process || needs != "" && x.kind != needs) {
		return fail(ErrLost)
	}
	switch e.Kind {
	case Join:
		m.made(id, item{kind: Join, process: process})
		return Outcome{ID: id}
	case Gone:
		p := m.processes[e.Name]
		if p == nil || e.Number > 0 && e.Number < p.heard {
			return fail(ErrLost)
		}
		delete(m.processes, e.Name)
		m.end(func(x *item) bool { return x.process == e.Name })
	case End:
		m.end(func(y *item) bool { return y == x || x.kind == Join && y.session == x.session })
	case Claim:
		if m.claimant(e.Name) {
			return fail(engine.ErrProducerBusy)
		}
		m.made(id, item{kind: Claim, process: process, session: x.session, name: e.Name})
		return Outcome{ID: id, Window: window(m.names[e.Name])}
	case Forget:
		switch {
		case m.claimant(e.Name):
			return fail(engine.ErrProducerBusy)
		case m.names[e.Name] == nil:
			return fail(engine.ErrProducer)
		}
		delete(m.names, e.Name)
		m.eras[e.Name]++
	case Reserve:
		switch {
		case x.name != "" && m.names[x.name][e.Number]:
			return fail(engine.ErrCommitted)
		case x.name != "" && e.Number >= floor(m.names[x.name])+engine.WindowSize:
			return fail(engine.ErrProducer)
		case m.free() == 0:
			return fail(engine.ErrBlocked)
		}
		m.made(id, item{kind: Reserve, process: process, session: x.session, name: x.name, number: e.Number, generation: m.latest() + 1})
		return Outcome{ID: id, Generation: m.latest() + 1}
	case Commit:
		switch {
		case len(e.Sums) != 1 || len(e.At) != 1:
			return fail(engine.ErrCorrupt)
		case x.name != "" && m.names[x.name][x.number]:
			return fail(engine.ErrCommitted)
		case x.name != "" && x.number >= floor(m.names[x.name])+engine.WindowSize:
			return fail(engine.ErrProducer)
		}
		delete(m.things, x.id)
		m.filling = append(m.filling, sample{x.id, x.number, x.name})
		if x.name != "" {
			if m.names[x.name] == nil {
				m.names[x.name] = map[uint64]bool{}
			}
			m.names[x.name][x.number] = true
			m.puts = append(m.puts, fmt.Sprint(x.name, " ", m.eras[x.name], " ", x.number))
		}
		return Outcome{Generation: x.generation}
	case Hold:
		if !m.kept[e.Generation] {
			return fail(engine.ErrGenerationGone)
		}
		m.made(id, item{kind: Hold, process: process, session: x.session, generation: e.Generation})
		return Outcome{ID: id, Generation: e.Generation}
	case Enter:
		g := m.group(e.Name)
		switch {
		case g == nil:
			before := m.inserts() + int64(m.reserved())
			g = &group{name: e.Name, world: e.World, since: m.latest()}
			if m.config.Limits.PerInsert > 0 {
				g.taken = m.mayTake(before, max(0, m.config.Limits.MinDiff))
			}
			m.groups = append(m.groups, g)
		case g.world != e.World || len(m.members(g)) >= g.world:
			return fail(engine.ErrGroup)
		}
		m.made(id, item{kind: Enter, process: process, session: x.session, name: e.Name})
		return Outcome{ID: id}
	case Begin:
		return m.begin(process, x, e, id)
	case Take:
		g := m.group(x.name)
		n := int64(e.Count)
		if g == nil { // it had no members, and has forgotten the epoch
		} else if one := g.remembers(x.epoch); one != nil && !one.over {
			n = max(min(n, m.mayTake(m.inserts(), m.config.Limits.MinDiff)-g.taken), 0)
			g.taken += n
			one.taken += n
		}
		if n <= 0 {
			return fail(engine.ErrBlocked)
		}
		return Outcome{Count: int(n)}
	}
	return Outcome{}
}

func (m *model) begin(process string, seat *item, e Event, id uint64) Outcome {
	g, want := m.group(seat.name), e.Generation
	if want > 0 && !m.kept[want] && !e.OrLatest {
		return Outcome{Err: engine.ErrGenerationGone}
	}
	if want == 0 || !m.kept[want] {
		want = m.latest()
	}
	if !m.begins(g, e.Epoch) {
		return Outcome{Err: engine.ErrBlocked}
	}
	one := g.remembers(e.Epoch)
	if one == nil {
		var known []*epoch
		for _, other := range g.epochs {
			if !other.forgotten {
				known = append(known, other)
			}
		}
		one = &epoch{number: e.Epoch, generation: want, pass: g.passes(want) + 1, begun: map[uint64]bool{}}
		if len(known) == 8 {
			least := slices.MinFunc(known, func(a, b *epoch) int { return cmp.Compare(a.number, b.number) })
			if e.Epoch < least.number {
				return Outcome{Err: engine.ErrGenerationGone}
			}
			m.finish(g, least)
			least.forgotten = true
		}
		g.epochs = append(g.epochs, one)
	}
	one.begun[id] = true
	m.made(id, item{kind: Begin, process: process, session: seat.session, name: seat.name, epoch: e.Epoch, generation: one.generation})
	return Outcome{ID: id, Generation: one.generation}
}

// floor returns the first number that is not in a set.
func floor(set map[uint64]bool) (n uint64) {
	for set[n] {
		n++
	}
	return n
}

// window returns the window of a set.
func window(set map[uint64]bool) engine.Window {
	w := engine.Window{Floor: floor(set)}
	for i := range uint64(engine.WindowSize) {
		if set[w.Floor+i] {
			w.Above |= 1 << i
		}
	}
	return w
}

// A walk goes on at random, with a model, and with a second ledger that is a snapshot now and then.
type walk struct {
	*cache
	rng      *rand.Rand
	m        *model
	second   *Ledger
	messages [][]byte
	lives    int // processes that ever began
	counts   map[string]int
}

// blocked is what somebody may wait for.
type blocked struct {
	free   bool
	latest uint64
	begins map[[2]uint64]bool
	takes  map[uint64]bool
}

func (w *walk) possible() blocked {
	b := blocked{w.Free() > 0, w.Latest, map[[2]uint64]bool{}, map[uint64]bool{}}
	for _, x := range w.m.of(Enter, nil) {
		for e := range uint64(14) {
			b.begins[[2]uint64{x.id, e}] = w.Begins(x.id, e) == nil
		}
	}
	for _, x := range w.m.of(Begin, nil) {
		b.takes[x.id], _ = w.Allows(x.id)
	}
	return b
}

// wakes reports whether something became possible between b and after.
func (b blocked) wakes(after blocked) bool {
	woken := !b.free && after.free || b.latest < after.latest
	for at, can := range after.begins {
		was, there := b.begins[at]
		woken = woken || there && !was && can
	}
	for id, can := range after.takes {
		was, there := b.takes[id]
		woken = woken || there && !was && can
	}
	return woken
}

// step appends a message at random.
func (w *walk) step() {
	w.at = w.at.Add(time.Duration(w.rng.IntN(2000)-200) * time.Millisecond)
	switch w.rng.IntN(20) {
	case 0:
		w.again()
	case 1:
		w.begin()
	default:
		w.message()
	}
	if w.rng.IntN(10) == 0 {
		w.second = w.cache.again()
	}
}

// again appends a message that is there, or one of an unknown process.
func (w *walk) again() {
	data := w.encode("unknown", Event{Kind: Join})
	if len(w.messages) > 0 && w.rng.IntN(4) > 0 {
		// The first message of a process that is gone would be the first of a new one.
		data = w.messages[max(len(w.messages)-1-w.rng.IntN(50), 0)]
	}
	m, err := decode(data)
	require.NoError(w.t, err)
	if m.Number == 1 && w.m.processes[m.Process] == nil && m.Process != "unknown" {
		return
	}
	w.expect(data, m, false)
}

// begin has a process begin, which may be the next life of another.
func (w *walk) begin() {
	if len(w.m.processes) > 4 {
		return
	}
	w.lives++
	events := []Event{{Kind: Process, Host: "h", PID: w.lives}}
	if p := w.someone(); p != "" && w.rng.IntN(2) == 0 {
		events = append(events, Event{Kind: Gone, Name: p})
	}
	m := Message{Process: fmt.Sprint("p", w.lives), Events: append(events, Event{Kind: Join})}
	data := w.encode(m.Process, m.Events...)
	w.m.processes[m.Process] = &life{}
	w.expect(data, m, true)
}

// someone returns a process.
func (w *walk) someone() string {
	all := slices.Sorted(maps.Keys(w.m.processes))
	if len(all) == 0 {
		return ""
	}
	return all[w.rng.IntN(len(all))]
}

func (w *walk) message() {
	p := w.someone()
	if p == "" {
		return
	}
	m := Message{Process: p}
	for range 1 + w.rng.IntN(3) {
		e := w.event(p)
		for range 20 {
			if w.useful(p, e) {
				break
			}
			e = w.event(p)
		}
		m.Events = append(m.Events, e)
	}
	w.expect(w.encode(p, m.Events...), m, true)
}

// useful reports whether it is worth while to append an event.
func (w *walk) useful(p string, e Event) bool {
	switch e.Kind {
	case Tick, Gone:
		return true
	case Join:
		return len(w.m.of(Join, func(x *item) bool { return x.process == p })) < 3
	case Reserve:
		return e.Of > 0 && (w.Free() > 0 || w.rng.IntN(8) == 0)
	}
	return e.Of > 0
}

// some returns a thing of a process, or, now and then, anything.
func (w *walk) some(process string, kind Kind) uint64 {
	list := w.m.of(kind, func(x *item) bool { return x.process == process })
	if w.rng.IntN(40) == 0 {
		return w.rng.Uint64N(w.Last + 3)
	}
	if len(list) == 0 {
		return 0
	}
	return list[w.rng.IntN(len(list))].id
}

// event returns an event that a process may ask for.
func (w *walk) event(p string) Event {
	name := []string{"", "n", "m"}[w.rng.IntN(3)]
	near := func(n uint64) uint64 { return n - min(n, w.rng.Uint64N(4)) }
	switch n := w.rng.IntN(100); {
	case n < 2:
		return Event{Kind: Join}
	case n < 9:
		return Event{Kind: Claim, Of: w.some(p, Join), Name: name}
	case n < 10:
		return Event{Kind: Forget, Of: w.some(p, Join), Name: name}
	case n < 32:
		claim := w.some(p, Claim)
		return Event{Kind: Reserve, Of: claim, Number: w.number(claim)}
	case n < 56:
		e := committed(w.some(p, Reserve))
		if w.rng.IntN(30) == 0 {
			e.At = nil
		}
		return e
	case n < 58:
		return Event{Kind: Hold, Of: w.some(p, Join), Generation: near(w.Latest + 1)}
	case n < 62:
		return Event{Kind: Enter, Of: w.some(p, Join), Name: name, World: 1 + w.rng.IntN(6)/5}
	case n < 74:
		seat := w.some(p, Enter)
		e := Event{Kind: Begin, Of: seat, OrLatest: w.rng.IntN(2) == 0, Epoch: w.rng.Uint64N(4)}
		if x := w.m.things[seat]; x != nil && x.kind == Enter {
			for _, one := range w.m.group(x.name).epochs {
				e.Epoch = max(e.Epoch, one.number+1)
			}
			e.Epoch = near(e.Epoch)
		}
		if w.rng.IntN(3) == 0 {
			e.Generation = near(w.Latest + 1)
		}
		return e
	case n < 86:
		return Event{Kind: Take, Of: w.some(p, Begin), Count: w.rng.IntN(5)}
	case n < 98:
		kind := []Kind{Claim, Reserve, Hold, Hold, Hold, Hold, Enter, Begin, Begin, Begin, Begin, Begin}[w.rng.IntN(12)]
		return Event{Kind: End, Of: w.some(p, kind)}
	case n < 99 && w.rng.IntN(3) == 0:
		if other := w.someone(); w.rng.IntN(2) == 0 {
			return Event{Kind: Gone, Name: other, Number: w.m.processes[other].heard - min(w.rng.Uint64N(2), 1)}
		}
		return Event{Kind: End, Of: w.some(p, Join)}
	}
	return Event{Kind: Tick}
}

// number returns a number that a claim may reserve. It is seldom one that another row has.
func (w *walk) number(claim uint64) uint64 {
	x := w.m.things[claim]
	if x == nil || x.name == "" {
		return w.rng.Uint64N(100)
	}
	n := floor(w.m.names[x.name])
	switch w.rng.IntN(16) {
	case 0:
		n += w.rng.Uint64N(engine.WindowSize)
	case 1:
		n += engine.WindowSize - 1 + w.rng.Uint64N(2)
	case 2:
		n -= min(n, w.rng.Uint64N(8))
	}
	for len(w.m.of(Reserve, func(y *item) bool { return y.name == x.name && y.number == n })) > 0 && w.rng.IntN(8) > 0 {
		n++
	}
	return n
}

// expect appends a message, and compares with the model. counts says whether it counts.
func (w *walk) expect(data []byte, m Message, counts bool) {
	w.messages = append(w.messages, data)
	before, last := w.possible(), w.Last
	w.fast = w.rng.IntN(8) > 0
	s := w.apply(data)
	again, err := w.second.Apply(w.Seq, w.at, data)
	require.NoError(w.t, err)
	require.Equal(w.t, len(s.Outcomes), len(again.Outcomes))

	w.m.now, w.m.wasDropped = max(w.m.now, w.at.UnixNano()), nil
	w.m.settle()
	if !counts {
		require.Nil(w.t, s.Outcomes)
	} else {
		require.Len(w.t, s.Outcomes, len(m.Events))
		*w.m.processes[m.Process] = life{number: w.numbers[m.Process], heard: w.Seq}
		for i, e := range m.Events {
			got := s.Outcomes[i]
			want := w.m.apply(m.Process, e, got.ID)
			w.m.settle()
			require.ErrorIs(w.t, got.Err, want.Err, "%+v", e)
			require.Equal(w.t, want.Err == nil, got.Err == nil, "%+v: %v", e, got.Err)
			if got.ID > 0 {
				require.Equal(w.t, last+1, got.ID, "a number for things is used once")
				last++
			}
			w.counts[fmt.Sprint(e.Kind, " ", want.Err)]++
			require.Equal(w.t, fmt.Sprint(got.Err), fmt.Sprint(again.Outcomes[i].Err))
			got.Err, want.Err, again.Outcomes[i].Err = nil, nil, nil
			require.Equal(w.t, want, got, "%+v", e)
			require.Equal(w.t, got, again.Outcomes[i])
		}
	}
	s.Outcomes, again.Outcomes = nil, nil
	require.Equal(w.t, s, again)
	require.Equal(w.t, slices.Sorted(slices.Values(w.m.wasDropped)), slices.Sorted(slices.Values(s.Dropped)))
	require.Equal(w.t, len(s.Dropped) > 0, s.Below > 0)
	for _, g := range append(slices.Collect(maps.Values(w.Kept)), w.Filling) {
		for _, r := range g.Rows {
			require.GreaterOrEqual(w.t, slices.Min(r.At), s.Below, "a chunk that is of use")
		}
	}
	w.compare()
	if before.wakes(w.possible()) {
		w.counts["wakes"]++
		require.True(w.t, s.Wakes, "something became possible, and nobody is woken")
	}
	if w.fast {
		return
	}
	mine, err := w.Encode()
	require.NoError(w.t, err)
	theirs, err := w.second.Encode()
	require.NoError(w.t, err)
	require.Equal(w.t, string(mine), string(theirs), "the ledger of a snapshot differs")
}

// compare compares the ledger with the model.
func (w *walk) compare() {
	m := w.m
	require.Equal(w.t, m.latest(), w.Latest)
	require.Equal(w.t, m.filling, samples(w.Filling))
	require.Equal(w.t, m.reserved(), w.reserved)
	require.Equal(w.t, m.free(), w.Free())
	require.Equal(w.t, slices.Sorted(maps.Keys(m.kept)), w.kept())
	for id := range m.kept {
		require.Equal(w.t, m.published[id-1], samples(w.Generation(id)), "generation %d", id)
	}
	require.Equal(w.t, slices.Sorted(maps.Keys(m.names)), slices.Sorted(maps.Keys(w.Names)))
	for name, set := range m.names {
		require.Equal(w.t, window(set), w.Names[name], "the window of %q", name)
	}
	require.Equal(w.t, slices.Sorted(maps.Keys(m.processes)), slices.Sorted(maps.Keys(w.Processes)))
	for name, p := range m.processes {
		require.Equal(w.t, *p, life{w.Processes[name].Number, w.Processes[name].Heard})
	}
	require.Len(w.t, w.Things, len(m.things))
	for id, x := range m.things {
		t := w.Things[id]
		require.NotNil(w.t, t, "thing %d, %+v", id, *x)
		require.Equal(w.t, *x, item{t.Kind, t.Process, t.Name, t.Session, t.Number, t.Generation, t.Epoch, id})
	}
	st := w.Stats(w.Now)
	var groups []engine.GroupStats
	for _, g := range m.live() {
		groups = append(groups, engine.GroupStats{Name: g.name, World: g.world, Members: len(m.members(g)), Taken: g.taken, Current: m.rows(g), NoPass: m.noPass(g)})
	}
	require.Equal(w.t, groups, st.Groups)
	waits := !m.room || len(m.filling) == m.config.Samples && len(m.waits()) > 0
	require.Equal(w.t, waits, st.PublishWaits != "", st.PublishWaits)
	if waits {
		w.counts["publication waits"]++
	}
	require.Len(w.t, st.Members, len(m.of(Join, nil)))
	require.Len(w.t, st.Slots, m.reserved())
	due := int64(0)
	for id := range m.kept {
		if at := m.retired[id] + int64(m.config.MaxHold); m.config.MaxHold > 0 && m.retired[id] > 0 && (due == 0 || at < due) {
			due = at
		}
	}
	require.Equal(w.t, due, w.Due())
}

// samples returns the samples of a generation.
func samples(g *Generation) (list []sample) {
	for _, r := range g.Rows {
		list = append(list, sample{r.Row, r.Number, r.Producer})
	}
	return list
}

// settings are limits that Check accepts for three samples.
var settings = []engine.Limits{
	{},
	{MinPasses: 1, MaxPasses: 1},
	{MinPasses: 2, MaxPasses: 3},
	{MinPasses: 1},
	{PerInsert: 1, MinSize: 1, MinDiff: -2, MaxDiff: 3},
	{PerInsert: 2.5, MinSize: 2, MinDiff: -4, MaxDiff: 8, MaxPasses: 3},
	{PerInsert: 1.5, MinSize: 1, MinDiff: -3, MaxDiff: 5, MinPasses: 1, MaxPasses: 2},
	{PerInsert: 0.5, MinSize: 3, MinDiff: -1, MaxDiff: 2},
}

// TestAtRandom has processes do anything at random, and compares each step with a model.
func TestAtRandom(t *testing.T) {
	t.Parallel()
	total := map[string]int{}
	for seed := range uint64(longtests.Times(16, 480)) {
		limits := settings[seed%uint64(len(settings))]
		rng := rand.New(rand.NewPCG(seed, 5))
		config := engine.Config{Samples: 3, Retain: rng.IntN(4) - 1, MaxHeld: rng.IntN(4) - 1, Limits: limits}
		if limits.PerInsert > 0 || rng.IntN(2) == 0 {
			config.MaxHold = 30 * time.Second
		}
		c := newCache(t, config)
		w := &walk{cache: c, rng: rng, m: newModel(c.Charter.Config), second: c.again(), counts: map[string]int{}}
		for range 400 {
			w.step()
		}
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(w.m.puts))), len(w.m.puts), "a number of a name was put twice")
		for what, n := range w.counts {
			total[what] += n
		}
		total["generations"] += int(w.Latest)
	}
	for _, what := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%6d %s", total[what], what)
	}
	for kind := range kinds {
		if kind != Process {
			require.Positive(t, total[fmt.Sprint(kind, " ", error(nil))], "%s never succeeded", kind)
		}
	}
	for kind, errs := range map[Kind][]error{
		Claim: {ErrLost, engine.ErrProducerBusy}, Forget: {engine.ErrProducerBusy, engine.ErrProducer},
		Reserve: {engine.ErrCommitted, engine.ErrProducer, engine.ErrBlocked}, Commit: {ErrLost, engine.ErrCorrupt, engine.ErrCommitted},
		Hold: {engine.ErrGenerationGone}, Enter: {engine.ErrGroup}, Begin: {engine.ErrBlocked, engine.ErrGenerationGone},
		Take: {engine.ErrBlocked}, End: {ErrLost}, Gone: {ErrLost},
	} {
		for _, err := range errs {
			require.Positive(t, total[fmt.Sprint(kind, " ", err)], "%s never failed with %v", kind, err)
		}
	}
	require.Greater(t, total["generations"], 100)
	require.Positive(t, total["wakes"])
	require.Positive(t, total["publication waits"])
}
