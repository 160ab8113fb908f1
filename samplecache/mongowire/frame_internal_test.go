package mongowire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tensor"
)

// FuzzMessage parses messages. All that a message has lies in its bytes, and all documents are
// valid.
func FuzzMessage(f *testing.F) {
	b := make([]byte, 21)
	le.PutUint32(b[12:], opMsg)
	b = bson.Append(b, bson.D{{"insert", "write.bin"}})
	f.Add(b, int32(opMsg))
	b = append(append(b, 1, 0, 0, 0, 0), "documents\x00"...)
	b = bson.Append(b, bson.D{{"id", 1}})
	f.Add(b, int32(opMsg))
	f.Add(append(append(make([]byte, 20), "admin.$cmd\x00\x00\x00\x00\x00\x00\x00\x00\x00"...), bson.Append(nil, bson.D{{"ismaster", 1}})...), int32(opQuery))
	f.Fuzz(func(t *testing.T, b []byte, op int32) {
		if len(b) < headerBytes {
			return
		}
		m, err := parse(header{size: int32(len(b)), op: op}, bytes.Clone(b))
		if err != nil {
			if !errors.Is(err, errFrame) && !errors.Is(err, bson.ErrSyntax) {
				t.Fatalf("error %v", err)
			}
			return
		}
		size := 0
		for _, doc := range append([]bson.Doc{m.body}, m.docs...) {
			if _, err := bson.Parse(doc); err != nil {
				t.Fatal(err)
			}
			size += len(doc)
		}
		if size > len(b) {
			t.Fatalf("%d bytes of documents in %d", size, len(b))
		}
	})
}

// FuzzCommand executes commands on a server, and wants each reply to be a document with ok.
func FuzzCommand(f *testing.F) {
	for _, d := range []bson.D{
		{{"find", "read.bin"}, {"filter", bson.D{{"id", bson.D{{"$in", bson.A{0, 1}}}}}}, {"sort", bson.D{{"id", -1}}}, {"limit", 1}},
		{{"find", "status"}, {"projection", bson.D{{"_id", 0}}}, {"batchSize", 1}},
		{{"insert", "write.bin"}, {"documents", bson.A{bson.D{{"id", 0}, {"chunk_id", 0}, {"kind", "x"}, {"chunk", []byte{}}, {"telomere", true}}}}},
		{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "completed"}}}, {"update", bson.D{{"$inc", bson.D{{"sequence_value", 1}}}}}},
		{{"saslStart", 1}, {"mechanism", mechanism}, {"payload", []byte("n,,n=u,r=0123456789")}},
		{{"saslContinue", 1}, {"payload", []byte("c=biws,r=x,p=AAAA")}},
		{{"hello", 1}, {"saslSupportedMechs", "admin.u"}}, {{"listCollections", 1}, {"filter", bson.D{{"name", "counter"}}}},
		{{"collStats", "read.bin"}}, {{"killCursors", "read.bin"}, {"cursors", bson.A{1}}}, {{"getMore", 1}},
		{{"update", "counter"}, {"updates", bson.A{bson.D{{"q", bson.D{{"_id", "started"}}}, {"u", bson.D{{"$set", 1}}}}}}},
	} {
		f.Add([]byte(bson.Append(nil, append(d, bson.E{"$db", "unit"}))))
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := bson.Parse(b)
		if err != nil {
			return
		}
		c := &conn{server: s}
		c.login.done = true
		r := &request{message: message{body: doc}, conn: c}
		if name, _ := doc.First(); name == "findAndModify" && doc.Get("maxTimeMS").Kind == 0 {
			return // it may wait
		}
		var out bytes.Buffer
		if err := s.execute(r).writeTo(&out); err != nil {
			t.Fatal(err)
		}
		reply, err := bson.Parse(out.Bytes())
		if err != nil || reply.Get("ok").Kind != bson.Double {
			t.Fatalf("reply %x: %v", out.Bytes(), err)
		}
		r.end()
		s.cursors.left(c)
	})
}

