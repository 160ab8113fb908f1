package feed_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// together runs a function for each rank.
func together(ranks int, fn func(rank int)) {
	var running sync.WaitGroup
	for rank := range ranks {
		running.Go(func() { fn(rank) })
	}
	running.Wait()
}

// TestBatches compares the batches of consumers with those of loaders without a feed.
func TestBatches(t *testing.T) {
	src := rows(t, 403)
	tests := []struct {
		name      string
		consumers int
		same      bool
		opt       func(o *loader.Options)
	}{
		{"one consumer", 1, false, func(*loader.Options) {}},
		{"workers", 1, false, func(o *loader.Options) { o.Workers, o.Ahead = 2, 9 }},
		{"ranks share an epoch", 2, false, func(*loader.Options) {}},
		{"ranks share batches that are not divisible", 3, false, func(o *loader.Options) { o.Batch = 100 }},
		{"ranks share divisible batches only", 3, false, func(o *loader.Options) { o.Batch, o.Share.Drop = 100, true }},
		{"ranks with workers", 3, false, func(o *loader.Options) { o.Workers = 2 }},
		{"same batches for all", 2, true, func(*loader.Options) {}},
		{"in order, where a loader has views", 1, false, func(o *loader.Options) { o.Sampler = nil }},
		{"transformed", 1, false, func(o *loader.Options) {
			o.Transform = transform.Func("nothing", func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td, nil })
		}},
		{"small batches", 1, false, func(o *loader.Options) { o.Batch = 3 }},
		{"one batch for three ranks", 3, false, func(o *loader.Options) { o.Batch = 2000 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opt := shuffled(64)
			tt.opt(&opt)
			s := serve(t, src, feed.Options{Loader: opt, Epochs: 3, Consumers: tt.consumers, Same: tt.same})
			together(tt.consumers, func(rank int) {
				alone := opt
				if !tt.same {
					alone.Share.Rank, alone.Share.World = rank, tt.consumers
				}
				c := dial(t, s.path, feed.DialOptions{Rank: rank})
				require.Equal(t, want(t, src, alone, nil, 3), consume(t, c, -1))
				require.Equal(t, rank, c.Rank())
				require.Equal(t, max(1, alone.Share.World), c.World())
				require.EqualValues(t, 3, c.State().Epoch)
			})
			require.NoError(t, s.wait(), "all consumers had all epochs")
			require.Empty(t, s.reported())
		})
	}
}

// TestFewSlots has one slot: a batch is made after the last was given back.
func TestFewSlots(t *testing.T) {
	src, opt := rows(t, 203), shuffled(10)
	opt.Workers = 2
	s := serve(t, src, feed.Options{Loader: opt, Epochs: 2, Slots: 1})
	require.Equal(t, want(t, src, opt, nil, 2), consume(t, dial(t, s.path, feed.DialOptions{}), -1))
}

// TestResume stops consumers at random batches and lets as many, fewer or more continue from a
// state, in another feed. Together they have the batches of a loader that never stopped. The
// rounds take two seconds.
func TestResume(t *testing.T) {
	src, r := rows(t, 203), rand.New(rand.NewPCG(1, 2))
	for round := range longtests.Times(12, 200) {
		opt := shuffled(1 + r.IntN(20))
		opt.Workers = r.IntN(2)
		state := (*loader.State)(nil)
		var all []got
		for range 1 + r.IntN(4) {
			world := 1 + r.IntN(3)
			s := serve(t, src, feed.Options{Loader: opt, Epochs: 3, Consumers: world})
			most := r.IntN(30)
			each := make([][]got, world)
			states := make([]loader.State, world)
			together(world, func(rank int) {
				c := dial(t, s.path, feed.DialOptions{Rank: rank, State: state})
				each[rank] = consume(t, c, most)
				states[rank] = c.State()
			})
			for _, other := range states {
				require.Equal(t, states[0], other, "round %d: the state is the same on all ranks", round)
			}
			all = append(all, interleave(each)...)
			state = &states[0]
			require.NoError(t, s.Close())
		}
		if state.Epoch < 3 {
			all = append(all, want(t, src, opt, state, 3)...)
		}
		require.Equal(t, rowsOf(want(t, src, opt, nil, 3)), rowsOf(all), "round %d", round)
	}
}

// interleave returns the batches of several ranks in the order of the epoch.
func interleave(each [][]got) (all []got) {
	for i := range each[0] {
		for _, of := range each {
			all = append(all, of[i])
		}
	}
	return all
}

