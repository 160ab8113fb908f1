package engine

import (
	"context"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Engine is the storage of a cache. It must be safe for concurrent use.
type Engine interface {
	// Join makes the caller a member of the cache, until Close of the session or the end of the
	// process.
	Join(ctx context.Context, opt Options) (Session, error)
}

// An Observer is an Engine whose cache can be looked at by a caller that is not a member.
type Observer interface {
	// Observe describes the cache and its present state. It changes nothing, wakes no member, and
	// works in a cache that has all the members that it may have.
	Observe(ctx context.Context) (About, Stats, error)
}

// Options say how a session uses a cache. The zero value is the default.
type Options struct {
	// OnError, if not nil, is called with errors that no call returns, for instance if a full
	// generation cannot be published because the disk is full; the engine tries again. Calls come
	// from one goroutine at a time.
	OnError func(err error)
}

// An About describes a cache.
type About struct {
	ID     string            // unique
	Config Config            // with the defaults filled in
	Schema *tdict.TensorDict // of one sample: batch shape [], meta tensors; it must not be changed
	Lease  time.Duration     // how long after the end of its process a session may still hold things
}

// A Session is one member of a cache. It must be safe for concurrent use. Methods that are called
// after Close return [ErrClosed]. Errors need not repeat arguments such as a name: samplecache does
// that.
type Session interface {
	// About describes the cache. It works after Close, too.
	About() About
	// Changed returns a channel that is closed when the cache has changed since the call, so that a
	// call that returned [ErrBlocked] may succeed now. The channel may be closed without a reason.
	// If a change can go unnoticed, for instance if a member is killed, the channel is closed after
	// a while.
	Changed() <-chan struct{}
	// Latest returns the number of the generation published last, or 0 if there is none.
	Latest(ctx context.Context) (uint64, error)
	// Stats describes the present state.
	Stats(ctx context.Context) (Stats, error)
	// Claim makes the session the only producer with a name of 1 to 64 bytes of UTF-8. It returns
	// [ErrProducerBusy] if another session is. The empty name is shared by all sessions, and its
	// numbers are not remembered.
	Claim(ctx context.Context, name string) (Claim, error)
	// Forget forgets a name and its numbers. It returns [ErrProducerBusy] for a claimed name, and
	// [ErrProducer] if no sample was ever put under it.
	Forget(ctx context.Context, name string) error
	// Enter makes the session a member of a group of world ranks, world >= 1. It returns [ErrGroup]
	// if the group has another number of ranks, or already has world members.
	Enter(ctx context.Context, group string, world int) (Seat, error)
	// Open holds a generation. The session may hold it already. Open returns [ErrGenerationGone] if
	// the generation is not kept any more, was not published yet, or was retired more than
	// [Config.MaxHold] ago.
	Open(ctx context.Context, id uint64) (Rows, error)
	// Close ends the session. The caller does not use memory that it lent any more. Other methods
	// of the session, its claims, rows and seats may be running; Close may wait for them.
	Close() error
}

// A Keeper is a Session that can make a dataset of a generation without copying the samples. For
// other Sessions, samplecache copies the rows.
type Keeper interface {
	// Keep makes a dataset of a generation at path.
	Keep(ctx context.Context, id uint64, path string) error
}

// A Claim is the right to put samples under a name. It must be safe for concurrent use.
type Claim interface {
	// Window returns the numbers that were committed when the name was claimed.
	Window() Window
	// Reserve returns free room for the sample of a number, which no other Row of the claim has. It
	// may return [ErrCommitted] for a number if an earlier Commit of unknown outcome has committed
	// it.
	Reserve(ctx context.Context, number uint64) (Row, error)
	// Close gives the name back. The caller has committed or aborted all Rows.
	Close() error
}

// A Row is the room of one sample in the generation that is being filled. Only its session uses it.
type Row interface {
	// Place lends the memory of a leaf: its bytes begin at offset. The memory is writable until
	// Commit returns nil, or Abort is called. The lender is nil for a leaf without bytes.
	Place(leaf int) (lender tensor.Lender, offset int)
	// Commit makes the sample part of the generation, for good. sums are the CRC-32 of each leaf,
	// as in zip files. The caller does not write to the sample any more. If the generation is full
	// then, it is published, if limits allow that.
	//
	// If Commit returns [ErrBlocked], the room was lost and the engine has no other room yet: the
	// lent memory is unchanged, and the caller calls Commit again. After the error of a context,
	// the outcome is unknown, and the caller calls Commit again to find out. After Commit has
	// returned nil, it does nothing and returns nil.
	Commit(ctx context.Context, sums []uint32) error
	// Abort gives the room back. The caller does not write to the sample any more. If the outcome
	// of Commit was unknown and the sample is committed, Abort returns [ErrCommitted].
	Abort() error
}

// A Rows is a generation that is held: its samples do not change and stay readable until Close, or
// until it has lapsed. It must be safe for concurrent use.
type Rows interface {
	// Info describes the sample of a row.
	Info(row int) (Info, error)
	// Place lends the memory of a leaf: its rows follow one another, beginning at offset. The
	// lender is nil if the leaf has no bytes, or if they are not in memory: then Read copies them.
	Place(leaf int) (lender tensor.Lender, offset int)
	// Read copies rows of a leaf to dst, one after the other. An engine whose Place lends all
	// leaves that have bytes returns [errors.ErrUnsupported].
	Read(ctx context.Context, rows []int, leaf int, dst []byte) error
	// Lapsed returns a channel that is closed when the generation has been held for longer than
	// [Config.MaxHold] allows. Its memory stays valid until Close nevertheless. The channel is nil
	// if the generation never lapses.
	Lapsed() <-chan struct{}
	// Close releases the generation. The caller uses no lent memory any more.
	Close() error
}

// A Seat is a membership in a group. It must be safe for concurrent use.
type Seat interface {
	// Begin begins the member's pass in an epoch. If the epoch has no generation yet, it gets the
	// one that want says.
	Begin(ctx context.Context, epoch uint64, want Want) (Pass, error)
	// Close leaves the group.
	Close() error
}

// A Want says which generation a new epoch gets. The zero Want is the latest one.
type Want struct {
	Generation uint64 // 0 means the latest
	OrLatest   bool   // use the latest if Generation is gone, instead of [ErrGenerationGone]
}

// A Pass is the part of one rank in an epoch of its group. It must be safe for concurrent use.
type Pass interface {
	// ID returns the number of the generation. The generation is kept until Close.
	ID() uint64
	// Take counts rows that are about to be read: n, or fewer if limits allow fewer now. It returns
	// the number counted, or [ErrBlocked] if limits allow none. It is called only if the cache has
	// limits.
	Take(ctx context.Context, n int) (int, error)
	// Close ends the pass. Rows that were not taken count as taken.
	Close() error
}

// A RowReader is a Rows that reads all leaves at once. For other Rows, samplecache calls Read for
// each leaf.
type RowReader interface {
	// ReadRows copies rows of all leaves. dst has a slice for each leaf, empty for a leaf without
	// bytes: its rows, one after the other.
	ReadRows(ctx context.Context, rows []int, dst [][]byte) error
}
