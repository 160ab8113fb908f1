package engine

import (
	"context"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Engine is a place where a cache is kept. It must be safe for concurrent use.
type Engine interface {
	// Join takes part in the cache, until Close of the session or the end of the process.
	Join(ctx context.Context, opt Options) (Session, error)
}

// Options say how a session takes part. The zero value is the default.
type Options struct {
	// OnError, if not nil, is called with errors for which nobody waits, as when a full generation
	// cannot be published for want of disk space; the engine tries again. Calls come from one
	// goroutine at a time.
	OnError func(err error)
}

// An About describes a cache.
type About struct {
	ID     string            // no other cache has it
	Config Config            // with the defaults filled in
	Schema *tdict.TensorDict // of one sample: batch shape [], meta tensors; it must not be changed
	Lease  time.Duration     // after the death of a session, what it held is free within Lease
}

// A Session is one member of a cache. It must be safe for concurrent use, and methods that are
// called after Close return [ErrClosed]. Errors need not repeat the arguments, such as a name:
// samplecache does.
type Session interface {
	// About describes the cache, also after Close.
	About() About
	// Changed returns a channel that is closed when something has changed since the call, so that a
	// call that returned [ErrBlocked] may succeed now. It may be closed without a reason. If a
	// change can go unnoticed, as when a member is killed, it is closed after a while.
	Changed() <-chan struct{}
	// Latest returns the number of the generation published last; 0 if there is none.
	Latest(ctx context.Context) (uint64, error)
	// Stats describes the present state.
	Stats(ctx context.Context) (Stats, error)
	// Claim makes the session the only one that puts samples under a name, which has 1 to 64 bytes
	// of UTF-8; [ErrProducerBusy] if another session is. The empty name is shared by all, and its
	// numbers count for nothing.
	Claim(ctx context.Context, name string) (Claim, error)
	// Forget forgets a name and its numbers. It returns [ErrProducerBusy] for a claimed name, and
	// [ErrProducer] if no sample was ever put under it.
	Forget(ctx context.Context, name string) error
	// Enter makes the session a member of a group of world ranks, at least 1. It returns [ErrGroup]
	// if the group has another number of ranks, or as many members as ranks.
	Enter(ctx context.Context, group string, world int) (Seat, error)
	// Open holds a generation, which the session may hold already. It returns [ErrGenerationGone]
	// if the generation is not kept any more, was not published yet, or was retired more than
	// [Config.MaxHold] ago.
	Open(ctx context.Context, id uint64) (Rows, error)
	// Close ends the session. Callers do not use memory that it lent any more. Other methods, also
	// of its claims, rows and seats, may be under way; Close may wait for them.
	Close() error
}

// A Keeper is a Session that makes a dataset of a generation without copying it. For others,
// samplecache copies the rows.
type Keeper interface {
	// Keep makes a generation a dataset at path.
	Keep(ctx context.Context, id uint64, path string) error
}

// A Claim is the right to put samples under a name. It must be safe for concurrent use.
type Claim interface {
	// Window returns the committed numbers, as of the claim.
	Window() Window
	// Reserve returns a free place for the sample of a number, which no other Row of the claim has.
	// It may return [ErrCommitted] for a number that a Row has committed whose outcome was open.
	Reserve(ctx context.Context, number uint64) (Row, error)
	// Close gives the name back. The claim has no Row any more.
	Close() error
}

// A Row is a place in the generation that is being filled, and the session's alone.
type Row interface {
	// Place lends the memory of a leaf: its bytes begin at offset. The memory is writable until
	// Commit returns nil, or Abort is called. The lender is nil for a leaf without bytes.
	Place(leaf int) (lender tensor.Lender, offset int)
	// Commit makes the sample part of the generation, for good, with the CRC-32C of each leaf.
	// Nobody writes to it any more. A generation that is full then is published, if limits allow.
	//
	// If Commit returns [ErrBlocked], the place was lost and the engine has no other one yet: the
	// lent memory is as it was, and Commit is called again. After the error of a context the
	// outcome is open, and Commit is called again to find it out. After Commit has returned nil,
	// it does nothing and returns nil.
	Commit(ctx context.Context, sums []uint32) error
	// Abort gives the place back. Nobody writes to it any more. If the outcome of Commit was open
	// and the sample is committed, it returns [ErrCommitted].
	Abort() error
}

// A Rows is a generation that is held: it does not change and does not go away until Close, or
// until it has lapsed. It must be safe for concurrent use.
type Rows interface {
	// Info describes the sample of a row.
	Info(row int) (Info, error)
	// Place lends the memory of a leaf, row after row from offset on. The lender is nil if the leaf
	// has no bytes, or if they are not in memory: then Read copies them.
	Place(leaf int) (lender tensor.Lender, offset int)
	// Read copies rows of a leaf to dst, one after the other. Engines whose Place lends all leaves
	// that have bytes return [errors.ErrUnsupported].
	Read(ctx context.Context, rows []int, leaf int, dst []byte) error
	// Lapsed returns a channel that is closed when the generation has been held for longer than
	// [Config.MaxHold] allows. It is kept until Close nevertheless. The channel is nil if it is
	// never closed.
	Lapsed() <-chan struct{}
	// Close lets go. No lent memory is in use any more.
	Close() error
}

// A Seat is a membership of a group. It must be safe for concurrent use.
type Seat interface {
	// Begin returns the member's part in an epoch, and fixes the epoch's generation if the member
	// is the first to ask for it.
	Begin(ctx context.Context, epoch uint64, want Want) (Pass, error)
	// Close leaves the group.
	Close() error
}

// A Want says which generation a new epoch has. The zero Want is the latest one.
type Want struct {
	Generation uint64 // 0 is the latest
	OrLatest   bool   // the latest if Generation is gone; otherwise that is [ErrGenerationGone]
}

// A Pass is a rank's part in an epoch of its group. It must be safe for concurrent use.
type Pass interface {
	// ID returns the number of the generation, which is kept until Close.
	ID() uint64
	// Take counts up to n rows that are about to be read, as many as limits allow now: at least
	// one, or it is [ErrBlocked]. It is called only if the cache has limits.
	Take(ctx context.Context, n int) (int, error)
	// Close ends the part. Rows that were not taken count as taken.
	Close() error
}
