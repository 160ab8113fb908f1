package engine

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
)

// The maximum numbers.
const (
	maxGroups  = 64
	maxWorld   = 512 // ranks of a group
	epochsKept = 8   // epochs of a group
)

// Groups are the counts for [Limits]: the members of each group, the generation of each epoch, and
// the rows that were taken. An engine stores them where all members can read them, and lets one
// member at a time change them.
//
// Each member, and each pass of a member in an epoch, has a holder: a number that [Groups.Enter]
// and [Groups.Begin] return and that is never used again. The engine knows which holders are alive.
//
// Not safe for concurrent use.
type Groups struct {
	List    []Group `json:"list"`
	Holders uint64  `json:"holders"` // the last holder; the first was 1
}

// A Group has the counts of one group.
type Group struct {
	Name    string   `json:"name"`
	World   int      `json:"world"`
	Since   uint64   `json:"since"`   // the latest generation when the group was entered
	Taken   int64    `json:"taken"`   // rows taken, as limits count them
	Members []uint64 `json:"members"` // holders
	Epochs  []Epoch  `json:"epochs"`  // the last eight, in the order in which they began
}

// An Epoch is one pass of a group over a generation.
type Epoch struct {
	Number     uint64   `json:"number"`
	Generation uint64   `json:"generation"`
	Pass       uint64   `json:"pass"`    // number of the pass over the generation, from 1
	Taken      int64    `json:"taken"`   // rows taken
	Open       []uint64 `json:"open"`    // holders of the ranks' passes that are not closed
	Done       int      `json:"done"`    // ranks' passes that were closed, or whose holder died
	Settled    bool     `json:"settled"` // the epoch is over: rows that were not taken count as taken
}

// A Progress is the state of the cache with which counts are compared.
type Progress struct {
	Config Config
	Latest uint64 // the generation published last
	// Committed returns the number of committed samples of the generation that is being filled.
	Committed func() int
}

// inserts returns how many samples were ever committed.
func (p *Progress) inserts() int64 {
	if p.Config.Limits.PerInsert == 0 {
		return 0 // without a ratio it is not used
	}
	return int64(p.Latest)*int64(p.Config.Samples) + int64(p.Committed())
}

// Group returns the counts of a group, or nil if there is no such group.
func (g *Groups) Group(name string) *Group {
	i := slices.IndexFunc(g.List, func(one Group) bool { return one.Name == name })
	if i < 0 {
		return nil
	}
	return &g.List[i]
}

// Enter adds a member to a group, and returns its holder. reserved is the total number of
// samples committed or reserved; a new group counts them as put: see [Limits.Joins].
func (g *Groups) Enter(p *Progress, name string, world int, reserved int64) (holder uint64, err error) {
	one := g.Group(name)
	switch {
	case world > maxWorld:
		return 0, fmt.Errorf("%w: got %d ranks, want at most %d", ErrGroup, world, maxWorld)
	case one == nil && len(g.List) == maxGroups:
		return 0, fmt.Errorf("%w: there are %d groups already", ErrGroup, maxGroups)
	case one == nil:
		g.List = append(g.List, Group{Name: name, World: world, Since: p.Latest, Taken: p.Config.Limits.Joins(reserved)})
		one = &g.List[len(g.List)-1]
	case one.World != world:
		return 0, fmt.Errorf("%w: got %d ranks, want %d, as its other members said", ErrGroup, world, one.World)
	case len(one.Members) >= world:
		return 0, fmt.Errorf("%w: got one more member, want at most %d, one for each rank", ErrGroup, len(one.Members))
	}
	g.Holders++
	one.Members = append(one.Members, g.Holders)
	return g.Holders, nil
}

// CatchUp repeats the count of [Groups.Enter] for a group that has one member and no epochs, since
// samples may have been reserved meanwhile. It reports whether anything changed.
func (g *Groups) CatchUp(p *Progress, name string, reserved int64) bool {
	one := g.Group(name)
	if one == nil || len(one.Members) != 1 || len(one.Epochs) > 0 {
		return false
	}
	was := one.Taken
	one.Taken = max(was, p.Config.Limits.Joins(reserved))
	return one.Taken != was
}

// epoch returns an epoch that is remembered, or nil.
func (one *Group) epoch(number uint64) *Epoch {
	i := slices.IndexFunc(one.Epochs, func(e Epoch) bool { return e.Number == number })
	if i < 0 {
		return nil
	}
	return &one.Epochs[i]
}

