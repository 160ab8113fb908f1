package tdict

import "fmt"

// Lock freezes the structure of td and of every dictionary below it: entries cannot be set, deleted or renamed, which
// then returns [ErrLocked]. The elements of leaves can still be written. (Python: lock_. It is no mutex.) A dictionary below
// stays locked until td is unlocked, also if td is forgotten. Lock is a write, like Set.
func (td *TensorDict) Lock() {
	held := td.Locked()
	td.locked = true
	if !held {
		td.hold()
	}
}

// Unlock undoes Lock, for td and everything below it but what another locked dictionary also holds. It returns
// [ErrLocked] if td itself is an entry of a locked dictionary, and does nothing if td is not locked. Unlock is a write,
// like Set.
func (td *TensorDict) Unlock() error {
	if td.holds > 0 {
		return fmt.Errorf("unlock: %w: an entry of a locked dictionary; unlock that one", ErrLocked)
	}
	if td.locked {
		td.locked = false
		td.release()
	}
	return nil
}

// Locked reports whether the structure of td is frozen, by Lock of td itself or of a dictionary above it.
func (td *TensorDict) Locked() bool { return td.locked || td.holds > 0 }

// hold counts td, which has become locked, in each dictionary that it holds.
func (td *TensorDict) hold() {
	for _, v := range td.values {
		if d, ok := asDict(v); ok {
			held := d.Locked()
			d.holds++
			if !held {
				d.hold()
			}
		}
	}
}

// release undoes hold for td, which is not locked any more.
func (td *TensorDict) release() {
	for _, v := range td.values {
		if d, ok := asDict(v); ok {
			d.holds--
			d.locked = false
			if !d.Locked() {
				d.release()
			}
		}
	}
}
