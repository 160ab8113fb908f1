package mongowire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var le = binary.LittleEndian

// pair returns a schema as wirehead has it: uint8 data and label.
func pair(t testing.TB, shape ...int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New()
	for _, key := range []nestedkey.Key{"data", "label"} {
		require.NoError(t, td.Set(key, tensor.Must(tensor.NewMeta(tensor.Uint8, shape...))))
	}
	return td
}

// memory returns a cache in memory.
func memory(t testing.TB, schema *tdict.TensorDict, samples int) *samplecache.Cache {
	t.Helper()
	e, err := memcache.New(schema, samplecache.Config{Samples: samples})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// directory returns a cache in a directory.
func directory(t testing.TB, schema *tdict.TensorDict, config samplecache.Config) *samplecache.Cache {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, schema, config))
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// serve serves a cache until the test ends, and returns the address.
func serve(t testing.TB, c *samplecache.Cache, opt mongowire.Options) (*mongowire.Server, string) {
	t.Helper()
	if opt.Database == "" {
		opt.Database = "unit"
	}
	s, err := mongowire.New(c, opt)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := s.Serve(l); err != mongowire.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		_ = s.Close()
		ended.Wait()
	})
	return s, l.Addr().String()
}

// A client speaks the protocol.
type client struct {
	t testing.TB
	net.Conn
	session bson.D // lsid, or nil
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(5*time.Minute)))
	return &client{t: t, Conn: nc}
}

// waitForever makes the server wait for an hour where it waits for a client: who waits for a silent
// one then finds that its own connection has ended.
func waitForever(t *testing.T) {
	mongowire.SetStall(t, time.Hour)
	mongowire.SetPatience(t, time.Hour)
}

// dialFrom is dial from another address of this machine.
func dialFrom(t testing.TB, ip, addr string) *client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	nc, err := d.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(5*time.Minute)))
	return &client{t: t, Conn: nc}
}

// with gives the client a session of a driver.
func (c *client) with(id string) *client {
	c.session = bson.D{{"id", []byte(fmt.Sprintf("%-16s", id))}}
	return c
}

// request returns the bytes of an OP_MSG with a command and documents that follow it.
func request(d bson.D, field string, docs ...bson.D) []byte {
	b := make([]byte, 21) // header, flags, kind 0
	le.PutUint32(b[12:], 2013)
	b = bson.Append(b, d)
	if field != "" {
		at := len(b) + 1
		b = append(append(append(b, 1, 0, 0, 0, 0), field...), 0)
		for _, doc := range docs {
			b = bson.Append(b, doc)
		}
		le.PutUint32(b[at:], uint32(len(b)-at))
	}
	le.PutUint32(b, uint32(len(b)))
	return b
}

// receive reads a reply.
func (c *client) receive() (bson.Doc, error) {
	head := make([]byte, 16)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	b := make([]byte, le.Uint32(head)-16)
	if _, err := io.ReadFull(c, b); err != nil {
		return nil, err
	}
	skip := 5
	if le.Uint32(head[12:]) == 1 {
		skip = 20
	}
	return bson.Parse(b[skip:])
}

// try sends a command for the database unit and returns the reply.
func (c *client) try(d bson.D, field string, docs ...bson.D) (bson.Doc, error) {
	d = append(d, bson.E{"$db", "unit"})
	if c.session != nil {
		d = append(d, bson.E{"lsid", c.session})
	}
	if _, err := c.Write(request(d, field, docs...)); err != nil {
		return nil, err
	}
	return c.receive()
}

// do is try of a command that gets a reply.
func (c *client) do(d bson.D, field string, docs ...bson.D) bson.Doc {
	c.t.Helper()
	doc, err := c.try(d, field, docs...)
	require.NoError(c.t, err)
	return doc
}

// draw draws a ticket.
func (c *client) draw() int {
	c.t.Helper()
	n, err := c.tryDraw()
	require.NoError(c.t, err)
	return n
}

func (c *client) tryDraw() (int, error) {
	doc, err := c.try(drawing(), "")
	if err != nil {
		return 0, err
	}
	value, _ := doc.Get("value").Doc()
	n, ok := value.Get("sequence_value").Int()
	if !ok {
		return 0, fmt.Errorf("got %v", show(doc))
	}
	return int(n), nil
}

func drawing() bson.D {
	return bson.D{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "started"}}}, {"update", bson.D{{"$inc", bson.D{{"sequence_value", 1}}}}}, {"new", false}}
}

// file returns the file of a tensor.
func file(t testing.TB, x *tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, torchzip.Write(&b, x))
	return b.Bytes()
}

