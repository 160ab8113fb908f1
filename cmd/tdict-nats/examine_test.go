package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/cmd/internal/command"
	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// says compares findings with texts "severity text", in order.
func says(t *testing.T, rule string, got []doctor.Finding, want ...string) {
	t.Helper()
	require.Len(t, got, len(want), "%s: %v", rule, got)
	for i, text := range want {
		severity, text, _ := strings.Cut(text, " ")
		require.Equal(t, doctor.Severity(severity), got[i].Severity, "%s: %v", rule, got)
		require.Contains(t, got[i].Text, text, rule)
		require.Equal(t, got[i].Severity != doctor.Fine, got[i].Do != "", "%s: what to do: %v", rule, got)
	}
}

// TestFindings has facts about servers, and what they mean.
func TestFindings(t *testing.T) {
	healthy := natscache.Health{Server: "10.0.0.1:4222", Version: "2.12.0", Payload: 1 << 20, RoundTrip: time.Millisecond, Encrypted: true, Users: true}
	const server, trip, none = "ok the server at 10.0.0.1:4222 has version 2.12.0", "ok a round trip to the server takes 1ms", "ok there is no cache c yet"
	limit := func(a jetstream.AccountInfo) func(*natscache.Health) {
		return func(h *natscache.Health) { h.Account = &a }
	}
	room := func(disk, memory int64) jetstream.AccountInfo {
		return jetstream.AccountInfo{Tier: jetstream.Tier{Limits: jetstream.AccountLimits{MaxStore: disk, MaxMemory: memory}}}
	}
	streams := func(used int) jetstream.AccountInfo {
		a := room(-1, -1)
		a.Limits.MaxStreams, a.Streams = 9, used
		return a
	}
	peer := func(name string, current, offline bool) *jetstream.PeerInfo {
		return &jetstream.PeerInfo{Name: name, Current: current, Offline: offline}
	}
	made := func(replicas int, leader string, peers ...*jetstream.PeerInfo) func(*natscache.Health) {
		return func(h *natscache.Health) {
			a := jetstream.StreamInfo{Config: jetstream.StreamConfig{Name: "a", Replicas: replicas, MaxBytes: 3000}, State: jetstream.StreamState{Bytes: 1500}}
			a.Cluster = &jetstream.ClusterInfo{Leader: leader, Replicas: peers}
			h.Streams = []*jetstream.StreamInfo{&a, {Config: jetstream.StreamConfig{Name: "b", Replicas: 1, MaxBytes: -1}}}
		}
	}
	for _, tt := range []struct {
		rule   string
		change func(h *natscache.Health)
		want   []string
	}{
		{"all is well", func(*natscache.Health) {}, []string{server, trip, none, "ok the account has no limit"}},
		{"no TLS", func(h *natscache.Health) { h.Encrypted = false }, []string{server, "warning is not encrypted", trip, none, "ok "}},
		{"no users", func(h *natscache.Health) { h.Users = false }, []string{server, "warning lets everybody in", trip, none, "ok "}},
		{"neither, on this machine", func(h *natscache.Health) { h.Users, h.Encrypted, h.Loopback = false, false, true }, []string{server, trip, none, "ok "}},
		{"slow", func(h *natscache.Health) { h.RoundTrip = slow + time.Microsecond }, []string{server, "warning a round trip to the server takes 20.001ms, and", none, "ok "}},
		{"not slow yet", func(h *natscache.Health) { h.RoundTrip = slow }, []string{server, "ok a round trip to the server takes 20ms", none, "ok "}},
		{"few streams", limit(streams(6)), []string{server, trip, none, "problem may add 3 streams"}},
		{"too many streams", limit(streams(10)), []string{server, trip, none, "problem may add 0 streams"}},
		{"streams enough", limit(streams(5)), []string{server, trip, none, "ok "}},
		{"room enough", func(h *natscache.Health) {
			a := room(least+2, -1)
			a.Store, a.ReservedStore = 1, 2
			h.Account = &a
		}, []string{server, trip, none, "ok the account has room for 134.2 MB on disk"}},
		{"no room on disk", func(h *natscache.Health) {
			a := room(least+2, -1)
			a.Store, a.ReservedStore = 3, 2
			h.Account = &a
		}, []string{server, trip, none, "warning room for 134.2 MB on disk"}},
		{"no room at all", func(h *natscache.Health) {
			a := room(0, 5)
			a.Memory = 9
			h.Account = &a
		}, []string{server, trip, none, "problem room for 0 B on disk and 0 B in memory"}},
		{"a cache", made(1, ""), []string{server, trip, "ok c is a cache with one copy: it has reserved 3.0 kB and uses 1.5 kB"}},
		{"three copies", made(3, "x", peer("y", true, false), peer("z", true, false)), []string{server, trip, "ok c is a cache with 3 copies"}},
		{"one is behind", made(3, "x", peer("y", true, false), peer("z", false, false)), []string{server, trip, "ok ", "warning stream a is current on 2 of 3 servers, not on z"}},
		{"one is away", made(3, "x", peer("y", true, false), peer("z", true, true)), []string{server, trip, "ok ", "warning stream a is current on 2 of 3 servers, not on z"}},
		{"a server is missing", made(3, "x", peer("y", true, false)), []string{server, trip, "ok ", "warning stream a is current on 2 of 3 servers"}},
		{"one is current", made(3, "x", peer("y", false, false), peer("z", false, false)), []string{server, trip, "ok ", "problem stream a is current on 1 of 3 servers, not on y, z: nothing"}},
		{"no leader", made(3, "", peer("y", true, false)), []string{server, trip, "ok ", "problem stream a is current on 1 of 3 servers: nothing"}},
		{"an error", func(h *natscache.Health) { h.Wrong = []error{samplecache.ErrCorrupt} }, []string{"problem corrupt", server, trip}},
	} {
		h := healthy
		limit(room(-1, -1))(&h)
		tt.change(&h)
		says(t, tt.rule, findings(h, "c"), tt.want...)
	}
}

