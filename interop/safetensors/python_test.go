package safetensors_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPython writes every dtype and many shapes. Python reads them, element by element, and writes
// a file of the same bytes, which is opened.
func TestPython(t *testing.T) {
	td := tdict.New()
	shapes := [][]int{{}, {0}, {1}, {7}, {2, 3}, {3, 0, 2}, {2, 1, 3}, {1, 1, 1, 1, 5}}
	want := map[string]string{}
	for _, d := range tensor.DTypes() {
		if d.IsComplex() { // C64 came after safetensors 0.4
			continue
		}
		for i, shape := range shapes {
			x := counted(t, d, shape...)
			key := nestedkey.Of(d.String(), string(rune('a'+i)))
			require.NoError(t, td.Set(key, x))
			want[d.String()+"."+string(rune('a'+i))] = d.String() + " " + x.Shape().String() + " " + hex.EncodeToString(testkit.Content(t, x))
		}
	}
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	require.NoError(t, safetensors.SaveWith(t.Context(), ours, td, safetensors.SaveOptions{Metadata: map[string]string{"format": "pt"}}))
	out := processkit.Python(t, `
import json, sys, torch, safetensors.torch
from safetensors import safe_open
from safetensors.torch import save_file
for dtype, size in (torch.uint16, 2), (torch.uint32, 4), (torch.uint64, 8):  # 0.4 reads them only
    safetensors.torch._SIZE.setdefault(dtype, size)
found, tensors = {}, {}
with safe_open(sys.argv[1], "pt") as f:
    for k in f.keys():
        x = tensors[k] = f.get_tensor(k)
        raw = x.flatten().view(torch.uint8).numpy().tobytes().hex() if x.numel() else ""
        found[k] = f"{str(x.dtype)[6:]} [{' '.join(map(str, x.shape))}] {raw}"
    metadata = f.metadata()
save_file(tensors, sys.argv[2], metadata)
print(json.dumps([found, metadata]))
`, ours, theirs)
	var found []map[string]string
	require.NoError(t, json.Unmarshal([]byte(out), &found), "%s", out)
	require.Equal(t, want, found[0])
	require.Equal(t, map[string]string{"format": "pt"}, found[1])
	require.Equal(t, tensor.Must(os.ReadFile(ours)), tensor.Must(os.ReadFile(theirs)))
	require.True(t, td.Equal(open(t, theirs).TensorDict))
}

// TestPythonPassesOver: Python opens a file with our string in its metadata, and hands it on.
func TestPythonPassesOver(t *testing.T) {
	td := batch(t)
	require.NoError(t, td.SetNames("time"))
	path, again := saved(t, td), filepath.Join(t.TempDir(), "again")
	processkit.Python(t, `
import sys
from safetensors import safe_open
from safetensors.torch import load_file, save_file
save_file(load_file(sys.argv[1]), sys.argv[2], safe_open(sys.argv[1], "pt").metadata())
`, path, again)
	require.Equal(t, tensor.Must(os.ReadFile(path)), tensor.Must(os.ReadFile(again)))
	require.Equal(t, []string{"time"}, open(t, again).Names())
}
