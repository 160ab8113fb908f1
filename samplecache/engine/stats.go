package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// An Info says where a sample comes from.
type Info struct {
	Producer string    // "" if it has no name
	Number   uint64    // the producer's number for the sample
	Time     time.Time // when it was committed
	Sums     []uint32  // the CRC-32 of each leaf, in the order of the schema
}

// Stats describe a cache at one time. In JSON, fields that wirehead's logger also has carry its
// names; times are RFC 3339, durations are in nanoseconds.
type Stats struct {
	Latest    uint64 `json:"generation"`        // the generation published last; 0 if there is none
	Filling   uint64 `json:"filling"`           // the generation that is being filled
	Samples   int    `json:"swap_cap"`          // samples of a generation
	Committed int    `json:"samples_completed"` // samples of Filling that are committed
	Reserved  int    `json:"in_flight"`         // slots of Filling that are neither free nor committed
	Swaps     uint64 `json:"swap_count"`        // number of generations ever published

	LastSwap     time.Time       `json:"swap_timestamp,omitzero"` // time of the last publication; zero if there was none
	SwapTook     time.Duration   `json:"swap_duration"`           // duration of the last publication
	Bytes        int64           `json:"sample_bytes"`            // bytes of a sample
	Held         []uint64        `json:"held"`                    // old generations that are kept only because they are read
	Holders      []HolderStats   `json:"holders"`                 // the processes that read them, as far as they are known
	PublishWaits string          `json:"publish_waits"`           // what the next publication waits for, or ""
	Slots        []SlotStats     `json:"slots"`                   // the reserved slots, in order
	Members      []MemberStats   `json:"members"`                 // the sessions
	Producers    []ProducerStats `json:"producers"`
	Groups       []GroupStats    `json:"groups"`
}

// SlotStats describe a reserved slot.
type SlotStats struct {
	Slot int           `json:"slot"`
	PID  int           `json:"pid"`            // of the holder, in its own pid namespace; 0 if that has ended
	For  time.Duration `json:"for"`            // how long the holder has had the slot
	Host string        `json:"host,omitempty"` // of the holder; "" if the engine serves one machine
}

// HolderStats say that a process reads a generation that is kept only because it is read.
type HolderStats struct {
	Generation uint64 `json:"generation"`
	PID        int    `json:"pid"`
	Host       string `json:"host,omitempty"` // "" if the engine serves one machine
}

// MemberStats describe a session.
type MemberStats struct {
	PID  int           `json:"pid"`            // in the process's own pid namespace
	For  time.Duration `json:"for"`            // since it joined
	Host string        `json:"host,omitempty"` // "" if the engine serves one machine
}

// ProducerStats describe a producer with a name.
type ProducerStats struct {
	Name   string `json:"name"`
	PID    int    `json:"pid"` // of the process that has the name; 0 if there is none
	Window Window `json:"window"`
	Host   string `json:"host,omitempty"` // of that process; "" if the engine serves one machine
}

// GroupStats describe a group that has members.
type GroupStats struct {
	Name    string `json:"name"`
	World   int    `json:"world"`
	Members int    `json:"members"`
	Taken   int64  `json:"taken"`   // rows taken, as limits count them
	Current int64  `json:"current"` // rows taken of the generation published last
	NoPass  bool   `json:"no_pass"` // a member has no pass, and limits allow no more now
}

// NoSlot returns a [BlockedError] that says why no slot is free. It calls stats when it is printed.
func NoSlot(limits Limits, stats func() (Stats, error)) error {
	return &BlockedError{func() string {
		s, err := stats()
		if err != nil {
			return err.Error()
		}
		return "waiting for a free slot: " + s.noSlot(limits)
	}}
}

// noSlot returns the reason why no slot is free. If slots are held, it names the one that was
// reserved first.
func (s *Stats) noSlot(limits Limits) string {
	switch {
	case s.PublishWaits != "" && s.Committed == s.Samples:
		return fmt.Sprintf("generation %d is full and waits for %s", s.Filling, s.PublishWaits)
	case s.PublishWaits != "":
		return fmt.Sprintf("generation %d waits for %s", s.Filling, s.PublishWaits)
	case len(s.Slots) == 0 && s.Committed < s.Samples && limits.PerInsert > 0:
		return s.noMore()
	case len(s.Slots) == 0:
		return "a slot has become free meanwhile"
	}
	first := slices.MaxFunc(s.Slots, func(a, b SlotStats) int { return cmp.Compare(a.For, b.For) })
	by := process(first.PID, first.Host)
	if len(s.Slots) == 1 {
		return fmt.Sprintf("%d of %d samples of generation %d are committed, and slot %d is held, by %s for %v",
			s.Committed, s.Samples, s.Filling, first.Slot, by, first.For.Round(time.Millisecond))
	}
	return fmt.Sprintf("%d of %d samples of generation %d are committed, and %d slots are held, slot %d longest, by %s for %v",
		s.Committed, s.Samples, s.Filling, len(s.Slots), first.Slot, by, first.For.Round(time.Millisecond))
}

// noMore says that limits allow no more samples.
func (s *Stats) noMore() string {
	return fmt.Sprintf("limits allow no more than the %d samples that generation %d has, before groups take more rows", s.Committed+s.Reserved, s.Filling)
}

// process returns a text that names a process.
func process(pid int, host string) string {
	text := fmt.Sprintf("pid %d", pid)
	if pid == 0 {
		text = "a process that has ended"
	}
	if host != "" {
		text += " on " + host
	}
	return text
}
