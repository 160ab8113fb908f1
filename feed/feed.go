package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Feed gives batches to consumers on a socket. All methods are safe for concurrent use.
type Feed struct {
	src    loader.Source
	opt    Options
	socket *socket
	temp   *vfs.Temp
	schema tdict.Schema // of the slots
	places []*place

	reporting sync.Mutex // held during OnError

	joinTime, rankTime time.Duration // the constants, but for tests

	served chan struct{} // closed when Serve has ended

	mu      sync.Mutex         // guards the fields below, and the flags of places
	stop    context.CancelFunc // ends Serve; nil before it is called
	closed  bool               // Close was called
	changed chan struct{}      // closed and replaced when a place becomes free
}

// Listen makes a feed of the batches of a source, with its slots, on a new socket at path. The
// batches begin when [Feed.Serve] runs. The socket has mode 0600, so only processes of the same
// user and of root can be consumers. A socket that a dead feed left is replaced.
//
// The slots have the keys, dtypes and shapes of the first batch of the first epoch, and room for
// Options.Rows rows. All batches must have them. To pad ragged entries set Loader.Collate to a
// loader.Pad with Widths.
//
// Listen returns [ErrBusy] if another feed listens on path, fs.ErrExist if path is not a socket,
// fs.ErrPermission if it is a socket of another user, loader.ErrOptions, tdict.ErrKind with the key
// for an entry that is not a tensor, and the errors of loader.New, of the first batch and of
// memmap.Create, for example if there is no room for all slots. After an error nothing is left.
func Listen(path string, src loader.Source, opt Options) (f *Feed, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("feed: %w", err)
		}
	}()
	if _, err := loader.New(src, opt.Loader); err != nil { // checks the options of loaders
		return nil, err
	}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	f = &Feed{src: src, opt: opt, served: make(chan struct{}), changed: make(chan struct{}), joinTime: joinTime, rankTime: rankTime}
	if f.socket, err = listen(path); err != nil {
		return nil, err
	}
	proto, err := prototype(src, opt)
	if err == nil {
		f.schema = tdict.SchemaOf(proto)
		err = f.makePlaces(proto)
	}
	if err != nil {
		return nil, errors.Join(err, f.removeSlots(), f.socket.close())
	}
	return f, nil
}

// Serve accepts consumers and sends them batches, until ctx ends, [Feed.Close] is called, or
// consumers of all ranks have had all epochs and given all slots back. In these cases it returns
// nil. A consumer whose batches have not ended then gets [ErrLost]. Serve can be called once; then
// it returns [ErrBusy]. After Close it returns [ErrClosed].
//
// If a batch cannot be made, its consumer gets the error and is disconnected; see Options.OnError.
// No goroutine outlives Serve.
func (f *Feed) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := f.begin(stop); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	defer close(f.served)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	refused := make(chan struct{})
	context.AfterFunc(ctx, func() { defer close(refused); f.socket.refuse() })
	for {
		conn, err := f.socket.listener.AcceptUnix()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			<-refused // another feed may take the socket when Serve has returned
			return nil
		}
		if err != nil { // too many open files, perhaps for a short time
			f.report(ctx, err)
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
			continue
		}
		running.Go(func() { f.serve(ctx, conn) })
	}
}

// acceptPause is the time until a failed accept is tried again.
const acceptPause = 100 * time.Millisecond

// begin records that Serve runs.
func (f *Feed) begin(stop context.CancelFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return ErrClosed
	case f.stop != nil:
		return fmt.Errorf("%w: Serve was called before", ErrBusy)
	}
	f.stop = stop
	return nil
}

// report calls OnError, unless a consumer just left or Serve ends.
func (f *Feed) report(ctx context.Context, err error) {
	if f.opt.OnError == nil || errors.Is(err, errGone) || ctx.Err() != nil {
		return
	}
	f.reporting.Lock()
	defer f.reporting.Unlock()
	f.opt.OnError(err)
}

// Close ends Serve, waits for it, and removes the socket and the slots. Consumers that have mapped
// slots can still read them. Close returns [ErrClosed] if it was called before, and [ErrBusy] if
// other feeds keep the directory of the socket locked for two seconds; then the socket stays, and
// another Listen replaces it. OnError and the functions of Options.Loader must not call Close: it
// would wait for them.
func (f *Feed) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return fmt.Errorf("feed: %w", ErrClosed)
	}
	f.closed = true
	stop := f.stop
	f.mu.Unlock()
	if stop != nil {
		stop()
		<-f.served
	}
	if err := errors.Join(f.socket.close(), f.removeSlots()); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	return nil
}
