package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
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
