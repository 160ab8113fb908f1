package natscache_test

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// TestExamine has a server before and after a cache is made. Nobody joins the cache.
func TestExamine(t *testing.T) {
	t.Parallel()
	s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	e := natscache.Engine{URL: s.URL(), Name: "looked"}
	h, err := natscache.Examine(soon(t), e)
	require.NoError(t, err)
	require.Equal(t, server.VERSION, h.Version)
	require.EqualValues(t, 1<<20, h.Payload)
	require.Positive(t, h.RoundTrip)
	require.True(t, h.Loopback)
	require.False(t, h.Encrypted || h.Users)
	require.EqualValues(t, -1, h.Account.Limits.MaxStore)
	require.Empty(t, h.Streams)
	require.Empty(t, h.Wrong)

	require.NoError(t, natscache.Create(soon(t), s.URL(), "looked", numbered(0), natscache.Config{Config: samplecache.Config{Samples: 2}}))
	h, err = natscache.Examine(soon(t), e)
	require.NoError(t, err)
	require.Empty(t, h.Wrong)
	require.Len(t, h.Streams, 4)
	for i, which := range []string{"log", "data", "snap", "here"} {
		require.Equal(t, "tdcache_looked_"+which, h.Streams[i].Config.Name)
		require.Equal(t, 1, h.Streams[i].Config.Replicas)
	}
	require.Greater(t, h.Account.ReservedStore, uint64(128<<20))
	c, err := samplecache.Open(soon(t), e, samplecache.Options{})
	require.NoError(t, err)
	st, err := c.Stats()
	require.NoError(t, err)
	require.Len(t, st.Members, 1, "the examinations did not join")
	require.NoError(t, c.Close())
}

// TestExamineFinds has servers and streams that are not as they should be.
func TestExamineFinds(t *testing.T) {
	t.Parallel()
	serve := func(configure func(*server.Options)) natscache.Engine {
		s, err := natscache.Serve(natscache.ServeOptions{Dir: t.TempDir(), Configure: configure})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return natscache.Engine{URL: s.URL(), Name: "looked"}
	}
	look := func(e natscache.Engine) natscache.Health {
		h, err := natscache.Examine(soon(t), e)
		require.NoError(t, err)
		return h
	}
	wrong := func(h natscache.Health, want error, says string) {
		t.Helper()
		require.NotEmpty(t, h.Wrong)
		require.ErrorIs(t, h.Wrong[0], want)
		require.ErrorContains(t, h.Wrong[0], says)
	}
	small := serve(func(o *server.Options) { o.MaxPayload = 1 << 16 })
	h := look(small)
	wrong(h, samplecache.ErrConfig, "max_payload")
	require.EqualValues(t, 1<<16, h.Payload)
	require.EqualValues(t, -1, h.Account.Limits.MaxStore, "the rest is there nevertheless")

	plain := serve(nil)
	k := newLink(t, plain.URL[len("nats://"):])
	k.faults.Store(&faults{version: "2.9.1"})
	h = look(natscache.Engine{URL: k.url(), Name: "looked"})
	wrong(h, natscache.ErrServerVersion, "2.9.1")
	require.Equal(t, "2.9.1", h.Version)

	users := serve(func(o *server.Options) { o.Username, o.Password = "ann", "secret" })
	_, err := natscache.Examine(soon(t), users)
	require.ErrorIs(t, err, fs.ErrPermission)
	users.Options = []nats.Option{nats.UserInfo("ann", "secret")}
	require.True(t, look(users).Users)

	bare, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	bare.Start()
	t.Cleanup(bare.Shutdown)
	require.True(t, bare.ReadyForConnections(5*time.Second))
	wrong(look(natscache.Engine{URL: bare.ClientURL(), Name: "looked"}), samplecache.ErrUnavailable, "JetStream")

	nc, err := nats.Connect(plain.URL)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	_, err = js.CreateStream(soon(t), jetstream.StreamConfig{Name: "tdcache_looked_log", Subjects: []string{"other"}})
	require.NoError(t, err)
	wrong(look(plain), fs.ErrNotExist, "tdcache_looked_log: ")
	require.NoError(t, js.DeleteStream(soon(t), "tdcache_looked_log"))
	require.NoError(t, natscache.Create(soon(t), plain.URL, "looked", numbered(0), natscache.Config{Config: samplecache.Config{Samples: 2}}))
	require.NoError(t, js.DeleteStream(soon(t), "tdcache_looked_data"))
	wrong(look(plain), samplecache.ErrCorrupt, "3 of 4 streams")
}

// TestExamineNobody has servers that do not answer.
func TestExamineNobody(t *testing.T) {
	t.Parallel()
	for _, e := range []natscache.Engine{{URL: "nats://127.0.0.1:1", Name: "looked"}, {URL: "nats://127.0.0.1:1", Name: "a b"}, {Name: "looked"}} {
		_, err := natscache.Examine(t.Context(), e)
		var of *natscache.Error
		require.ErrorAs(t, err, &of)
		require.Equal(t, "examine", of.Op)
	}
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := natscache.Examine(ctx, natscache.Engine{URL: s.url(), Name: "looked"})
	require.ErrorIs(t, err, context.Canceled)
}

// TestExamineReplicas has a cache on three servers, of which one ends.
func TestExamineReplicas(t *testing.T) {
	if !longtests.On() {
		t.Skip("it takes ten seconds; TestFindings of cmd/tdict-nats has the rules")
	}
	t.Parallel()
	c := newCluster(t)
	require.NoError(t, c.create(soon(t), "looked", numbered(0), natscache.Config{Config: samplecache.Config{Samples: 2}}))
	e := natscache.Engine{URL: c.url(), Name: "looked"}
	current := func(n int) func() bool {
		return func() bool {
			h, err := natscache.Examine(soon(t), e)
			if err != nil || len(h.Streams) != 4 {
				return false
			}
			for _, one := range h.Streams {
				there := 1 // the leader
				for _, peer := range one.Cluster.Replicas {
					if peer.Current && !peer.Offline {
						there++
					}
				}
				if one.Config.Replicas != 3 || there != n {
					return false
				}
			}
			return true
		}
	}
	eventually(t, patience, "three are current", current(3))
	c[0].kill()
	eventually(t, patience, "two are current", current(2))
}
