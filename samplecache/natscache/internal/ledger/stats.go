package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// Stats describes the cache. now is the time of the server, ns.
func (l *Ledger) Stats(now int64) engine.Stats {
	c, g := l.Charter.Config, l.Filling
	s := engine.Stats{Latest: l.Latest, Filling: g.ID, Samples: c.Samples, Committed: len(g.Rows), Reserved: l.reserved,
		Swaps: l.Latest, Groups: l.Groups.Stats(&l.progress)}
	if l.Swapped > 0 {
		s.LastSwap = time.Unix(0, l.Swapped)
	}
	for _, id := range slices.Sorted(maps.Keys(l.Kept)) {
		if l.Kept[id].Retired > 0 {
			s.Held = append(s.Held, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Things)) {
		t := l.Things[id]
		p, since := l.Processes[t.Process], time.Duration(max(now-t.Since, 0))
		switch t.Kind {
		case Join:
			s.Members = append(s.Members, engine.MemberStats{PID: p.PID, For: since, Host: p.Host})
		case Hold:
			one := engine.HolderStats{Generation: t.Generation, PID: p.PID, Host: p.Host}
			if slices.Contains(s.Held, t.Generation) && !slices.Contains(s.Holders, one) {
				s.Holders = append(s.Holders, one)
			}
		case Reserve:
			s.Slots = append(s.Slots, engine.SlotStats{Slot: t.Slot, PID: p.PID, For: since, Host: p.Host})
		}
	}
	slices.SortStableFunc(s.Holders, func(a, b engine.HolderStats) int { return cmp.Compare(a.Generation, b.Generation) })
	slices.SortStableFunc(s.Slots, func(a, b engine.SlotStats) int { return cmp.Compare(a.Slot, b.Slot) })
	for _, name := range slices.Sorted(maps.Keys(l.Names)) {
		one := engine.ProducerStats{Name: name, Window: l.Names[name]}
		if t := l.Things[l.claims[name]]; t != nil {
			p := l.Processes[t.Process]
			one.PID, one.Host = p.PID, p.Host
		}
		s.Producers = append(s.Producers, one)
	}
	if !g.Room {
		s.PublishWaits = c.Held(s.Held)
	} else if len(g.Rows) == c.Samples {
		s.PublishWaits = strings.Join(l.Groups.Waits(&l.progress), " and ")
	}
	return s
}
