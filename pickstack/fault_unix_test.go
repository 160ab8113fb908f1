//go:build unix

package pickstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFaultsNameTheFile: of several mapped inputs the error names the one that another process cut,
// whichever it is and however many goroutines there are; the plan can be used again.
func TestFaultsNameTheFile(t *testing.T) {
	const rows = 1 << 18
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(1)
	for _, key := range []string{"a", "b", "c"} {
		require.NoError(t, td.Set(nestedkey.Key(key), tensor.Must(tensor.Full[float32](1, 1, rows, 4))))
	}
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	defer ds.Close()
	a, b, c := tensor.Must(ds.Tensor("a")), tensor.Must(ds.Tensor("b")), tensor.Must(ds.Tensor("c"))
	index := tensor.Must(tensor.Arange[int64](0, rows, 1))
	for workers := range 3 {
		plan := tensor.Must(pickstack.NewPick([]*tensor.Tensor{index, index}, []int{rows, rows}, pickstack.PickOptions{Workers: workers}))
		wide := tensor.Must(tensor.Zeros[float32](1, rows, 8))
		require.NoError(t, plan.ForwardInto(wide, a, b))
		require.NoError(t, os.Truncate(filepath.Join(dir, "b.memmap"), 4096))
		for _, err := range []error{
			plan.ForwardInto(wide, a, b), plan.ForwardInto(wide, b, a), plan.ForwardInto(wide, b, b),
			plan.GradientInto([]*tensor.Tensor{c, b}, wide, a, a), plan.GradientInto([]*tensor.Tensor{b, c}, wide, a, a),
		} {
			require.ErrorIs(t, err, mapping.ErrFault)
			require.ErrorContains(t, err, "b.memmap")
			require.NotContains(t, err.Error(), "input")
		}
		require.NoError(t, os.Truncate(filepath.Join(dir, "b.memmap"), rows*16))
	}
}

// Pools fold rows of a file that is cut, and weigh them: each returns the error of the file.
func TestPoolsOfAFileThatIsCut(t *testing.T) {
	const rows, channels = 1 << 14, 16
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(1)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Full[float32](1, 1, rows, channels))))
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	x := tensor.Must(ds.Tensor("x"))
	pools := tensor.Must(ragged.FromLengths(tensor.Must(tensor.Arange[int64](0, rows, 1)), slices.Repeat([]int64{2}, rows/2)))
	for _, r := range []pickstack.Reduction{pickstack.Max, pickstack.Min, pickstack.Sum, pickstack.Mean, pickstack.LogSumExp} {
		plan := tensor.Must(pickstack.NewPool([]*ragged.Tensor{pools}, []int{rows}, pickstack.PoolOptions{Reduction: r}))
		out := tensor.Must(plan.Forward(x))
		dx := tensor.Must(tensor.Zeros[float32](1, rows, channels))
		require.NoError(t, os.Truncate(filepath.Join(dir, "x.memmap"), 4096))
		errs := []error{plan.ForwardInto(out, x)}
		if r != pickstack.Sum && r != pickstack.Mean { // whose gradients do not read x
			errs = append(errs, plan.GradientInto([]*tensor.Tensor{dx}, out, x))
		}
		for _, err := range errs {
			require.ErrorIs(t, err, mapping.ErrFault, r)
			require.ErrorContains(t, err, "x.memmap", r)
		}
		require.NoError(t, os.Truncate(filepath.Join(dir, "x.memmap"), rows*channels*4))
	}
}
