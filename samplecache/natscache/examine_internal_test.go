package natscache

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// TestHealthOf has streams on several servers.
func TestHealthOf(t *testing.T) {
	peers := func(all ...*jetstream.PeerInfo) []*jetstream.PeerInfo { return all }
	for _, tt := range []struct {
		rule            string
		cluster         *jetstream.ClusterInfo
		current, behind []string
	}{
		{"one server alone", nil, nil, nil},
		{"the leader is current", &jetstream.ClusterInfo{Leader: "a"}, []string{"a"}, nil},
		{"all are current", &jetstream.ClusterInfo{Leader: "a", Replicas: peers(&jetstream.PeerInfo{Name: "b", Current: true}, &jetstream.PeerInfo{Name: "c", Current: true})}, []string{"a", "b", "c"}, nil},
		{"one is behind, one is away", &jetstream.ClusterInfo{Leader: "a", Replicas: peers(&jetstream.PeerInfo{Name: "b"}, &jetstream.PeerInfo{Name: "c", Current: true, Offline: true})}, []string{"a"}, []string{"b", "c"}},
		{"no leader", &jetstream.ClusterInfo{Replicas: peers(&jetstream.PeerInfo{Name: "b", Current: true})}, []string{"b"}, nil},
	} {
		info := &jetstream.StreamInfo{Cluster: tt.cluster, Config: jetstream.StreamConfig{Name: "s", MaxBytes: -1}, State: jetstream.StreamState{Bytes: 5}}
		require.Equal(t, StreamHealth{Name: "s", Used: 5, Replicas: 1, Current: tt.current, Behind: tt.behind}, healthOf(info), tt.rule)
	}
}
