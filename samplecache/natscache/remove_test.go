package natscache_test

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestRemove removes a cache that is not in use any more, also in part, and refuses everything
// else.
func TestRemove(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	config := natscache.Config{Config: samplecache.Config{Samples: 2}}
	create := func(name string) { require.NoError(t, natscache.Create(soon(t), s.url(), name, numbered(0), config)) }
	remove := func(name string) error { return natscache.Remove(soon(t), s.url(), name) }
	nc, err := nats.Connect(s.url())
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)

	create("used")
	create("other")
	c, err := samplecache.Open(soon(t), natscache.Engine{URL: s.url(), Name: "used"}, samplecache.Options{})
	require.NoError(t, err)
	err = remove("used")
	require.ErrorIs(t, err, samplecache.ErrInUse)
	host, _ := os.Hostname()
	require.EqualError(t, err, fmt.Sprintf("remove %s/used: in use by pid %d on %s", s.url(), os.Getpid(), host))
	p, err := c.Producer("one")
	require.NoError(t, err)
	require.NoError(t, p.Put(soon(t), numbered(0)), "the cache is as it was")
	require.NoError(t, c.Close())

	require.NoError(t, remove("used"))
	require.ErrorIs(t, remove("used"), fs.ErrNotExist)
	require.ErrorIs(t, remove("none"), fs.ErrNotExist)
	require.ErrorIs(t, remove("a name"), samplecache.ErrConfig)
	require.ErrorIs(t, natscache.Remove(soon(t), "nats://127.0.0.1:1", "used"), samplecache.ErrUnavailable)

	create("used") // under the same name
	c, err = samplecache.Open(soon(t), natscache.Engine{URL: s.url(), Name: "used"}, samplecache.Options{})
	require.NoError(t, err)
	p, err = c.Producer("one")
	require.NoError(t, err)
	require.Zero(t, p.Next(), "nothing of the old one is left")
	require.NoError(t, c.Close())

	for _, stream := range []string{"log", "data", "here"} { // Remove was killed after each
		require.NoError(t, js.DeleteStream(soon(t), "tdcache_used_"+stream))
		require.ErrorIs(t, natscache.Create(soon(t), s.url(), "used", numbered(0), config), fs.ErrExist)
		require.NoError(t, remove("used"))
		create("used")
	}

	_, err = js.CreateStream(soon(t), jetstream.StreamConfig{Name: "tdcache_mine_log", Subjects: []string{"mine"}})
	require.NoError(t, err)
	require.ErrorIs(t, remove("mine"), fs.ErrNotExist)
	_, err = js.Stream(soon(t), "tdcache_mine_log")
	require.NoError(t, err, "the stream of somebody else is there")
	_, err = samplecache.Open(soon(t), natscache.Engine{URL: s.url(), Name: "other"}, samplecache.Options{})
	require.NoError(t, err)
}

// TestRemoveKilled removes a cache whose last process was killed: while nobody was in the cache,
// nobody noticed that.
func TestRemoveKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	config := natscache.Config{Config: samplecache.Config{Samples: 2}, Lease: lease}
	require.NoError(t, natscache.Create(soon(t), s.url(), "killed", marked("", 0, 8), config))
	w := start(t, job{Role: "reserve", URL: s.url(), Place: "killed", Name: "one", Size: 8})
	w.hears(patience, "ready")
	err := natscache.Remove(soon(t), s.url(), "killed")
	require.ErrorIs(t, err, samplecache.ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("pid %d on ", w.cmd.Process.Pid))
	w.kill()
	require.NoError(t, natscache.Remove(soon(t), s.url(), "killed"))
}
