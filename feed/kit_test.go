package feed_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const columns = 16

// table returns n rows: "x" is float32 [n columns], every column the number of the row, and
// "in/label" int64 [n], three times that number.
func table(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	x, label := make([]float32, n*columns), make([]int64, n)
	for i := range x {
		x[i] = float32(i / columns)
	}
	for i := range label {
		label[i] = int64(3 * i)
	}
	td, err := tdict.FromMap([]int{n}, tdict.Entries{
		"x":        tensor.Must(tensor.From(x, n, columns)),
		"in/label": tensor.Must(tensor.From(label, n)),
	})
	require.NoError(t, err)
	return td
}

// rows returns a source of a table.
func rows(t testing.TB, n int) loader.Source {
	t.Helper()
	src, err := loader.From(table(t, n))
	require.NoError(t, err)
	return src
}

// shuffled are options for batches of size rows in random order.
func shuffled(size int) loader.Options {
	return loader.Options{Batch: size, Sampler: sampler.Random(), Seed: 5, RowsKey: "row"}
}

// A server is a feed that a test runs.
type server struct {
	*feed.Feed
	path, dir string
	ctx       context.Context
	stop      context.CancelFunc
	served    chan error

	mu   sync.Mutex
	errs []error // of OnError
}

// listen makes a feed in new directories. When the test ends, nothing of the feed may be left.
func listen(t testing.TB, src loader.Source, opt feed.Options) *server {
	t.Helper()
	before := runtime.NumGoroutine()
	s := &server{path: filepath.Join(t.TempDir(), "s"), dir: testkit.MemoryDir(t), served: make(chan error, 1)}
	opt.Dir = s.dir
	opt.OnError = func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, err)
	}
	var err error
	s.Feed, err = feed.Listen(s.path, src, opt)
	require.NoError(t, err)
	s.SetTimes(time.Minute, time.Minute) // the machine may be busy
	s.ctx, s.stop = context.WithCancel(context.Background())
	t.Cleanup(func() {
		s.stop()
		if err := s.Close(); !errors.Is(err, feed.ErrClosed) {
			require.NoError(t, err)
		}
		require.Empty(t, names(t, s.dir), "slots are left")
		require.NoFileExists(t, s.path)
		eventually(t, func() bool { return runtime.NumGoroutine() <= before }, "goroutines are left")
	})
	return s
}

// serve is listen and Serve.
func serve(t testing.TB, src loader.Source, opt feed.Options) *server {
	t.Helper()
	s := listen(t, src, opt)
	s.run(t)
	return s
}

// run runs Serve until the test ends.
func (s *server) run(t testing.TB) {
	t.Helper()
	go func() { s.served <- s.Serve(s.ctx) }()
	t.Cleanup(func() {
		s.stop()
		require.NoError(t, <-s.served)
	})
}

// reported returns the errors of OnError so far.
func (s *server) reported() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.errs)
}

// names lists a directory.
func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// eventually waits until ok returns true.
func eventually(t testing.TB, ok func() bool, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			require.FailNow(t, text, "%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

// dial connects a client that is closed when the test ends.
func dial(t testing.TB, path string, opt feed.DialOptions) *feed.Client {
	t.Helper()
	c, err := feed.Dial(t.Context(), path, opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // some tests have closed it
	return c
}

// A got is what a consumer got of a batch.
type got struct {
	epoch uint64
	batch int // of the state after it
	rows  []int64
}

// read returns what a batch holds, and checks that it is whole.
func read(t testing.TB, batch *tdict.TensorDict, s loader.State) got {
	t.Helper()
	x, err := batch.Tensor("x")
	require.NoError(t, err)
	label, err := batch.Tensor("in/label")
	require.NoError(t, err)
	row, err := batch.Tensor("row")
	require.NoError(t, err)
	g := got{s.Epoch, s.Batch, tensor.Must(tensor.Of[int64](tensor.Must(row.Clone())))}
	values := tensor.Must(tensor.Of[float32](tensor.Must(x.Clone())))
	labels := tensor.Must(tensor.Of[int64](tensor.Must(label.Clone())))
	for i, r := range g.rows {
		require.Equal(t, 3*r, labels[i])
		for _, v := range values[i*columns : (i+1)*columns] {
			if v != float32(r) {
				require.FailNow(t, "a torn batch", "got %v in row %d", v, r)
			}
		}
	}
	return g
}

// consume returns the next batches of a client, at most most, and -1 for all.
func consume(t testing.TB, c *feed.Client, most int) (all []got) {
	t.Helper()
	for !c.Ended() && len(all) != most {
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			all = append(all, read(t, batch, c.State()))
			if len(all) == most {
				break
			}
		}
	}
	return all
}

// want returns the batches of a loader without a feed, up to an epoch.
func want(t testing.TB, src loader.Source, opt loader.Options, from *loader.State, epochs uint64) (all []got) {
	t.Helper()
	l, err := loader.New(src, opt)
	require.NoError(t, err)
	if from != nil {
		require.NoError(t, l.Restore(*from))
	}
	for l.Epoch() < epochs {
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			all = append(all, read(t, batch, l.State()))
		}
	}
	return all
}

// wait returns the result of Serve.
func (s *server) wait() error {
	err := <-s.served
	s.served <- err
	return err
}
