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

// SetCursorLife sets how long a cursor waits for a getMore, until the test ends. Call it before a
// server is made.
func SetCursorLife(t testing.TB, d time.Duration) {
	before := cursorLife
	cursorLife = d
	t.Cleanup(func() { cursorLife = before })
}

// Out returns how many tickets are out, and how many bytes they and messages take of the budgets.
func (s *Server) Out() (tickets int, bytes int64) {
	for _, b := range []*budget{&s.messages, &s.tickets.room} {
		b.mu.Lock()
		bytes += b.used
		b.mu.Unlock()
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

// Filters returns how many bytes the filters of cursors take.
func (s *Server) Filters() int {
	s.cursors.mu.Lock()
	defer s.cursors.mu.Unlock()
	return s.cursors.filters
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
