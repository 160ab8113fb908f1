package mongowire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SetStall sets how long a client may take for a piece of a message, until the test ends. Call it
// before a server is made.
func SetStall(t testing.TB, d time.Duration) {
	before := stall
	stall = d
	t.Cleanup(func() { stall = before })
}

// SetLoginTime sets how long a connection may take to log in, until the test ends. Call it before a
// server is made.
func SetLoginTime(t testing.TB, d time.Duration) {
	before := loginTime
	loginTime = d
	t.Cleanup(func() { loginTime = before })
}

// SetPatience sets how long messages wait for memory before slow clients are disconnected, until
// the test ends. Call it before a server is made.
func SetPatience(t testing.TB, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

// SetMaxConns sets the maximum numbers of connections, until the test ends. Call it before a server
// is made.
func SetMaxConns(t testing.TB, conns, strangers int) {
	c, s := maxConns, maxStrangers
	maxConns, maxStrangers = conns, strangers
	t.Cleanup(func() { maxConns, maxStrangers = c, s })
}

// Active returns how many commands are being answered.
func (s *Server) Active() int { return int(s.active.Load()) }

// SetWrongPause sets how long the server takes to refuse a login, until the test ends.
func SetWrongPause(t testing.TB, d time.Duration) {
	before := wrongPause
	wrongPause = d
	t.Cleanup(func() { wrongPause = before })
}

// Out returns how many tickets are out, and how many bytes they and messages take of the budgets.
func (s *Server) Out() (tickets int, bytes int64) {
	s.tickets.room.mu.Lock()
	bytes = s.tickets.room.used
	s.tickets.room.mu.Unlock()
	for _, m := range []*memory{s.messages, s.small, s.replies} {
		m.mu.Lock()
		for u := range m.users {
			bytes += u.has
		}
		m.mu.Unlock()
	}
	return s.tickets.count(), bytes
}

// Waiting returns how many wait for a budget.
func (s *Server) Waiting() int {
	s.tickets.room.mu.Lock()
	defer s.tickets.room.mu.Unlock()
	return len(s.tickets.room.queue)
}

// Cursors returns how many cursors are open.
func (s *Server) Cursors() int {
	s.cursors.mu.Lock()
	defer s.cursors.mu.Unlock()
	return len(s.cursors.open)
}

// CursorBytes returns how many bytes cursors take.
func (s *Server) CursorBytes() int {
	s.cursors.mu.Lock()
	defer s.cursors.mu.Unlock()
	return s.cursors.all
}

// Conns returns how many connections there are.
func (s *Server) Conns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// testCache returns a cache of uint8 [4].
func testCache(t testing.TB) *samplecache.Cache {
	schema := tdict.New()
	err := schema.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8, 4)))
	require.NoError(t, err)
	e, err := memcache.New(schema, samplecache.Config{Samples: 1})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Listeners returns how many listeners there are.
func (s *Server) Listeners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners)
}
