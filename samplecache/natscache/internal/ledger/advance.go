package ledger

import (
	"maps"
	"slices"
)

// advance does everything that is possible now without an event: it publishes a generation, retires
// generations, and makes room for the next.
func (l *Ledger) advance(s *Step) {
	l.publish(s)
	before := len(s.Dropped)
	for _, id := range slices.Sorted(maps.Keys(l.Kept)) {
		if g := l.Kept[id]; l.releases(g) {
			delete(l.Kept, id)
			l.records -= len(g.Rows)
			s.Dropped, s.Wakes = append(s.Dropped, id), true
		}
	}
	if len(s.Dropped) > before && len(l.Kept) > 0 {
		s.Below = l.Kept[slices.Min(slices.Collect(maps.Keys(l.Kept)))].first()
	}
	c := l.Charter.Config
	if !l.Filling.Room && len(l.Kept) <= 1+max(c.Retain, 0)+max(c.MaxHeld, 0) {
		l.Filling.Room, s.Wakes = true, true
	}
}

// first returns the number of the first chunk of a generation that is kept, or 0 if it has none.
// The chunks of later generations come after all of its chunks, because rows of those are reserved,
// and stored, only after its last commit.
func (g *Generation) first() (first uint64) {
	for i := range g.Rows {
		for n, at := range g.Rows[i].At {
			if i+n == 0 || at < first {
				first = at
			}
		}
	}
	return first
}

// publish publishes the generation that is being filled, if it is full and no group has passes to
// make.
func (l *Ledger) publish(s *Step) {
	g := l.Filling
	if len(g.Rows) < l.Charter.Config.Samples || len(l.Groups.Waits(&l.progress)) > 0 {
		return
	}
	l.Latest, l.Swapped, l.Kept[g.ID] = g.ID, l.Now, g
	l.Filling = &Generation{ID: g.ID + 1}
	l.records += len(g.Rows)
	l.refer()
	s.Wakes = true
}

// releases retires a published generation if it is time, and reports whether it need not be kept
// any more.
func (l *Ledger) releases(g *Generation) bool {
	c := l.Charter.Config
	if g.ID+uint64(max(c.Retain, 0)) >= l.Latest {
		return false
	}
	if g.Retired == 0 {
		g.Retired = l.Now
	}
	if c.MaxHold > 0 && l.Now-g.Retired >= int64(c.MaxHold) {
		return true
	}
	return l.holds[g.ID] == 0 && !l.Groups.Needs(g.ID)
}
