package loader_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// A listener is a source that notes which rows it is told of.
type listener struct {
	loader.Source
	mu   sync.Mutex
	told [][]int
	fail error
}

// Prefetch implements loader.Prefetcher.
func (l *listener) Prefetch(rows ...int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, slices.Clone(rows))
	return l.fail
}

// Describe implements loader.Describer.
func (l *listener) Describe() (loader.Description, error) {
	return l.Source.(loader.Describer).Describe()
}

// rows returns all rows that it was told of.
func (l *listener) rows() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.told...)
}

// waitFor returns the rows that the listener was told of, as soon as there are so many.
func (l *listener) waitFor(t testing.TB, n int) []int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(l.rows()) < n && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
	return l.rows()
}

// TestReadAhead: the source is told of every row before it is wanted, but not long before.
func TestReadAhead(t *testing.T) {
	const n, batch, width = 400, 10, 8
	for _, workers := range []int{0, 2} {
		for _, bytes := range []int{1, 8 * batch * width, 100 * batch * width} {
			t.Run(fmt.Sprintf("workers=%d/bytes=%d", workers, bytes), func(t *testing.T) {
				noLeak(t)
				src := &listener{Source: numbered(t, n)}
				l := must(loader.New(src, loader.Options{Batch: batch, Sampler: sampler.Random(), Workers: workers, ReadAhead: bytes}))
				seen, stretch := 0, max(1, bytes/4/(batch*width))
				for b, err := range l.Batches(t.Context()) {
					require.NoError(t, err)
					want := min(n, (seen/stretch+4)*stretch*batch) // its stretch, and three more
					told := src.waitFor(t, want)
					require.Len(t, told, want)
					require.Subset(t, told, rowsOf(t, b))
					seen++
				}
				rows := src.rows()
				require.Len(t, rows, n)
				slices.Sort(rows)
				require.Len(t, slices.Compact(rows), n, "each once")
				for _, rows := range src.told {
					require.True(t, slices.IsSorted(rows), "so that neighbours are read together")
				}
			})
		}
	}
}

// TestReadAheadOfNobody: nobody is told without ReadAhead, or after it could not be told.
func TestReadAheadOfNobody(t *testing.T) {
	noLeak(t)
	src := &listener{Source: numbered(t, 100)}
	require.Len(t, epoch(t, must(loader.New(src, loader.Options{Batch: 10}))), 10)
	require.Empty(t, src.told)
	src.fail = errMine
	l := must(loader.New(src, loader.Options{Batch: 10, ReadAhead: 80}))
	batches := 0
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err, "it is advice only")
		batches++
		src.waitFor(t, 10)
	}
	require.Equal(t, 10, batches)
	require.Len(t, src.told, 1)
}

// TestReadAheadEndsWithTheLoop: also when that ends early.
func TestReadAheadEndsWithTheLoop(t *testing.T) {
	noLeak(t)
	src := &listener{Source: numbered(t, 1000)}
	l := must(loader.New(src, loader.Options{Batch: 10, ReadAhead: 800}))
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		break
	}
	told := len(src.rows())
	time.Sleep(5 * time.Millisecond)
	require.Len(t, src.rows(), told)
}

// TestReadAheadOfUnevenBatches: a stretch ends by its rows, however few the first batch has.
func TestReadAheadOfUnevenBatches(t *testing.T) {
	ids := []int64{0}
	for i := range 4000 {
		ids = append(ids, int64(1+i/100))
	}
	groups := must(sampler.NewGroups(must(tensor.From(ids, len(ids))), sampler.GroupOptions{}))
	src := &listener{Source: numbered(t, len(ids))}
	l := must(loader.New(src, loader.Options{
		Batching: must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})), ReadAhead: 4 * 200 * 8,
	}))
	for _, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		require.Len(t, src.waitFor(t, 801-100), 801-100, "1 + 100, then two of 100 each, three times")
		break
	}
}
