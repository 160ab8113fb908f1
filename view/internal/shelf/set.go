package shelf

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Set is a dataset, which may be closed, open, or being opened.
type Set struct {
	Source
	shelf *Shelf

	mu      sync.Mutex
	ended   error        // ErrClosed after Close of the shelf
	opening *opening     // nil while the dataset is closed
	live    *memmap.Live // nil for a dictionary
	now     *Version     // the newest version; nil while the dataset is not open
	was     *Version     // the version before the last replacement, while somebody looks at it
	state   State
	changed chan struct{} // closed at the next change of state
	looked  time.Time     // when somebody last looked
	lookers int           // uses of versions
	id      string        // name of the newest version, also after the dataset was closed
	file    any           // identity of the newest version
}

// An opening is an attempt to open a dataset.
type opening struct {
	done   chan struct{} // closed when the dataset is open, or has failed to open
	failed error         // why it is not open; set before done is closed
}

// A State is the state of a dataset for an open page.
type State struct {
	ID       string    // of the newest version
	Rows     int       // of the newest version
	Size     int64     // bytes of its elements
	Growing  bool      // a Writer may append rows
	Commit   time.Time // when the newest version was seen
	Replaced time.Time // when the dataset was last replaced; zero if it was not
	Failed   error     // why the newest version cannot be followed
}

func newSet(s *Shelf, source Source) *Set {
	return &Set{Source: source, shelf: s, changed: make(chan struct{})}
}

// Open begins to open the dataset, unless it is open. It returns a channel that is closed when it
// is open or has failed.
func (s *Set) Open() <-chan struct{} { return s.begin().done }

// begin returns the attempt to open the dataset that is running or was successful. If there is
// none, it begins one.
func (s *Set) begin() *opening {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = time.Now()
	if s.opening != nil {
		return s.opening
	}
	o := &opening{done: make(chan struct{}), failed: s.ended}
	if s.ended != nil {
		close(o.done)
		return o
	}
	s.opening = o
	s.shelf.closing.Go(func() {
		defer close(o.done)
		o.failed = s.open()
	})
	return o
}

// open opens the dataset.
func (s *Set) open() error {
	began := time.Now()
	if s.Dict != nil {
		s.install(given(s))
		return nil
	}
	live, v, err := s.first(began)
	for try := 0; err == nil && v.stale && try < 10; try++ {
		if err = errors.Join(live.Release(v.Dataset), live.Close()); err == nil {
			live, v, err = s.first(began)
		}
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.live = live
	s.mu.Unlock()
	s.install(v)
	s.follow(nil) // a commit may have come before s.live was set
	return nil
}

// first begins to follow the path, and returns the version that is there.
func (s *Set) first(began time.Time) (*memmap.Live, *Version, error) {
	live, err := memmap.OpenLive(s.Path, memmap.LiveOptions{
		Interval: s.shelf.opt.Interval, Lazy: true, OnReplace: s.follow, OnError: s.fail,
	})
	if err != nil {
		return nil, nil, err
	}
	v, err := s.version(live, nil, began)
	if err != nil {
		return nil, nil, errors.Join(err, live.Close())
	}
	return live, v, nil
}

// version returns the version that live serves now, nil if it is known.
func (s *Set) version(live *memmap.Live, known *Version, began time.Time) (*Version, error) {
	ds, err := live.Acquire()
	if err != nil {
		return nil, err
	}
	if known != nil && known.Dataset == ds {
		return nil, live.Release(ds)
	}
	v, err := versionOf(s, ds, began)
	if err != nil {
		return nil, errors.Join(err, live.Release(ds))
	}
	v.live = live
	return v, nil
}

// follow opens the version that a commit or a replacement has made. The watcher of Live calls it.
func (s *Set) follow(*memmap.Dataset) {
	s.mu.Lock()
	live, now := s.live, s.now
	s.mu.Unlock()
	if live == nil || now == nil { // it is being opened or closed
		return
	}
	v, err := s.version(live, now, time.Now())
	switch {
	case errors.Is(err, memmap.ErrClosed): // while the dataset is being closed
	case err != nil:
		s.fail(err)
	case v != nil:
		s.install(v)
	}
}

// fail notes why the dataset cannot be followed. Live tries again in each interval, and fails
// again: pages are told once.
func (s *Set) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.state.Failed; was != nil && was.Error() == err.Error() {
		return
	}
	s.state.Failed = err
	s.announce()
}

