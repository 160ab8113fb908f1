package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	own "github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var kinds = []string{"data", "label"}

// serve serves a cache of generations of samples, which are uint8 [n] for each kind.
func serve(t testing.TB, samples, n int, opt mongowire.Options) (addr string) {
	t.Helper()
	e, err := memcache.New(schema(t, n), samplecache.Config{Samples: samples})
	require.NoError(t, err)
	return serveEngine(t, e, opt)
}

// schema returns the schema of samples that are uint8 [n] for each kind.
func schema(t testing.TB, n int) *tdict.TensorDict {
	schema := tdict.New()
	for _, kind := range kinds {
		require.NoError(t, schema.Set(nestedkey.Key(kind), tensor.Must(tensor.NewMeta(tensor.Uint8, n))))
	}
	return schema
}

// serveEngine serves the cache of an engine.
func serveEngine(t testing.TB, e samplecache.Engine, opt mongowire.Options) (addr string) {
	t.Helper()
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	opt.Database = "unit"
	s, err := mongowire.New(c, opt)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, c.Close())
	})
	return l.Addr().String()
}

func connect(t testing.TB, uri string) *mongo.Database {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("unit")
}

// file returns the file of a tensor whose elements are all v.
func file(t testing.TB, v byte, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, torchzip.Write(&b, tensor.Must(tensor.From(bytes.Repeat([]byte{v}, n), n))))
	return b.Bytes()
}

// put does what wirehead's generator does for a sample.
func put(ctx context.Context, db *mongo.Database, chunk int, files ...[]byte) error {
	var counter struct {
		Value int `bson:"sequence_value"`
	}
	inc := func(id string) error {
		return db.Collection("counter").FindOneAndUpdate(ctx, bson.D{{"_id", id}}, bson.D{{"$inc", bson.D{{"sequence_value", 1}}}},
			options.FindOneAndUpdate().SetReturnDocument(options.Before)).Decode(&counter)
	}
	if err := inc("started"); err != nil {
		return err
	}
	var docs []any
	for i, kind := range kinds {
		for n := 0; n*chunk < len(files[i]); n++ {
			docs = append(docs, bson.D{{"id", counter.Value}, {"chunk_id", n}, {"kind", kind}, {"chunk", bson.Binary{Data: files[i][n*chunk : min((n+1)*chunk, len(files[i]))]}}})
		}
	}
	docs[len(docs)-1] = append(docs[len(docs)-1].(bson.D), bson.E{Key: "telomere", Value: true})
	if _, err := db.Collection("write.bin").InsertMany(ctx, docs); err != nil {
		return err
	}
	return inc("completed")
}

// read does what wirehead's dataset does for some samples, and returns the bytes of all files.
func read(ctx context.Context, db *mongo.Database, ids ...int) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	err = eachChunk(ctx, db, ids, func(id int32, kind string, chunk []byte) {
		name := fmt.Sprint(id, kind)
		files[name] = append(files[name], chunk...)
	})
	return files, err
}

// eachChunk finds the chunks of some samples.
func eachChunk(ctx context.Context, db *mongo.Database, ids []int, do func(id int32, kind string, chunk []byte)) error {
	cur, err := db.Collection("read.bin").Find(ctx, bson.D{{"id", bson.D{{"$in", ids}}}, {"kind", bson.D{{"$in", kinds}}}},
		options.Find().SetProjection(bson.D{{"id", 1}, {"chunk", 1}, {"kind", 1}, {"chunk_id", 1}}))
	if err != nil {
		return err
	}
	for cur.Next(ctx) {
		doc := cur.Current
		_, chunk := doc.Lookup("chunk").Binary()
		do(doc.Lookup("id").Int32(), doc.Lookup("kind").StringValue(), chunk)
	}
	return cur.Err()
}

// TestSequence puts and reads with the driver what wirehead does with pymongo.
func TestSequence(t *testing.T) {
	ctx := t.Context()
	db := connect(t, "mongodb://lab:secret@"+serve(t, 4, 3<<20, mongowire.Options{User: "lab", Password: "secret", ChunkBytes: 1 << 20}))
	require.NoError(t, db.Client().Ping(ctx, nil))
	names, err := db.ListCollectionNames(ctx, bson.D{})
	require.NoError(t, err)
	require.Contains(t, names, "counter")
	for v := range byte(9) {
		require.NoError(t, put(ctx, db, 1<<20, file(t, v, 3<<20), file(t, 7*v, 3<<20)))
	}
	n := 0
	cur, err := db.Collection("status").Find(ctx, bson.D{{"swapped", true}}, options.Find().SetSort(bson.D{{"_id", 1}}))
	require.NoError(t, err)
	for cur.Next(ctx) {
		n++
	}
	require.Equal(t, 2, n)
	var last struct{ ID int }
	require.NoError(t, db.Collection("read.bin").FindOne(ctx, bson.D{}, options.FindOne().SetSort(bson.D{{"id", -1}})).Decode(&last))
	require.Equal(t, 3, last.ID)
	files, err := read(ctx, db, 0, 1, 2, 3)
	require.NoError(t, err)
	require.Len(t, files, 8)
	for i := range 4 {
		want := []byte{}
		for v := byte(4); v < 8; v++ {
			if bytes.Equal(files[fmt.Sprint(i, "data")], file(t, v, 3<<20)) {
				want = file(t, 7*v, 3<<20)
			}
		}
		require.True(t, bytes.Equal(want, files[fmt.Sprint(i, "label")]), "sample %d", i)
	}
}

