package dircache_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func sample(n int64) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"image":  tensor.Must(tensor.Full(uint8(n), 8, 8)),
		"deep/n": tensor.Must(tensor.From([]int64{n})),
		"none":   tensor.Must(tensor.New(tensor.Float32, 0, 3)),
	}))
}

func TestSmoke(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, dircache.Create(dir, sample(0), samplecache.Config{Samples: 4}))
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{OnError: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	p, err := c.Producer("gen-7")
	require.NoError(t, err)
	for i := range int64(42) {
		require.NoError(t, p.Put(ctx, sample(i)))
	}
	g, err := c.Latest(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 10, g.ID())
	td, err := g.Fetch(ctx, []int{3, 0}, nil)
	require.NoError(t, err)
	fmt.Println(td, tensor.Must(tdict.Slice[int64](td, "deep/n")))
	fmt.Println(c.Stats())
	fmt.Println(g.Info(2))
	e, err := c.Group("train", 1).Epoch(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = c.Wait(short, 10)
	fmt.Println(err)
	s1, err := p.Reserve(ctx)
	require.NoError(t, err)
	_, err = p.Reserve(ctx)
	require.NoError(t, err)
	_, err = p.Reserve(short)
	fmt.Println(err)
	require.NoError(t, s1.Abort())
	require.NoError(t, c.Close())
	_, err = g.Fetch(ctx, []int{3, 0}, nil)
	require.ErrorIs(t, err, samplecache.ErrClosed)
	c, err = samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	p, err = c.Producer("gen-7")
	require.NoError(t, err)
	require.EqualValues(t, 42, p.Next())
	require.NoError(t, c.Close())
}
