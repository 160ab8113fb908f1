package mongowire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// TestFind has what finds of read.bin return: id, kind and chunk_id of each document.
func TestFind(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 3), mongowire.Options{ChunkBytes: 600})
	c := dial(t, addr)
	for n := range byte(3) {
		c.put(n, 4)
	}
	all := "0d0 0d1 0l0 0l1 1d0 1d1 1l0 1l1 2d0 2d1 2l0 2l1"
	words := strings.Fields(all)
	down := strings.Fields(all)
	for i := range down {
		down[i] = words[len(words)-1-i]
	}
	for _, tt := range []struct {
		rule string
		with bson.D
		want string
	}{
		{"all", nil, all},
		{"ids", bson.D{{"filter", bson.D{{"id", bson.D{{"$in", bson.A{2, 0, 2, 7, -1, int64(1 << 40)}}}}}}}, "0d0 0d1 0l0 0l1 2d0 2d1 2l0 2l1"},
		{"ids and kinds", bson.D{{"filter", bson.D{{"id", bson.D{{"$in", bson.A{1}}}}, {"kind", bson.D{{"$in", bson.A{"label", "x"}}}}}}}, "1l0 1l1"},
		{"an id", bson.D{{"filter", bson.D{{"id", 2.0}, {"kind", "data"}}}}, "2d0 2d1"},
		{"an id of another kind", bson.D{{"filter", bson.D{{"id", "2"}}}}, ""},
		{"the last", bson.D{{"sort", bson.D{{"id", -1}}}, {"limit", 1}, {"singleBatch", true}}, "2l1"},
		{"down", bson.D{{"sort", bson.D{{"_id", -1}}}}, strings.Join(down, " ")},
		{"small batches", bson.D{{"batchSize", 5}}, all},
		{"batches of one", bson.D{{"batchSize", 1}, {"limit", 3}}, "0d0 0d1 0l0"},
		{"telomeres", bson.D{{"filter", bson.D{{"telomere", bson.D{{"$exists", true}}}}}}, "0l1 1l1 2l1"},
		{"bounds", bson.D{{"filter", bson.D{{"id", bson.D{{"$gt", 0}, {"$lte", 1}}}, {"chunk_id", bson.D{{"$gte", 1}}}}}}, "1d1 1l1"},
		{"nothing", bson.D{{"filter", bson.D{{"nothing", 1}}}}, ""},
	} {
		var got []string
		for _, doc := range c.find("read.bin", tt.with...) {
			id, _ := doc.Get("id").Int()
			chunk, _ := doc.Get("chunk_id").Int()
			kind, _ := doc.Get("kind").Text()
			got = append(got, fmt.Sprintf("%d%c%d", id, kind[0], chunk))
		}
		require.Equal(t, tt.want, strings.Join(got, " "), tt.rule)
	}
	require.Zero(t, s.Cursors())
}

// TestProjection has the fields that are shown.
func TestProjection(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	for want, shows := range map[string]bson.D{
		"_id id chunk_id kind telomere chunk": {},
		"_id":                                 {{"_id", 1}},
		"_id id chunk":                        {{"id", 1}, {"chunk", true}},
		"id kind":                             {{"_id", 0}, {"id", 1}, {"kind", 1}},
		"_id id chunk_id kind telomere":       {{"chunk", 0}},
		"chunk_id kind telomere":              {{"_id", 0}, {"id", 0}, {"chunk", 0}},
		"id chunk_id kind telomere chunk":     {{"_id", 0}},
	} {
		docs := c.find("read.bin", e("projection", shows))
		var got []string
		for name := range docs[1].All() {
			got = append(got, name)
		}
		require.Equal(t, want, strings.Join(got, " "))
	}
}

