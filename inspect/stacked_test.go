package inspect_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// runs returns a stack of runs of several lengths, of which the first alone has the key first, and
// the rewards of the last begin with a number.
func runs(t testing.TB, number int64) *tdict.TensorDict {
	t.Helper()
	var tds []*tdict.TensorDict
	for i, n := range []int{2, 3} {
		td := tdict.New(n)
		require.NoError(t, td.Set("reward", tensor.Must(tensor.Full(number*int64(i), n))))
		require.NoError(t, td.Set("name", tensor.Must(tdict.NewData("run"))))
		if i == 0 {
			require.NoError(t, td.Set("in/first", tensor.Must(tensor.Full[float32](1, n))))
		}
		tds = append(tds, td)
	}
	return tensor.Must(tdict.LazyStack(tds, 0))
}

// Stacked leaves are compared member by member, printed, and counted; statistics refuse them.
func TestStacks(t *testing.T) {
	td := runs(t, 4)
	for range inspect.Differences(t.Context(), td, runs(t, 4), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		t.Error("got a difference")
	}
	var all []tdict.Difference
	for d, err := range inspect.Differences(t.Context(), td, runs(t, 5), inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}}) {
		require.NoError(t, err)
		all = append(all, d)
	}
	require.Len(t, all, 1)
	require.EqualValues(t, "reward", all[0].Key)
	require.Equal(t, 3, all[0].Count)
	require.Equal(t, []int{1, 0}, all[0].Elements[0].Position)

	_, err := inspect.Describe(t.Context(), td, inspect.DescribeOptions{})
	require.ErrorIs(t, err, tdict.ErrKind)
	require.ErrorContains(t, err, `"reward"`)
	require.ErrorContains(t, err, "Dense it first, or Exclude it")

	var text bytes.Buffer
	require.NoError(t, inspect.Print(&text, td, inspect.PrintOptions{}))
	require.Contains(t, text.String(), "reward: stacked int64 [2 *], along dim 0")

	dir := filepath.Join(t.TempDir(), "runs")
	require.NoError(t, memmap.Save(dir, td))
	report := tensor.Must(inspect.Dataset(dir))
	require.Equal(t, 2, report.Leaves)
	require.Equal(t, 2, report.Summed)
	require.EqualValues(t, 8*5+4*2, report.Bytes)
}
