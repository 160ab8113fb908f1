package feed

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/shapeops"
)

const (
	joinTime    = 10 * time.Second // for a request
	rankTime    = 2 * time.Second  // until a rank becomes free
	partingTime = time.Second      // for the error to a consumer that broke the protocol
)

// serve gives batches to the consumer of a connection, until one of them ends it.
func (f *Feed) serve(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(f.joinTime))
	q, err := readRequest(in)
	if err == io.EOF { // for example another feed, which tries to listen here
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	var p *place
	if err == nil {
		p, err = f.take(ctx, q.Rank)
	}
	if err != nil {
		err = fmt.Errorf("request: %w", err)
		f.report(ctx, err)
		refuse(conn, err)
		return
	}
	c := &connection{f: f, place: p, conn: conn, in: in, out: make(chan message, 64)}
	f.leave(p, c.run(ctx, q.State))
}

// refuse sends an error to a consumer that gets no batches.
func refuse(conn *net.UnixConn, err error) {
	_, _ = conn.Write(errorOf(err).appendTo(nil)) // the consumer may be gone
}

// take takes the place of a rank, or of the lowest free rank if rank is nil. If it is not free,
// take waits a short time: its consumer may just have died.
func (f *Feed) take(ctx context.Context, rank *int) (*place, error) {
	if rank != nil && (*rank < 0 || *rank >= len(f.places)) {
		return nil, fmt.Errorf("%w: got rank %d, want 0 to %d", ErrRank, *rank, len(f.places)-1)
	}
	late := time.After(f.rankTime)
	for {
		p, changed := f.tryTake(rank)
		if p != nil {
			return p, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-late:
			if rank == nil {
				return nil, fmt.Errorf("%w: all %d have consumers (a feed can have more: Options.Consumers, tdict feed --consumers)", ErrRank, len(f.places))
			}
			return nil, fmt.Errorf("%w: rank %d has a consumer", ErrRank, *rank)
		}
	}
}

// tryTake is take without waiting. It returns a channel that is closed when a place becomes free.
func (f *Feed) tryTake(rank *int) (*place, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.places {
		if !p.taken && (rank == nil || p.rank == *rank) {
			p.taken = true
			return p, nil
		}
	}
	return nil, f.changed
}

// leave makes a place free, and ends Serve if all places are free and done. done reports whether
// the consumer had all epochs.
func (f *Feed) leave(p *place, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.taken, p.done = false, p.done || done
	close(f.changed)
	f.changed = make(chan struct{})
	if !slices.ContainsFunc(f.places, func(p *place) bool { return p.taken || !p.done }) {
		f.stop()
	}
}

// A connection is a consumer that has a place.
type connection struct {
	f     *Feed
	place *place
	conn  *net.UnixConn
	in    *bufio.Reader
	out   chan message
	l     *loader.Loader
	state loader.State // the last that was sent, at the beginning of its epoch
}

// run sends batches, from a state or from the beginning. done reports whether the consumer had all
// epochs and gave all slots back; otherwise it may have died. After run all slots are free.
func (c *connection) run(ctx context.Context, from *loader.State) (done bool) {
	outer := ctx
	ctx, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	c.place.connect(true)
	defer func() {
		_ = c.conn.Close() // ends read
		stop(nil)
		running.Wait()
		c.place.connect(false)
		c.place.reset()
	}()
	if err := c.greet(from); err != nil {
		c.report(outer, err)
		refuse(c.conn, err)
		return false
	}
	var writing sync.WaitGroup
	running.Go(func() { stop(c.read()) })
	writing.Go(c.write)
	err := c.epochs(ctx)
	switch {
	case err == nil:
		c.out <- message{slot: endMessage}
	case outer.Err() == nil:
		c.report(outer, err)
		c.out <- errorOf(err)
	}
	close(c.out)
	writing.Wait()
	all := c.await(ctx)
	if broke := context.Cause(ctx); err == nil && broke != nil {
		c.report(outer, broke)
	}
	return err == nil && all
}

// report reports an error with the rank.
func (c *connection) report(ctx context.Context, err error) {
	c.f.report(ctx, fmt.Errorf("rank %d: %w", c.place.rank, err))
}