// TestRefuses has commands, operators and options that are errors.
func TestRefuses(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	find := func(more ...bson.E) bson.D { return append(bson.D{{"find", "read.bin"}}, more...) }
	for _, tt := range []struct {
		d    bson.D
		code int
		says string
	}{
		{bson.D{{"aggregate", "read.bin"}}, 59, `no such command: "aggregate"`},
		{bson.D{{"count", "read.bin"}}, 59, `"count"`},
		{bson.D{}, 59, `"$db"`},
		{find(e("skip", 1)), 40415, `find: option "skip" is not supported`},
		{find(e("filter", bson.D{{"$or", bson.A{}}})), 2, `operator "$or" is not supported`},
		{find(e("filter", bson.D{{"id", bson.D{{"$mod", bson.A{2, 0}}}}})), 2, `"id": operator "$mod"`},
		{find(e("filter", bson.D{{"id", bson.D{{"$in", 1}}}})), 2, "$in wants an array"},
		{find(e("filter", bson.D{{"id", nil}})), 2, "got a value of kind 0x0a"},
		{find(e("filter", bson.D{{"id", 1.5}})), 2, "got a value of kind 0x01"},
		{find(e("filter", bson.D{{"id", bson.D{{"$gt", nil}}}})), 2, `operator "$gt"`},
		{find(e("filter", bson.D{{"chunk", "x"}})), 2, "a condition on the field chunk"},
		{find(e("sort", bson.D{{"kind", 1}})), 2, "sort: want id or _id"},
		{find(e("sort", bson.D{{"id", 1}, {"chunk_id", 1}})), 2, "sort: want id or _id"},
		{find(e("filter", "x")), 2, "filter: want a document"},
		{find(e("filter", bson.A{})), 2, "filter: want a document"},
		{find(e("sort", 1)), 2, "sort: want a document"},
		{find(e("projection", "id")), 2, "projection: want a document"},
		{find(e("filter", bson.D{{"kind", strings.Repeat("x", 1<<20)}})), 2, "filter: got 1048592 bytes, want at most 1048576"},
		{bson.D{{"listCollections", 1}, {"filter", true}}, 2, "filter: want a document"},
		{bson.D{{"insert", "write.bin"}, {"documents", bson.A{bson.D{}, 1}}}, 2, "documents: want an array of documents"},
		{bson.D{{"insert", "write.bin"}, {"documents", 1}}, 2, "documents: want an array of documents"},
		{bson.D{{"insert", "write.bin"}}, 2, "documents: want an array of documents"},
		{bson.D{{"update", "counter"}, {"updates", bson.A{1}}}, 2, "updates: want an array of documents"},
		{find(e("limit", -1)), 2, "limit: want an integer"},
		{find(e("projection", bson.D{{"id", 1}, {"kind", 0}})), 2, "all 0 or all 1"},
		{find(e("projection", bson.D{{"id", "$x"}})), 2, "want 0 or 1"},
		{bson.D{{"getMore", int64(7)}, {"collection", "read.bin"}}, 43, "cursor 7"},
		{bson.D{{"insert", "read.bin"}}, 115, "samples go to write.bin"},
		{bson.D{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "started"}}}, {"update", bson.D{{"$set", bson.D{{"sequence_value", 1}}}}}}, 115, "want an $inc"},
		{bson.D{{"findAndModify", "counter"}, {"query", bson.D{{"_id", "started"}}}, {"update", bson.D{{"$inc", bson.D{{"sequence_value", 5}}}}}}, 115, "want an $inc"},
		{bson.D{{"findAndModify", "other"}, {"query", bson.D{{"_id", "started"}}}}, 115, "it is for the counters"},
		{bson.D{{"findAndModify", "counter"}, {"remove", true}}, 40415, `option "remove"`},
		{bson.D{{"update", "counter"}, {"updates", bson.A{bson.D{{"q", bson.D{{"_id", "swap_lock"}}}}}}}, 115, "want a $set"},
		{bson.D{{"saslStart", 1}, {"mechanism", "PLAIN"}}, 18, "has no password"},
	} {
		reply := c.do(tt.d, "")
		code, _ := reply.Get("code").Int()
		require.Contains(t, firstError(reply), tt.says)
		require.EqualValues(t, tt.code, code, tt.says)
	}
	for _, d := range []bson.D{find(), {{"insert", "write.bin"}, {"documents", bson.A{bson.D{}}}}} {
		for _, field := range []string{"filter", "lsid", "documents"} { // that are no sequences, or there twice
			reply := c.do(d, field, bson.D{{"id", 7}})
			require.NotEmpty(t, firstError(reply), "%s with a sequence %s: %s", d[0].Name(), field, show(reply))
		}
	}
	_, err := c.Write(request(bson.D{{"find", "read.bin"}, {"$db", "other"}}, ""))
	require.NoError(t, err)
	reply, err := c.receive()
	require.NoError(t, err)
	require.Contains(t, firstError(reply), `got database "other", want "unit"`)
	require.Zero(t, s.Cursors())
}

