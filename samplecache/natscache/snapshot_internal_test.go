package natscache

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
)

// TestNewerSnapshot removes a snapshot, because there is a newer one, after a process that joins
// has read the head and before it reads the snapshot: the process reads the newer one.
func TestNewerSnapshot(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	s.Start()
	defer s.Shutdown()
	require.True(t, s.ReadyForConnections(10*time.Second))
	p := newProcess("newer")
	p.nc, err = nats.Connect(s.ClientURL())
	require.NoError(t, err)
	defer p.nc.Close()
	newest := ledger.New(ledger.Charter{Version: ledger.Version, Config: engine.Config{Samples: 1}})
	data, err := newest.Encode()
	require.NoError(t, err)
	heads := 0
	_, err = p.nc.Subscribe("$JS.API.STREAM.MSG.GET."+p.site.stream("snap"), func(m *nats.Msg) {
		answer := map[string]any{"error": map[string]any{"code": 404, "err_code": 10037, "description": "no message found"}}
		message := func(subject string, seq int, data []byte) {
			answer = map[string]any{"message": map[string]any{"subject": subject, "seq": seq, "data": data}}
		}
		switch asked := string(m.Data); {
		case strings.Contains(asked, "last_by_subj"):
			at, seq := uint64(1), 2 // the snapshot that is removed
			if heads++; heads > 1 {
				at, seq = 3, 4
			}
			text, err := json.Marshal(head{0, []uint64{at}, crc32.ChecksumIEEE(data)})
			if err != nil {
				t.Error(err)
			}
			message(p.site.head(), seq, text)
		case asked == `{"seq":3}`:
			message(p.site.snap(0), 3, data)
		}
		text, err := json.Marshal(answer)
		if err == nil {
			err = m.Respond(text)
		}
		if err != nil {
			t.Error(fmt.Errorf("respond: %w", err))
		}
	})
	require.NoError(t, err)
	l, err := p.snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, newest.Charter, l.Charter)
}
