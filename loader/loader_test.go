package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbered returns n rows, the only leaf of which is their number, as "row".
func numbered(t testing.TB, n int) loader.Source {
	t.Helper()
	td := tdict.New(n)
	require.NoError(t, td.Set("row", tensor.Must(tensor.Arange(0, int64(n), 1))))
	return must(loader.From(td))
}

// rowsOf returns the numbers of the rows of a batch.
func rowsOf(t testing.TB, batch *tdict.TensorDict) []int {
	t.Helper()
	values, err := tdict.Slice[int64](batch, "row")
	require.NoError(t, err)
	rows := make([]int, len(values))
	for i, v := range values {
		rows[i] = int(v)
	}
	return rows
}

// epoch returns the rows of the batches that are left of an epoch.
func epoch(t testing.TB, l *loader.Loader) [][]int {
	t.Helper()
	batches := [][]int{}
	for batch, err := range l.Batches(context.Background()) {
		require.NoError(t, err)
		batches = append(batches, rowsOf(t, batch))
	}
	return batches
}

func TestBatches(t *testing.T) {
	tests := []struct {
		name string
		rows int
		opt  loader.Options
		want [][]int
	}{
		{"M26 the last batch has what is left", 7, loader.Options{Batch: 3}, [][]int{{0, 1, 2}, {3, 4, 5}, {6}}},
		{"M26 or is left out", 7, loader.Options{Batch: 3, DropLast: true}, [][]int{{0, 1, 2}, {3, 4, 5}}},
		{"M27 a batch may be larger than the source", 2, loader.Options{Batch: 5}, [][]int{{0, 1}}},
		{"M27 no rows are no batches", 0, loader.Options{Batch: 2}, [][]int{}},
		{"a whole number of batches", 4, loader.Options{Batch: 2}, [][]int{{0, 1}, {2, 3}}},
	}
	for _, tt := range tests {
		for _, workers := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%s/workers=%d", tt.name, workers), func(t *testing.T) {
				tt.opt.Workers = workers
				l := must(loader.New(numbered(t, tt.rows), tt.opt))
				for number := range uint64(3) {
					require.Equal(t, number, l.Epoch())
					require.Equal(t, len(tt.want), l.Len())
					require.Equal(t, len(tt.want), l.Left())
					require.Equal(t, tt.want, epoch(t, l))
				}
			})
		}
	}
}

// TestM28Epochs: epochs differ, the same seed and epoch give the same order, and each is a
// permutation.
func TestM28Epochs(t *testing.T) {
	for _, n := range []int{10, 1000, 60_000} {
		opt := loader.Options{Batch: 7, Sampler: sampler.Random(), Seed: 3}
		l, again := must(loader.New(numbered(t, n), opt)), must(loader.New(numbered(t, n), opt))
		first, second := slices.Concat(epoch(t, l)...), slices.Concat(epoch(t, l)...)
		require.NotEqual(t, first, second)
		require.Equal(t, first, slices.Concat(epoch(t, again)...))
		require.NoError(t, again.Seek(1, 0))
		require.Equal(t, second, slices.Concat(epoch(t, again)...))
		for _, order := range [][]int{first, second} {
			slices.Sort(order)
			require.Len(t, order, n)
			require.Equal(t, []int{0, n - 1}, []int{order[0], order[n-1]})
			require.Len(t, slices.Compact(order), n)
		}
	}
}

// TestM32Resume: a run that is saved after batch k and restored gives what the uninterrupted one
// gives, at every k, also at the ends of epochs.
func TestM32Resume(t *testing.T) {
	const epochs, rows = 3, 11
	for _, opt := range []loader.Options{
		{Batch: 3}, {Batch: 3, Sampler: sampler.Random(), Seed: 5}, {Batch: 4, Sampler: sampler.Random(), DropLast: true, Workers: 2},
	} {
		whole, states := run(t, must(loader.New(numbered(t, rows), opt)), epochs, nil)
		for k, state := range states {
			t.Run(fmt.Sprintf("%+v/k=%d", opt.Batch, k), func(t *testing.T) {
				rest, _ := run(t, must(loader.New(numbered(t, rows), opt)), epochs, state)
				require.Equal(t, whole[k:], rest)
			})
		}
	}
}

// run loads epochs, from a state on if there is one, and returns the texts of all batches, and the
// state before the first and after each.
func run(t testing.TB, l *loader.Loader, epochs uint64, from []byte) (batches []string, states [][]byte) {
	t.Helper()
	batches = []string{}
	if from != nil {
		var state loader.State
		require.NoError(t, json.Unmarshal(from, &state))
		require.NoError(t, l.Restore(state))
	}
	states = append(states, must(json.Marshal(l.State())))
	for l.Epoch() < epochs {
		for batch, err := range l.Batches(context.Background()) {
			require.NoError(t, err)
			batches = append(batches, string(must(batch.MarshalJSON())))
			states = append(states, must(json.Marshal(l.State())))
		}
	}
	return batches, states
}

// nothing fetches rows without entries.
func nothing(_ context.Context, rows []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	return tdict.New(len(rows)), nil
}