// TestCursorsEnd ends cursors by killCursors, and with their connection.
func TestCursorsEnd(t *testing.T) {
	s, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	c := dial(t, addr)
	c.put(1, 4)
	c.put(2, 4)
	open := func(c *client) int64 { return c.openCursor("read.bin") }
	id := open(c)
	require.Equal(t, 1, s.Cursors())
	reply := c.do(bson.D{{"killCursors", "read.bin"}, {"cursors", bson.A{id, int64(5)}}}, "")
	require.Contains(t, show(reply), "cursorsNotFound: {0: 5}")
	require.Zero(t, s.Cursors())
	other := dial(t, addr)
	open(other)
	_ = other.Close()
	eventually(t, func() bool { return s.Cursors() == 0 })
	first := open(c)
	for range 64 {
		open(c)
	}
	require.Equal(t, 64, s.Cursors(), "the one that was used longest ago ends")
	require.Contains(t, firstError(c.do(bson.D{{"getMore", first}, {"collection", "read.bin"}}, "")), "64 cursors were opened after it")
}

// TestLargeCursors has clients whose cursors have filters of 1 MB: they take a bounded memory, and
// the cursors of another address stay.
func TestLargeCursors(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	c, other := dial(t, addr), dialFrom(t, "127.0.0.2", addr)
	c.put(1, 4)
	c.put(2, 4)
	mine := other.openCursor("read.bin")
	long := bson.D{{"kind", bson.D{{"$in", bson.A{"data", "label", strings.Repeat("x", 1_000_000)}}}}}
	for range 40 {
		c.openCursor("read.bin", e("filter", long))
		require.LessOrEqual(t, s.CursorBytes(), 16<<20)
	}
	require.Greater(t, s.Cursors(), 10)
	require.Empty(t, firstError(other.do(bson.D{{"getMore", mine}, {"collection", "read.bin"}}, "")))
}

// openCursor sends a find of one document, and returns its cursor.
func (c *client) openCursor(collection string, more ...bson.E) int64 {
	c.t.Helper()
	reply := c.do(append(bson.D{{"find", collection}, {"batchSize", 1}}, more...), "")
	cursor, _ := reply.Get("cursor").Doc()
	id, _ := cursor.Get("id").Int()
	require.NotZero(c.t, id, show(reply))
	return id
}

