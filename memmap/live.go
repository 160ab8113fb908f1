package memmap

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

// LiveOptions are the options of [OpenLive]. The zero value is the default.
type LiveOptions struct {
	// Interval is the longest time that Acquire may keep returning the old version after a
	// replacement. The time to open the new version and to run OnOpen is added to it. 0 means 200
	// ms; the minimum is 2 ms.
	Interval time.Duration
	// Open has the options for opening each version. Writable must not be set.
	Open OpenOptions
	// Lazy maps each leaf when it is first used. By default, all leaves are mapped before a
	// dictionary is served. With Lazy, opening takes as long as [OpenWith], but using a leaf for
	// the first time after the directory was replaced returns [ErrReplaced].
	Lazy bool
	// OnOpen, if not nil, is called with each dictionary before it is served: after a replacement,
	// and after leaves or rows were added, as by [Writer.Commit]. Its result is the dictionary's
	// [Dataset.State], such as an index of ids. If the state is an io.Closer, it is closed once,
	// after the last Release of the dictionary, while the elements can still be read.
	//
	// If OnOpen returns an error or panics, the dictionary is closed, and never served: OpenLive
	// returns the error. Later, OnError gets it, and Acquire keeps returning the old dictionary. A
	// state that is returned with an error is not closed.
	//
	// OpenLive calls OnOpen before it returns. Later the watcher goroutine calls it, for one
	// dictionary at a time. Meanwhile Acquire returns the old dictionary without waiting. A slow
	// OnOpen therefore delays the new version, and Close waits for it. OnOpen and the Close of a
	// state must not close the Live or d. A state may use d until it is closed.
	OnOpen func(d *Dataset) (state any, err error)
	// OnReplace, if not nil, is called by the watcher goroutine when Acquire has begun to return a
	// new version d: after a replacement, or after leaves or rows were added, as by
	// [Writer.Commit]. d is valid during the call. Several replacements in a short time may cause a
	// single call. OnReplace must not call Close.
	OnReplace func(d *Dataset)
	// OnError, if not nil, is called by the watcher goroutine when the new dictionary cannot be
	// opened, or is refused. Acquire keeps returning the old one, and the watcher tries again in
	// each interval. OnError is also called when a replaced dictionary, or its state, could not be
	// closed. It must not call Close.
	OnError func(err error)
}

// A Live serves the current version of a dictionary in a directory to many goroutines, while
// another process replaces it or appends to it:
//
//	live, err := memmap.OpenLive("digits", memmap.LiveOptions{})
//	...
//	ds, err := live.Acquire() // in each goroutine, for each batch
//	batch, err := ds.Index(ix.Take(rows...))
//	err = live.Release(ds)
//
// All leaves of a served dictionary are mapped, unless [LiveOptions.Lazy] is set. So an acquired
// dictionary can be read until its Release, whatever happens to the directory. Each dictionary in
// use takes one mapping a leaf; [OpenOptions] states how many a process has.
//
// Safe for concurrent use.
type Live struct {
	dir, at string
	opt     LiveOptions
	stop    chan struct{}
	wake    chan struct{} // buffered: wakes the watcher to call back
	watcher sync.WaitGroup

	checking sync.Mutex // held while the directory is checked
	checked  time.Time  // when the last check began, guarded by checking

	mu       sync.Mutex
	fresh    time.Time            // a copy of checked
	current  *served              // nil after Close
	failed   error                // of opening the new version, for OnError
	unclosed []error              // of closing old versions, for OnError or Close
	ended    bool                 // Close has returned unclosed
	old      map[*Dataset]*served // replaced, still in use
}

// A served is a dictionary with the number of its users.
type served struct {
	ds    *Dataset
	users int // guarded by Live.mu

	opened  time.Time
	settled bool // a later meta.json has another time; guarded by Live.checking
}

// clockTick is more than the longest step of the clock of a file system.
const clockTick = 20 * time.Millisecond

// OpenLive opens the dictionary at dir to be served, and starts a watcher goroutine, which checks
// twice in each interval whether it was replaced. OpenLive returns the errors of [OpenWith], such
// as fs.ErrNotExist if nothing is at dir yet, the errors of [LiveOptions.OnOpen], and
// [ErrUnsupported] if opt.Open.Writable is set. Before its first Commit, a [Writer] has a
// dictionary without rows there.
func OpenLive(dir string, opt LiveOptions) (*Live, error) {
	if opt.Open.Writable {
		return nil, fileError("open", dir, "", unsupported("a Live does not write"))
	}
	if opt.Interval <= 0 {
		opt.Interval = 200 * time.Millisecond
	}
	opt.Interval = max(opt.Interval, 2*time.Millisecond)
	at, err := vfs.Absolute(dir)
	if err != nil {
		return nil, fileError("open", dir, "", err)
	}
	l := &Live{dir: dir, at: at, opt: opt, stop: make(chan struct{}), wake: make(chan struct{}, 1), old: map[*Dataset]*served{}}
	l.checked = time.Now()
	ds, err := l.version()
	if err != nil {
		return nil, err
	}
	l.fresh, l.current = l.checked, &served{ds: ds, opened: time.Now()}
	l.watcher.Go(func() { l.watch(ds) })
	return l, nil
}

// watch checks the directory until Close. last is the dictionary that was opened first.
func (l *Live) watch(last *Dataset) {
	ticks := time.NewTicker(l.opt.Interval / 2)
	defer ticks.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticks.C:
			l.check()
		case <-l.wake:
		}
		last = l.notify(last)
	}
}

