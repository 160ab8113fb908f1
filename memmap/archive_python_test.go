package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPythonReadsArchives has Python load what Save packed, and write it again.
func TestPythonReadsArchives(t *testing.T) {
	const script = `
import sys, torch, zipfile
from tensordict import TensorDict
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
td = TensorDict.load_memmap(sys.argv[1])
assert td["text"] == "e" and td["obs", "pos"].tolist() == [[0.0, 1.0], [2.0, 3.0]], td
print(td["obs", "n"].tolist(), td.batch_size)
td.select("obs").memmap(sys.argv[2], **(dict(compression="deflate") if sys.argv[3] == "true" else {}))
`
	td := tdict.New(2)
	require.NoError(t, td.Set("obs/n", counted(tensor.Int64, 2)))
	require.NoError(t, td.Set("obs/pos", counted(tensor.Float32, 2, 2)))
	require.NoError(t, td.Set("text", tensor.Must(tdict.NewData("e", 2))))
	for _, compress := range []bool{false, true} {
		top := t.TempDir()
		file, other := filepath.Join(top, "a.tdz"), filepath.Join(top, "b.tdz")
		require.NoError(t, memmap.SaveWith(t.Context(), file, td, memmap.SaveOptions{Compress: compress}))
		require.Equal(t, "[0, 1] torch.Size([2])\n", processkit.Python(t, script, file, other, map[bool]string{true: "true"}[compress]))
		back := open(t, other)
		require.NoError(t, td.Delete("text"))
		requireSame(t, td, back.TensorDict)
		requireSound(t, other)
		require.NoError(t, td.Set("text", tensor.Must(tdict.NewData("e", 2))))
	}
}
