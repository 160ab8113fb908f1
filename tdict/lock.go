package tdict

import (
	"cmp"
	"fmt"
	"strings"
)

// Lock freezes the structure of td and of every dictionary below it: setting, deleting or renaming
// an entry returns [ErrLocked]. The elements of leaves can still be written. A dictionary below td
// stays locked until td is unlocked, even if nothing else refers to td. Lock is a write, like Set.
// (Python: lock_. It is not a mutex.)
//
// why is optional: the reason, and what to do instead. It becomes part of the ErrLocked that td and
// the dictionaries below it return.
func (td *TensorDict) Lock(why ...string) {
	held := td.Locked()
	td.locked, td.why = true, cmp.Or(strings.Join(why, ", "), td.why)
	if held {
		td.passReason()
	} else {
		td.lockChildren()
	}
}

// passReason copies td's reason to the dictionaries below it that have none.
func (td *TensorDict) passReason() {
	for _, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok && d.why == "" && td.why != "" {
			d.why = td.why
			d.passReason()
		}
	}
}

// checkUnlocked returns ErrLocked if td is locked, with its reason, or with advice if there is
// none.
func (td *TensorDict) checkUnlocked() error {
	switch {
	case !td.Locked():
		return nil
	case td.why == "":
		return fmt.Errorf("%w: Unlock it, or change a Copy", ErrLocked)
	}
	return fmt.Errorf("%w: %s", ErrLocked, td.why)
}

// Unlock is the reverse of Lock. It unlocks td and every dictionary below it, even if Lock was
// called on that dictionary itself. A dictionary below td that is also an entry of another locked
// dictionary stays locked, with every dictionary below it. Unlock does nothing if td is not locked,
// and returns [ErrLocked] if td is itself an entry of a locked dictionary. Unlock is a write, like
// Set.
func (td *TensorDict) Unlock() error {
	if td.lockedParents > 0 {
		return fmt.Errorf("unlock: %w: this is an entry of a locked dictionary: Unlock the outer one", ErrLocked)
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

// lockChildren counts td, which has become locked, as a locked parent of its dictionaries.
func (td *TensorDict) lockChildren() {
	for _, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok {
			held := d.Locked()
			d.lockedParents++
			d.why = cmp.Or(d.why, td.why)
			if !held {
				d.lockChildren()
			}
		}
	}
}

// unlockChildren is the reverse of lockChildren, for td, which is no longer locked.
func (td *TensorDict) unlockChildren() {
	for _, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok {
			d.lockedParents--
			d.locked = false
			if !d.Locked() {
				d.why = ""
				d.unlockChildren()
			}
		}
	}
}
