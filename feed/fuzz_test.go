package feed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// isKnown reports whether an error of a reader is one that its documentation names.
func isKnown(err error) bool {
	_, remote := errors.AsType[*RemoteError](err)
	return err == nil || remote || errors.Is(err, ErrProtocol) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// FuzzHello reads answers and requests: what they return is within bounds.
func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"version":1,"rank":0,"world":1,"rows":4,"epochs":2,"slots":["/x"],"state":{"batch":0}}` + "\n"))
	f.Add([]byte(`{"version":1,"rank":3,"state":{"version":1}}` + "\n\x01\x00\x00\x00"))
	m := textMessage(errorMessage, []byte("bad"))
	f.Add(m.appendTo(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := readHello(bufio.NewReaderSize(bytes.NewReader(in), messageSize+maxText))
		if !isKnown(err) {
			t.Fatalf("unclassified error %v", err)
		}
		if err == nil && (h.Version != 1 || h.Rank < 0 || h.World < 1 || h.Rows < 1 || len(h.Slots) < 1 || h.State.Batch < 0) {
			t.Fatalf("got %+v", h)
		}
		q, err := readRequest(bufio.NewReader(bytes.NewReader(in)))
		if !isKnown(err) {
			t.Fatalf("unclassified error %v", err)
		}
		if err == nil && q.Version != 1 {
			t.Fatalf("got %+v", q)
		}
	})
}

// FuzzMessages sends a client any bytes. It yields only batches within bounds, gives each slot back
// once, and its position only advances.
func FuzzMessages(f *testing.F) {
	all := []message{
		{slot: 1, rows: 3, batch: 1}, {slot: 0, rows: 4, batch: 2}, {slot: epochMessage},
		textMessage(stateMessage, []byte(`{"epoch":1,"rows":9}`)), {slot: 0, rows: 0, epoch: 1, batch: 1}, {slot: endMessage},
	}
	var good []byte
	for _, m := range all {
		good = m.appendTo(good)
	}
	m := textMessage(errorMessage, []byte("bad"))
	f.Add(good)
	f.Add(m.appendTo(good[:messageSize]))
	td, err := tdict.Schema{{Key: "x", DType: 1}}.Zeros(4)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ours, theirs := socketPair(t)
		c := &Client{
			conn: ours, in: bufio.NewReaderSize(bytes.NewReader(in), messageSize+maxText), using: -1,
			hello: hello{Rows: 4, Epochs: 2}, slots: []*memmap.Dataset{{TensorDict: td}, {TensorDict: td}},
		}
		before, held := loader.State{}, []uint32{}
		for !c.Ended() && c.err == nil {
			for batch, err := range c.Batches(t.Context()) {
				if err != nil {
					if !isKnown(err) && !errors.Is(err, ErrLost) {
						t.Fatalf("unclassified error %v", err)
					}
					break
				}
				now := c.State()
				if n := batch.Shape()[0]; n > 4 || now.Epoch < before.Epoch || now.Epoch == before.Epoch && now.Batch <= before.Batch {
					t.Fatalf("got %d rows, position %+v after %+v", n, now, before)
				}
				before = now
				held = append(held, uint32(c.using))
			}
		}
		_ = ours.Close()
		for _, slot := range held {
			var b [4]byte
			if _, err := io.ReadFull(theirs, b[:]); err != nil || binary.LittleEndian.Uint32(b[:]) != slot {
				t.Fatalf("got %v back, %v, want %d", b, err, slot)
			}
		}
	})
}

// FuzzGivenBack sends a feed any slots, given back. It accepts those that the consumer holds, once.
func FuzzGivenBack(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02\x00\x00\x00"), uint8(5))
	f.Add([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\x01"), uint8(7))
	f.Fuzz(func(t *testing.T, in []byte, holds uint8) {
		p := &place{}
		p.slots = make([]*memmap.Dataset, 4)
		p.reset()
		td, held := tdict.New(1), map[uint32]bool{}
		for slot := range 4 {
			p.lent <- <-p.free
			if holds>>slot&1 == 1 {
				held[uint32(p.hold(td, 0))] = true
			}
		}
		ours, theirs := socketPair(t)
		_ = theirs.Close()
		c := &connection{place: p, conn: ours, in: bufio.NewReader(bytes.NewReader(in))}
		err := c.read()
		good := 0
		for ; good < len(in)/4; good++ {
			slot := binary.LittleEndian.Uint32(in[4*good:])
			if !held[slot] {
				break
			}
			delete(held, slot)
		}
		if want := good < len(in)/4; errors.Is(err, ErrProtocol) != want || errors.Is(err, errGone) == want {
			t.Fatalf("got %v, want a broken protocol: %t", err, want)
		}
		if len(p.held) != len(held) || len(p.free) != good {
			t.Fatalf("got %d held, %d free; want %d, %d", len(p.held), len(p.free), len(held), good)
		}
	})
}

// socketPair returns two ends of a connection.
func socketPair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: t.TempDir() + "/s", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.DialTimeout("unix", l.Addr().String(), time.Minute)
	if err == nil {
		b, err = l.AcceptUnix()
	}
	if err != nil {
		t.Fatal(err)
	}
	a = conn.(*net.UnixConn)
	t.Cleanup(func() { _ = a.Close(); _ = b.Close() }) // the test closes one
	return a, b
}

// TestLines reads lines around the limit.
func TestLines(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 48, 100} {
		line := append(bytes.Repeat([]byte("x"), n), '\n')
		got, err := readLine(bufio.NewReaderSize(bytes.NewReader(line), 16), 33)
		if n <= 32 && (err != nil || len(got) != n) || n > 32 && !errors.Is(err, ErrProtocol) {
			t.Errorf("line of %d bytes: got %d, %v", n, len(got), err)
		}
	}
}

// TestHelloInJSON has the fields of docs/feed.md.
func TestHelloInJSON(t *testing.T) {
	text, err := json.Marshal(hello{Version: 1, Slots: []string{"/dev/shm/x"}, Schema: tdict.Schema{}})
	const want = `{"version":1,"rank":0,"world":0,"rows":0,"epochs":0,"slots":["/dev/shm/x"],"schema":{"version":1,"entries":[]},` +
		`"state":{"version":0,"rows":0,"sampler":"","batching":"","seed":0,"epoch":0,"batch":0}}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v", text, err)
	}
}
