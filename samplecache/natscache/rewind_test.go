package natscache_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestServerLosesEvents takes the files of a server back to an earlier state, as a loss of power
// can: all processes notice it, and agree on what is left. One of them is cut off until the log is
// longer than it was.
func TestServerLosesEvents(t *testing.T) {
	s := newServer(t)
	e := newCache(t, s.url(), numbered(0), samplecache.Config{Samples: 3})
	one := open(t, e)
	link, late := newLink(t, strings.TrimPrefix(s.url(), "nats://")), newLink(t, strings.TrimPrefix(s.url(), "nats://"))
	e.URL = link.url()
	other := open(t, e)
	e.URL = late.url()
	third := open(t, e)
	p, err := one.Producer("gen")
	require.NoError(t, err)
	puts(t, p, 2)
	s.kill()
	before := t.TempDir()
	require.NoError(t, os.CopyFS(before, os.DirFS(s.setup.Dir)))
	s.start()
	puts(t, p, 6)
	_, err = third.Latest(t.Context())
	require.NoError(t, err)
	late.Cut(true)
	s.kill()
	require.NoError(t, os.RemoveAll(s.setup.Dir))
	require.NoError(t, os.CopyFS(s.setup.Dir, os.DirFS(before)))
	s.start()
	q, err := other.Producer("other")
	require.NoError(t, err)
	puts(t, q, 12)
	puts(t, p, 1)
	late.Cut(false)
	for _, c := range []*samplecache.Cache{one, other, third} {
		st, err := c.Stats()
		require.NoError(t, err)
		require.EqualValues(t, 5, st.Latest, "%+v", st)
		require.Zero(t, st.Committed)
	}
	require.NoError(t, p.Close())
	p, err = third.Producer("gen")
	require.NoError(t, err)
	require.Equal(t, samplecache.Window{Floor: 2, Above: 1 << 6}, p.Window())
	g, err := third.Wait(t.Context(), 4)
	require.NoError(t, err)
	require.NoError(t, g.Close())
}

// TestServerLosesChunks takes the files of a server back after the chunks of a sample were stored
// and before its commit. The row that the sample gets then has the number of its row before, and
// its chunks are stored again.
func TestServerLosesChunks(t *testing.T) {
	const size = 8
	s := newServer(t)
	require.NoError(t, natscache.Create(soon(t), s.url(), "lost", marked("", 0, size), audited(1)))
	session, err := natscache.Engine{URL: s.url(), Name: "lost"}.Join(soon(t), engine.Options{})
	require.NoError(t, err)
	claim, err := session.Claim(soon(t), "")
	require.NoError(t, err)
	s.kill()
	before := t.TempDir()
	require.NoError(t, os.CopyFS(before, os.DirFS(s.setup.Dir)))
	s.start()
	var row engine.Row
	for n := range uint64(3) { // the next life makes a session, a claim and a row
		if row != nil {
			require.NoError(t, row.Abort())
		}
		row, err = claim.Reserve(soon(t), n)
		require.NoError(t, err)
	}
	js := admin(t, s.url())
	log, err := js.Stream(soon(t), "tdcache_lost_log")
	require.NoError(t, err)
	full := log.CachedInfo().Config
	full.MaxBytes = 1
	_, err = js.UpdateStream(soon(t), full)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	sums := make([]uint32, 2) // body and number, of 8 bytes each
	require.ErrorIs(t, row.Commit(ctx, sums), context.DeadlineExceeded)
	s.kill()
	require.NoError(t, os.RemoveAll(s.setup.Dir))
	require.NoError(t, os.CopyFS(s.setup.Dir, os.DirFS(before)))
	s.start()
	require.NoError(t, row.Commit(soon(t), sums))
	rows, err := session.Open(soon(t), 1)
	require.NoError(t, err)
	for leaf := range sums {
		require.NoError(t, rows.Read(soon(t), []int{0}, leaf, make([]byte, size)))
	}
	require.NoError(t, rows.Close())
	require.NoError(t, session.Close())
}
