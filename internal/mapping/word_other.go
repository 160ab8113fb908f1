//go:build !linux

package mapping

import (
	"sync/atomic"
	"time"
)

func waitWord(word *atomic.Uint32, value uint32, timeout time.Duration) error {
	return pollWord(word, value, timeout)
}

func wakeWord(*atomic.Uint32) error { return nil }
