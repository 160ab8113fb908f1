package memmap_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMappedDataKeepsItsValues writes to the data of an opened dataset, which is saved as a whole.
func TestMappedDataKeepsItsValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	td := tdict.New(3)
	require.NoError(t, td.Set("x", tensor.Vector[int64](1, 2, 3)))
	require.NoError(t, td.Set("task", tensor.Must(tdict.NewData("reach", 3))))
	require.NoError(t, td.Set("n/each", tensor.Must(tdict.DataFrom([]string{"a", "b", "c"}, 3))))
	require.NoError(t, memmap.Save(dir, td))
	row := func(x int64, task, each string) *tdict.TensorDict {
		out, err := tdict.FromValues(nil, tdict.Values{"x": x, "task": task, "n/each": each})
		require.NoError(t, err)
		return out
	}
	for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
		ds, err := memmap.OpenWith(dir, opt)
		require.NoError(t, err)
		part, err := ds.Index(ix.At(1))
		require.NoError(t, err)
		for name, write := range map[string]func() error{
			"a row of another text":           func() error { return ds.SetIndex(row(7, "push", "b"), ix.At(1)) },
			"a row whose own text is another": func() error { return ds.SetIndex(row(7, "reach", "z"), ix.At(1)) },
			"a list of rows": func() error {
				return ds.SetIndex(tensor.Must(td.Index(ix.Take(1, 0))), ix.Take(0, 1))
			},
			"a part":           func() error { return part.SetIndex(row(7, "push", "b")) },
			"the whole":        func() error { return ds.UpdateInPlace(tensor.Must(td.Index(ix.Take(2, 1, 0)))) },
			"as a destination": func() error { return td.IndexInto(ds.TensorDict, ix.Take(2, 1, 0)) },
		} {
			require.ErrorIs(t, write(), tensor.ErrReadOnly, name)
			requireSame(t, td, ds.TensorDict)
		}
		if opt.Writable {
			require.NoError(t, ds.SetIndex(row(7, "reach", "b"), ix.At(1)), "the texts that are there")
			require.ErrorContains(t, ds.SetIndex(row(7, "push", "b"), ix.At(1)), `set index "task": read-only memory: got "push", want "reach": data of a dataset cannot be changed`)
		}
		picked := tensor.Must(ds.Index(ix.Take(1, 0)))
		require.NoError(t, picked.SetIndex(row(9, "push", "z"), ix.At(0)), "a copy can be changed")
		flipped := tensor.Must(shapeops.Flip(ds.TensorDict, 0))
		require.NoError(t, flipped.SetIndex(row(9, "push", "z"), ix.At(0)), "so can what is not a view")
		require.NoError(t, tensor.Must(ds.Clone()).SetIndex(row(9, "push", "z"), ix.At(0)))
		require.NoError(t, ds.Close())
	}
}

// TestSamplesWithTextFromManyGoroutines runs with the race detector too: rows that differ are
// written at the same time, with the text that all have.
func TestSamplesWithTextFromManyGoroutines(t *testing.T) {
	sample, err := tdict.FromValues(nil, tdict.Values{"x": []float32{1, 2}, "task": "reach"})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "d")
	ds, err := memmap.Create(dir, tensor.Must(sample.Expand(64)), memmap.CreateOptions{})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := n; i < 64; i += 4 {
				if err := ds.SetIndex(sample, ix.At(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, ds.Close())
	requireSame(t, tensor.Must(sample.Expand(64)), open(t, dir).TensorDict)
}