// rowsOf returns the rows of each batch by epoch, without the batches that make ranks equal.
func rowsOf(all []got) (list []string) {
	seen := map[string]bool{}
	for _, g := range all {
		text := fmt.Sprint(g.epoch, g.rows)
		if !seen[text] {
			list = append(list, text)
		}
		seen[text] = true
	}
	return list
}

// TestStateIsALoadersState restores a loader from the state of a client.
func TestStateIsALoadersState(t *testing.T) {
	src, opt := rows(t, 203), shuffled(10)
	s := serve(t, src, feed.Options{Loader: opt, Epochs: 2})
	c := dial(t, s.path, feed.DialOptions{})
	had := consume(t, c, 27)
	state := c.State()
	require.Equal(t, want(t, src, opt, nil, 2), append(had, want(t, src, opt, &state, 2)...))
}

// TestSlowConsumer holds a batch of rank 0 while rank 1 gets all of its batches.
func TestSlowConsumer(t *testing.T) {
	src, opt := rows(t, 2003), shuffled(10)
	s := serve(t, src, feed.Options{Loader: opt, Epochs: 2, Consumers: 2})
	slow, quick := dial(t, s.path, feed.DialOptions{Rank: 0}), dial(t, s.path, feed.DialOptions{Rank: 1})
	ranks := [2]loader.Options{opt, opt}
	ranks[0].Share.World, ranks[1].Share.World, ranks[1].Share.Rank = 2, 2, 1
	var first []got
	for batch, err := range slow.Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, want(t, src, ranks[1], nil, 2), consume(t, quick, -1))
		first = append(first, read(t, batch, slow.State())) // it was not overwritten
		break
	}
	require.Equal(t, want(t, src, ranks[0], nil, 2), append(first, consume(t, slow, -1)...))
	stats := s.Stats()
	require.Equal(t, [2]int{0, 1}, [2]int{stats[0].Rank, stats[1].Rank})
	for rank, st := range stats {
		require.Equal(t, len(want(t, src, ranks[rank], nil, 2)), st.Batches)
		require.EqualValues(t, 1, st.Epoch)
		require.Equal(t, st.Rows*(columns*4+8+8), st.Bytes)
	}
	require.Positive(t, stats[0].Full)
}

// TestConnected follows a consumer in the stats.
func TestConnected(t *testing.T) {
	s := serve(t, rows(t, 100), feed.Options{Loader: shuffled(10)})
	require.False(t, s.Stats()[0].Connected)
	c := dial(t, s.path, feed.DialOptions{AnyRank: true})
	require.True(t, s.Stats()[0].Connected)
	consume(t, c, 5)
	require.NoError(t, c.Close())
	require.ErrorIs(t, c.Close(), feed.ErrClosed)
	eventually(t, func() bool { return !s.Stats()[0].Connected }, "the consumer is gone")
	require.Positive(t, s.Stats()[0].Empty)
	for _, err := range c.Batches(t.Context()) {
		require.ErrorIs(t, err, feed.ErrClosed)
	}
}

// TestRanks asks for ranks that are free, taken and left.
func TestRanks(t *testing.T) {
	s := listen(t, rows(t, 100), feed.Options{Loader: shuffled(10), Consumers: 2})
	s.SetTimes(time.Minute, 100*time.Millisecond)
	s.run(t)
	first := dial(t, s.path, feed.DialOptions{AnyRank: true})
	second := dial(t, s.path, feed.DialOptions{AnyRank: true})
	require.Equal(t, [2]int{0, 1}, [2]int{first.Rank(), second.Rank()})
	require.NoError(t, first.Close())
	eventually(t, func() bool { return !s.Stats()[0].Connected }, "the first is gone")
	require.Equal(t, 0, dial(t, s.path, feed.DialOptions{AnyRank: true}).Rank(), "the lowest free one")
	require.NoError(t, second.Close())
	eventually(t, func() bool { return !s.Stats()[1].Connected }, "the second is gone")
	require.Equal(t, 1, dial(t, s.path, feed.DialOptions{Rank: 1}).Rank())

	_, err := feed.Dial(t.Context(), s.path, feed.DialOptions{Rank: 2})
	isRemote(t, err, "rank is not available: got rank 2, want 0 to 1")
	refused := map[int]string{0: "rank is not available: rank 1 has a consumer", 1: "rank is not available: all 2 have consumers"}
	together(2, func(i int) {
		_, err := feed.Dial(t.Context(), s.path, feed.DialOptions{Rank: 1, AnyRank: i == 1})
		isRemote(t, err, refused[i])
	})
	for _, err := range s.reported() {
		require.ErrorIs(t, err, feed.ErrRank)
	}
}

