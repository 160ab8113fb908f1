package mongowire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// A store is the cache of a server, with values that follow from its schema.
type store struct {
	cache    *samplecache.Cache
	producer *samplecache.Producer
	leaves   []leaf
	pages    []chunk // of a sample
	need     int64   // bytes that the documents of a sample may take
}

// A leaf is a leaf of the schema, with the layout of its files.
type leaf struct {
	key    nestedkey.Key
	layout *torchzip.Layout
}

// A chunk is a part of the file of a leaf.
type chunk struct{ leaf, number int }

// allowance is the maximum number of bytes of a file besides the elements.
const allowance = 64 << 10

// maxChunks is the maximum number of chunks that an _id can number.
const maxChunks = 1 << 16

// need returns the maximum number of bytes of the documents of a sample. It returns
// samplecache.ErrConfig if that is more than most.
func need(schema *tdict.TensorDict, most int64) (n int64, err error) {
	for key, x := range schema.Tensors() {
		size := int64(x.ByteSize())
		if n += allowance; size > most-n {
			return 0, wrong("%q: got %d bytes, want at most %d: raise Inflight, half of which must hold a sample", key, size, most-n)
		}
		n += size
	}
	return n, nil
}

func newStore(c *samplecache.Cache, opt Options) (*store, error) {
	st := &store{cache: c}
	for key, x := range c.Schema().Tensors() {
		l, err := torchzip.NewLayout(x.DType(), x.Shape()...)
		if err != nil {
			return nil, fmt.Errorf("mongowire: %q: %w", key, err)
		}
		n := (l.Size() + opt.ChunkBytes - 1) / opt.ChunkBytes
		if n > maxChunks {
			return nil, wrong("got ChunkBytes %d, which makes %d chunks of %q, want at most %d", opt.ChunkBytes, n, key, maxChunks)
		}
		for number := range n {
			st.pages = append(st.pages, chunk{len(st.leaves), number})
		}
		st.leaves = append(st.leaves, leaf{key, l})
	}
	var err error
	if st.need, err = need(c.Schema(), opt.Inflight/2); err != nil {
		return nil, err
	}
	st.producer, err = c.Producer("")
	return st, err
}

// commit puts a complete sample. It makes the cache, if there is none.
func (s *Server) commit(ctx context.Context, t *ticket) error {
	files, err := t.sample.open()
	if err != nil {
		return notValid.saying("sample %d: %v", t.number, err)
	}
	if s.store.Load() == nil {
		if err := s.makeCache(ctx, t.sample.kinds, files); err != nil {
			return fmt.Errorf("sample %d: make the cache: %w", t.number, err)
		}
	}
	st := s.store.Load()
	if err := st.check(files); err != nil {
		return notValid.saying("sample %d: %v", t.number, err)
	}
	if t.slot == nil {
		if t.slot, err = st.producer.Reserve(ctx); err != nil {
			return err
		}
	}
	for key, dst := range t.slot.Sample().Tensors() {
		if err := files[string(key)].ReadInto(dst); err != nil {
			return notValid.saying("sample %d: %q: %v", t.number, key, err)
		}
	}
	return t.slot.Commit(ctx)
}

// open opens the files of a sample.
func (g *gather) open() (map[string]*torchzip.File, error) {
	files := map[string]*torchzip.File{}
	for kind, c := range g.files {
		f, err := torchzip.Open(c, c.size())
		if err != nil {
			return nil, fmt.Errorf("%q: %w", kind, err)
		}
		files[kind] = f
	}
	return files, nil
}

// makeCache makes the cache, with the schema of the first sample.
func (s *Server) makeCache(ctx context.Context, kinds []string, files map[string]*torchzip.File) error {
	schema := tdict.New()
	for _, kind := range kinds {
		if err := schema.Set(nestedkey.Key(kind), files[kind].Meta()); err != nil {
			return notValid.saying("%v", err)
		}
	}
	if _, err := need(schema, s.opt.Inflight/2); err != nil {
		return err
	}
	c, err := s.opt.Create(ctx, schema)
	switch {
	case err != nil:
		return err
	case c.Config().Samples != s.opt.Samples:
		err = wrong("got Samples %d, but the cache has %d", s.opt.Samples, c.Config().Samples)
	default:
		err = s.serveCache(c)
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return nil
}

// check returns samplecache.ErrSchema unless the files match the schema.
func (st *store) check(files map[string]*torchzip.File) error {
	schema := st.cache.Schema()
	for key, want := range schema.Tensors() {
		f := files[string(key)]
		if f == nil {
			return fmt.Errorf("%w: got no documents of kind %q", samplecache.ErrSchema, key)
		}
		if got := f.Meta(); got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
			return fmt.Errorf("%w: %q: got %v %v, want %v %v", samplecache.ErrSchema, key, got.DType(), got.Shape(), want.DType(), want.Shape())
		}
	}
	for kind := range files {
		if !schema.Has(nestedkey.Key(kind)) {
			return fmt.Errorf("%w: got kind %q, which the cache does not have", samplecache.ErrSchema, kind)
		}
	}
	return nil
}
