package mongowire_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// TestCacheClosedUnderTheServer closes a cache whose room is all drawn: the room is free when the
// server is closed, too.
func TestCacheClosedUnderTheServer(t *testing.T) {
	dir := filepath.Join(testkit.MemoryDir(t), "cache")
	require.NoError(t, dircache.Create(dir, pair(t, 4), samplecache.Config{Samples: 2}))
	open := func() *samplecache.Cache {
		c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := open()
	s, addr := serve(t, c, mongowire.Options{})
	a, b, waits := dial(t, addr), dial(t, addr), dial(t, addr)
	id := a.draw()
	b.draw()
	ended := make(chan error, 1)
	go func() {
		_, err := waits.tryDraw()
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, c.Close())
	require.Contains(t, a.insert(sample(t, id, 1, 4)...), "already closed")
	require.ErrorContains(t, <-ended, "already closed")
	require.Contains(t, firstError(a.do(drawing(), "")), "already closed")
	require.NoError(t, s.Close())
	c = open()
	p, err := c.Producer("")
	require.NoError(t, err)
	for range 2 {
		_, err := p.Reserve(within(t, 5*time.Second))
		require.NoError(t, err)
	}
}
