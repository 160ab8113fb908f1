package command

import (
	"bytes"
	"context"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
)

// generatorOf returns a generator that puts into a cache in memory.
func generatorOf(t testing.TB) *generator {
	e, err := memcache.New(sampleOf(t, 0), samplecache.Config{Samples: 3})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	p, err := c.Producer("gen")
	require.NoError(t, err)
	all := &putting{cmd: &putCmd{}, cache: c, most: 1 << 20, late: t.Context(), fail: func(err error) { t.Errorf("the cache has failed: %v", err) }}
	return &generator{putting: all, producer: p}
}

// FuzzFrames reads any bytes after two samples: the two are put, and what follows is put only if it
// is a sample. The outcome does not depend on the pieces in which the bytes come.
func FuzzFrames(f *testing.F) {
	good := frameOf(f, sampleOf(f, 1))
	f.Add([]byte{})
	f.Add(good)
	f.Add(good[:500])
	f.Add([]byte("Epoch 1: loss 0.5\n"))
	f.Add(append(bytes.Clone(good[:7]), 0x80))
	g := generatorOf(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		stream := append(bytes.Repeat(good, 2), b...)
		at := g.producer.Next()
		var err error
		testkit.MaxBytes(t, uint64(200_000+100*len(b)), func() { err = g.copy(context.Background(), bytes.NewReader(stream)) })
		whole := g.producer.Next() - at
		require.GreaterOrEqual(t, whole, uint64(2))
		require.LessOrEqual(t, whole, uint64(2+len(b)/1000))
		if err == nil {
			require.True(t, len(b) == 0 || whole > 2)
		}
		at += whole
		again := g.copy(context.Background(), iotest.OneByteReader(bytes.NewReader(stream)))
		require.Equal(t, err == nil, again == nil)
		require.Equal(t, whole, g.producer.Next()-at)
	})
}
