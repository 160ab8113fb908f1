package mongowire

import (
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
)

// A Snapshot is the state of a server, or of a cache without one, with the names and units of
// wirehead's logger.
type Snapshot struct {
	SamplesStarted   int     `json:"samples_started"`
	SamplesCompleted int     `json:"samples_completed"`
	InFlight         int     `json:"in_flight"` // tickets that are out
	SwapCap          int     `json:"swap_cap"`
	FillPct          float64 `json:"fill_pct"`

	IsSwapping       bool     `json:"is_swapping"`        // never: publishing is one step
	SwapLockDuration *float64 `json:"swap_lock_duration"` // nil

	SwapCount         int      `json:"swap_count"`           // of the cache, ever
	SwapTimestamp     *float64 `json:"swap_timestamp"`       // of the last one, seconds since 1970; nil if there was none
	SwapDuration      *float64 `json:"swap_duration"`        // seconds between the last two that the server saw
	TimeSinceLastSwap *float64 `json:"time_since_last_swap"` // seconds
	AvgSwapDuration   *float64 `json:"avg_swap_duration"`    // seconds

	SamplesPerS float64 `json:"samples_per_s"` // since the snapshot before
	SwapsPerS   float64 `json:"swaps_per_s"`
	WriteMBPerS float64 `json:"write_mb_per_s"`

	WriteDocs   int     `json:"write_docs"`
	WriteSizeMB float64 `json:"write_size_mb"`
	ReadDocs    int     `json:"read_docs"`
	ReadSizeMB  float64 `json:"read_size_mb"`

	ActiveOps int `json:"mongo_active_ops"` // commands that are being answered

	DBName       string  `json:"db_name"`
	PollInterval float64 `json:"poll_interval"` // seconds since the snapshot before
	Timestamp    float64 `json:"timestamp"`     // seconds since 1970
	RecentSwaps  []Swap  `json:"recent_swaps"`  // the last 10

	put   int64   // samples committed, ever
	mb    float64 // MiB of a sample
	swaps []swap  // that NewSnapshot has seen
}

// A Swap is a publication, with the names of wirehead's logger.
type Swap struct {
	SwapTimestamp     float64  `json:"swap_timestamp"`
	PrevSwapTimestamp *float64 `json:"prev_swap_timestamp"`
	SwapDuration      *float64 `json:"swap_duration"`
	SwapCount         int      `json:"swap_count"`
	DBName            string   `json:"db_name"`
}

// Snapshot returns the state of the server. Rates count from the snapshot before; if that is the
// zero Snapshot, they are 0. It returns errors of the cache.
func (s *Server) Snapshot(before Snapshot) (Snapshot, error) {
	now := Snapshot{
		SwapCap: s.opt.Samples, InFlight: s.tickets.count(), ActiveOps: int(s.active.Load()),
		DBName: s.opt.Database, Timestamp: seconds(time.Now()), RecentSwaps: []Swap{},
	}
	if st := s.store.Load(); st != nil {
		stats, err := st.cache.Stats()
		if err != nil {
			return now, err
		}
		s.status.note(stats)
		docs, bytes := st.documents()
		now.addStats(stats, docs, bytes)
	}
	now.compute(s.status.list(), before)
	return now, nil
}

// NewSnapshot returns the state of a cache that no server serves. A sample counts as one document,
// a reserved slot as a ticket. before is the snapshot before, with which rates and publications
// are computed, or the zero Snapshot.
func NewSnapshot(name string, stats samplecache.Stats, before Snapshot) Snapshot {
	now := Snapshot{
		SwapCap: stats.Samples, InFlight: stats.Reserved, DBName: name, Timestamp: seconds(time.Now()), RecentSwaps: []Swap{},
		swaps: noted(slices.Clone(before.swaps), stats),
	}
	now.swaps = now.swaps[max(0, len(now.swaps)-maxSwaps):]
	now.addStats(stats, 1, stats.Bytes)
	now.compute(now.swaps, before)
	return now
}

// addStats sets the fields that follow from the state of the cache. A sample has docs documents and
// bytes bytes.
func (s *Snapshot) addStats(stats samplecache.Stats, docs int, bytes int64) {
	s.mb = float64(bytes) / mib
	s.SwapCount = int(stats.Swaps)
	s.SamplesCompleted, s.put = stats.Committed, int64(stats.Latest)*int64(stats.Samples)+int64(stats.Committed)
	s.WriteDocs, s.WriteSizeMB = docs*stats.Committed, s.mb*float64(stats.Committed)
	if stats.Latest > 0 {
		s.ReadDocs, s.ReadSizeMB = docs*stats.Samples, s.mb*float64(stats.Samples)
	}
}

// compute sets the fields that follow from others, from the publications and from the snapshot
// before.
func (s *Snapshot) compute(swaps []swap, before Snapshot) {
	s.SamplesStarted = s.SamplesCompleted + s.InFlight
	s.FillPct = 100 * float64(s.SamplesCompleted) / float64(s.SwapCap)
	s.addSwaps(swaps)
	s.addRates(before)
}

// addSwaps sets the fields that follow from the publications that the server saw.
func (s *Snapshot) addSwaps(swaps []swap) {
	for i, sw := range swaps {
		this := Swap{SwapTimestamp: seconds(sw.at), SwapCount: int(sw.generation), DBName: s.DBName}
		if i > 0 {
			last := s.RecentSwaps[len(s.RecentSwaps)-1].SwapTimestamp
			this.PrevSwapTimestamp, this.SwapDuration = &last, new(this.SwapTimestamp-last)
		}
		s.RecentSwaps = append(s.RecentSwaps, this)
	}
	if len(swaps) == 0 {
		return
	}
	first, last := s.RecentSwaps[0], s.RecentSwaps[len(swaps)-1]
	s.SwapTimestamp, s.SwapDuration = &last.SwapTimestamp, last.SwapDuration
	s.TimeSinceLastSwap = new(s.Timestamp - last.SwapTimestamp)
	if n := last.SwapCount - first.SwapCount; n > 0 {
		s.AvgSwapDuration = new((last.SwapTimestamp - first.SwapTimestamp) / float64(n))
	}
	s.RecentSwaps = s.RecentSwaps[max(0, len(swaps)-10):]
}

// addRates sets the rates since before.
func (s *Snapshot) addRates(before Snapshot) {
	if before.Timestamp == 0 || s.Timestamp <= before.Timestamp {
		return
	}
	s.PollInterval = s.Timestamp - before.Timestamp
	s.SamplesPerS = float64(s.put-before.put) / s.PollInterval
	s.SwapsPerS = float64(s.SwapCount-before.SwapCount) / s.PollInterval
	s.WriteMBPerS = s.SamplesPerS * s.mb
}
