package feed

import "time"

// SetTimes sets how long the feed waits for a request and for a rank. It must be called before
// Serve.
func (f *Feed) SetTimes(join, rank time.Duration) { f.joinTime, f.rankTime = join, rank }

// EmptyPause is the duration of an epoch without batches.
const EmptyPause = emptyPause
