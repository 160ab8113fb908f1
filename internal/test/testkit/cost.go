package testkit

import (
	"runtime"
	"testing"
)

// Allocated returns how many bytes fn allocates in total, including garbage. No other goroutine may
// allocate meanwhile.
func Allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// MaxBytes fails the test if fn allocates more than limit bytes in total. The runtime may allocate
// a few KiB at any time, so if limit is below 64 KiB, fn is called up to three times, and the least
// number counts.
func MaxBytes(t testing.TB, limit uint64, fn func()) {
	t.Helper()
	got := Allocated(fn)
	for tries := 2; got > limit && limit < 64<<10 && tries > 0; tries-- {
		got = min(got, Allocated(fn))
	}
	if got > limit {
		t.Errorf("allocated %d bytes, want at most %d", got, limit)
	}
}

// Near fails the test if fn allocates more than ratio times the bytes that base allocates. base is
// the same operation on little data, or the least that the operation can cost.
func Near(t testing.TB, ratio float64, base, fn func()) {
	t.Helper()
	least, got := Allocated(base), Allocated(fn)
	if float64(got) > ratio*float64(least) {
		t.Errorf("allocated %d bytes, want at most %v times %d", got, ratio, least)
	}
}
