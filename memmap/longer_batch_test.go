package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriterAppendsLongerBatches appends ragged leaves whose batch shape is longer than the one of
// the dataset, by themselves and in a dictionary with that batch shape.
func TestWriterAppendsLongerBatches(t *testing.T) {
	six := shapeops.Shape{3, 2}
	one, two := [][]int64{{1, 3, 0, 2, 2, 1}}, [][]int64{{1, 0, 2, 0, 1, 1}, {2, 0, 1, 3, 1}}
	td := leaves("", shapeops.Shape{3}, raggedLeaf{"x", tensor.Int16, six, nil, one}, raggedLeaf{"y", tensor.Int8, six, shapeops.Shape{2}, two}).make(t, 0)
	agents := tdict.New(3, 2)
	require.NoError(t, td.Set("agents", agents))
	require.NoError(t, agents.Set("z", raggedLeaf{"z", tensor.Float32, six, nil, two}.tensor(t, 0)))
	dir := filepath.Join(testkit.TempDir(t), "log")
	w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	for first := range 2 {
		require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(first)))))
		require.NoError(t, w.Commit())
		requireSame(t, tensor.Must(td.Index(ix.Range(0, first+1))), open(t, dir).TensorDict)
		readPython(t, dir).requireRules(t, false)
		requireSound(t, dir)
	}
	require.NoError(t, w.Close())
	w, err = memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(2)))))
	require.NoError(t, w.Finish())
	requireSame(t, td, open(t, dir).TensorDict)
	requireSound(t, dir)
	require.Equal(t, tree(t, saveRows(t, td)), tree(t, dir), "as if it had been saved")

	w, err = memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{Resume: true})
	require.NoError(t, err)
	require.NoError(t, w.Append(td))
	require.NoError(t, w.Commit())
	twice := tensor.Must(shapeops.Cat([]*tdict.TensorDict{td, td}, 0))
	requireSame(t, twice, open(t, dir).TensorDict)
	require.NoError(t, w.Finish())
	requireSame(t, twice, open(t, dir).TensorDict)
}
