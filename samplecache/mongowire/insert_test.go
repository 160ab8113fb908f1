package mongowire_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// inMemory returns an Options.Create that makes a cache in memory.
func inMemory(t testing.TB, samples int) createFunc {
	return func(ctx ctx, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		e, err := memcache.New(schema, samplecache.Config{Samples: samples})
		if err != nil {
			return nil, err
		}
		return samplecache.Open(ctx, e, samplecache.Options{})
	}
}

// loaded returns the tensor whose file documents of read.bin hold.
func loaded(docs []bson.Doc) (*tensor.Tensor, error) {
	var b []byte
	for _, d := range docs {
		chunk, _ := d.Get("chunk").Bytes()
		b = append(b, chunk...)
	}
	f, err := torchzip.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return f.Read()
}

// TestEveryDType puts a tensor of each dtype and of several shapes in small chunks, in messages of
// their own, and reads it in chunks of another size.
func TestEveryDType(t *testing.T) {
	for _, d := range tensor.DTypes() {
		for _, shape := range [][]int{{}, {0}, {1}, {3, 4}, {2, 0}, {40, 30}} {
			x := tensor.Must(tensor.New(d, shape...))
			if x.Size() > 0 {
				b := make([]byte, x.ByteSize())
				for i := range b {
					b[i] = byte(i % 2)
				}
				x = tensor.Must(tensor.FromBytes(d, b, shape...))
			}
			_, addr := serve(t, nil, mongowire.Options{Samples: 1, Create: inMemory(t, 1), ChunkBytes: 333})
			c := dial(t, addr)
			for _, doc := range parts(c.draw(), 500, []string{"deep/x"}, file(t, x)) {
				require.Empty(t, c.insert(doc))
			}
			got, err := loaded(c.find("read.bin"))
			require.NoError(t, err)
			require.Equal(t, d, got.DType())
			require.True(t, got.Equal(x), "%v %v", d, shape)
		}
	}
}

// TestFilesOfTorch puts files that torch.save wrote, views among them.
func TestFilesOfTorch(t *testing.T) {
	for _, name := range []string{"transposed", "expanded", "view", "bfloat16-2x3x4"} {
		b, err := os.ReadFile("../../interop/torchzip/testdata/" + name + ".pt")
		require.NoError(t, err)
		f, err := torchzip.Open(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		want, err := f.Read()
		require.NoError(t, err)
		_, addr := serve(t, nil, mongowire.Options{Samples: 1, Create: inMemory(t, 1)})
		c := dial(t, addr)
		require.Empty(t, c.insert(parts(c.draw(), 1000, []string{"x"}, b)...))
		got, err := loaded(c.find("read.bin"))
		require.NoError(t, err)
		require.True(t, got.Equal(want), name)
	}
}

// TestInsertRefuses has documents that are not those of a sample. After each the ticket is free.
func TestInsertRefuses(t *testing.T) {
	data := file(t, filled(t, 1, 4))
	other := file(t, filled(t, 1, 5))
	float := file(t, tensor.Must(tensor.From([]float32{1, 2, 3, 4}, 4)))
	drop := func(d bson.D, name string) bson.D {
		for i := range d {
			if d[i].Name() == name {
				return append(d[:i:i], d[i+1:]...)
			}
		}
		return d
	}
	for _, tt := range []struct {
		rule string
		docs func(id int) []bson.D
		says string
	}{
		{"another shape", func(id int) []bson.D { return parts(id, 9999, kinds, data, other) }, `"label": got uint8 [5], want uint8 [4]`},
		{"another dtype", func(id int) []bson.D { return parts(id, 9999, kinds, float, data) }, `"data": got float32 [4], want uint8 [4]`},
		{"a kind is missing", func(id int) []bson.D { return parts(id, 9999, kinds[:1], data) }, `got no documents of kind "label"`},
		{"a kind too many", func(id int) []bson.D { return parts(id, 9999, []string{"data", "label", "mask"}, data, data, data) }, `got kind "mask"`},
		{"a gap", func(id int) []bson.D { docs := parts(id, 200, kinds, data, data); return append(docs[:1], docs[2:]...) }, `got chunk 2 of "data", want 1`},
		{"the first chunk is missing", func(id int) []bson.D { return parts(id, 200, kinds, data, data)[1:] }, `got chunk 1 of "data", want 0`},
		{"a chunk twice", func(id int) []bson.D { docs := parts(id, 200, kinds, data, data); return append(docs[:1:1], docs...) }, `got chunk 0 of "data", want 1`},
		{"the last chunk is missing", func(id int) []bson.D {
			docs := parts(id, 200, kinds[:1], data)
			return append(docs[:len(docs)-1], parts(id, 9999, kinds[1:], data)...)
		}, `"data": `},
		{"no file of torch", func(id int) []bson.D { return parts(id, 9999, kinds, data, []byte("PK?")) }, `"label": `},
		{"an empty file", func(id int) []bson.D { return parts(id, 9999, kinds, data, nil) }, `"label": `},
		{"a file that is too large", func(id int) []bson.D { return parts(id, 1<<20, kinds, make([]byte, 300<<10), data) }, "call clone before torch.save"},
		{"chunks that are too many", func(id int) []bson.D { return parts(id, 1, kinds, make([]byte, 9000), data) }, "call clone before torch.save"},
		{"no id", func(id int) []bson.D {
			docs := parts(id, 9999, kinds, data, data)
			docs[0] = drop(docs[0], "id")
			return docs
		}, "a field is missing or has another type"},
		{"no chunk", func(id int) []bson.D {
			docs := parts(id, 9999, kinds, data, data)
			docs[0] = drop(docs[0], "chunk")
			return docs
		}, "a field is missing or has another type"},
		{"an id that is text", func(id int) []bson.D {
			return []bson.D{{{"id", "0"}, {"chunk_id", 0}, {"kind", "data"}, {"chunk", data}}}
		}, "a field is missing or has another type"},
		{"a field that is not known", func(id int) []bson.D {
			docs := parts(id, 9999, kinds, data, data)
			docs[0] = append(docs[0], bson.E{"crc", 1})
			return docs
		}, `got field "crc"`},
		{"a ticket that nobody drew", func(id int) []bson.D { return parts(id+1, 9999, kinds, data, data) }, "ticket 1 is not out"},
		{"a ticket that cannot be", func(id int) []bson.D { return parts(-1, 9999, kinds, data, data) }, "ticket -1 is not out"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			cache := memory(t, pair(t, 4), 2)
			s, addr := serve(t, cache, mongowire.Options{})
			c := dial(t, addr)
			docs := tt.docs(c.draw())
			require.Contains(t, c.insert(docs...), tt.says)
			if !strings.Contains(tt.rule, "id") && !strings.HasPrefix(tt.rule, "a ticket") {
				n, bytes := s.Out()
				require.Zero(t, n)
				require.Zero(t, bytes)
			}
			_ = c.Close()
			eventually(t, func() bool { n, bytes := s.Out(); return n == 0 && bytes == 0 })
			c = dial(t, addr)
			c.put(1, 4)
			c.put(2, 4)
			require.Len(t, c.find("status"), 1)
		})
	}
}

