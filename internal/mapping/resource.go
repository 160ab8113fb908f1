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

// Live returns how many mappings are alive in the process: mapped, not copied, and neither closed
// nor cleaned up. It is meant for leak tests. Safe for concurrent use.
func Live() int { return int(live.Load()) }

// A resource is what the cleanup of a Mapping needs. It must not point back at the Mapping, which
// would then stay reachable for ever.
type resource struct {
	data   mmap.MMap
	file   held         // what stays open beside data
	done   func() error // gives file back; nil if data is a copy, memory of Go's
	pinned atomic.Bool  // a raw slice has escaped
}

// copied reports whether data is a copy, which is not mapped.
func (r *resource) copied() bool { return r.done == nil }

// unmap gives the memory back. It must be called once; nobody may use data any more.
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

// A region is where a file is mapped.
type region struct {
	file string
	base uintptr
	size int
}

// regions holds the region of each resource that is mapped.
var regions sync.Map

// keepRegion has [locate] find the file of r, until it is unmapped.
func (r *resource) keepRegion(file string) {
	regions.Store(r, region{file, uintptr(unsafe.Pointer(unsafe.SliceData(r.data))), len(r.data)})
}

// locate returns the error of a fault at an address.
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

// abandon is the cleanup: nobody can reach the Mapping any more. A pinned slice may still be in
// use, but nobody asks about the file.
func abandon(r *resource) {
	if r.pinned.Load() && !r.copied() {
		_ = r.done()
		return
	}
	_ = r.unmap()
}
