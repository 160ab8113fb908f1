package feed

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// DialOptions are the options of [Dial]. The zero value asks for rank 0, from the beginning.
type DialOptions struct {
	// Rank is the rank of the consumer.
	Rank int
	// AnyRank asks for the lowest rank that is free, instead of Rank.
	AnyRank bool
	// State is where to begin, from [Client.State] of any consumer of the same data; nil means the
	// beginning of epoch 0. The number of ranks may differ from the number when it was saved.
	State *loader.State
}

// A Client is a consumer of a feed. Not safe for concurrent use.
type Client struct {
	conn  *net.UnixConn
	in    *bufio.Reader
	hello hello
	slots []*memmap.Dataset
	state loader.State

	using int   // slot of the loop's batch, or -1; all others are the feed's
	ended bool  // there are no more batches
	err   error // why the connection ended
}

// Dial connects to the feed at a socket and takes a rank. It waits until Serve runs.
//
// Dial returns a [RemoteError] if the feed has no such rank, if another consumer has it, or if the
// state does not fit; fs.ErrPermission if the socket belongs to a user other than this one and
// root, [ErrProtocol] if the feed sends another message than hello, [ErrLost] if it closes the
// connection, the cause of ctx if ctx ends first, and errors of the system and of memmap.Open.
func Dial(ctx context.Context, path string, opt DialOptions) (c *Client, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("dial feed: %w", err)
		}
	}()
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	c = &Client{conn: conn, in: bufio.NewReaderSize(conn, messageSize+maxText), using: -1}
	q := request{Version: protocolVersion, Rank: &opt.Rank, State: opt.State}
	if opt.AnyRank {
		q.Rank = nil
	}
	defer c.watch(ctx)()
	line, err := lineOf(q, maxRequest) // which does not wait for the feed to read it
	if err == nil {
		_, err = conn.Write(line)
	}
	if err == nil {
		c.hello, err = readHello(c.in)
	}
	if err = c.failed(ctx, err); err == nil {
		err = c.open()
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.state = c.hello.State
	return c, nil
}

// open opens the slots and maps them, so that batches stay readable when the feed removes the
// slots.
func (c *Client) open() error {
	for i, at := range c.hello.Slots {
		ds, err := memmap.Open(at)
		if err != nil {
			return err
		}
		c.slots = append(c.slots, ds)
		if shape := ds.Shape(); len(shape) == 0 || shape[0] != c.hello.Rows {
			return fmt.Errorf("%w: got slot %d of shape %v, want %d rows", ErrProtocol, i, shape, c.hello.Rows)
		}
		if err := ds.Advise(memmap.Normal); err != nil {
			return err
		}
	}
	return nil
}

// watch makes reads of the connection fail when ctx ends, until end is called.
func (c *Client) watch(ctx context.Context) (end func()) {
	_ = c.conn.SetReadDeadline(time.Time{})
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	return func() {
		if !stop() {
			<-interrupted
		}
	}
}

// failed returns the reason for an error of reading. Unless ctx has ended, it is the reason for all
// later errors too.
func (c *Client) failed(ctx context.Context, err error) error {
	_, remote := errors.AsType[*RemoteError](err)
	switch {
	case err == nil || remote || errors.Is(err, ErrProtocol):
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		err = ErrLost
	default:
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	c.err = err
	return err
}

// Batches returns an iterator over the remaining batches of the current epoch. After the last one
// the client is at the beginning of the next epoch. If a loop ends early, ranging again continues
// with the next batch.
//
//	batch [N B...], N <= Options.Rows of the feed
//
// A batch is valid until the loop asks for the next one or ends; then its slot goes back to the
// feed. It is a view of shared memory, which cannot be written to: Clone keeps a batch. The loop
// may change the entries of a batch.
//
// On an error Batches yields (nil, err) and stops. err is a [RemoteError] if the feed could not
// make a batch, [ErrLost] if the feed was stopped or died, [ErrProtocol], [ErrClosed], or the cause
// of ctx. After the cause of ctx, ranging again continues; after the others, dial again with
// [Client.State].
func (c *Client) Batches(ctx context.Context) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		defer c.watch(ctx)()
		defer c.give()
		for {
			c.give()
			batch, err := c.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			if batch == nil || !yield(batch, nil) {
				return
			}
		}
	}
}

// give gives the slot of the loop's batch back. If that fails, the next read returns the reason.
func (c *Client) give() {
	if c.using < 0 {
		return
	}
	var b [4]byte
	_, _ = c.conn.Write(binary.LittleEndian.AppendUint32(b[:0], uint32(c.using)))
	c.using = -1
}

