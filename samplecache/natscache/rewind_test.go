package natscache_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
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
