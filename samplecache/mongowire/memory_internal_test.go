package mongowire

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// newTestConn returns a connection from an address.
func newTestConn(t testing.TB, address string) *conn {
	nc, other := net.Pipe()
	t.Cleanup(func() { _, _ = nc.Close(), other.Close() })
	return &conn{Conn: nc, address: address}
}

// TestMemoryGoesOn has many users of several addresses that take their bytes a part at a time, and
// give up now and then. All get what they need, no more bytes are taken than there are, and one
// address never has more than its part and the reserve.
func TestMemoryGoesOn(t *testing.T) {
	const n, largest = 1000, 300
	m := newMemory(n, largest)
	check := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		all, of := int64(0), map[string]int64{}
		for u := range m.users {
			all += u.has
			of[u.conn.address] += u.has
		}
		if all > n {
			t.Errorf("%d bytes are taken, of %d", all, n)
		}
		for address, has := range of {
			if has > m.part+m.reserve {
				t.Errorf("%s has %d bytes, of a part of %d", address, has, m.part)
			}
		}
	}
	var all sync.WaitGroup
	for i := range 60 {
		c := newTestConn(t, fmt.Sprint(i%3))
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range 60 {
				size := 1 + rng.Int64N(2*largest) // some are larger than what one may take
				u := m.user(c, size)
				for has := int64(0); has < size; {
					has = min(size, has+1+rng.Int64N(size))
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if rng.IntN(10) == 0 {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(2000))*time.Microsecond)
					}
					err := u.take(ctx, has)
					cancel()
					check()
					if err != nil {
						break
					}
				}
				u.try(rng.Int64N(50))
				check()
				u.free()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody goes on")
	}
	require.Zero(t, m.used)
	require.Empty(t, m.users)
	require.Empty(t, m.queue)
	require.Empty(t, m.of)
	require.Nil(t, m.favourite)
}

// TestEndSlow has users that hold all bytes, and whose clients send nothing, slowly, or fast
// enough, when others wait: those that are too slow are disconnected, and no others.
func TestEndSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(1000, 500)
		ended := func(u *user) bool {
			_ = u.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := u.conn.Conn.Read(make([]byte, 1))
			timeout, is := err.(net.Error)
			return !is || !timeout.Timeout()
		}
		hold := func(address string) *user {
			u := m.user(newTestConn(t, address), 500)
			require.NoError(t, u.take(t.Context(), 125))
			u.moves(true)
			return u
		}
		silent, fast, answered, slow := hold("a"), hold("b"), hold("c"), hold("d")
		answered.moves(false)
		waiter := m.user(newTestConn(t, "e"), 500)
		other := m.user(newTestConn(t, "f"), 500)
		require.NoError(t, waiter.take(t.Context(), 500), "it is the favourite")
		waiter.moves(false)
		ctx, cancel := context.WithCancel(t.Context())
		var waits sync.WaitGroup
		waits.Go(func() { _ = other.take(ctx, 400) })
		for range 100 {
			time.Sleep(patience / 10)
			fast.conn.moved.Add(10_000_000)
			slow.conn.moved.Add(100)
		}
		cancel()
		waits.Wait()
		for u, want := range map[*user]bool{silent: true, slow: true, fast: false, answered: false, waiter: false} {
			require.Equal(t, want, ended(u), u.conn.address)
		}
	})
}

// TestStatusWithoutATime notes a publication of a cache that does not say when it was: its document
// is older than all others, and not in the future.
func TestStatusWithoutATime(t *testing.T) {
	var st status
	st.note(samplecache.Stats{Latest: 5})
	st.note(samplecache.Stats{Latest: 6, LastSwap: time.Now()})
	list := st.list()
	require.Len(t, list, 2)
	first, second := list[0].id(), list[1].id()
	require.Negative(t, bytes.Compare(first[:], second[:]))
	require.Zero(t, seconds(list[0].at))
}

// TestStatusForgets has a cursor that has read a part of the publications when the first ones are
// forgotten: it goes on with the next one that is left.
func TestStatusForgets(t *testing.T) {
	for _, descending := range []bool{false, true} {
		var st status
		note := func(n uint64) { st.note(samplecache.Stats{Latest: n, LastSwap: time.Unix(int64(n), 0)}) }
		for n := range uint64(maxSwaps) {
			note(1 + n)
		}
		c := &cursor{q: &query{descending: descending}}
		first := func() (n any) {
			for d := range listed(c, st.all(c)...) {
				return d.fields[2][1]
			}
			return nil
		}
		first()
		c.next = 5
		for n := range uint64(3) {
			note(maxSwaps + 1 + n)
		}
		want := 6.0
		if descending {
			want = maxSwaps - 5
		}
		require.Equal(t, want, first(), descending)
		for n := range uint64(10) {
			note(maxSwaps + 4 + n)
		}
		if !descending {
			want = 14 // the first that is left
		}
		require.Equal(t, want, first(), descending)
	}
}