// filled returns a tensor of uint8 whose elements are all n.
func filled(t testing.TB, n byte, shape ...int) *tensor.Tensor {
	t.Helper()
	x := tensor.Must(tensor.New(tensor.Uint8, shape...))
	require.NoError(t, tensor.Write(x, func(b []uint8) {
		for i := range b {
			b[i] = n
		}
	}))
	return x
}

// parts returns the documents of a sample, whose files are cut into chunks.
func parts(id, chunk int, kinds []string, files ...[]byte) (docs []bson.D) {
	for i, kind := range kinds {
		for n := 0; n == 0 || n*chunk < len(files[i]); n++ {
			b := files[i][n*chunk : min((n+1)*chunk, len(files[i]))]
			docs = append(docs, bson.D{{"_id", bson.ID{byte(n)}}, {"id", id}, {"chunk_id", n}, {"kind", kind}, {"chunk", b}})
		}
	}
	docs[len(docs)-1] = append(docs[len(docs)-1], bson.E{"telomere", true})
	return docs
}

var kinds = []string{"data", "label"}

// sample returns the documents of a pair whose elements are all n.
func sample(t testing.TB, id int, n byte, shape ...int) []bson.D {
	t.Helper()
	f := file(t, filled(t, n, shape...))
	return parts(id, 1<<20, kinds, f, f)
}

// insert inserts documents and returns the text of the first write error.
func (c *client) insert(docs ...bson.D) string {
	c.t.Helper()
	doc := c.do(bson.D{{"insert", "write.bin"}, {"ordered", true}}, "documents", docs...)
	return firstError(doc)
}

func firstError(doc bson.Doc) string {
	if text, failed := doc.Get("errmsg").Text(); failed {
		return text
	}
	failed, _ := doc.Get("writeErrors").Doc()
	_, first := failed.First()
	of, _ := first.Doc()
	text, _ := of.Get("errmsg").Text()
	return text
}

// put draws a ticket and inserts a sample, as a generator does.
func (c *client) put(n byte, shape ...int) {
	c.t.Helper()
	require.Empty(c.t, c.insert(sample(c.t, c.draw(), n, shape...)...))
}

// find returns all documents of a find, by as many batches as it takes.
func (c *client) find(collection string, more ...bson.E) (docs []bson.Doc) {
	c.t.Helper()
	reply := c.do(append(bson.D{{"find", collection}}, more...), "")
	for name := "firstBatch"; ; name = "nextBatch" {
		cursor, ok := reply.Get("cursor").Doc()
		require.True(c.t, ok, show(reply))
		batch, _ := cursor.Get(name).Doc()
		for _, v := range batch.All() {
			doc, _ := v.Doc()
			docs = append(docs, doc)
		}
		id, _ := cursor.Get("id").Int()
		if id == 0 {
			return docs
		}
		reply = c.do(bson.D{{"getMore", id}, {"collection", collection}}, "")
	}
}

// show returns the text of a document. Bytes that are many are a checksum.
func show(doc bson.Doc) string {
	var texts []string
	for name, v := range doc.All() {
		texts = append(texts, name+": "+showValue(v))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

func showValue(v bson.Value) string {
	if d, ok := v.Doc(); ok {
		return show(d)
	}
	if text, ok := v.Text(); ok {
		return fmt.Sprintf("%q", text)
	}
	if n, ok := v.Int(); ok {
		return fmt.Sprint(n)
	}
	if b, ok := v.Bytes(); ok && len(b) > 16 {
		return fmt.Sprintf("%d bytes, %08x", len(b), crc32.ChecksumIEEE(b))
	} else if ok {
		return fmt.Sprintf("%x", b)
	}
	return fmt.Sprintf("kind %#02x, %v", v.Kind, v.True())
}

// eventually waits until ok returns true.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, time.Minute, 2*time.Millisecond)
}

// within returns a context that ends after a while.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

type (
	ctx        = context.Context
	createFunc = func(ctx, *tdict.TensorDict) (*samplecache.Cache, error)
)

func nestedKey(key string) nestedkey.Key { return nestedkey.Key(key) }

// snapshotOf returns the fields of a snapshot as JSON.
func snapshotOf(t testing.TB, s *mongowire.Server) (fields map[string]any) {
	snap, err := s.Snapshot(mongowire.Snapshot{})
	require.NoError(t, err)
	b, err := json.Marshal(snap)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &fields))
	return fields
}

func e(name string, value any) bson.E { return bson.E{name, value} }

// of returns the filter of a kind of a sample.
func of(kind string, id int) bson.D { return bson.D{{"kind", kind}, {"id", id}} }
