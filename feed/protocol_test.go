package feed_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

const (
	endMark, errorMark, stateMark, epochMark = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC
)

// A wire is a connection that speaks the protocol as docs/feed.md says, without package feed.
type wire struct {
	*net.UnixConn
	in    *bufio.Reader
	hello struct {
		Version, Rank, World, Rows, Epochs int
		Slots                              []string
		Schema                             tdict.Schema
		State                              json.RawMessage
	}
}

// connect connects and sends some bytes. What is read or written a minute later is an error.
func connect(t testing.TB, path, send string) *wire {
	t.Helper()
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // some tests have closed it
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, send)
	require.NoError(t, err)
	return &wire{UnixConn: conn.(*net.UnixConn), in: bufio.NewReader(conn)}
}

// greeted is connect with a request, and reads hello.
func greeted(t testing.TB, path, send string) *wire {
	t.Helper()
	w := connect(t, path, send)
	line, err := w.in.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(line), &w.hello))
	return w
}

// message reads a message.
func (w *wire) message(t testing.TB) (slot, rows uint32, epoch, batch uint64, text string) {
	t.Helper()
	var b [24]byte
	_, err := io.ReadFull(w.in, b[:])
	require.NoError(t, err)
	slot, rows = binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])
	if slot == errorMark || slot == stateMark {
		all := make([]byte, rows)
		_, err := io.ReadFull(w.in, all)
		require.NoError(t, err)
		text = string(all)
	}
	return slot, rows, binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), text
}

// failed reads messages until an error, and checks that the connection ends after it.
func (w *wire) failed(t testing.TB) string {
	t.Helper()
	for {
		slot, _, _, _, text := w.message(t)
		if slot == errorMark {
			_, err := w.in.ReadByte()
			require.Error(t, err)
			return text
		}
		require.Less(t, slot, uint32(endMark))
	}
}

// give sends slot numbers.
func (w *wire) give(t testing.TB, slots ...uint32) {
	t.Helper()
	var b []byte
	for _, slot := range slots {
		b = binary.LittleEndian.AppendUint32(b, slot)
	}
	_, err := w.Write(b)
	require.NoError(t, err)
}

// TestWire reads all messages of a small feed. All slots are given back at once, in reverse.
func TestWire(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(4), Epochs: 2, Slots: 2})
	w := greeted(t, s.path, "{\"version\":1}\n")
	h := w.hello
	require.Equal(t, []int{1, 0, 1, 4, 2, 2}, []int{h.Version, h.Rank, h.World, h.Rows, h.Epochs, len(h.Slots)})
	require.Equal(t, []string{"in/label", "x", "row"}, keys(h.Schema))
	require.Contains(t, string(h.State), `"epoch":0,"batch":0`)
	var held []uint32
	for epoch := range uint64(2) {
		for i, rows := range []uint32{4, 4, 2} {
			slot, n, e, b, _ := w.message(t)
			require.Equal(t, []any{rows, epoch, uint64(i + 1)}, []any{n, e, b})
			require.NotContains(t, held, slot)
			if held = append(held, slot); len(held) == 2 {
				w.give(t, held[1], held[0])
				held = nil
			}
		}
		slot, _, e, _, _ := w.message(t)
		require.Equal(t, []any{uint32(epochMark), epoch}, []any{slot, e})
	}
	slot, _, _, _, _ := w.message(t)
	require.Equal(t, uint32(endMark), slot)
	_, err := w.in.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, s.wait())
}

// keys returns the keys of a schema.
func keys(schema tdict.Schema) (keys []string) {
	for _, spec := range schema {
		keys = append(keys, string(spec.Key))
	}
	return keys
}

// TestEndWaitsForSlots closes a connection while it has the last batch, as a consumer that dies.
// The feed waits for another, which gives it back before it closes.
func TestEndWaitsForSlots(t *testing.T) {
	s := serve(t, rows(t, 4), feed.Options{Loader: shuffled(4), Epochs: 1})
	for _, back := range []bool{false, true} {
		w := greeted(t, s.path, "{\"version\":1,\"rank\":null,\"state\":null}\n")
		slot, _, _, _, _ := w.message(t)
		w.message(t)
		end, _, _, _, _ := w.message(t)
		require.Equal(t, uint32(endMark), end)
		require.True(t, s.Stats()[0].Connected)
		if back {
			w.give(t, slot)
		}
		require.NoError(t, w.Close())
	}
	require.NoError(t, s.wait())
}