// TestUnorderedInsert goes on after a document that is refused.
func TestUnorderedInsert(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 2), mongowire.Options{})
	c := dial(t, addr)
	docs := append(sample(t, 7, 1, 4), sample(t, c.draw(), 2, 4)...)
	reply := c.do(bson.D{{"insert", "write.bin"}, {"ordered", false}}, "documents", docs...)
	n, _ := reply.Get("n").Int()
	failed, _ := reply.Get("writeErrors").Doc()
	require.EqualValues(t, 2, n)
	require.Equal(t, 2, failed.Len())
}

// TestDocumentsInTheCommand inserts documents that are a field of the command, and not
// acknowledged.
func TestDocumentsInTheCommand(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{})
	c := dial(t, addr)
	var docs bson.A
	for _, d := range sample(t, c.draw(), 2, 4) {
		docs = append(docs, d)
	}
	require.Empty(t, firstError(c.do(bson.D{{"insert", "write.bin"}, {"documents", docs}}, "")))
	require.Len(t, c.find("status"), 1)
	b := request(bson.D{{"insert", "write.bin"}, {"$db", "unit"}}, "documents", sample(t, c.draw(), 3, 4)...)
	b[16] |= 2 // moreToCome
	_, err := c.Write(b)
	require.NoError(t, err)
	require.Len(t, c.find("status"), 2, "the reply is that of find")
}

// TestFirstSample has clients that draw tickets while there is no cache: one at a time gets one.
func TestFirstSample(t *testing.T) {
	s, addr := serve(t, nil, mongowire.Options{Samples: 2, Create: inMemory(t, 2)})
	a, b := dial(t, addr), dial(t, addr)
	require.Empty(t, a.find("read.bin"))
	require.Empty(t, a.find("status"))
	id := a.draw()
	second := make(chan int, 1)
	go func() {
		n, _ := b.tryDraw()
		second <- n
	}()
	eventually(t, func() bool { return s.Waiting() == 1 })
	require.Contains(t, a.insert(parts(id, 9999, []string{"x", ""}, file(t, filled(t, 1, 4)), nil)...), "sample 0")
	require.Equal(t, 0, <-second, "the ticket is free again")
	require.Empty(t, b.insert(sample(t, 0, 2, 4)...))
	require.Contains(t, a.insert(parts(a.draw(), 9999, kinds[:1], file(t, filled(t, 1, 4)))...), "no documents of kind")
	b.put(3, 4)
	require.Len(t, a.find("read.bin"), 4)
	_, bytes := s.Out()
	require.Zero(t, bytes)
}