// next returns the next batch of the epoch, or nil at its end.
func (c *Client) next(ctx context.Context) (batch *tdict.TensorDict, err error) {
	for epoch := c.state.Epoch; batch == nil && c.state.Epoch == epoch && !c.Ended(); {
		if c.err != nil {
			return nil, c.err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m, err := readMessage(c.in)
		if err == nil {
			batch, err = c.handle(m)
		}
		if err = c.failed(ctx, err); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

// handle processes a message. It returns the batch that the message announces, if any.
func (c *Client) handle(m message) (*tdict.TensorDict, error) {
	switch {
	case m.slot < firstMessage:
		return c.take(m)
	case m.slot == endMessage:
		c.ended = true
		return nil, nil
	case m.slot == errorMessage:
		return nil, &RemoteError{string(m.text)}
	case m.slot == stateMessage:
		return nil, c.restate(m.text)
	case m.slot != epochMessage:
		return nil, fmt.Errorf("%w: got message %#x", ErrProtocol, m.slot)
	case m.epoch != c.state.Epoch || m.epoch == math.MaxUint64:
		return nil, fmt.Errorf("%w: got the end of epoch %d, want %d", ErrProtocol, m.epoch, c.state.Epoch)
	}
	c.state.Epoch, c.state.Batch = m.epoch+1, 0
	return nil, nil
}

// take returns the batch that m announces.
func (c *Client) take(m message) (*tdict.TensorDict, error) {
	switch {
	case m.slot >= uint32(len(c.slots)):
		return nil, fmt.Errorf("%w: got slot %d of %d", ErrProtocol, m.slot, len(c.slots))
	case m.rows > uint32(c.hello.Rows):
		return nil, fmt.Errorf("%w: got a batch of %d rows, want at most %d", ErrProtocol, m.rows, c.hello.Rows)
	case m.epoch != c.state.Epoch:
		return nil, fmt.Errorf("%w: got a batch of epoch %d, want %d", ErrProtocol, m.epoch, c.state.Epoch)
	case m.batch <= uint64(c.state.Batch) || m.batch > maxBatch:
		return nil, fmt.Errorf("%w: got batch %d after batch %d", ErrProtocol, m.batch, c.state.Batch)
	}
	c.using, c.state.Batch = int(m.slot), int(m.batch)
	batch := c.slots[m.slot].Copy()
	if int(m.rows) == c.hello.Rows {
		return batch, nil
	}
	return batch.Index(ix.Range(0, int(m.rows)))
}

// restate sets the state.
func (c *Client) restate(text []byte) error {
	var s loader.State
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%w: state: %w", ErrProtocol, err)
	}
	if s.Epoch != c.state.Epoch || s.Batch != c.state.Batch {
		return fmt.Errorf("%w: got a state of epoch %d, batch %d, want epoch %d, batch %d",
			ErrProtocol, s.Epoch, s.Batch, c.state.Epoch, c.state.Batch)
	}
	c.state = s
	return nil
}

// Rank returns the number of the consumer, from 0.
func (c *Client) Rank() int { return c.hello.Rank }

// World returns the number of ranks that share an epoch.
func (c *Client) World() int { return c.hello.World }

// Schema returns the entries of the batches. The caller may change it.
func (c *Client) Schema() tdict.Schema { return slices.Clone(c.hello.Schema) }

// Epoch returns the number of the current epoch.
func (c *Client) Epoch() uint64 { return c.state.Epoch }

// Ended reports whether the client had the last batch of the last epoch.
func (c *Client) Ended() bool {
	return c.ended || c.hello.Epochs > 0 && c.state.Epoch >= c.hello.Epochs
}

// State returns the position: within a loop over [Client.Batches], after the loop's batch. A
// consumer that begins there, see DialOptions.State, gets the remaining batches. With several
// ranks, all must begin at the same state, saved after the same number of batches. A loader of the
// same data can be restored from it too.
func (c *Client) State() loader.State { return c.state }

// Close closes the connection and the slots, so that another consumer can take the rank. Batches of
// the client must not be used any more. Close returns [ErrClosed] if it was called before.
func (c *Client) Close() error {
	if errors.Is(c.err, ErrClosed) {
		return fmt.Errorf("feed: %w", ErrClosed)
	}
	c.err = ErrClosed
	if err := c.close(); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	return nil
}

// close closes the connection and the slots.
func (c *Client) close() error {
	err := c.conn.Close()
	for _, ds := range c.slots {
		err = errors.Join(err, ds.Close())
	}
	return err
}
