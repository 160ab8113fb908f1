package torchzip_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPythonLoads has torch load files of all dtypes and several shapes without unpickling, and
// save each again.
func TestPythonLoads(t *testing.T) {
	dir := t.TempDir()
	want := map[string]*tensor.Tensor{}
	for _, d := range tensor.DTypes() {
		for _, shape := range [][]int{{}, {0}, {1}, {2, 3}, {3, 0, 2}, {300, 2}} {
			name := filepath.Join(dir, d.String()+tensor.Must(tensor.NewMeta(d, shape...)).Shape().String())
			x := tensor.Must(tensor.New(d, shape...))
			b := testkit.Content(t, x)
			for i := range b {
				b[i] = byte(i % 2)
			}
			x = tensor.Must(tensor.FromBytes(d, b, shape...))
			require.NoError(t, os.WriteFile(name, written(t, x), 0o644))
			want[name] = x
		}
	}
	processkit.Python(t, `
import glob, sys, torch
for name in glob.glob(glob.escape(sys.argv[1]) + "/*"):
    x = torch.load(name, weights_only=True)
    assert f"{x.dtype}{list(x.shape)}".replace("torch.", "").replace(",", "") == name.split("/")[-1], name
    torch.save(x, name)
`, dir)
	for name, x := range want {
		got, err := read(tensor.Must(os.ReadFile(name)))
		require.NoError(t, err, name)
		require.Equal(t, testkit.Content(t, x), testkit.Content(t, got), name)
		require.Equal(t, x.DType(), got.DType())
	}
}