// TestRankIsTakenOver asks for a rank whose consumer goes away meanwhile.
func TestRankIsTakenOver(t *testing.T) {
	s := serve(t, rows(t, 100), feed.Options{Loader: shuffled(10)})
	for _, any := range []bool{false, true} {
		old := dial(t, s.path, feed.DialOptions{})
		together(2, func(i int) {
			if i == 0 {
				require.NoError(t, old.Close())
				return
			}
			c := dial(t, s.path, feed.DialOptions{AnyRank: any})
			require.Len(t, consume(t, c, 20), 20)
			require.NoError(t, c.Close())
		})
	}
}

// isRemote checks that err is an error that the feed sent.
func isRemote(t testing.TB, err error, text string) {
	t.Helper()
	e, ok := errors.AsType[*feed.RemoteError](err)
	require.True(t, ok, "got %v", err)
	require.Contains(t, e.Text, text)
}

// TestBrokenBatch has a source that fails at some rows: the consumer gets the error, and others go
// on.
func TestBrokenBatch(t *testing.T) {
	inner := rows(t, 100)
	broken := errors.New("row 42 is broken")
	src, err := loader.FromFunc(100, func(ctx context.Context, list []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
		for _, row := range list {
			if row == 42 {
				return nil, broken
			}
		}
		return inner.Fetch(ctx, list, nil)
	})
	require.NoError(t, err)
	opt := loader.Options{Batch: 10, RowsKey: "row"} // batch 4 fails, of rank 0
	s := serve(t, src, feed.Options{Loader: opt, Epochs: 1, Consumers: 2})
	c := dial(t, s.path, feed.DialOptions{Rank: 0})
	n := 0
	for batch, failed := range c.Batches(t.Context()) {
		if err = failed; err == nil {
			read(t, batch, c.State())
			n++
		}
	}
	require.Equal(t, 2, n)
	isRemote(t, err, "epoch 0, batch 4, rows 40, 41, 42, 43 and 6 more: row 42 is broken")
	require.Equal(t, 4, c.State().Batch, "the position is before the batch that failed")
	for _, again := range c.Batches(t.Context()) {
		require.Equal(t, err, again)
	}
	require.NoError(t, c.Close())
	require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{Rank: 1}), -1), 5)
	require.Len(t, s.reported(), 1)
	require.ErrorIs(t, s.reported()[0], broken)
	require.ErrorContains(t, s.reported()[0], "rank 0: epoch 0, batch 4")
	state := c.State()
	state.Batch += 2
	require.Len(t, consume(t, dial(t, s.path, feed.DialOptions{Rank: 0, State: &state}), -1), 2, "all slots are free again")
}

// TestForeignState begins at states that do not fit.
func TestForeignState(t *testing.T) {
	src, opt := rows(t, 100), shuffled(10)
	s := serve(t, src, feed.Options{Loader: opt})
	good := dial(t, s.path, feed.DialOptions{})
	state := good.State()
	require.NoError(t, good.Close())
	for _, tt := range []struct {
		name string
		set  func(s *loader.State)
		text string
	}{
		{"other rows", func(s *loader.State) { s.Rows, s.Batch = 5, 1 }, "got a state with rows 5, want 100"},
		{"past the end of the epoch", func(s *loader.State) { s.Batch = 11 }, "got batch 11, want one from 0 to 10"},
		{"before the epoch", func(s *loader.State) { s.Batch = -1 }, "got batch -1, want one from 0 to 10"},
		{"no version", func(s *loader.State) { *s = loader.State{} }, "got a state with version 0, want 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := state
			tt.set(&bad)
			_, err := feed.Dial(t.Context(), s.path, feed.DialOptions{State: &bad})
			isRemote(t, err, tt.text)
			require.ErrorIs(t, s.reported()[len(s.reported())-1], loader.ErrState)
		})
	}
	state.Epoch, state.Batch = 1<<40, 10 // at the end of an epoch that is far away
	c := dial(t, s.path, feed.DialOptions{State: &state})
	consume(t, c, 1)
	require.EqualValues(t, 1<<40+1, c.Epoch())
}