// TestRefusedRequests sends first lines that are not requests. None takes the rank.
func TestRefusedRequests(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(4)})
	for _, tt := range []struct{ name, send, text string }{
		{"not JSON", "hello\n", "request: unexpected message: invalid character 'h'"},
		{"another type", "[1]\n", "cannot unmarshal array"},
		{"nothing", "\n", "unexpected end of JSON input"},
		{"another version", "{\"version\":2,\"rank\":0}\n", "got version 2 of the protocol, want 1"},
		{"no version", "{}\n", "got version 0 of the protocol, want 1"},
		{"rank below 0", "{\"version\":1,\"rank\":-1}\n", "got rank -1, want 0 to 0"},
		{"rank that is not a number", "{\"version\":1,\"rank\":\"0\"}\n", "cannot unmarshal string"},
		{"more than a request", "{\"version\":1} {}\n", "invalid character '{' after top-level value"},
		{"a line without end", strings.Repeat(" ", 65<<10), "got a line of more than 65536 bytes"},
		{"binary", strings.Repeat("\x00\xff", 100) + "\n", "invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := connect(t, s.path, tt.send).failed(t)
			require.Contains(t, text, tt.text)
			errs := s.reported()
			require.ErrorContains(t, errs[len(errs)-1], text)
		})
	}
	require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{}), 5), 5)
}

// TestWrongSlots gives back slots that the consumer does not hold. The connection ends with an
// error, and all slots are free again.
func TestWrongSlots(t *testing.T) {
	const request = "{\"version\":1,\"rank\":0}\n"
	s := serve(t, rows(t, 1000), feed.Options{Loader: shuffled(4), Slots: 3})
	for _, tt := range []struct {
		name string
		give func(w *wire)
	}{
		{"never held", func(w *wire) { w.give(t, 3) }},
		{"a huge number", func(w *wire) { w.give(t, endMark) }},
		{"after half of the batches", func(w *wire) {
			for range 50 {
				slot, _, _, _, _ := w.message(t)
				w.give(t, slot)
			}
			w.give(t, 1<<31)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := greeted(t, s.path, request)
			tt.give(w)
			text := w.failed(t)
			require.Contains(t, text, "back, which the consumer does not hold")
			errs := s.reported()
			require.ErrorIs(t, errs[len(errs)-1], feed.ErrProtocol)
		})
	}
	t.Run("with the request", func(t *testing.T) {
		w := connect(t, s.path, request+"\x09\x00\x00\x00")
		_, err := w.in.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, w.failed(t), "got slot 9 back")
	})
	t.Run("half a number", func(t *testing.T) {
		w := greeted(t, s.path, request)
		_, err := w.Write([]byte{0, 0})
		require.NoError(t, err)
		require.NoError(t, w.Close())
	})
	t.Run("without reading", func(t *testing.T) { // the error cannot be delivered
		w := greeted(t, s.path, request)
		w.give(t, 77)
		require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{}), 10), 10)
	})
	require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{}), 300), 300)
}

// TestGivenBackTwice gives a slot back twice while the source makes no other batch, which could be
// in that slot.
func TestGivenBackTwice(t *testing.T) {
	inner := rows(t, 8)
	src, err := loader.FromFunc(8, func(ctx context.Context, list []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
		if list[0] >= 4 {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return inner.Fetch(ctx, list, dst)
	})
	require.NoError(t, err)
	s := serve(t, src, feed.Options{Loader: loader.Options{Batch: 4}, Slots: 3})
	w := greeted(t, s.path, "{\"version\":1,\"rank\":0}\n")
	slot, _, _, _, _ := w.message(t)
	w.give(t, slot, slot)
	require.Contains(t, w.failed(t), "back, which the consumer does not hold")
	require.ErrorIs(t, s.reported()[0], feed.ErrProtocol)
}

// TestStalledConnections opens many connections that say nothing, or half a request. They hold back
// nobody.
func TestStalledConnections(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(4)})
	for range 40 {
		connect(t, s.path, "")
		connect(t, s.path, "{\"version\"")
	}
	require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{}), 5), 5)
	require.NoError(t, s.Close(), "it does not wait for them")
}

