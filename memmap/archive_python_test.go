package memmap_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
		require.Equal(t, "[0, 1] torch.Size([2])\n", python(t, script, file, other, map[bool]string{true: "true"}[compress]))
		back := open(t, other)
		require.NoError(t, td.Delete("text"))
		requireSame(t, td, back.TensorDict)
		requireSound(t, other)
		if !compress {
			require.NoError(t, memmap.Save(filepath.Join(top, "c.tdz"), back.TensorDict))
			require.Equal(t, withoutTimes(t, other), withoutTimes(t, filepath.Join(top, "c.tdz")), "Python's bytes")
		}
		require.NoError(t, td.Set("text", tensor.Must(tdict.NewData("e", 2))))
	}
}

// withoutTimes returns the bytes of an archive of which each entry was written in the same year,
// without times.
func withoutTimes(t *testing.T, file string) []byte {
	t.Helper()
	b := tensor.Must(os.ReadFile(file))
	for i := range len(b) - 16 {
		if s := string(b[i : i+4]); s == "PK\x03\x04" {
			clear(b[i+10 : i+14])
		} else if s == "PK\x01\x02" {
			clear(b[i+12 : i+16])
		}
	}
	return b
}