// TestWaitBeforeTheCache has clients that wait for a ticket before there is a cache: when the first
// sample has made it, all get one at once.
func TestWaitBeforeTheCache(t *testing.T) {
	s, addr := serve(t, nil, mongowire.Options{Samples: 8, Create: inMemory(t, 8)})
	first := dial(t, addr)
	id := first.draw()
	got := make(chan int, 3)
	for range cap(got) {
		c := dial(t, addr)
		go func() {
			n, _ := c.tryDraw()
			got <- n
		}()
	}
	eventually(t, func() bool { return s.Waiting() == cap(got) })
	require.Empty(t, first.insert(sample(t, id, 1, 4)...))
	var all []int
	for range cap(got) {
		select {
		case n := <-got:
			all = append(all, n)
		case <-time.After(time.Minute):
			t.Fatalf("got tickets %v, and no more", all)
		}
	}
	require.ElementsMatch(t, []int{0, 1, 2}, all)
}

// TestFirstSampleIsHuge has a first sample of 4 elements that says it has 1<<40, as torch's expand
// makes them: no cache is made for it.
func TestFirstSampleIsHuge(t *testing.T) {
	made := false
	_, addr := serve(t, nil, mongowire.Options{Samples: 2, Create: func(ctx ctx, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		made = true
		return nil, os.ErrPermission
	}})
	c := dial(t, addr)
	const head = "X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"
	pickle := "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nByteStorage\n" + head +
		"K\x00(\x8a\x06\x00\x00\x00\x00\x00\x01t(K\x00t\x89ccollections\nOrderedDict\n)RtR."
	b := testkit.Archive(t, testkit.Stored("a/data.pkl", []byte(pickle)), testkit.Stored("a/data/0", make([]byte, 4)))
	require.Contains(t, c.insert(parts(c.draw(), 9999, kinds[:1], b)...), "got 1099511627776 bytes")
	require.False(t, made)
}

// TestCreateFails has a cache that cannot be made.
func TestCreateFails(t *testing.T) {
	fails := true
	_, addr := serve(t, nil, mongowire.Options{Samples: 1, Create: func(ctx ctx, schema *tdict.TensorDict) (*samplecache.Cache, error) {
		if fails {
			return nil, os.ErrPermission
		}
		return inMemory(t, 1)(ctx, schema)
	}})
	c := dial(t, addr)
	require.Contains(t, c.insert(sample(t, c.draw(), 1, 4)...), "make the cache: permission denied")
	fails = false
	c.put(1, 4)
	require.Len(t, c.find("read.bin"), 2)
}

// TestOptions has options that cannot be used.
func TestOptions(t *testing.T) {
	c := memory(t, pair(t, 1<<20), 2)
	for _, tt := range []struct {
		rule  string
		cache *samplecache.Cache
		opt   mongowire.Options
	}{
		{"no database", c, mongowire.Options{}},
		{"the database admin", c, mongowire.Options{Database: "admin"}},
		{"two names are one", c, mongowire.Options{Database: "unit", Write: "x", Read: "x"}},
		{"chunks of 16 MiB", c, mongowire.Options{Database: "unit", ChunkBytes: 16 << 20}},
		{"chunks of 16 bytes", c, mongowire.Options{Database: "unit", ChunkBytes: 16}},
		{"a user alone", c, mongowire.Options{Database: "unit", User: "lab"}},
		{"a password of Unicode", c, mongowire.Options{Database: "unit", User: "lab", Password: "é"}},
		{"other samples", c, mongowire.Options{Database: "unit", Samples: 3}},
		{"no room for a sample", c, mongowire.Options{Database: "unit", Inflight: 4 << 20}},
		{"a lease below 0", c, mongowire.Options{Database: "unit", Lease: -1}},
		{"no cache", nil, mongowire.Options{Database: "unit", Samples: 3}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := mongowire.New(tt.cache, tt.opt)
			testkit.Fails(t, samplecache.ErrConfig, err)
		})
	}
	require.NoError(t, c.Close())
	_, err := mongowire.New(c, mongowire.Options{Database: "unit"})
	testkit.Fails(t, samplecache.ErrClosed, err)
}
