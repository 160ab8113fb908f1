package vfs

import "fmt"

// A State says what is on the disk after a failed [Publish].
type State uint8

const (
	// Untouched: dir has not changed. The new tree is still at tmp, which may be removed.
	Untouched State = iota
	// Aside: dir is absent. The complete old tree is at Left and the complete new tree at tmp;
	// renaming either to dir repairs it. Remove neither before.
	Aside
	// Unsynced: dir is the new tree, but a crash may bring the old one back. The old tree, if there
	// was one, is complete at Left (perhaps at tmp). Do not remove it before a SyncDir of the
	// parent directory succeeded: a crash could bring back the removed tree.
	Unsynced
	// Leftover: dir is the new tree, durably. Remains of the old tree are at Left and may be
	// removed.
	Leftover
)

// String describes the state to a user.
func (s State) String() string {
	switch s {
	case Untouched:
		return "nothing changed"
	case Aside:
		return "the old tree was moved aside and could not be moved back"
	case Unsynced:
		return "the new tree is in place, but a crash may bring the old one back"
	case Leftover:
		return "the new tree is in place, but the old one was not removed"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// A PublishError is the error of [Publish]. State says what is on the disk.
type PublishError struct {
	Dir   string // the directory to publish
	State State
	Left  string // path of the old tree or its remains; "" if there are none or State is Untouched
	Err   error
}

// Error returns the cause and the state in one line.
func (e *PublishError) Error() string {
	text := fmt.Sprintf("publish %s: %v: %v", e.Dir, e.State, e.Err)
	if e.Left != "" {
		text += fmt.Sprintf(" (old tree: %s)", e.Left)
	}
	return text
}

// Unwrap returns the cause.
func (e *PublishError) Unwrap() error { return e.Err }
