package mapping

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// live counts the mappings of the process.
var live atomic.Int64

// Live returns the number of mappings alive in the process: mapped, not copied, and neither closed
// nor cleaned up. It is meant for leak tests. Safe for concurrent use.
func Live() int { return int(live.Load()) }

// A resource is the state that the cleanup of a Mapping needs. It must not refer to the Mapping,
// which would then stay reachable forever.
type resource struct {
	data   mmap.MMap
	file   held         // the descriptor kept for the file
	done   func() error // closes file; nil if data is a copy in Go memory
	pinned atomic.Bool  // Pin returned the bytes
}

// copied reports whether data is a copy, which is not mapped.
func (r *resource) copied() bool { return r.done == nil }

// unmap unmaps the bytes. It must be called once; data must not be used afterwards.
func (r *resource) unmap() error {
	if r.copied() {
		r.data = nil
		return nil
	}
	regions.Delete(r)
	if err := r.data.Unmap(); err != nil {
		return errors.Join(err, r.done())
	}
	live.Add(-1)
	return r.done()
}

// A region is the address range of a mapped file.
type region struct {
	file string
	base uintptr
	size int
}

// regions holds the region of each mapped resource.
var regions sync.Map

// keepRegion records the file of r for [locate], until r is unmapped.
func (r *resource) keepRegion(file string) {
	regions.Store(r, region{file, uintptr(unsafe.Pointer(unsafe.SliceData(r.data))), len(r.data)})
}

// locate returns the FaultError for an address.
func locate(addr uintptr) error {
	e := &FaultError{Addr: addr}
	regions.Range(func(_, v any) bool {
		r := v.(region)
		if addr-r.base >= uintptr(r.size) {
			return true
		}
		e.File, e.Offset = r.file, int(addr-r.base)
		return false
	})
	return e
}

// abandon is the cleanup of an unreachable Mapping. Pinned bytes may still be in use, so they stay
// mapped; the descriptor is not needed any more.
func abandon(r *resource) {
	if r.pinned.Load() && !r.copied() {
		_ = r.done()
		return
	}
	_ = r.unmap()
}