// TestGroups has batches of whole groups, whose splits have room for more.
func TestGroups(t *testing.T) {
	td := table(t, 60)
	ids := make([]int64, 60)
	for i := range ids {
		ids[i] = int64(i * i / 200)
	}
	groups, err := sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{})
	require.NoError(t, err)
	batching, err := groups.Batches(sampler.GroupBatchOptions{Groups: 3})
	require.NoError(t, err)
	src, err := loader.From(td)
	require.NoError(t, err)
	opt := loader.Options{Batching: batching, Sampler: sampler.Random(), RowsKey: "row", SplitsKey: "at/splits"}
	s := serve(t, src, feed.Options{Loader: opt, Rows: 50, Epochs: 1})
	c := dial(t, s.path, feed.DialOptions{})
	l, err := loader.New(src, opt)
	require.NoError(t, err)
	for batch, got := range beside(t, l, c) {
		require.Equal(t, read(t, batch, l.State()), read(t, got, c.State()))
		short, long := splits(t, batch), splits(t, got)
		require.Len(t, long, 51)
		require.Equal(t, short, long[:len(short)])
		for _, last := range long[len(short):] {
			require.EqualValues(t, batch.Shape()[0], last)
		}
	}
}

// TestOwnSplits has an unbatched entry of the source under SplitsKey, and batches without groups.
func TestOwnSplits(t *testing.T) {
	td := table(t, 20)
	mine, err := tdict.NewUnbatched(tensor.Vector[int64](7, 8))
	require.NoError(t, err)
	require.NoError(t, td.Set("at/splits", mine))
	src, err := loader.From(td)
	require.NoError(t, err)
	batching, err := sampler.Rows(8, false)
	require.NoError(t, err)
	opt := loader.Options{Batching: batching, RowsKey: "row", SplitsKey: "at/splits"}
	s := serve(t, src, feed.Options{Loader: opt, Rows: 8, Epochs: 1})
	for batch, err := range dial(t, s.path, feed.DialOptions{}).Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, []int64{7, 8}, splits(t, batch))
	}
}

// splits returns the splits of a batch.
func splits(t testing.TB, batch *tdict.TensorDict) []int64 {
	u, err := tdict.Get[*tdict.Unbatched](batch, "at/splits")
	require.NoError(t, err)
	return tensor.Must(tensor.Of[int64](tensor.Must(u.Tensor().Clone())))
}

// TestShapes has batches with more batch dims, an unbatched tensor, and dicts in dicts.
func TestShapes(t *testing.T) {
	td := tdict.New(50, 2)
	weights, err := tdict.NewUnbatched(tensor.Vector[float32](1, 2, 3))
	require.NoError(t, err)
	inner := tdict.New(50, 2, 3)
	require.NoError(t, inner.Set("deep", tensor.Must(tensor.New(tensor.Bool, 50, 2, 3, 4))))
	require.NoError(t, td.Set("weights", weights))
	require.NoError(t, td.Set("inner", inner))
	require.NoError(t, td.Set("half", tensor.Must(tensor.New(tensor.BFloat16, 50, 2))))
	require.NoError(t, td.Set("none", tensor.Must(tensor.New(tensor.Int8, 50, 2, 0))))
	src, err := loader.From(td)
	require.NoError(t, err)
	opt := loader.Options{Batch: 8}
	s := serve(t, src, feed.Options{Loader: opt, Epochs: 1})
	c := dial(t, s.path, feed.DialOptions{})
	l, err := loader.New(src, opt)
	require.NoError(t, err)
	for batch, got := range beside(t, l, c) {
		for d := range batch.Diffs(got) {
			require.Fail(t, "differs", "%v", d)
		}
		require.NoError(t, c.Schema().Check(got))
	}
}

// TestPadded has ragged rows, padded to a fixed width and, until a batch does not fit, to the width
// of the first batch.
func TestPadded(t *testing.T) {
	lists := make([][]float32, 40)
	for i := range lists {
		lists[i] = make([]float32, 1+i/10)
	}
	x, err := ragged.From[float32](lists)
	require.NoError(t, err)
	td := tdict.New(40)
	require.NoError(t, td.Set("x", x))
	src, err := loader.From(td)
	require.NoError(t, err)

	wide := loader.Options{Batch: 10, Collate: loader.Pad(ragged.DensifyOptions{Widths: []int{7}, Masks: "masks"})}
	s := serve(t, src, feed.Options{Loader: wide, Epochs: 1})
	c := dial(t, s.path, feed.DialOptions{})
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, []int{10, 7}, []int(tensor.Must(batch.Tensor("x")).Shape()))
		require.Equal(t, []int{10, 7}, []int(tensor.Must(batch.Tensor("masks/x")).Shape()))
	}

	narrow := loader.Options{Batch: 10, Collate: loader.Pad(ragged.DensifyOptions{})}
	s = serve(t, src, feed.Options{Loader: narrow, Epochs: 1})
	for _, err = range dial(t, s.path, feed.DialOptions{}).Batches(t.Context()) {
	}
	isRemote(t, err, "batch 1, rows 10, 11, 12, 13 and 6 more: into: ")
	isRemote(t, err, `"x"`)
	isRemote(t, err, "set Widths")
}

