package feed

import "time"

// Stats describe the batches of a consumer, since [Listen].
type Stats struct {
	Rank      int
	Connected bool
	Epoch     uint64 // of the last batch
	Batches   int
	Rows      int
	Bytes     int
	// Full is the time that the feed waited for a free slot. If it grows, the consumer is slower
	// than the feed.
	Full time.Duration
	// Empty is the time that the consumer was connected and had no batch. If it grows, the feed is
	// slower than the consumer.
	Empty time.Duration
}

// Stats returns the stats of each consumer, by rank. Safe for concurrent use.
func (f *Feed) Stats() []Stats {
	all := make([]Stats, len(f.places))
	for i, p := range f.places {
		all[i] = p.now()
	}
	return all
}
