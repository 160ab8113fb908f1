package shelf

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
)

// ErrReplaced is returned for a version that is not open any more, since the dataset was replaced.
var ErrReplaced = errors.New("replaced")

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the pages are closed")

// A Source is a dataset at a path, or a dictionary that the program has opened.
type Source struct {
	Name     string
	Path     string
	Dict     *tdict.TensorDict
	Form     string
	Schema   tdict.Schema
	Metadata map[string]string
}

// Options are the options of [New].
type Options struct {
	Idle     time.Duration // how long a dataset stays open after the last look
	Interval time.Duration // of memmap.LiveOptions
}

// A Shelf keeps datasets.
type Shelf struct {
	Sets []*Set // in the order of the sources

	opt     Options
	stop    context.CancelFunc
	closing sync.WaitGroup // of openings, and of tidy
}

// New returns a shelf. It opens nothing.
func New(sources []Source, opt Options) *Shelf {
	ctx, stop := context.WithCancel(context.Background())
	s := &Shelf{opt: opt, stop: stop}
	for _, source := range sources {
		s.Sets = append(s.Sets, newSet(s, source))
	}
	s.closing.Go(func() { s.tidy(ctx) })
	return s
}

// Set returns the dataset with a name, or nil.
func (s *Shelf) Set(name string) *Set {
	for _, set := range s.Sets {
		if set.Name == name {
			return set
		}
	}
	return nil
}

// tidy closes the datasets at which nobody looks.
func (s *Shelf) tidy(ctx context.Context) {
	ticks := time.NewTicker(min(max(s.opt.Idle/8, time.Millisecond), time.Second))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			closed := false
			for _, set := range s.Sets {
				closed = set.tidy(now.Add(-s.opt.Idle)) || closed
			}
			if closed && !s.used() {
				debug.FreeOSMemory() // otherwise it goes back after several minutes
			}
		}
	}
}

// used reports whether a dataset is open.
func (s *Shelf) used() bool {
	for _, set := range s.Sets {
		if set.isOpen() {
			return true
		}
	}
	return false
}

// Close closes all datasets. Versions in use can be read until their Release. Afterwards Acquire
// returns ErrClosed.
func (s *Shelf) Close() error {
	s.stop()
	for _, set := range s.Sets {
		set.end()
	}
	s.closing.Wait()
	var failed []error
	for _, set := range s.Sets {
		failed = append(failed, set.close())
	}
	return errors.Join(failed...)
}