// testServer returns a server with a generation of one sample.
func testServer(t testing.TB) *Server {
	c := testCache(t)
	s, err := New(c, Options{Database: "unit", User: "u", Password: "p"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	slot, err := s.store.Load().producer.Reserve(t.Context())
	require.NoError(t, err)
	require.NoError(t, slot.Commit(t.Context()))
	return s
}

// TestRope has ropes that are the documents that bson writes.
func TestRope(t *testing.T) {
	x := tensor.Must(tensor.From([]uint8{5, 6, 7, 8}, 4))
	var fields rope
	fields.add(bson.AppendValue(nil, "a", 1))
	fields.add(le.AppendUint32(bson.AppendName(nil, bson.Binary, "b"), 2))
	fields.add([]byte{0})
	fields.lend(x, 1, 3)
	got := cursorReply("firstBatch", "unit.x", 9, []rope{enclosed(fields), whole(bson.D{})})
	want := bson.D{{"cursor", bson.D{{"firstBatch", bson.A{bson.D{{"a", 1}, {"b", []byte{6, 7}}}, bson.D{}}}, {"id", int64(9)}, {"ns", "unit.x"}}}, {"ok", 1.0}}
	var out bytes.Buffer
	require.NoError(t, got.writeTo(&out))
	require.Equal(t, bson.Append(nil, want), out.Bytes())
	require.Equal(t, out.Len(), got.size)
	require.ErrorIs(t, got.writeTo(failing{}), os.ErrClosed)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestChunks reads files that come in pieces, at every place.
func TestChunks(t *testing.T) {
	text := "the quick brown fox"
	for size := 1; size <= len(text); size++ {
		var c chunks
		for i := 0; i < len(text); i += size {
			c.add([]byte(text[i:min(i+size, len(text))]))
			c.add(nil)
		}
		require.EqualValues(t, len(text), c.size())
		for from := range len(text) + 2 {
			for n := range len(text) + 2 {
				got, b := make([]byte, n), strings.NewReader(text)
				k, err := c.ReadAt(got, int64(from))
				want := make([]byte, n)
				wantK, _ := b.ReadAt(want, int64(from))
				require.Equal(t, wantK, k)
				require.Equal(t, want[:wantK], got[:k])
				require.Equal(t, k < n, err == io.EOF)
			}
		}
	}
}

// TestBudget serves those who wait in their order, and those who leave not at all.
func TestBudget(t *testing.T) {
	b := budget{most: 10}
	n, err := b.take(t.Context(), 100)
	require.NoError(t, err)
	require.EqualValues(t, 10, n, "all that there is")
	ctx, cancel := context.WithCancel(t.Context())
	type took struct {
		n   int64
		err error
	}
	first, second := make(chan took, 1), make(chan took, 1)
	wait := func(ctx context.Context, n int64, to chan took, queued int) {
		go func() {
			n, err := b.take(ctx, n)
			to <- took{n, err}
		}()
		require.Eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.queue) == queued }, time.Minute, time.Millisecond)
	}
	wait(ctx, 8, first, 1)
	wait(t.Context(), 3, second, 2)
	b.give(4)
	select {
	case <-second:
		t.Fatal("it came second")
	case <-time.After(10 * time.Millisecond):
	}
	cancel()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	require.Equal(t, took{3, nil}, <-second)
	b.give(3)
	b.give(6)
	require.Zero(t, b.used)
}

// TestBuffersAreUsedAgain gives the buffer of a message to the next one.
func TestBuffersAreUsedAgain(t *testing.T) {
	s := testServer(t)
	for range 1000 { // a pool may forget
		c := &conn{server: s}
		r := &request{conn: c, whole: newBuffer(5000), spent: true, memory: s.messages.user(c, 5000)}
		first := &r.whole[0]
		r.forget()
		if &newBuffer(5000)[0] == first {
			return
		}
	}
	t.Fatal("it never is")
}