// TestRequestTakesTooLong says nothing, or half a request, for too long. The connection is closed.
func TestRequestTakesTooLong(t *testing.T) {
	s := listen(t, rows(t, 10), feed.Options{Loader: shuffled(4)})
	s.SetTimes(50*time.Millisecond, time.Minute)
	s.run(t)
	for _, send := range []string{"", "{\"version"} {
		w := connect(t, s.path, send)
		_, err := io.Copy(io.Discard, w.in)
		require.NoError(t, err)
		errs := s.reported()
		require.ErrorIs(t, errs[len(errs)-1], os.ErrDeadlineExceeded)
	}
}

// TestSilentProbe connects and says nothing, as a second feed does: that is not an error.
func TestSilentProbe(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(4)})
	require.NoError(t, connect(t, s.path, "").Close())
	w := connect(t, s.path, "{\"version")
	require.NoError(t, w.CloseWrite())
	require.Contains(t, w.failed(t), "unexpected EOF")
	require.Len(t, s.reported(), 1)
}

// script returns the socket of a feed that sends the bytes that answer returns, given a hello with
// the slots of a real feed.
func script(t testing.TB, answer func(hello string, slots int) []byte) (path string) {
	t.Helper()
	s := listen(t, rows(t, 40), feed.Options{Loader: shuffled(4), Slots: 3, Epochs: 2})
	s.run(t)
	w := greeted(t, s.path, "{\"version\":1}\n") // keeps the rank
	line, err := json.Marshal(map[string]any{
		"version": 1, "rank": 0, "world": 1, "rows": 4, "epochs": 2, "slots": w.hello.Slots, "schema": w.hello.Schema, "state": w.hello.State,
	})
	require.NoError(t, err)
	path = t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { require.NoError(t, l.Close()); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(answer(string(line)+"\n", len(w.hello.Slots))) // the client may be gone
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_ = conn.Close()
		}
	}()
	return path
}

// encode returns a message.
func encode(slot, rows uint32, epoch, batch uint64, text string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, slot)
	b = binary.LittleEndian.AppendUint32(b, rows)
	b = binary.LittleEndian.AppendUint64(b, epoch)
	b = binary.LittleEndian.AppendUint64(b, batch)
	return append(b, text...)
}