// TestCursorHoldsNothing has readers that leave cursors open: producers do not wait, and a cursor
// goes on as long as its generation is kept, and says so afterwards.
func TestCursorHoldsNothing(t *testing.T) {
	waitForever(t)
	for _, retain := range []int{-1, 0, 2} {
		c := directory(t, pair(t, 4), samplecache.Config{Samples: 1, Retain: retain})
		s, addr := serve(t, c, mongowire.Options{})
		writer, reader := dial(t, addr), dial(t, addr)
		writer.put(0, 4)
		var open []int64
		for n := range byte(12) {
			open = append(open, reader.openCursor("read.bin"))
			writer.put(n, 4)
		}
		require.Equal(t, 12, s.Cursors())
		require.Contains(t, firstError(reader.do(bson.D{{"getMore", open[0]}, {"collection", "read.bin"}}, "")), "generation 1 is not kept any more: find again")
		if retain == 2 {
			reply := reader.do(bson.D{{"getMore", open[11]}, {"collection", "read.bin"}}, "")
			require.Empty(t, firstError(reply))
			cursor, _ := reply.Get("cursor").Doc()
			batch, _ := cursor.Get("nextBatch").Doc()
			require.Equal(t, 1, batch.Len())
		}
		require.NoError(t, s.Close())
		require.NoError(t, c.Close())
	}
}

// TestCursorsOfViews read collections of few documents one at a time, in both orders.
func TestCursorsOfViews(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	for n := range byte(3) {
		c.put(n, 4)
		c.find("status") // the server sees each publication
	}
	for collection, n := range map[string]int{"counter": 2, "status": 3, "read.bin": 2, "write.bin": 0} {
		for _, sort := range []int{1, -1} {
			all := c.find(collection, e("sort", bson.D{{"_id", sort}}))
			require.Len(t, all, n, collection)
			require.Equal(t, all, c.find(collection, e("sort", bson.D{{"_id", sort}}), e("batchSize", 1)), collection)
		}
	}
}

// TestCursorBesideAPublication publishes between two batches of a collection that grows: each
// document comes once.
func TestCursorBesideAPublication(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	for _, sort := range []int{1, -1} {
		c.put(1, 4)
		c.find("status") // the server sees each publication
		c.put(2, 4)
		order := e("sort", bson.D{{"_id", sort}})
		all := c.find("status", order)
		id := c.openCursor("status", order)
		c.put(3, 4)
		reply := c.do(bson.D{{"getMore", id}, {"collection", "status"}}, "")
		cursor, _ := reply.Get("cursor").Doc()
		batch, _ := cursor.Get("nextBatch").Doc()
		var rest []bson.Doc
		for _, v := range batch.All() {
			doc, _ := v.Doc()
			rest = append(rest, doc)
		}
		require.Equal(t, all[1:], rest)
	}
}

// TestThousandDocuments has a reply of at most 1,000 documents.
func TestThousandDocuments(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4<<10), 1), mongowire.Options{ChunkBytes: 4})
	c := dial(t, addr)
	c.put(1, 4<<10)
	reply := c.do(bson.D{{"find", "read.bin"}, {"batchSize", 5000}}, "")
	cursor, _ := reply.Get("cursor").Doc()
	batch, _ := cursor.Get("firstBatch").Doc()
	require.Equal(t, 1000, batch.Len())
	all := c.find("read.bin")
	require.Greater(t, len(all), 2000)
	got, err := loaded(c.find("read.bin", e("filter", bson.D{{"kind", "data"}})))
	require.NoError(t, err)
	require.True(t, got.Equal(filled(t, 1, 4<<10)))
}

// TestReplySize has documents that fit into a reply of 16 MiB one, two, or three at a time.
func TestReplySize(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 11<<20), 1), mongowire.Options{ChunkBytes: 5 << 20})
	c := dial(t, addr)
	c.put(7, 11<<20)
	reply := c.do(bson.D{{"find", "read.bin"}}, "")
	cursor, _ := reply.Get("cursor").Doc()
	batch, _ := cursor.Get("firstBatch").Doc()
	require.Equal(t, 3, batch.Len(), "5, 5 and 1 MiB")
	require.LessOrEqual(t, len(reply), 16<<20+1<<10)
	got, err := loaded(c.find("read.bin", e("filter", bson.D{{"kind", "label"}})))
	require.NoError(t, err)
	require.True(t, got.Equal(filled(t, 7, 11<<20)))
}
