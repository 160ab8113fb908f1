package mapping

import "sync/atomic"

// limit is the result of Limit, or 0 until the first call.
var limit atomic.Int64

// Limit returns the largest number of mappings of the process: half of the maps that the system
// allows, so that Go's runtime, which ends the process when it cannot map memory, has enough for
// itself. That is half of vm.max_map_count on Linux, read once, and no limit on other systems. Safe
// for concurrent use.
func Limit() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	limit.CompareAndSwap(0, int64(mostMaps()/2))
	return int(limit.Load())
}

// SetLimit sets the limit to n, which is positive, until restore is called. It is meant for tests.
func SetLimit(n int) (restore func()) {
	was := Limit()
	limit.Store(int64(n))
	return func() { limit.Store(int64(was)) }
}

// claim counts one more in count, unless it is limit already, and reports whether it did.
func claim(count *atomic.Int64, limit int) bool {
	for {
		n := count.Load()
		if n >= int64(limit) {
			return false
		}
		if count.CompareAndSwap(n, n+1) {
			return true
		}
	}
}