// TestHostileHello answers a client with lines that are not hello. It makes a feed for each, and
// one line has 17 MiB, which takes a second.
func TestHostileHello(t *testing.T) {
	change := func(old, new string) func(string, int) []byte {
		return func(hello string, _ int) []byte {
			if !strings.Contains(hello, old) {
				panic(hello)
			}
			return []byte(strings.Replace(hello, old, new, 1))
		}
	}
	send := func(b []byte) func(string, int) []byte { return func(string, int) []byte { return b } }
	for _, tt := range []struct {
		name   string
		answer func(hello string, slots int) []byte
		is     error
		text   string
	}{
		{"nothing", send(nil), feed.ErrLost, ""},
		{"half of it", func(hello string, _ int) []byte { return []byte(hello[:20]) }, feed.ErrLost, "unexpected EOF"},
		{"an HTTP server", send([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")), feed.ErrProtocol, "want hello"},
		{"half a message", send([]byte("HTTP/1.1")), feed.ErrLost, ""},
		{"an end", send(encode(endMark, 0, 0, 0, "")), feed.ErrProtocol, "want hello"},
		{"an error of 4 GiB", send(encode(errorMark, 1<<32-1, 0, 0, "x")), feed.ErrProtocol, "got a text of 4294967295 bytes"},
		{"not JSON", send([]byte("{]\n")), feed.ErrProtocol, "hello: invalid character"},
		{"a line of 17 MiB", send([]byte("{" + strings.Repeat(" ", 17<<20))), feed.ErrProtocol, "more than 16777216 bytes"},
		{"another version", change(`"version":1,"world"`, `"version":9,"world"`), feed.ErrProtocol, "got version 9 of the protocol, want 1"},
		{"rank below 0", change(`"rank":0`, `"rank":-1`), feed.ErrProtocol, "got rank -1"},
		{"no world", change(`"world":1`, `"world":0`), feed.ErrProtocol, "got world 0"},
		{"no rows", change(`"rows":4`, `"rows":0`), feed.ErrProtocol, "got rows 0"},
		{"other rows than the slots", change(`"rows":4,`, `"rows":5,`), feed.ErrProtocol, "got slot 0 of shape [4], want 5 rows"},
		{"epochs below 0", change(`"epochs":2`, `"epochs":-2`), feed.ErrProtocol, "cannot unmarshal number -2"},
		{"a batch below 0", change(`"batch":0`, `"batch":-1`), feed.ErrProtocol, "got batch -1"},
		{"no slots", change(`"slots":[`, `"slots":[],"other":[`), feed.ErrProtocol, "got slots 0"},
		{"a slot that is not there", change(`"slots":[`, `"slots":["/nowhere/0",`), fs.ErrNotExist, "/nowhere/0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := feed.Dial(t.Context(), script(t, tt.answer), feed.DialOptions{})
			require.ErrorIs(t, err, tt.is)
			require.ErrorContains(t, err, tt.text)
		})
	}
}

// TestHostileMessages sends a client messages that break the protocol.
func TestHostileMessages(t *testing.T) {
	good := encode(0, 4, 0, 1, "")
	for _, tt := range []struct {
		name string
		send []byte
		is   error
		text string
	}{
		{"no such slot", encode(3, 4, 0, 1, ""), feed.ErrProtocol, "got slot 3 of 3"},
		{"too many rows", encode(0, 5, 0, 1, ""), feed.ErrProtocol, "got a batch of 5 rows, want at most 4"},
		{"another epoch", encode(0, 4, 1, 1, ""), feed.ErrProtocol, "got a batch of epoch 1, want 0"},
		{"a batch again", bytes.Join([][]byte{good, encode(1, 4, 0, 1, "")}, nil), feed.ErrProtocol, "got batch 1 after batch 1"},
		{"a batch beyond all numbers", encode(0, 4, 0, 1<<63, ""), feed.ErrProtocol, "got batch 9223372036854775808"},
		{"an unknown message", encode(0xFFFFFFF1, 4, 0, 1, ""), feed.ErrProtocol, "got message 0xfffffff1"},
		{"the end of another epoch", encode(epochMark, 0, 7, 0, ""), feed.ErrProtocol, "got the end of epoch 7, want 0"},
		{"a state that is not JSON", encode(stateMark, 1, 0, 0, "x"), feed.ErrProtocol, "state: invalid character"},
		{"a state of another epoch", encode(stateMark, 11, 0, 0, `{"epoch":5}`), feed.ErrProtocol, "got a state of epoch 5, batch 0, want epoch 0, batch 0"},
		{"an endless text", encode(stateMark, 1<<30, 0, 0, "x"), feed.ErrProtocol, "got a text of 1073741824 bytes"},
		{"half a message", good[:20], feed.ErrLost, ""},
		{"half a text", encode(errorMark, 10, 0, 0, "x"), feed.ErrLost, ""},
		{"an error", encode(errorMark, 3, 0, 0, "bad"), nil, "from the feed: bad"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := script(t, func(hello string, _ int) []byte { return append([]byte(hello), tt.send...) })
			c := dial(t, path, feed.DialOptions{})
			var err error
			for _, err = range c.Batches(t.Context()) {
			}
			require.ErrorContains(t, err, tt.text)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			for _, again := range c.Batches(t.Context()) {
				require.Equal(t, err, again)
			}
		})
	}
}

// TestLongRequest: Dial does not send a request that no feed accepts, and so does not wait for a
// feed that does not read it.
func TestLongRequest(t *testing.T) {
	s := listen(t, rows(t, 100), feed.Options{Loader: shuffled(4)})
	_, err := feed.Dial(t.Context(), s.path, feed.DialOptions{State: &loader.State{Dataset: strings.Repeat("x", 1<<20)}})
	require.ErrorIs(t, err, feed.ErrProtocol)
}
