package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Wait is something that waits.
type Wait struct {
	// For is the kind of wait, one of [WaitKinds].
	//
	//	publish           a full generation waits to be published
	//	room              there is no room for the next generation
	//	slot              all slots that are left are reserved
	//	group             the ratio allows no more samples
	//	first_generation  a group waits for the first generation
	//	next_generation   MaxPasses allows a group no more passes
	//	samples           limits allow a group no more rows
	//	put               nobody puts samples
	For  string
	Text string // a sentence: who waits, and for what
}

// WaitKinds returns the values of [Wait].For.
func WaitKinds() []string {
	return []string{"publish", "room", "slot", "group", "first_generation", "next_generation", "samples", "put"}
}

// Waits returns a Wait for each thing that producers and groups wait for. c is the config of the
// cache. It does not know who asks for a slot now: if no slot is free, producers wait.
func (s *Stats) Waits(c Config) []Wait {
	list := s.producersWait(c)
	stopped := len(list) > 0 && list[0].For != "slot"
	for _, g := range s.Groups {
		list = append(list, s.groupWaits(c, g)...)
	}
	hungry := s.Latest == 0 || len(list) > 0 // somebody needs samples
	if hungry && !stopped && len(s.Slots) == 0 && !slices.ContainsFunc(s.Producers, func(p ProducerStats) bool { return p.PID != 0 }) {
		who := "no producer is a member that has put samples before, and no slot is reserved"
		if len(s.Members) == 0 {
			who = "the cache has no members"
		}
		list = append(list, Wait{"put", "Nobody puts samples: " + who + "."})
	}
	return list
}

// producersWait returns the wait of producers, if there is no free slot.
func (s *Stats) producersWait(c Config) []Wait {
	slowest := s.slowest()
	reserved := s.inserts() + int64(s.Reserved)
	switch {
	case s.PublishWaits != "" && s.Committed == s.Samples:
		text := "Producers wait for room: " + s.noSlot(c.Limits)
		if strings.HasPrefix(s.PublishWaits, "group ") { // as Groups.Waits says it
			text += fmt.Sprintf(" (MinPasses %d)", c.Limits.MinPasses)
		}
		return []Wait{{"publish", text + "."}}
	case s.PublishWaits != "":
		return []Wait{{"room", "Producers wait for room: " + s.noSlot(c.Limits) + s.holders() + "."}}
	case s.Committed+s.Reserved == s.Samples && len(s.Slots) > 0:
		return []Wait{{"slot", "Producers wait for a free slot: " + s.noSlot(c.Limits) + "."}}
	case s.Committed < s.Samples && slowest != nil && reserved >= c.Limits.MaxInserts(slowest.Taken):
		rows := math.Ceil(c.Limits.diff(reserved+1, slowest.Taken) - c.Limits.MaxDiff)
		return []Wait{{"group", fmt.Sprintf("Producers wait for group %q: %s, and it has to take %.0f more before the next sample (PerInsert %v, MaxDiff %v).",
			slowest.Name, s.noMore(), rows, c.Limits.PerInsert, c.Limits.MaxDiff)}}
	}
	return nil
}

// inserts returns how many samples were ever committed.
func (s *Stats) inserts() int64 { return int64(s.Latest)*int64(s.Samples) + int64(s.Committed) }

// slowest returns the group that has taken the fewest rows, or nil if there is no group.
func (s *Stats) slowest() (least *GroupStats) {
	for i, g := range s.Groups {
		if least == nil || g.Taken < least.Taken {
			least = &s.Groups[i]
		}
	}
	return least
}

// holders returns a text that names the processes that read held generations, if the next
// generation waits for readers.
func (s *Stats) holders() (text string) {
	if !strings.HasPrefix(s.PublishWaits, "readers") { // as Config.Held says it
		return ""
	}
	for i, h := range s.Holders {
		if i == 4 {
			return text + fmt.Sprintf(" and %d more", len(s.Holders)-i)
		}
		text += fmt.Sprintf(", %d by %s", h.Generation, process(h.PID, h.Host))
	}
	return text
}

// groupWaits returns the wait of a group, if it has one.
func (s *Stats) groupWaits(c Config, g GroupStats) []Wait {
	next := fmt.Sprintf("%d, which has %d of %d samples", s.Filling, s.Committed, s.Samples)
	passes, l := c.Limits.MaxPasses, c.Limits
	switch {
	case s.Latest == 0:
		return []Wait{{"first_generation", fmt.Sprintf("Group %q waits for the first generation, %s.", g.Name, next)}}
	case passes > 0 && float64(g.Current) >= float64(passes)*float64(s.Samples):
		return []Wait{{"next_generation", fmt.Sprintf("Group %q waits for generation %s: it has taken %d rows of generation %d, and limits allow no more (MaxPasses %d).",
			g.Name, next, g.Current, s.Latest, passes)}}
	case g.Taken >= l.MaxTaken(s.inserts()):
		return []Wait{{"samples", fmt.Sprintf("Group %q waits for samples, at least %d more: it has taken all rows that limits allow (PerInsert %v, MinDiff %v).",
			g.Name, l.missing(s.inserts(), g.Taken), l.PerInsert, l.MinDiff)}}
	case g.NoPass && passes > 0 && l.PerInsert == 0:
		return []Wait{{"next_generation", fmt.Sprintf("A member of group %q waits for generation %s: it has ended its pass over generation %d, and limits allow no more (MaxPasses %d).",
			g.Name, next, s.Latest, passes)}}
	case g.NoPass:
		return []Wait{{"next_generation", fmt.Sprintf("A member of group %q waits for generation %s, or for samples: limits allow no more passes over generation %d now (MinPasses %d, MaxPasses %d, PerInsert %v, MinDiff %v).",
			g.Name, next, s.Latest, l.MinPasses, passes, l.PerInsert, l.MinDiff)}}
	}
	return nil
}

// missing returns how many samples have to be put before a group may take one more row.
func (l Limits) missing(inserts, taken int64) int64 {
	return largest(0, func(n int64) bool { return inserts+n-1 >= inserts && l.MaxTaken(inserts+n-1) <= taken })
}
