package tdict

import (
	"cmp"
	"fmt"
	"strings"
)

// Lock freezes the structure of td and of every dictionary below it: entries cannot be set, deleted
// or renamed, which then returns [ErrLocked]. The elements of leaves can still be written. (Python:
// lock_. It is not a mutex.) A dictionary below stays locked until td is unlocked, also if td is
// forgotten. Lock is a write, like Set.
//
// why, if it is given, is a reason, and what to do instead, that errors give to a caller who
// changes the structure of td or of a dictionary below it.
func (td *TensorDict) Lock(why ...string) {
	held := td.Locked()
	td.locked, td.why = true, cmp.Or(strings.Join(why, ", "), td.why)
	if held {
		td.passReason()
	} else {
		td.lockChildren()
	}
}

// explain gives td's reason to the dictionaries below it that have none.
func (td *TensorDict) passReason() {
	for _, v := range td.entries.all() {
		if d, ok := asDict(v); ok && d.why == "" && td.why != "" {
			d.why = td.why
			d.passReason()
		}
	}
}

// errLocked says why td cannot be changed.
func (td *TensorDict) errLocked() error {
	if td.why == "" {
		return fmt.Errorf("%w: Unlock it, or change a Copy", ErrLocked)
	}
	return fmt.Errorf("%w: %s", ErrLocked, td.why)
}

// Unlock undoes Lock, for td and everything below it but what another locked dictionary also holds.
// It returns [ErrLocked] if td itself is an entry of a locked dictionary, and does nothing if td is
// not locked. Unlock is a write, like Set.
func (td *TensorDict) Unlock() error {
	if td.lockedParents > 0 {
		return fmt.Errorf("unlock: %w: an entry of a locked dictionary; unlock that one", ErrLocked)
	}
	if td.locked {
		td.locked, td.why = false, ""
		td.unlockChildren()
	}
	return nil
}

// Locked reports whether the structure of td is frozen, by Lock of td itself or of a dictionary
// above it.
func (td *TensorDict) Locked() bool { return td.locked || td.lockedParents > 0 }

// hold counts td, which has become locked, in each dictionary that it holds.
func (td *TensorDict) lockChildren() {
	for _, v := range td.entries.all() {
		if d, ok := asDict(v); ok {
			held := d.Locked()
			d.lockedParents++
			d.why = cmp.Or(d.why, td.why)
			if !held {
				d.lockChildren()
			}
		}
	}
}

// release undoes hold for td, which is not locked any more.
func (td *TensorDict) unlockChildren() {
	for _, v := range td.entries.all() {
		if d, ok := asDict(v); ok {
			d.lockedParents--
			d.locked = false
			if !d.Locked() {
				d.why = ""
				d.unlockChildren()
			}
		}
	}
}
