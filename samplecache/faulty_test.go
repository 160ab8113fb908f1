package samplecache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tensor"
)

// A short lends less memory of a leaf than its elements need.
type short struct {
	tensor.Lender
	bytes int
}

func (s *short) Borrow() ([]byte, error) {
	b, err := s.Lender.Borrow()
	n := min(len(b), s.bytes)
	return b[:n:n], err
}

type shortRow struct {
	engine.Row
	lends func(tensor.Lender, int) (tensor.Lender, int)
}

func (r *shortRow) Place(leaf int) (tensor.Lender, int) { return r.lends(r.Row.Place(leaf)) }

type shortRows struct {
	engine.Rows
	lends func(tensor.Lender, int) (tensor.Lender, int)
}

func (r *shortRows) Place(leaf int) (tensor.Lender, int) { return r.lends(r.Rows.Place(leaf)) }

// TestShortMemory has engines that lend less memory than samples need, or none, or at no offset
// that can be: it is an error, which says so.
func TestShortMemory(t *testing.T) {
	calls := 0
	for name, lends := range map[string]func(l tensor.Lender, offset int) (tensor.Lender, int){
		"some bytes": func(l tensor.Lender, offset int) (tensor.Lender, int) {
			if l == nil {
				return nil, 0
			}
			return &short{l, 5}, offset
		},
		"beyond the end": func(l tensor.Lender, offset int) (tensor.Lender, int) { return l, offset + 1<<40 },
		"before the start, later": func(l tensor.Lender, offset int) (tensor.Lender, int) {
			if calls++; calls > 3 {
				return l, -1
			}
			return l, offset
		},
		"none": func(tensor.Lender, int) (tensor.Lender, int) { return nil, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			e := &twisted{Engine: memory(t, samplecache.Config{Samples: 1})}
			fill(t, producer(t, join(t, e), ""), 1)
			calls = 0
			e.row = func(r engine.Row) engine.Row { return &shortRow{r, lends} }
			e.rows = func(r engine.Rows) engine.Rows { return &shortRows{r, lends} }
			c := join(t, e)
			slot, err := producer(t, c, "p").Reserve(soon(t))
			require.NoError(t, err)
			require.ErrorIs(t, slot.Commit(soon(t)), samplecache.ErrCorrupt)
			require.NoError(t, slot.Abort())
			calls = 0
			g, err := c.Latest(soon(t))
			require.NoError(t, err)
			_, err = g.Fetch(soon(t), []int{0}, nil)
			require.Error(t, err)
			_, err = g.Slice(0, 1)
			require.Error(t, err)
		})
	}
}

// A counted is a pass whose Take is another.
type counted struct {
	engine.Pass
	take func(n int) (int, error)
}

func (p *counted) Take(_ context.Context, n int) (int, error) { return p.take(n) }

// TestRowsLeft has two calls wait for rows. Limits allow one of them fewer than it needs: the
// other, which has asked meanwhile and needs no more, gets them.
func TestRowsLeft(t *testing.T) {
	e := &twisted{Engine: memory(t, samplecache.Config{Samples: 4, Limits: samplecache.Limits{MinPasses: 1}})}
	asked, more, refused := false, make(chan struct{}), make(chan struct{}, 9)
	e.take = func(n int) (int, error) {
		switch {
		case n == 4 && !asked:
			asked = true
			<-more // the reply takes its time
			return 2, nil
		case n == 1:
			refused <- struct{}{}
		}
		return 0, engine.Waiting("rows")
	}
	c := join(t, e)
	fill(t, producer(t, c, ""), 4)
	g, err := c.Group("g", 1).Epoch(soon(t), 0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	large, small := make(chan error, 1), make(chan error, 1)
	go func() { large <- errOf(g.Fetch(ctx, []int{0, 1, 2, 3}, nil)) }()
	go func() { small <- errOf(g.Fetch(soon(t), []int{0}, nil)) }()
	<-refused
	<-refused // it waits
	time.Sleep(5 * time.Millisecond)
	more <- struct{}{}
	select {
	case err := <-small:
		require.NoError(t, err)
	case <-time.After(patience / 4):
		t.Error("rows that limits have allowed are not handed out")
	}
	require.Empty(t, large)
	cancel()
	err = <-large
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, errors.Is(err, samplecache.ErrBlocked))
}