// install makes v the current version. It leaves out a version that was replaced meanwhile, since
// Live will serve the next one, unless there is no other.
func (s *Set) install(v *Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	closed, twice := v.live != s.live, before != nil && before.Dataset == v.Dataset
	if closed || twice || before != nil && v.stale {
		s.release(v)
		return
	}
	replaced := before != nil && !continues(before, v)
	switch {
	case v.file == nil: // a dictionary has no name
	case before == nil && v.file == s.file: // it was closed, and is open again
	case before != nil && !replaced:
	case nameOf(v.file) == s.id: // it was replaced while it was opened
		s.id += "r"
	default:
		s.id = nameOf(v.file)
	}
	v.ID, s.file = s.id, v.file
	if replaced {
		s.state.Replaced = time.Now()
	}
	v.users++
	s.now = v
	s.state = State{ID: v.ID, Rows: v.Rows, Size: v.Report.Bytes, Growing: v.Growing(), Commit: time.Now(), Replaced: s.state.Replaced}
	if before != nil {
		if replaced {
			s.forget()
			s.was = before
			before.looked = time.Now() // pages that were got from an earlier commit lead to it
		} else {
			s.drop(before)
		}
	}
	s.announce()
}

// nameOf returns the name of a version in a directory or file: the same one when another server
// opens it.
func nameOf(file any) string {
	h := fnv.New64a()
	fmt.Fprint(h, file)
	return strconv.FormatUint(h.Sum64()>>24, 36)
}

// continues reports whether v is before with rows appended, finished or resumed. A Writer replaces
// the directory when it finishes a dataset, and when it resumes one, but not the files of elements.
func continues(before, v *Version) bool {
	stale, err := before.Dataset.Stale()
	if err == nil && !stale {
		return true
	}
	if before.stale || before.elements != nil && before.elements != v.elements {
		return false
	}
	// No new file gets the number of a mapped one.
	same := before.elements != nil && before.Report.Leaves <= mostMapped
	return (same || before.Growing() || v.Growing()) && v.Rows >= before.Rows && tdict.SchemaOf(before.Dict).Check(v.Dict) == nil
}

// announce wakes everybody who waits for a change.
func (s *Set) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Acquire returns the version with a name, "" for the newest one, once the dataset is open. The
// caller must Release it.
//
// Acquire returns the error of opening the dataset, ErrReplaced if no version with the name is
// open, ErrClosed, and the cause of ctx.
func (s *Set) Acquire(ctx context.Context, id string) (*Version, error) {
	o := s.begin()
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended != nil:
		return nil, s.ended
	case o.failed != nil:
		if s.opening == o {
			s.opening = nil // the next look tries again
		}
		return nil, o.failed
	case s.now == nil: // it was closed meanwhile
		return nil, fmt.Errorf("open: %w", ErrReplaced)
	}
	v := s.now
	if id != "" && id != v.ID {
		if v = s.was; v == nil || v.ID != id {
			return nil, ErrReplaced
		}
	}
	v.users++
	s.lookers++
	s.looked = time.Now()
	v.looked = s.looked
	return v, nil
}

// State returns the newest state, and a channel that is closed at the next change.
func (s *Set) State() (State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}

// drop ends a use of v. s.mu is held.
func (s *Set) drop(v *Version) {
	if v.users--; v.users == 0 {
		s.release(v)
	}
}

// release gives a version back to Live. s.mu is held.
func (s *Set) release(v *Version) {
	if v.Dataset == nil {
		return
	}
	if err := v.live.Release(v.Dataset); err != nil && s.state.Failed == nil {
		s.state.Failed = err
	}
}

// forget drops the version before the last replacement. s.mu is held.
func (s *Set) forget() {
	if s.was != nil {
		was := s.was
		s.was = nil
		s.drop(was)
	}
}

// tidy closes the dataset if nobody has looked since a time, and the version before the last
// replacement likewise. It reports whether it closed the dataset. It also finds out whether a
// dataset that was missing is there again.
func (s *Set) tidy(since time.Time) (closed bool) {
	s.mu.Lock()
	idle := s.now != nil && s.lookers == 0 && s.looked.Before(since)
	if s.was != nil && s.was.users == 1 && s.was.looked.Before(since) {
		s.forget()
	}
	s.mu.Unlock()
	if idle {
		_ = s.close() // nothing was written
		return true
	}
	s.recover()
	return false
}

// isOpen reports whether a dataset at a path is open.
func (s *Set) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live != nil
}

// recover forgets why the dataset could not be followed once it can be.
func (s *Set) recover() {
	s.mu.Lock()
	v := s.now
	failed := v != nil && s.state.Failed != nil
	if failed {
		v.users++
	}
	s.mu.Unlock()
	if !failed {
		return
	}
	stale, err := v.Dataset.Stale()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(v)
	if err == nil && !stale && s.now == v {
		s.state.Failed = nil
		s.announce()
	}
}

// end makes all later calls of Acquire fail.
func (s *Set) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = ErrClosed
}

// close closes the dataset. The next Open opens it again, unless it has ended.
func (s *Set) close() error {
	s.mu.Lock()
	live := s.live
	s.forget()
	if now := s.now; now != nil {
		s.now = nil
		s.drop(now)
	}
	s.live, s.opening, s.state = nil, nil, State{}
	s.announce()
	s.mu.Unlock()
	if live == nil {
		return nil
	}
	return live.Close()
}