// Begins returns nil if a pass in an epoch may begin now, and a [BlockedError] otherwise.
func (one *Group) Begins(p *Progress, epoch uint64) error {
	if one.epoch(epoch) != nil {
		return nil
	}
	awaited, begun := one.Since < p.Latest, int(one.passes(p.Latest))
	switch {
	case p.Latest == 0:
		return Waiting("the first generation")
	case !p.Config.Limits.Begins(begun, awaited, one.promised(p), p.inserts()):
		return Waiting(fmt.Sprintf("generation %d, or for limits to allow one more pass over generation %d", p.Latest+1, p.Latest))
	}
	return nil
}

// Begin begins a pass in an epoch. It returns the holder of the pass and the generation of the
// epoch. A new epoch gets generation want; 0 means the latest.
func (g *Groups) Begin(p *Progress, name string, epoch, want uint64) (holder, generation uint64, err error) {
	one := g.Group(name)
	if one == nil {
		return 0, 0, fmt.Errorf("%w: its members are gone", ErrGroup)
	}
	if err := one.Begins(p, epoch); err != nil {
		return 0, 0, err
	}
	if one.epoch(epoch) == nil {
		if err := one.fix(p, epoch, want); err != nil {
			return 0, 0, err
		}
	}
	e := one.epoch(epoch)
	g.Holders++
	e.Open = append(e.Open, g.Holders)
	return g.Holders, e.Generation, nil
}

// fix adds an epoch with the given generation. If there are eight epochs, it drops the one with the
// lowest number.
func (one *Group) fix(p *Progress, number, generation uint64) error {
	if generation == 0 {
		generation = p.Latest
	}
	begun := one.passes(generation) // counts the epoch that is dropped, too
	if len(one.Epochs) == epochsKept {
		least := slices.MinFunc(one.Epochs, func(a, b Epoch) int { return cmp.Compare(a.Number, b.Number) }).Number
		if number < least {
			return fmt.Errorf("%w: got epoch %d, want at least %d, the oldest that is remembered", ErrGenerationGone, number, least)
		}
		one.end(p, one.epoch(least)) // later calls of Take for it count nothing
		one.Epochs = slices.DeleteFunc(one.Epochs, func(e Epoch) bool { return e.Number == least })
	}
	one.Epochs = append(one.Epochs, Epoch{Number: number, Generation: generation, Pass: begun + 1})
	return nil
}

// Take counts up to n rows of an epoch as taken, as many as limits allow, and returns how many. For
// an epoch that is over or forgotten it returns n: its rows were counted before.
func (one *Group) Take(p *Progress, epoch uint64, n int) int {
	e := one.epoch(epoch)
	if e == nil || e.Settled {
		return n
	}
	n = int(max(min(int64(n), p.Config.Limits.MaxTaken(p.inserts())-one.Taken), 0))
	one.Taken += int64(n)
	e.Taken += int64(n)
	return n
}

// Tidy drops the members and passes whose holders are not alive, ends the epochs that all ranks
// have closed, and drops groups without members. It reports whether anything changed.
func (g *Groups) Tidy(p *Progress, alive func(holder uint64) bool) (changed bool) {
	for i := range g.List {
		changed = g.List[i].tidy(p, alive) || changed
	}
	n := len(g.List)
	g.List = slices.DeleteFunc(g.List, func(one Group) bool { return len(one.Members) == 0 && one.open() == 0 })
	return changed || len(g.List) < n
}

// tidy is Tidy for one group.
func (one *Group) tidy(p *Progress, alive func(holder uint64) bool) (changed bool) {
	dead := func(holder uint64) bool { return !alive(holder) }
	n := len(one.Members)
	one.Members = slices.DeleteFunc(one.Members, dead)
	changed = len(one.Members) < n
	last := uint64(0) // the last epoch that all ranks have closed; they have left all before it
	for i := range one.Epochs {
		e := &one.Epochs[i]
		n := len(e.Open)
		e.Open = slices.DeleteFunc(e.Open, dead)
		e.Done += n - len(e.Open)
		changed = changed || len(e.Open) < n
		if e.Done >= one.World {
			last = max(last, e.order())
		}
	}
	for i := range one.Epochs {
		if e := &one.Epochs[i]; e.order() <= last && one.end(p, e) {
			changed = true
		}
	}
	return changed
}

// order is greater for epochs that began later.
func (e *Epoch) order() uint64 { return e.Generation<<32 | e.Pass }

// open returns the number of passes that are not closed.
func (one *Group) open() (n int) {
	for _, e := range one.Epochs {
		n += len(e.Open)
	}
	return n
}