// greet makes the loader and sends hello.
func (c *connection) greet(from *loader.State) (err error) {
	p, opt := c.place, c.f.opt.Loader
	opt.Into, opt.Share.Rank, opt.Share.World = p.memory, p.src.rank, c.f.opt.world()
	var epoch uint64
	if from != nil {
		epoch = from.Epoch
	}
	if err = p.src.begin(epoch); err != nil {
		return err
	}
	if c.l, err = loader.New(p.src, opt); err == nil && from != nil {
		err = c.l.Restore(*from)
	}
	if err != nil {
		return err
	}
	h := hello{
		Version: protocolVersion, Rank: p.rank, World: c.f.opt.world(), Rows: c.f.opt.Rows,
		Epochs: c.f.opt.Epochs, Slots: p.paths, Schema: c.f.schema, State: c.l.State(),
	}
	c.state = unplaced(h.State)
	line, err := lineOf(h, maxHello)
	if err != nil {
		return err
	}
	if _, err = c.conn.Write(line); err != nil {
		return errGone
	}
	return nil
}

// unplaced returns a state without its position.
func unplaced(s loader.State) loader.State {
	s.Epoch, s.Batch = 0, 0
	return s
}

// epochs sends the batches of all epochs.
func (c *connection) epochs(ctx context.Context) error {
	for c.f.opt.Epochs == 0 || c.l.Epoch() < c.f.opt.Epochs {
		if err := c.epoch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// emptyPause is the duration of an epoch without batches.
const emptyPause = 50 * time.Millisecond

// epoch sends the rest of an epoch.
func (c *connection) epoch(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	epoch := c.l.Epoch()
	if err := c.place.src.begin(epoch); err != nil {
		return err
	}
	if err := c.restate(); err != nil {
		return err
	}
	at, left := c.l.State().Batch, c.l.Left()
	if left == 0 { // consumers do not acknowledge the end of an epoch, so nothing else slows this one
		select {
		case <-time.After(emptyPause):
		case <-ctx.Done():
		}
	}
	for batch, err := range c.l.Batches(ctx) {
		if errors.Is(err, loader.ErrReplaced) {
			return errors.Join(err, c.place.src.renew(epoch))
		}
		if err != nil {
			if errors.Is(err, shapeops.ErrShape) {
				err = fmt.Errorf("%w (all batches must have the shapes of the first one; with loader.Pad, set Widths)", err)
			}
			return err
		}
		at += c.f.opt.world()
		if left--; left == 0 { // the last batches of an epoch may be fewer than ranks
			at = c.l.State().Batch
		}
		slot := c.place.hold(batch, epoch)
		c.out <- message{uint32(slot), uint32(batch.Shape()[0]), epoch, uint64(at), nil}
	}
	c.out <- message{slot: epochMessage, epoch: epoch}
	return nil
}

// restate sends the state if it differs from the last one in more than its position.
func (c *connection) restate() error {
	s := c.l.State()
	if unplaced(s) == c.state {
		return nil
	}
	c.state = unplaced(s)
	text, err := json.Marshal(s)
	if err == nil {
		c.out <- textMessage(stateMessage, text)
	}
	return err
}

// await waits until the consumer has given back all slots, or is gone. It reports whether all were
// given back.
func (c *connection) await(ctx context.Context) bool {
	p := c.place
	for range len(p.lent) { // of batches that nobody will get
		p.free <- <-p.lent
	}
	for n := range len(p.slots) {
		select {
		case <-p.free:
		case <-ctx.Done(): // after the last that came back
			return n+len(p.free) == len(p.slots)
		}
	}
	return true
}

// read reads the slots that the consumer gives back. It returns errGone when the consumer closes
// the connection or dies, and another error if it breaks the protocol.
func (c *connection) read() error {
	var b [4]byte
	for {
		if _, err := io.ReadFull(c.in, b[:]); err != nil {
			_ = c.conn.Close() // ends write
			return errGone
		}
		if err := c.place.give(binary.LittleEndian.Uint32(b[:])); err != nil {
			_ = c.conn.SetWriteDeadline(time.Now().Add(partingTime))
			return err
		}
	}
}

// write writes messages until there are no more; messages that are ready go in one write. If the
// consumer is gone, it discards them: read ends the connection.
func (c *connection) write() {
	var b []byte
	var failed error
	for m := range c.out {
		b = m.appendTo(b[:0])
		for range len(c.out) {
			m = <-c.out
			b = m.appendTo(b)
		}
		if failed == nil {
			_, failed = c.conn.Write(b)
		}
	}
}
