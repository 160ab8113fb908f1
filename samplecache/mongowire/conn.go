package mongowire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A conn is the connection of a client.
type conn struct {
	net.Conn
	server *Server
	id     int64
	in     *bufio.Reader
	out    *bufio.Writer
	reply  paced       // under out
	sends  atomic.Bool // a message, or waits for memory for one
	busy   atomic.Bool // from the first byte of a message until its reply is written
	login  login

	address string          // of the client, without the port
	place   place           // guarded by guests.mu
	owners  map[*owner]bool // of tickets; guarded by tickets.mu
	cursors cursorsOf       // guarded by cursors.mu
	moved   atomic.Int64    // bytes received and sent
}

// stall is how long a client may send nothing of a message that it has begun, or take nothing of a
// reply.
var stall = 30 * time.Second

const (
	pieces   = 1 * mib  // with a deadline each
	slowest  = 8 * mib  // of a message or a reply, for each stall
	tiny     = 16 << 10 // bytes of a message that are not counted
	small    = 1 * mib  // bytes of a message that takes from the memory of small ones
	ioBuffer = 4 << 10
)

// A pace is the deadlines of a message or a reply: stall for each piece, and an end for all of it.
type pace struct{ end time.Time }

// paceOf returns the pace of n bytes from now on.
func paceOf(n int) pace {
	return pace{time.Now().Add(stall * time.Duration(1+n/slowest))}
}

// next returns the deadline of the next piece.
func (p pace) next() time.Time {
	if t := time.Now().Add(stall); t.Before(p.end) {
		return t
	}
	return p.end
}

func newConn(s *Server, nc net.Conn, id int64) *conn {
	c := &conn{Conn: nc, server: s, id: id}
	c.in, c.reply = bufio.NewReaderSize(c, ioBuffer), paced{conn: c}
	c.out = bufio.NewWriterSize(&c.reply, ioBuffer)
	c.login.done = s.secret == nil
	c.address, _, _ = net.SplitHostPort(nc.RemoteAddr().String())
	return c
}

// Read counts the bytes.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.moved.Add(int64(n))
	return n, err
}

// serve answers messages until the connection ends.
func (c *conn) serve() {
	defer c.leave()
	for {
		err := c.exchange()
		if err == nil {
			continue
		}
		if !gone(err) && c.server.life.Err() == nil {
			c.server.report(fmt.Errorf("%v: %w", c.RemoteAddr(), err))
		}
		return
	}
}

// gone reports whether an error only says that a connection has ended.
func gone(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE}, func(of error) bool { return errors.Is(err, of) })
}

// leave closes the connection, and frees its tickets and cursors.
func (c *conn) leave() {
	_ = c.Conn.Close()
	c.server.mu.Lock()
	delete(c.server.conns, c)
	c.server.mu.Unlock()
	c.server.guests.leave(c)
	c.server.tickets.left(c)
	c.server.cursors.left(c)
}

// errPanic says that the server has a fault. Only the connection that it was found on ends.
var errPanic = errors.New("panic")

// exchange receives a message and answers it. It waits for the first byte without a deadline.
func (c *conn) exchange() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	if _, err := c.in.Peek(1); err != nil {
		return err
	}
	c.busy.Store(true)
	defer c.busy.Store(false)
	r, err := c.receive()
	if err != nil {
		return err
	}
	return c.answer(r)
}

// receive reads a message.
func (c *conn) receive() (*request, error) {
	c.sends.Store(true)
	defer c.sends.Store(false)
	head := make([]byte, headerBytes)
	if err := c.fill(head, paceOf(headerBytes)); err != nil {
		return nil, err
	}
	h := parseHeader(head)
	if most := c.mostBytes(); h.size < headerBytes || h.size > most {
		return nil, badFrame("%d bytes, want at most %d", h.size, most)
	}
	begun := make([]byte, min(tiny, h.size))
	copy(begun, head)
	p := paceOf(int(h.size))
	if err := c.fill(begun[headerBytes:], p); err != nil {
		return nil, err
	}
	r := &request{conn: c, whole: begun}
	whole := false
	defer func() {
		if !whole {
			r.free()
		}
	}()
	err := r.complete(int(h.size), p)
	if err == nil {
		r.message, err = parse(h, r.whole)
	}
	whole = err == nil
	return r, err
}

// growth is how many times more memory a message takes than has come of it.
const growth = 4

// complete reads the rest of a message of n bytes. It takes memory as bytes come.
func (r *request) complete(n int, p pace) error {
	s := r.conn.server
	if len(r.whole) < n {
		r.memory = s.messages.user(r.conn, int64(n))
		if n <= small {
			r.memory = s.small.user(r.conn, int64(n))
		}
		r.memory.moves(true)
		defer r.memory.moves(false)
	}
	for come := len(r.whole); come < n; come = len(r.whole) {
		err := r.conn.SetReadDeadline(p.next())
		if err == nil {
			_, err = r.conn.in.Peek(1)
		}
		if err != nil {
			return err
		}
		next := n
		for next > growth*come {
			next = (next + growth - 1) / growth
		}
		waits := time.Now()
		if err := r.memory.take(s.life, int64(next)); err != nil {
			return err
		}
		p.end = p.end.Add(time.Since(waits))
		b := newBuffer(next)
		copy(b, r.whole)
		if come > tiny {
			keepBuffer(r.whole)
		}
		r.whole = b
		if err := r.conn.fill(b[come:], p); err != nil {
			return err
		}
	}
	return nil
}

