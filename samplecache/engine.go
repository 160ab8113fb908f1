package samplecache

import (
	"context"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// An Engine is a place where a cache is kept: dircache.Engine, a directory that the processes of
// one machine share. [Open] joins it. Package samplecachetest checks any other.
//
// An engine never waits for other processes. What cannot be done yet is [ErrBlocked], and
// [Session.Changed] says when to try again; the waiting is done here, alike for all engines.
type Engine interface {
	// Join has the caller take part in the cache, until Close or the end of the process.
	Join(ctx context.Context, opt Options) (Session, error)
}

// A Session is one process's part in a cache. It must be safe for concurrent use.
//
// What the process of a Session holds ends with it, however the process ends: slots are free again,
// generations and names of producers are let go, groups are left.
type Session interface {
	// ID returns what tells the cache from others, and is never that of another.
	ID() string
	// Config returns what the cache was made with, defaults filled in.
	Config() Config
	// Schema returns what one sample is like, of batch shape [].
	Schema() *tdict.TensorDict
	// Claim makes the session the only one that puts samples under a name, [ErrProducerBusy] if
	// another does, and returns the numbers committed so far. An empty name is shared by all, and
	// has no memory.
	Claim(ctx context.Context, name string) (Claim, error)
	// Forget lets go of a name and its numbers.
	Forget(ctx context.Context, name string) error
	// Enter makes the session a member of a group of so many ranks.
	Enter(ctx context.Context, group string, world int) (Seat, error)
	// Latest returns the number of the generation published last; 0 if there is none.
	Latest(ctx context.Context) (uint64, error)
	// Open holds a generation, [ErrGenerationGone] if it is not kept any more.
	Open(ctx context.Context, id uint64) (Rows, error)
	// Keep makes a generation a dataset of its own.
	Keep(ctx context.Context, id uint64, path string) error
	// Changed returns a channel that is closed when something has changed since the call, so that
	// what was [ErrBlocked] may succeed now. An engine that has not heard of a change closes it
	// too, after a while.
	Changed() <-chan struct{}
	// Stats returns what is known of the cache.
	Stats(ctx context.Context) (Stats, error)
	// Close ends the session.
	Close() error
}

// A Claim is the right to put samples under a name. It must be safe for concurrent use.
type Claim interface {
	// Window returns which numbers are committed.
	Window() (Window, error)
	// Reserve returns a free place for the sample of a number that is not committed, and that no
	// other Row of the claim has.
	Reserve(ctx context.Context, number uint64) (Row, error)
	// Close lets go of the name.
	Close() error
}

// A Row is a place in the generation that is being filled. It must be safe for concurrent use.
type Row interface {
	// Sample returns the elements, which can be written until Commit or Abort.
	Sample() *tdict.TensorDict
	// Commit makes the sample part of the generation, for good. A generation that is full then is
	// published, if limits allow. Calling it again after it returned nil changes nothing.
	Commit(ctx context.Context) error
	// Abort gives the place back.
	Abort() error
}

// A Rows is a generation that is held: its elements do not change until Close, nor does it go away,
// but for [Config.MaxHold]. It must be safe for concurrent use.
type Rows interface {
	loader.Source
	loader.Slicer
	loader.Describer
	// Info returns where a row comes from.
	Info(row int) (Info, error)
	// Close lets go. What Slice returned is ErrClosed then.
	Close() error
}

// A Seat is a membership of a group. It must be safe for concurrent use.
type Seat interface {
	// Begin returns the member's part in an epoch, whose generation it fixes if it is the first to
	// ask.
	Begin(ctx context.Context, epoch uint64, want Want) (Pass, error)
	// Close leaves the group.
	Close() error
}

// A Want says which generation a new epoch is to have; the zero Want is the latest.
type Want struct {
	Generation uint64 // 0 is the latest
	OrLatest   bool   // if it is gone; else that is [ErrGenerationGone]
}

// A Pass is a rank's part in an epoch of its group. It must be safe for concurrent use.
type Pass interface {
	// ID returns the number of the generation, which is kept until Close.
	ID() uint64
	// Take counts rows that are about to be handed out, as many of n as limits allow now, at least
	// one or it is [ErrBlocked].
	Take(n int) (int, error)
	// Close ends the part.
	Close() error
}
