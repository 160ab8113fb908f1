package mapping

import (
	"errors"
	"sync/atomic"
	"syscall"
)

// limit is what Limit returns, or 0 until it is first asked.
var limit atomic.Int64

// Limit returns how many mappings the process may have: half of the maps that the system allows it,
// so that Go's runtime, which ends the process when it cannot map memory, has room for its own.
// That is half of vm.max_map_count on Linux, read once, and no limit on other systems. Safe for
// concurrent use.
func Limit() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	limit.CompareAndSwap(0, int64(mostMaps()/2))
	return int(limit.Load())
}

// SetLimit makes n, which is positive, the limit until restore is called. It is meant for tests.
func SetLimit(n int) (restore func()) {
	was := Limit()
	limit.Store(int64(n))
	return func() { limit.Store(int64(was)) }
}

// claim counts one more mapping, and reports whether it is within the limit.
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

// Retry returns what open returns. If open failed because the process or the system has no
// descriptor left, Retry closes those that mappings keep for [Mapping.Intact], and calls it once
// more. Package vfs calls it wherever it opens a file. Safe for concurrent use.
func Retry[T any](open func() (T, error)) (T, error) {
	v, err := open()
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		dropAll()
		return open()
	}
	return v, err
}
