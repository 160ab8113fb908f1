package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriterAppendsRaggedRows appends patients one by one and together: what is there is what was
// appended, at each commit, with offsets that are shared.
func TestWriterAppendsRaggedRows(t *testing.T) {
	td := visits(t)
	require.NoError(t, td.Delete("age"))
	dir := filepath.Join(testkit.TempDir(t), "log")
	w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{})
	require.NoError(t, err)
	require.Zero(t, open(t, dir).Shape()[0])
	for first := range 3 {
		require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(first)))))
		require.NoError(t, w.Commit())
		requireSame(t, tensor.Must(td.Index(ix.Range(0, first+1))), open(t, dir).TensorDict)
		requireSound(t, dir)
	}
	require.NoError(t, w.Finish())
	got := open(t, dir).TensorDict
	requireSame(t, td, got)
	requireSound(t, dir)
	saved := saveRows(t, td)
	require.Equal(t, tree(t, saved), tree(t, dir), "as if it had been saved")
}
