package loader_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/loadertest"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Batches of a dictionary whose members differ are dictionaries that share some of them.
func TestBatchesOfALazyStack(t *testing.T) {
	var tds []*tdict.TensorDict
	for n := range 10 {
		td := tdict.New(n + 1)
		require.NoError(t, td.Set("x", tensor.Must(tensor.Full(float32(n), n+1, 2))))
		tds = append(tds, td)
	}
	td := tensor.Must(tdict.LazyStack(tds, 0))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	for name, source := range map[string]loader.Source{"memory": tensor.Must(loader.From(td)), "mapped": tensor.Must(loader.FromDataset(ds))} {
		t.Run(name, func(t *testing.T) {
			l, err := loader.New(source, loader.Options{Batch: 4, Sampler: sampler.Random(), Seed: 1})
			require.NoError(t, err)
			seen := map[float32]bool{}
			for batch, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				for row, err := range batch.Rows() {
					require.NoError(t, err)
					x := tensor.Must(tdict.Item[float32](row, "x", 0, 0))
					require.Equal(t, int(x)+1, tensor.Must(row.Tensor("x")).Shape()[0])
					seen[x] = true
				}
			}
			require.Len(t, seen, 10)
			require.NoError(t, loadertest.TestSource(t.Context(), source))
		})
	}
}

// TestBatchesOfScalarMembers draws batches of a lazy stack of which some members have no dims.
func TestBatchesOfScalarMembers(t *testing.T) {
	sample := func(sizes ...int) *tdict.TensorDict {
		td := tdict.New(sizes...)
		require.NoError(t, td.Set("r", tensor.Must(tensor.New(tensor.Float64, sizes...))))
		return td
	}
	for _, tds := range [][]*tdict.TensorDict{{sample(), sample()}, {sample(3), sample()}, {sample(), sample(4)}} {
		source := tensor.Must(loader.From(tensor.Must(tdict.LazyStack(tds, 0))))
		l, err := loader.New(source, loader.Options{Batch: 2})
		require.NoError(t, err)
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, 2, batch.Shape()[0])
		}
	}
}
