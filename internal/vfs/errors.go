package vfs

import (
	"errors"
	"fmt"
)

// ErrDone says that a saver has done its work, although it returned an error: the new state is in
// its place. The error says what is not as it should be: a crash may bring the old state back, or
// something was not removed.
var ErrDone = errors.New("done")

// Done returns an error about something that failed after the work was done. It matches [ErrDone]
// and err. If err is nil, Done returns nil.
func Done(what string, err error) error {
	if err == nil {
		return nil
	}
	return &doneError{what, err}
}

// A doneError is the error of Done.
type doneError struct {
	what string
	err  error
}

// Error returns what is done, and the cause.
func (e *doneError) Error() string { return e.what + ": " + e.err.Error() }

// Unwrap returns ErrDone and the cause.
func (e *doneError) Unwrap() []error { return []error{ErrDone, e.err} }

// NotDone returns an error of a step of a larger work, which is not done: it matches what err
// matches, but not [ErrDone].
func NotDone(err error) error {
	if !errors.Is(err, ErrDone) {
		return err
	}
	return &stepError{err}
}

// A stepError is the error of NotDone.
type stepError struct{ err error }

// Error returns the text of the error of the step.
func (e *stepError) Error() string { return e.err.Error() }

// Is reports whether the error of the step matches target, unless target is ErrDone.
func (e *stepError) Is(target error) bool { return target != ErrDone && errors.Is(e.err, target) }

// As finds the first error of the step that matches target.
func (e *stepError) As(target any) bool { return errors.As(e.err, target) }

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

// A PublishError is the error of [Publish]. State says what is on the disk; only State says that,
// since fs.ErrExist or fs.ErrNotExist may be joined to the error of a later step. In every state,
// the old tree is complete somewhere or the new one is durable. The old tree may now be at tmp, so
// remove tmp only if the State is [Untouched] or [Leftover].
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

// Is reports whether target is ErrDone and the new tree is in its place.
func (e *PublishError) Is(target error) bool {
	return target == ErrDone && (e.State == Unsynced || e.State == Leftover)
}

// Unwrap returns the cause.
func (e *PublishError) Unwrap() error { return e.Err }
