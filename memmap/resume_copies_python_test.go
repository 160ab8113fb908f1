package memmap_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriterGoesOnWithPythonsCopies appends to what Python saved of datasets with ragged leaves: of
// a finished one, and of one that grows, nested and flat. Python takes some seconds to start.
func TestWriterGoesOnWithPythonsCopies(t *testing.T) {
	const script = `
import sys
from pathlib import Path
from tensordict import TensorDict
for folder in Path(sys.argv[1]).iterdir():
    td = TensorDict.load_memmap(folder / "data")
    if folder.name == "nested":
        td = td.unflatten_keys(".")
    td.memmap(folder / "copy", copy_existing=True)
`
	var td *tdict.TensorDict
	for _, c := range raggedCases() {
		if c.name == "nested" {
			td = c.make(t, 0)
		}
	}
	top := testkit.TempDir(t)
	require.NoError(t, memmap.Save(filepath.Join(top, "finished", "data"), td))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "nested"), 0o777))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "flat"), 0o777))
	saveGrowing(t, filepath.Join(top, "nested", "data"), td)
	saveGrowing(t, filepath.Join(top, "flat", "data"), td)
	processkit.Python(t, script, top)
	for _, name := range []string{"finished", "nested", "flat"} {
		t.Run(name, func(t *testing.T) {
			td, dir := td, filepath.Join(top, name, "copy")
			if name == "flat" {
				td = tensor.Must(td.FlattenKeys("."))
			}
			w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{Resume: true})
			require.NoError(t, err)
			require.NoError(t, w.Append(td))
			require.NoError(t, w.Commit())
			want := tensor.Must(shapeops.Cat([]*tdict.TensorDict{td, td}, 0))
			requireSame(t, want, open(t, dir).TensorDict)
			require.NoError(t, w.Finish())
			requireSame(t, want, open(t, dir).TensorDict)
			requireSound(t, dir)
		})
	}
}
