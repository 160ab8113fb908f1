package natscache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestServeOnce serves a directory twice: the second server would write over the files of the
// first.
func TestServeOnce(t *testing.T) {
	opt := natscache.ServeOptions{Dir: t.TempDir()}
	s, err := natscache.Serve(opt)
	require.NoError(t, err)
	_, err = natscache.Serve(opt)
	require.ErrorIs(t, err, samplecache.ErrUnavailable)
	require.ErrorContains(t, err, opt.Dir)
	require.NoError(t, s.Close())
	s, err = natscache.Serve(opt)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// TestCreateRefuses makes caches that cannot be what their config says.
func TestCreateRefuses(t *testing.T) {
	s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Durable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	durable := samplecache.Config{Samples: 1, Durable: true}
	for rule, is := range map[string]struct {
		url    string
		config natscache.Config
		want   error
	}{
		"memory is not durable":  {s.URL(), natscache.Config{Config: durable, Memory: true}, samplecache.ErrConfig},
		"the URL must be set":    {"", natscache.Config{Config: samplecache.Config{Samples: 1}}, samplecache.ErrConfig},
		"a lease has a second":   {s.URL(), natscache.Config{Config: samplecache.Config{Samples: 1}, Lease: time.Millisecond}, samplecache.ErrConfig},
		"Serve knows of Durable": {s.URL(), natscache.Config{Config: durable}, nil},
	} {
		require.ErrorIs(t, natscache.Create(t.Context(), is.url, "refused", numbered(0), is.config), is.want, rule)
	}
	_, err = samplecache.Open(t.Context(), natscache.Engine{Name: "refused"}, samplecache.Options{})
	require.ErrorIs(t, err, samplecache.ErrConfig)
}
