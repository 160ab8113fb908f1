package mapping

import (
	"errors"
	"sync/atomic"
	"syscall"
)

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

// claim counts one more mapping, unless there are limit already, and reports whether it did.
func claim(limit int) bool {
	for {
		n := live.Load()
		if n >= int64(limit) {
			return false
		}
		if live.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Retry returns the results of open. If open failed because the process or the system has no
// descriptor left, Retry closes the descriptors that mappings keep for [Mapping.Intact], and calls
// open once more. Package vfs calls Retry wherever it opens a file. Safe for concurrent use.
func Retry[T any](open func() (T, error)) (T, error) {
	v, err := open()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		dropAll()
		return open()
	}
	return v, err
}