// end ends an epoch: rows that were not taken count as taken, as far as limits allow. Otherwise
// the cache could wait for ever for rows that nobody takes. It reports whether e was not over
// before.
func (one *Group) end(p *Progress, e *Epoch) bool {
	if e.Settled {
		return false
	}
	if left := int64(p.Config.Samples) - e.Taken; left > 0 {
		one.Taken = max(one.Taken, min(one.Taken+left, p.Config.Limits.MaxTaken(p.inserts())))
	}
	e.Settled = true
	return true
}

// Needs reports whether a group has an epoch of the generation that not all ranks have closed.
func (g *Groups) Needs(generation uint64) bool {
	for one := range g.live() {
		if slices.ContainsFunc(one.Epochs, func(e Epoch) bool { return e.Generation == generation && !e.Settled }) {
			return true
		}
	}
	return false
}

// live yields the groups that have members.
func (g *Groups) live() iter.Seq[*Group] {
	return func(yield func(*Group) bool) {
		for i := range g.List {
			if len(g.List[i].Members) > 0 && !yield(&g.List[i]) {
				return
			}
		}
	}
}

// Room returns how many samples of generation p.Latest+1, the one being filled, may be reserved
// before groups take more rows.
func (g *Groups) Room(p *Progress) int {
	c := p.Config
	least := int64(math.MaxInt64)
	for one := range g.live() {
		least = min(least, one.Taken)
	}
	if c.Limits.PerInsert == 0 || least == math.MaxInt64 {
		return c.Samples
	}
	before := int64(p.Latest) * int64(c.Samples)
	return int(min(max(c.Limits.MaxInserts(least)-before, 0), int64(c.Samples)))
}

// Waits returns the reasons why a full generation may not be published yet: the groups that have
// not taken all rows of the latest generation MinPasses times.
func (g *Groups) Waits(p *Progress) (reasons []string) {
	need := int64(p.Config.Limits.MinPasses) * int64(p.Config.Samples)
	if need == 0 || p.Latest == 0 {
		return nil
	}
	for one := range g.live() {
		if one.Since >= p.Latest {
			continue // the group was entered later
		}
		if rows := one.rows(p, p.Latest); rows < need {
			reasons = append(reasons, fmt.Sprintf("group %q, which has taken %d rows of generation %d, want %d", one.Name, rows, p.Latest, need))
		}
	}
	return reasons
}

// rows returns how many rows of a generation a group has taken, counted once a pass. Ended and
// forgotten passes count as whole.
func (one *Group) rows(p *Progress, generation uint64) (rows int64) {
	whole, forgotten := int64(p.Config.Samples), int64(one.passes(generation))
	for _, e := range one.Epochs {
		if e.Generation != generation {
			continue
		}
		forgotten--
		if e.Settled {
			rows += whole
		} else {
			rows += min(e.Taken, whole)
		}
	}
	return rows + forgotten*whole
}

// passes returns how many passes over a generation the group has begun.
func (one *Group) passes(generation uint64) (n uint64) {
	for _, e := range one.Epochs {
		if e.Generation == generation {
			n = max(n, e.Pass)
		}
	}
	return n
}

// promised returns the number of rows that the group has taken, plus the rows that are left of the
// passes that it has begun, plus one whole pass.
func (one *Group) promised(p *Progress) int64 {
	rows := one.Taken + int64(p.Config.Samples)
	for _, e := range one.Epochs {
		if !e.Settled {
			rows += max(int64(p.Config.Samples)-e.Taken, 0)
		}
	}
	return rows
}

// Stats describes the groups that have members.
func (g *Groups) Stats(p *Progress) (list []GroupStats) {
	for one := range g.live() {
		list = append(list, GroupStats{one.Name, one.World, len(one.Members), one.Taken, one.rows(p, p.Latest), one.noPass(p)})
	}
	return list
}

// noPass reports whether a member that has no pass may not begin one. If no rank has closed the
// epoch that began last, the members without a pass may begin theirs in it.
func (one *Group) noPass(p *Progress) bool {
	if p.Latest == 0 || one.open() >= len(one.Members) {
		return false
	}
	if len(one.Epochs) > 0 {
		last := slices.MaxFunc(one.Epochs, func(a, b Epoch) int { return cmp.Compare(a.order(), b.order()) })
		if last.Done == 0 {
			return false
		}
	}
	return !p.Config.Limits.Begins(int(one.passes(p.Latest)), one.Since < p.Latest, one.promised(p), p.inserts())
}