// TestErrors has what the driver makes of errors.
func TestErrors(t *testing.T) {
	ctx := t.Context()
	addr := serve(t, 2, 4, mongowire.Options{User: "lab", Password: "secret"})
	short := "/?serverSelectionTimeoutMS=3000"
	require.ErrorContains(t, connect(t, "mongodb://lab:wrong@"+addr+short).Client().Ping(ctx, nil), "wrong user or password")
	require.ErrorContains(t, connect(t, "mongodb://"+addr+short).RunCommand(ctx, bson.D{{"collStats", "read.bin"}}).Err(), "needs a login")
	db := connect(t, "mongodb://lab:secret@"+addr)
	require.ErrorContains(t, db.RunCommand(ctx, bson.D{{"mapReduce", "read.bin"}}).Err(), "no such command")
	require.ErrorContains(t, db.Drop(ctx), "dropDatabase")
	failed, ok := put(ctx, db, 1<<20, file(t, 1, 5), file(t, 1, 4)).(mongo.BulkWriteException)
	require.True(t, ok)
	require.Contains(t, failed.WriteErrors[0].Message, "got uint8 [5], want uint8 [4]")
}

// TestClients has eight clients put at once, each sample once.
func TestClients(t *testing.T) {
	addr := serve(t, 16, 4, mongowire.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		db := connect(t, "mongodb://"+addr)
		all.Go(func() {
			for n := range 10 {
				if err := put(t.Context(), db, 300, file(t, byte(10*i+n), 4), file(t, byte(10*i+n), 4)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	n, err := connect(t, "mongodb://"+addr).Collection("status").Find(t.Context(), bson.D{})
	require.NoError(t, err)
	var docs []bson.D
	require.NoError(t, n.All(t.Context(), &docs))
	require.Len(t, docs, 5, "80 samples")
}

// FuzzBSON compares what this module's reader of BSON takes with what the driver's takes.
func FuzzBSON(f *testing.F) {
	for _, d := range []bson.D{
		{}, {{"a", int32(1)}, {"b", int64(2)}, {"c", 1.5}, {"d", "text"}, {"e", nil}, {"f", true}},
		{{"a", bson.Binary{Data: []byte{1}}}, {"o", bson.NewObjectID()}, {"t", bson.NewDateTimeFromTime(time.Unix(0, 0))}},
		{{"a", bson.A{int32(1), bson.D{{"x", bson.Regex{Pattern: "a", Options: "i"}}}}}, {"m", bson.MinKey{}}, {"n", bson.MaxKey{}}},
		{{"d", bson.NewDecimal128(1, 2)}, {"ts", bson.Timestamp{T: 1, I: 2}}, {"j", bson.JavaScript("f")}, {"s", bson.Symbol("s")}},
	} {
		b, err := bson.Marshal(d)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := own.Parse(b)
		if err != nil {
			return // ours is stricter: UTF-8, depth, kinds that MongoDB gave up
		}
		raw := bson.Raw(b)
		if err := raw.Validate(); err != nil {
			t.Fatalf("the driver: %v", err)
		}
		elements, err := raw.Elements()
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for name, v := range doc.All() {
			e := elements[i]
			i++
			if e.Key() != name || byte(e.Value().Type) != v.Kind {
				t.Fatalf("field %d: got %q of kind %#x, the driver has %q, %#x", i, name, v.Kind, e.Key(), byte(e.Value().Type))
			}
			if n, ok := e.Value().AsInt64OK(); ok && v.Kind != own.Double {
				if got, _ := v.Int(); got != n {
					t.Fatalf("field %q: got %d, the driver has %d", name, got, n)
				}
			}
			if text, ok := e.Value().StringValueOK(); ok {
				if got, _ := v.Text(); got != text {
					t.Fatalf("field %q: got %q, the driver has %q", name, got, text)
				}
			}
		}
		if i != len(elements) {
			t.Fatalf("got %d fields, the driver has %d", i, len(elements))
		}
		var again own.D
		for name, v := range doc.All() {
			again = append(again, own.E{name, v})
		}
		if !bytes.Equal(own.Append(nil, again), b) {
			t.Fatalf("%x is written as %x", b, own.Append(nil, again))
		}
	})
}