// TestStop ends a feed while its consumers wait, read and have not come yet.
func TestStop(t *testing.T) {
	for _, how := range []string{"context", "close"} {
		t.Run(how, func(t *testing.T) {
			s := serve(t, rows(t, 1000), feed.Options{Loader: shuffled(1), Consumers: 3})
			reading, waiting := dial(t, s.path, feed.DialOptions{}), dial(t, s.path, feed.DialOptions{Rank: 1})
			consume(t, waiting, 1)
			for batch, err := range reading.Batches(t.Context()) {
				require.NoError(t, err)
				if how == "context" {
					s.stop()
				} else {
					require.NoError(t, s.Close())
				}
				require.NoError(t, s.wait())
				read(t, batch, reading.State()) // its memory is still mapped
				break
			}
			var err error
			for _, err = range reading.Batches(t.Context()) {
			}
			require.ErrorIs(t, err, feed.ErrLost)
			for _, err = range waiting.Batches(t.Context()) {
			}
			require.ErrorIs(t, err, feed.ErrLost)
			require.Empty(t, s.reported())
		})
	}
}

// TestCallsOutOfOrder calls Serve and Close when they do not fit.
func TestCallsOutOfOrder(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(1)})
	dial(t, s.path, feed.DialOptions{})
	require.ErrorIs(t, s.Serve(t.Context()), feed.ErrBusy)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Close(), feed.ErrClosed)
	require.ErrorIs(t, s.Serve(t.Context()), feed.ErrClosed)

	s = listen(t, rows(t, 10), feed.Options{Loader: shuffled(1)})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Serve(ended))

	s = listen(t, rows(t, 10), feed.Options{Loader: shuffled(1)})
	together(5, func(int) { _ = s.Close() }) // one of them closes
	require.ErrorIs(t, s.Close(), feed.ErrClosed)
}

// TestClientContext ends the context of a loop that waits; another loop continues.
func TestClientContext(t *testing.T) {
	s := listen(t, rows(t, 100), feed.Options{Loader: shuffled(10), Epochs: 1})
	short, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err := feed.Dial(short, s.path, feed.DialOptions{}) // nobody serves
	require.ErrorIs(t, err, context.Canceled)

	gate := make(chan struct{})
	inner := rows(t, 100)
	src, err := loader.FromFunc(100, func(ctx context.Context, list []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
		if list[0] != 0 {
			<-gate
		}
		return inner.Fetch(ctx, list, nil)
	})
	require.NoError(t, err)
	opt := loader.Options{Batch: 10, RowsKey: "row"}
	s = serve(t, src, feed.Options{Loader: opt, Epochs: 1})
	c := dial(t, s.path, feed.DialOptions{})
	consume(t, c, 1)
	short, cancel = context.WithCancel(t.Context())
	go cancel()
	for _, err = range c.Batches(short) {
	}
	require.ErrorIs(t, err, context.Canceled)
	close(gate)
	require.Len(t, consume(t, c, -1), 9)
}

// TestReadOnly writes to a batch.
func TestReadOnly(t *testing.T) {
	s := serve(t, rows(t, 100), feed.Options{Loader: shuffled(8), Epochs: 1})
	c := dial(t, s.path, feed.DialOptions{})
	for batch, err := range c.Batches(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, batch.Delete("in/label"), "entries may change")
		require.ErrorIs(t, batch.SetIndex(tensor.Must(batch.Index(ix.At(0))), ix.At(0)), tensor.ErrReadOnly)
	}
}

// beside yields the batches of an epoch of a loader, and beside each the one that a client gets.
func beside(t *testing.T, l *loader.Loader, c *feed.Client) iter.Seq2[*tdict.TensorDict, *tdict.TensorDict] {
	return func(yield func(batch, got *tdict.TensorDict) bool) {
		next, stop := iter.Pull2(c.Batches(t.Context()))
		defer stop()
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			got, err, ok := next()
			require.True(t, ok)
			require.NoError(t, err)
			if !yield(batch, got) {
				return
			}
		}
	}
}
