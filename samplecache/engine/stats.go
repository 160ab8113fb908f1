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
	Number   uint64    // of the producer
	Time     time.Time // when it was committed
	Sums     []uint32  // the CRC-32C of each leaf, in the order of the schema
}

// Stats describe a cache at one moment. In JSON, fields that wirehead's logger has too have its
// names; times are RFC 3339, durations nanoseconds.
type Stats struct {
	Latest    uint64 `json:"generation"`        // the generation published last; 0 if there is none
	Filling   uint64 `json:"filling"`           // the one that is being filled
	Samples   int    `json:"swap_cap"`          // of a generation
	Committed int    `json:"samples_completed"` // in the one that is being filled
	Reserved  int    `json:"in_flight"`         // slots there that are neither free nor committed
	Swaps     uint64 `json:"swap_count"`        // generations published, ever

	LastSwap     time.Time       `json:"swap_timestamp,omitzero"` // when; zero if there was none
	SwapTook     time.Duration   `json:"swap_duration"`           // nanoseconds
	Bytes        int64           `json:"sample_bytes"`            // of a sample
	Held         []uint64        `json:"held"`                    // kept only because they are read
	PublishWaits string          `json:"publish_waits"`           // why the next one waits, if it does
	Slots        []SlotStats     `json:"slots"`                   // that are reserved, in order
	Members      []MemberStats   `json:"members"`                 // processes that take part
	Producers    []ProducerStats `json:"producers"`
	Groups       []GroupStats    `json:"groups"`
}

// SlotStats describe a slot that is reserved.
type SlotStats struct {
	Slot int           `json:"slot"`
	PID  int           `json:"pid"` // of the holder, as it sees itself
	For  time.Duration `json:"for"` // how long it has held the slot, nanoseconds
}

// MemberStats describe a session.
type MemberStats struct {
	PID int           `json:"pid"` // as the process sees itself
	For time.Duration `json:"for"` // since it joined, nanoseconds
}

// ProducerStats are about a producer with a name.
type ProducerStats struct {
	Name   string `json:"name"`
	PID    int    `json:"pid"` // of the process that is the producer; 0 if there is none
	Window Window `json:"window"`
}

// GroupStats are about a group that has members.
type GroupStats struct {
	Name    string `json:"name"`
	World   int    `json:"world"`
	Members int    `json:"members"`
	Taken   int64  `json:"taken"`   // rows, as limits count them
	Current int64  `json:"current"` // rows of the generation published last
}

// NoSlot returns a [BlockedError] that says why no slot is free, as Stats are when it is asked.
func NoSlot(limits Limits, stats func() (Stats, error)) error {
	return &BlockedError{func() string {
		s, err := stats()
		if err != nil {
			return err.Error()
		}
		return "waiting for a free slot: " + s.noSlot(limits)
	}}
}

// noSlot returns why no slot is free. Among slots that are held, it names the one reserved first.
func (s *Stats) noSlot(limits Limits) string {
	switch {
	case s.PublishWaits != "" && s.Committed == s.Samples:
		return fmt.Sprintf("generation %d is full and waits for %s", s.Filling, s.PublishWaits)
	case s.PublishWaits != "":
		return fmt.Sprintf("generation %d waits for %s", s.Filling, s.PublishWaits)
	case len(s.Slots) == 0 && s.Committed < s.Samples && limits.PerInsert > 0:
		return fmt.Sprintf("limits allow no more than the %d samples that generation %d has, before groups take more rows", s.Committed, s.Filling)
	case len(s.Slots) == 0:
		return "there was none a moment ago"
	}
	first := slices.MaxFunc(s.Slots, func(a, b SlotStats) int { return cmp.Compare(a.For, b.For) })
	return fmt.Sprintf("%d of %d samples of generation %d are committed, and %d slots are held, slot %d longest, by pid %d for %v",
		s.Committed, s.Samples, s.Filling, len(s.Slots), first.Slot, first.PID, first.For.Round(time.Millisecond))
}