// TestWrong has an error of each kind, and a word of what to do about it.
func TestWrong(t *testing.T) {
	for _, tt := range []struct {
		err error
		do  string
	}{
		{natscache.ErrServerVersion, "newer nats-server"},
		{natscache.ErrVersion, "the tdict that made"},
		{fmt.Errorf("%w: max_payload of the server is 5", samplecache.ErrConfig), "max_payload: 1MB"},
		{samplecache.ErrCorrupt, "nats stream rm"},
		{fs.ErrNotExist, "nats stream rm"},
		{fs.ErrPermission, "--creds"},
		{fmt.Errorf("%w: no JetStream", samplecache.ErrUnavailable), "-js -sd DIR"},
		{samplecache.ErrUnavailable, "no firewall is between"},
		{errors.New("odd"), "docs/samplecache.md"},
	} {
		got := wrong(tt.err)
		require.Equal(t, doctor.Problem, got.Severity)
		require.Equal(t, tt.err.Error(), got.Text)
		require.Contains(t, got.Do, tt.do)
	}
}

// TestExamineServer examines a server before and after a cache is made, and when it has ended.
func TestExamineServer(t *testing.T) {
	address, stop, err := servers{}.Serve(command.RemoteServe{Dir: t.TempDir(), Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	at := command.Remote{URL: "nats://" + address, Name: "brains"}
	look := func() []doctor.Finding {
		list, err := servers{}.Examine(t.Context(), at)
		require.NoError(t, err)
		return list
	}
	const server, trip = "ok the server at 127.0.0.1", "ok a round trip"
	says(t, "before", look(), server, trip, "ok there is no cache brains yet", "ok the account has no limit")
	schema := tdict.New()
	require.NoError(t, schema.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8, 9))))
	require.NoError(t, servers{}.Create(t.Context(), at, schema, command.RemoteConfig{Config: samplecache.Config{Samples: 2}}))
	says(t, "after", look(), server, trip, "ok brains is a cache with one copy")
	require.NoError(t, stop())
	says(t, "ended", look(), "problem examine nats://"+address+"/brains: engine is not available")
	at.Name = "no such"
	_, err = servers{}.Examine(t.Context(), at)
	require.ErrorIs(t, err, samplecache.ErrConfig)
}