// notify calls OnError for errors since the last call, and OnReplace if last is not current. It
// returns the current dictionary.
func (l *Live) notify(last *Dataset) *Dataset {
	l.mu.Lock()
	var failed []error
	if l.opt.OnError != nil { // otherwise Close returns unclosed
		failed, l.unclosed = append(l.unclosed, l.failed), nil
	}
	l.failed = nil
	l.mu.Unlock()
	for _, err := range failed {
		if err != nil {
			l.opt.OnError(err)
		}
	}
	ds, _ := l.take()
	if ds == nil {
		return last
	}
	defer func() { l.note(l.Release(ds)) }()
	if ds != last && l.opt.OnReplace != nil {
		l.opt.OnReplace(ds)
	}
	return ds
}

// check checks whether the directory was replaced, unless another goroutine just did, and opens the
// new version.
func (l *Live) check() {
	l.checking.Lock()
	defer l.checking.Unlock()
	began := time.Now()
	if began.Sub(l.checked) < l.opt.Interval/2 {
		return
	}
	l.mu.Lock()
	current := l.current
	l.mu.Unlock()
	if current == nil {
		return
	}
	next, err := l.newer(current, began)
	l.checked = began
	if unused := l.install(next, began, err); unused != nil {
		l.note(retire(unused))
	}
	if next != nil || err != nil {
		l.ring()
	}
}

// ring wakes the watcher to call notify.
func (l *Live) ring() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// newer opens the version that has replaced s, and returns it. If no version has replaced s, newer
// returns nil. began is the time of the check.
func (l *Live) newer(s *served, began time.Time) (*Dataset, error) {
	stale, err := s.ds.Stale()
	if err != nil {
		return nil, err
	}
	if !stale && s.ds.sameMeta() && (s.settled || s.ds.sameText()) {
		s.settled = s.settled || began.Sub(s.opened) > clockTick
		return nil, nil
	}
	return l.version() // it was replaced, or has grown
}

// install makes next, if it is not nil, the current dictionary. unused is a dictionary to be
// closed: the old one if nobody uses it, or next if l is closed.
func (l *Live) install(next *Dataset, checked time.Time, failed error) (unused *Dataset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh, l.failed = checked, cmp.Or(failed, l.failed)
	if next == nil {
		return nil
	}
	was := l.current
	if was == nil { // closed meanwhile
		return next
	}
	l.current = &served{ds: next, opened: time.Now()}
	if was.users == 0 {
		return was.ds
	}
	l.old[was.ds] = was
	return nil
}

// Acquire returns the current version of the dictionary. The caller may use it until it passes it
// to [Live.Release], which it must do when done, and must not close it.
//
// If the directory was replaced more than an interval ago, Acquire returns the new dictionary, and
// waits if it is not open yet. With [LiveOptions.OnOpen] it does not wait: it returns the old one
// until the watcher has opened the new one. Acquire returns [ErrClosed] after Close.
func (l *Live) Acquire() (*Dataset, error) {
	ds, fresh := l.take()
	if ds == nil {
		return nil, ErrClosed
	}
	if fresh || l.opt.OnOpen != nil {
		return ds, nil
	}
	_ = l.Release(ds) // it was just taken
	l.check()
	if ds, _ = l.take(); ds == nil {
		return nil, ErrClosed
	}
	return ds, nil
}

// take adds a user to the current dictionary and returns it, nil after Close. fresh reports whether
// the directory was checked within half an interval.
func (l *Live) take() (ds *Dataset, fresh bool) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		return nil, false
	}
	l.current.users++
	return l.current.ds, now.Sub(l.fresh) < l.opt.Interval/2
}

// Release ends a use of d, which [Live.Acquire] returned. When a dictionary that was replaced is
// released for the last time, it is closed, with its [Dataset.State]; afterwards, operations on
// views of its leaves return [ErrClosed].
//
// Release returns [ErrClosed] if d is not in use. If closing d fails, OnError gets the error. After
// [Live.Close], Release returns the error instead.
func (l *Live) Release(d *Dataset) error {
	l.mu.Lock()
	s := l.old[d]
	if l.current != nil && l.current.ds == d {
		s = l.current
	}
	if s == nil || s.users == 0 {
		l.mu.Unlock()
		return ErrClosed
	}
	s.users--
	done := s.users == 0 && s != l.current
	if done {
		delete(l.old, d)
	}
	l.mu.Unlock()
	if !done {
		return nil
	}
	if err := retire(d); !l.note(err) {
		return err
	}
	return nil
}

// Close ends the serving: from now on Acquire returns [ErrClosed]. Dictionaries in use can be read
// until they are released. Close waits for the watcher, and so for a callback that is running. It
// returns the errors of closing dictionaries, except errors that the watcher has passed to OnError.
// Close returns ErrClosed if l is already closed.
func (l *Live) Close() error {
	l.mu.Lock()
	was := l.current
	if was == nil {
		l.mu.Unlock()
		return ErrClosed
	}
	l.current = nil
	held := was.users > 0
	if held {
		l.old[was.ds] = was
	}
	l.mu.Unlock()
	close(l.stop)
	l.watcher.Wait()
	if !held {
		l.note(retire(was.ds))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return errors.Join(l.unclosed...)
}
