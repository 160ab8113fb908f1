package mongowire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-tensordict/tensordict/internal/bson"
	"github.com/go-tensordict/tensordict/internal/cast"
)

// A conn is the connection of a client.
type conn struct {
	net.Conn
	server *Server
	id     int64
	in     *bufio.Reader
	out    *bufio.Writer
	busy   atomic.Bool // a message is being received, or waits for memory
	login  login
}

// stall is how long a client may take for a piece of a message.
var stall = 30 * time.Second

const (
	pieces   = 1 * mib
	small    = 16 << 10 // messages that take nothing from the budget
	ioBuffer = 4 << 10
)

func newConn(s *Server, nc net.Conn, id int64) *conn {
	c := &conn{Conn: nc, server: s, id: id, in: bufio.NewReaderSize(nc, ioBuffer)}
	c.out = bufio.NewWriterSize(paced{nc}, ioBuffer)
	c.login.done = s.secret == nil
	return c
}

// serve answers messages until the connection ends.
func (c *conn) serve() {
	defer c.leave()
	for {
		r, err := c.receive()
		if err == nil {
			err = c.answer(r)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && c.server.life.Err() == nil {
			c.server.report(fmt.Errorf("%v: %w", c.RemoteAddr(), err))
		}
		return
	}
}

// leave frees all that the connection holds.
func (c *conn) leave() {
	_ = c.Conn.Close()
	c.server.mu.Lock()
	delete(c.server.conns, c)
	c.server.mu.Unlock()
	c.server.tickets.left(c)
	c.server.cursors.endAll(func(cur *cursor) bool { return cur.conn == c })
}

// receive reads a message. It waits for its first byte without end, and then for each piece.
func (c *conn) receive() (*request, error) {
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	c.busy.Store(true)
	defer c.busy.Store(false)
	head := make([]byte, headerBytes)
	if err := c.fill(head); err != nil {
		return nil, err
	}
	h := parseHeader(head)
	if most := c.mostBytes(); h.size < headerBytes || h.size > most {
		return nil, badFrame("%d bytes, want at most %d", h.size, most)
	}
	r := &request{conn: c}
	err := r.take(int64(h.size))
	if err == nil {
		b := newBuffer(int(h.size))
		r.whole = b
		copy(b, head)
		if err = c.fill(b[headerBytes:]); err == nil {
			r.message, err = parse(h, b)
		}
	}
	if err != nil {
		r.free()
	}
	return r, err
}

// buffers has those of messages that nobody uses any more: fresh memory costs more than a message.
var buffers sync.Pool

// newBuffer returns a buffer of n bytes, whatever they are.
func newBuffer(n int) []byte {
	if b, _ := buffers.Get().(*[]byte); b != nil && cap(*b) >= n {
		return (*b)[:n]
	}
	return cast.Uninit(n)
}

// mostBytes is how long a message may be. Before the login that is what a login needs.
func (c *conn) mostBytes() int32 {
	if !c.login.done {
		return small
	}
	return maxMessage
}

// fill reads len(b) bytes.
func (c *conn) fill(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), pieces)
		if err := c.SetReadDeadline(time.Now().Add(stall)); err != nil {
			return err
		}
		if _, err := io.ReadFull(c.in, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return c.SetReadDeadline(time.Time{})
}

// answer executes a command and writes the reply.
func (c *conn) answer(r *request) error {
	defer r.free()
	reply := c.server.execute(r)
	defer r.end()
	r.forget()
	if r.silent {
		return nil
	}
	if err := c.write(r, reply); err != nil {
		return err
	}
	return c.out.Flush()
}

// write writes a reply.
func (c *conn) write(r *request, doc rope) error {
	h := header{to: r.id, op: opMsg}
	body := make([]byte, 5) // flags, and a section of kind 0
	if r.legacy {
		h.op = opReply
		body = make([]byte, 20) // flags, a cursor, where it is, and the number of documents
		body[0] = 1 << 3        // as MongoDB has it: awaitCapable
		body[16] = 1
	}
	h.size = int32(headerBytes + len(body) + doc.size)
	if _, err := c.out.Write(append(h.appendTo(nil), body...)); err != nil {
		return err
	}
	return doc.writeTo(c.out)
}

// A paced connection has a deadline for each piece that is written.
type paced struct{ net.Conn }

func (p paced) Write(b []byte) (done int, err error) {
	for done < len(b) && err == nil {
		if err = p.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			break
		}
		var n int
		n, err = p.Conn.Write(b[done:min(done+pieces, len(b))])
		done += n
	}
	return done, err
}

// watch returns a context that ends when the client has gone. stop must be called before the next
// message is received.
func (c *conn) watch(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if _, err := c.in.Peek(1); err != nil {
			cancel(err)
		}
	}()
	return ctx, func() {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // ends Peek
		<-stopped
		_ = c.SetReadDeadline(time.Time{})
		cancel(nil)
	}
}

// A request is a command that is being answered.
type request struct {
	message
	conn  *conn
	whole []byte   // the message
	spent bool     // nobody uses it after the answer
	claim int64    // bytes of the budget
	after []func() // what to do when the reply is written
}

// take waits until there is memory for a message.
func (r *request) take(n int64) (err error) {
	if n > small {
		r.claim, err = r.conn.server.messages.take(r.conn.server.life, n)
	}
	return err
}

// free gives the memory of the message back.
func (r *request) free() {
	if r.claim > 0 {
		r.conn.server.messages.give(r.claim)
		r.claim = 0
	}
}

// forget lets the collector have the message.
func (r *request) forget() {
	if r.spent && r.claim > 0 {
		buffers.Put(&r.whole)
	}
	r.body, r.docs, r.whole = nil, nil, nil
	r.free()
}

// end does what had to wait for the reply.
func (r *request) end() {
	for _, fn := range r.after {
		fn()
	}
}

// text returns the text of a field, "" if there is none.
func (r *request) text(name string) string {
	text, _ := r.body.Get(name).Text()
	return text
}

// collection returns the collection that the command is about.
func (r *request) collection() string {
	_, first := r.body.First()
	name, _ := first.Text()
	return name
}

// owner returns who draws tickets: the session of the driver, or the connection.
func (r *request) owner() string {
	session, _ := r.body.Get("lsid").Doc()
	if id, ok := session.Get("id").Bytes(); ok && len(id) == 16 {
		return "session " + string(id)
	}
	return fmt.Sprintf("connection %d", r.conn.id)
}

// documents yields the documents of the field documents, wherever they are in the message.
func (r *request) documents() []bson.Doc {
	if r.field == "documents" {
		return r.docs
	}
	var docs []bson.Doc
	list, _ := r.body.Get("documents").Doc()
	for _, v := range list.All() {
		if doc, ok := v.Doc(); ok && len(docs) < maxDocuments {
			docs = append(docs, doc)
		}
	}
	return docs
}