// buffers keep the memory of messages that are answered, by the number of bits of its size: the
// kernel takes longer to provide new memory than to receive a message.
var buffers [32]sync.Pool

// newBuffer returns n bytes with any content.
func newBuffer(n int) []byte {
	if b, _ := buffers[bits.Len(uint(n))].Get().(*[]byte); b != nil && cap(*b) >= n {
		return (*b)[:n]
	}
	return cast.Uninit(n)
}

// keepBuffer keeps the memory of b, which must not be used any more.
func keepBuffer(b []byte) { buffers[bits.Len(uint(cap(b)))].Put(&b) }

// mostBytes returns the maximum length of a message. Before the login it is tiny.
func (c *conn) mostBytes() int32 {
	if !c.login.done {
		return tiny
	}
	return maxMessage
}

// fill fills b.
func (c *conn) fill(b []byte, p pace) error {
	for piece := range slices.Chunk(b, pieces) {
		if err := c.SetReadDeadline(p.next()); err != nil {
			return err
		}
		if _, err := io.ReadFull(c.in, piece); err != nil {
			return err
		}
	}
	return c.SetReadDeadline(time.Time{})
}

// answer executes a command and writes the reply.
func (c *conn) answer(r *request) error {
	defer r.end()
	s := c.server
	known := c.login.done
	if known && !s.guests.use(c, s.tickets.holds) {
		return net.ErrClosed
	}
	reply := s.execute(r)
	r.forget()
	if c.login.done && !known && !s.guests.use(c, s.tickets.holds) {
		return net.ErrClosed
	}
	if r.silent {
		return nil
	}
	if r.reply != nil {
		r.reply.moves(true)
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
		body = make([]byte, 20) // flags, cursor, position, number of documents
		body[0] = 1 << 3        // awaitCapable, as MongoDB sets it
		body[16] = 1
	}
	h.size = int32(headerBytes + len(body) + doc.size)
	c.reply.pace = paceOf(int(h.size))
	if _, err := c.out.Write(append(h.appendTo(nil), body...)); err != nil {
		return err
	}
	return doc.writeTo(c.out)
}

// A paced is a connection that is written to with deadlines.
type paced struct {
	*conn
	pace pace
}

func (p *paced) Write(b []byte) (done int, err error) {
	for piece := range slices.Chunk(b, pieces) {
		if err = p.SetWriteDeadline(p.pace.next()); err != nil {
			return done, err
		}
		n, err := p.Conn.Write(piece)
		p.moved.Add(int64(n))
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

// watch returns a context that ends when the client has gone. stop must be called before the next
// message is received.
func (c *conn) watch(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for { // past the messages that it has sent already
			_, err := c.in.Peek(c.in.Buffered() + 1)
			if errors.Is(err, bufio.ErrBufferFull) {
				return
			}
			if err != nil {
				cancel(err)
				return
			}
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
	conn   *conn
	whole  []byte   // the message; nil after forget
	spent  bool     // whole can be reused after the answer
	memory *user    // of the message; nil if it is tiny
	reply  *user    // memory of the reply, or nil
	after  []func() // called when the reply is written
}

// free gives the bytes of the message back.
func (r *request) free() {
	r.memory.free()
	r.memory = nil
}

// forget drops the message, so that its memory can be used again.
func (r *request) forget() {
	if r.spent && r.memory != nil {
		keepBuffer(r.whole)
	}
	r.body, r.docs, r.whole = nil, nil, nil
	r.free()
}

// end calls the functions of after, and gives back the memory of the message and of the reply.
func (r *request) end() {
	for _, fn := range r.after {
		fn()
	}
	r.free()
	r.reply.free()
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

// owner returns the owner of tickets: the session of the driver, or the connection.
func (r *request) owner() string {
	session, _ := r.body.Get("lsid").Doc()
	if id, ok := session.Get("id").Bytes(); ok && len(id) == 16 {
		return "session " + string(id)
	}
	return fmt.Sprintf("connection %d", r.conn.id)
}

// object returns the document of a field, or an empty document if the field is missing.
func (r *request) object(name string) (bson.Doc, error) {
	v := r.body.Get(name)
	if v.Kind != 0 && v.Kind != bson.Object {
		return nil, badValue.saying("%s: want a document", name)
	}
	doc, _ := v.Doc()
	return doc, nil
}

// documents returns the documents of a field, from the sequence after the command or from the
// command itself.
func (r *request) documents(name string) (docs []bson.Doc, err error) {
	v := r.body.Get(name)
	if r.field == name && v.Kind == 0 {
		return r.docs, nil
	}
	list, ok := v.Doc()
	ok = ok && v.Kind == bson.Array && r.field == ""
	for _, v := range list.All() {
		if ok = ok && v.Kind == bson.Object && len(docs) < maxDocuments; !ok {
			break
		}
		doc, _ := v.Doc()
		docs = append(docs, doc)
	}
	if !ok {
		return nil, badValue.saying("%s: want an array of documents, at most %d, or a sequence of them", name, maxDocuments)
	}
	return docs, nil
}
