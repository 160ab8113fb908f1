package vfstest

import (
	"errors"
	"fmt"
	"math"
)

// ErrInjected is the error of an operation that [Disk.FailAfter] or [Disk.FailOnce] selected.
var ErrInjected = errors.New("injected failure")

// failures counts mutating operations, and selects the operations that fail.
type failures struct {
	ops         int
	first, last int // the range of operations that fail, counted from 1; 0, 0 means none
}

// next counts an operation, and returns ErrInjected if it must fail.
func (f *failures) next() error {
	f.ops++
	if f.first <= f.ops && f.ops <= f.last {
		return ErrInjected
	}
	return nil
}

// FailAfter makes the n-th mutating operation from now, and all after it, fail with [ErrInjected],
// like a dead disk. n counts from 1; less is a panic. It replaces earlier failures.
//
// Mutating operations are Mkdir, Create, Resume, Write, WriteAt, Reserve, Sync, Close, Link, Chmod,
// Rename, RenameNew, Exchange, SyncDir and RemoveAll. A failing Write or WriteAt has written half
// of its bytes, a failing RemoveAll has removed part of the tree, and a failing Close has closed
// the file; the others have done nothing.
func (d *Disk) FailAfter(n int) { d.fail(n, math.MaxInt) }

// FailOnce makes only the n-th mutating operation from now fail with [ErrInjected], to test how the
// caller handles the error. See [Disk.FailAfter].
func (d *Disk) FailOnce(n int) { d.fail(n, n) }

// fail makes the operations from first to last fail, counted from now.
func (d *Disk) fail(first, last int) {
	if first < 1 {
		panic(fmt.Sprintf("vfstest: impossible: the operation to fail is %d, want at least 1", first))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures.first = d.failures.ops + first
	d.failures.last = d.failures.ops + min(last, math.MaxInt-d.failures.ops)
}

// Ops returns the number of mutating operations so far, including failed ones.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failures.ops
}
