package memmap

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// LiveOptions say how [OpenLive] serves. The zero value is the default.
type LiveOptions struct {
	// Interval bounds how long after a replacement Acquire may return the old dictionary, the time
	// that it takes to open the new one, OnOpen included, left aside; 0 means 200 ms, and less than
	// 2 ms that.
	Interval time.Duration
	// Open says how each dictionary is opened; Writable is not served.
	Open OpenOptions
	// Like, if not nil, is a prototype of what is served: it has the same keys and, under each of
	// them, the same kind of value, dtype and shape, and any number of rows, which is the first
	// batch dim. Elements, names of dims and the order of keys make no difference. What is not like
	// it is refused: OpenLive returns the error; later OnError hears of it, and Acquire goes on
	// returning the old dictionary. The error is tdict.ErrMissing for a key that one of them lacks,
	// tdict.ErrKind, tensor.ErrDType, shapeops.ErrShape, or ragged.ErrLengths for another number of
	// levels.
	Like *tdict.TensorDict
	// OnOpen, if not nil, is called with each dictionary before it is served: after a replacement,
	// and also when leaves or rows were added, as by [Writer.Commit]. What it returns is the
	// dictionary's [Dataset.State]: an index of ids, say. If it is an io.Closer, it is closed once,
	// after the last Release of the dictionary and while its elements can still be read.
	//
	// If OnOpen returns an error, or panics, the dictionary is closed, and never served: OpenLive
	// returns the error; later OnError hears of it, and Acquire goes on returning the old
	// dictionary. A state that comes with an error is not closed.
	//
	// OpenLive calls OnOpen before it returns. Later the goroutine of the watcher does, one
	// dictionary at a time, and Acquire returns the old one meanwhile, without waiting. So a
	// callback that takes long delays what is new, and Close waits for it. OnOpen, and Close of the
	// state, must close neither the Live nor d. The state may use d until it is closed.
	OnOpen func(d *Dataset) (state any, err error)
	// OnReplace, if not nil, is called by the goroutine of the watcher after a replacement, or when
	// leaves or rows were added, as by [Writer.Commit], once Acquire returns the new dictionary,
	// which is valid during the call. Replacements in short order may be one call. It must not call
	// Close.
	OnReplace func(d *Dataset)
	// OnError, if not nil, is called by the goroutine of the watcher when the new dictionary cannot
	// be opened, or is refused. Acquire goes on returning the old one, and it is tried again in
	// each interval. It is also called when a dictionary that was replaced, or its state, could not
	// be closed. It must not call Close.
	OnError func(err error)
}

// A Live serves the dictionary that a directory holds at present to many goroutines, while another
// process replaces it, or appends to it:
//
//	live, err := memmap.OpenLive("digits", memmap.LiveOptions{})
//	...
//	ds, err := live.Acquire() // in each goroutine, for each batch
//	batch, err := ds.Index(ix.Take(rows...))
//	err = live.Release(ds)
//
// All leaves of a dictionary that it serves are mapped, so what was acquired can be read to the
// end, whatever happens to the directory. It therefore takes one mapping a leaf for each dictionary
// that is in use; [OpenOptions] says how many a process has.
//
// Safe for concurrent use.
type Live struct {
	dir, at string
	opt     LiveOptions
	stop    chan struct{}
	wake    chan struct{} // has room for one: there is something to tell
	watcher sync.WaitGroup

	checking sync.Mutex // held while the directory is looked at
	checked  time.Time  // when it last was begun, guarded by checking

	mu       sync.Mutex
	fresh    time.Time // a copy of checked
	current  *served   // nil once it is closed
	failed   error     // of opening what is new, to be last
	unclosed []error   // of closing what is old, to be last, or returned by Close
	ended    bool      // Close has returned them
	old      map[*Dataset]*served
}

// A served is a dictionary with those who use it.
type served struct {
	ds    *Dataset
	users int // guarded by Live.mu
}

// OpenLive opens the dictionary in the directory dir to be served, and starts a goroutine that
// looks twice in each interval whether it was replaced. The errors are those of [OpenWith], of
// [LiveOptions.Like] and of [LiveOptions.OnOpen], and [ErrUnsupported] if opt.Open.Writable is set.
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
	if opt.Like != nil {
		opt.Like = opt.Like.Copy() // the caller may change it
	}
	l := &Live{dir: dir, at: at, opt: opt, stop: make(chan struct{}), wake: make(chan struct{}, 1), old: map[*Dataset]*served{}}
	l.checked = time.Now()
	ds, err := l.version()
	if err != nil {
		return nil, err
	}
	l.fresh, l.current = l.checked, &served{ds: ds}
	l.watcher.Go(func() { l.watch(ds) })
	return l, nil
}

// watch looks after the directory until Close. last is the dictionary that was opened first.
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

// tell calls back about what has happened since the dictionary last of last.
func (l *Live) notify(last *Dataset) *Dataset {
	l.mu.Lock()
	failed := append(l.unclosed, l.failed)
	l.failed, l.unclosed = nil, nil
	l.mu.Unlock()
	for _, err := range failed {
		if err != nil && l.opt.OnError != nil {
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

// check looks whether the directory was replaced, unless somebody else just did, and opens what is
// there now.
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
	next, err := l.newer(current.ds)
	l.checked = began
	if unused := l.install(next, began, err); unused != nil {
		l.note(retire(unused))
	}
	if next != nil || err != nil {
		l.ring()
	}
}

// ring wakes the watcher: there is something to tell.
func (l *Live) ring() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// newer returns what has taken the place of ds, opened, or nil if nothing has.
func (l *Live) newer(ds *Dataset) (*Dataset, error) {
	stale, err := ds.Stale()
	if err != nil {
		return nil, err
	}
	if stale {
		return l.version()
	}
	if ds.sameMeta() {
		return nil, nil
	}
	return l.version() // it has grown
}

// install makes next, if there is one, the current dictionary. It returns one that nobody uses.
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
	l.current = &served{ds: next}
	if was.users == 0 {
		return was.ds
	}
	l.old[was.ds] = was
	return nil
}

// Acquire returns the dictionary that the directory holds. It is valid until [Live.Release], which
// must follow, and must not be closed. If the directory was replaced more than an interval ago, it
// is the new one, for which Acquire may have to wait until it is open. With [LiveOptions.OnOpen] it
// does not wait, but returns the old one until the watcher has opened the new. It returns
// [ErrClosed].
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

// take counts one more user of the current dictionary, nil if l was closed, and reports whether the
// directory was looked at within half an interval.
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

// Release ends the use of what [Live.Acquire] returned. A dictionary that was replaced is closed,
// and its [Dataset.State], when the last one has released it; views of its leaves are [ErrClosed]
// then. Release returns [ErrClosed] if d is not held. If closing fails, there is nothing to do:
// LiveOptions.OnError hears of it, and Release returns it only after [Live.Close].
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

// Close ends the serving: Acquire returns [ErrClosed] from now on. What is held can be read until
// it is released. Close waits for the watcher, and so for a callback under way. It returns what
// failed in closing dictionaries, and OnError has not heard of, and ErrClosed if it was called
// before.
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
