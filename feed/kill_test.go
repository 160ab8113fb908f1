package feed_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/loader"
)

// TestKillConsumers kills consumers in separate processes at random moments, while they check each
// batch twice. No batch is torn, and all slots come back. It starts many processes, which takes
// some seconds.
func TestKillConsumers(t *testing.T) {
	r, src, opt := processkit.Random(t), rows(t, 1000), shuffled(20)
	opt.Workers = 1
	s := serve(t, src, feed.Options{Loader: opt, Consumers: 2, Slots: 3})
	kills := processkit.Kills(t, 20, 200, 200)
	sources := []*rand.Rand{rand.New(rand.NewPCG(r.Uint64(), 0)), rand.New(rand.NewPCG(r.Uint64(), 0))}
	together(2, func(rank int) {
		r := sources[rank]
		for range kills / 2 {
			p := processkit.Start(t, "TestConsumerTask", s.path, rank)
			for range 1 + r.IntN(3) {
				p.Line(t)
			}
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond) // a random moment
			p.Kill(t)
		}
	})
	together(2, func(rank int) {
		alone := opt
		alone.Share.Rank, alone.Share.World = rank, 2
		require.Equal(t, want(t, src, alone, nil, 2), consume(t, dial(t, s.path, feed.DialOptions{Rank: rank}), 50))
	})
	require.Empty(t, s.reported(), "the consumers broke no rule")
}

// TestConsumerTask is a consumer without end, for TestKillConsumers.
func TestConsumerTask(t *testing.T) {
	task, ok := processkit.TaskOf(t)
	if !ok {
		t.Skip("a task of another test")
	}
	c := dial(t, task.Args[0], feed.DialOptions{Rank: task.Number(t, 1)})
	for {
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			once := read(t, batch, c.State())
			time.Sleep(50 * time.Microsecond) // the feed makes other batches meanwhile
			require.Equal(t, once, read(t, batch, c.State()))
			task.Tell("%d %d", c.Epoch(), c.State().Batch)
		}
	}
}

// TestKillFeed kills a feed. Its consumer gets an error, and a new feed removes what is left.
func TestKillFeed(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "s"), testkit.MemoryDir(t)
	opt := feed.Options{Loader: shuffled(20), Dir: dir}
	var state *loader.State
	var all []got
	for range processkit.Kills(t, 2, 20, 50) {
		p := processkit.Start(t, "TestFeedTask", path, dir)
		p.Until(t, "listening")
		require.Len(t, names(t, dir), 1, "what the last feed left is gone")
		c := dial(t, path, feed.DialOptions{State: state})
		all = append(all, consume(t, c, 13)...)
		at := c.State()
		state = &at
		p.Kill(t)
		var err error
		for err == nil {
			for _, err = range c.Batches(t.Context()) { // some batches, and the end of an epoch, were on their way
			}
		}
		require.ErrorIs(t, err, feed.ErrLost)
		require.NoError(t, c.Close())
	}
	require.Equal(t, want(t, rows(t, 1000), shuffled(20), nil, state.Epoch+1)[:len(all)], all)
	require.Len(t, names(t, dir), 1)
	f, err := feed.Listen(path, rows(t, 1000), opt)
	require.NoError(t, err)
	require.Len(t, names(t, dir), 1)
	require.NoError(t, f.Close())
	require.Empty(t, names(t, dir))
	require.NoFileExists(t, path)
}

// TestFeedTask is a feed, for TestKillFeed.
func TestFeedTask(t *testing.T) {
	task, ok := processkit.TaskOf(t)
	if !ok {
		t.Skip("a task of another test")
	}
	f, err := feed.Listen(task.Args[0], rows(t, 1000), feed.Options{Loader: shuffled(20), Dir: task.Args[1]})
	require.NoError(t, err)
	task.Tell("listening")
	require.NoError(t, errors.Join(f.Serve(context.Background()), f.Close()))
}
