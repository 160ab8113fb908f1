package samplecache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// soon returns a context that ends if the test hangs.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// marked returns the sample of a number, by which it is known.
func marked(v int64) *tdict.TensorDict {
	image := make([]uint8, 16)
	for i := range image {
		image[i] = uint8(v*7 + int64(i))
	}
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":  tensor.Must(tensor.From(image, 4, 4)),
		"deep/n": tensor.Must(tensor.From([]int64{v}, 1)),
		"none":   tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
}

// shown returns the number of the sample that the only row of td is.
func shown(td *tdict.TensorDict) (int64, error) {
	n, err := tdict.Slice[int64](td, "deep/n")
	if err != nil {
		return 0, err
	}
	image, err := tdict.Slice[uint8](td, "image")
	if err != nil {
		return 0, err
	}
	for i, b := range image {
		if b != uint8(n[0]*7+int64(i)) {
			return 0, fmt.Errorf("other data: %d with image %v", n[0], image)
		}
	}
	return n[0], nil
}

// memory returns a cache in memory.
func memory(t testing.TB, config samplecache.Config) *memcache.Engine {
	t.Helper()
	e, err := memcache.New(marked(0), config)
	require.NoError(t, err)
	return e
}

// join joins a cache until the test ends.
func join(t testing.TB, e samplecache.Engine) *samplecache.Cache {
	t.Helper()
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{OnError: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // ErrClosed if the test did
	return c
}

// producer returns a producer.
func producer(t testing.TB, c *samplecache.Cache, name string) *samplecache.Producer {
	t.Helper()
	p, err := c.Producer(name)
	require.NoError(t, err)
	return p
}

// fill puts n samples, which begin with the next number of a producer.
func fill(t *testing.T, p *samplecache.Producer, n int) {
	t.Helper()
	for range n {
		require.NoError(t, p.Put(soon(t), marked(int64(p.Next()))))
	}
}

// row returns the number of the sample of a row.
func row(t *testing.T, g *samplecache.Generation, row int) int64 {
	t.Helper()
	td, err := g.Fetch(soon(t), []int{row}, nil)
	require.NoError(t, err)
	n, err := shown(td)
	require.NoError(t, err)
	return n
}
