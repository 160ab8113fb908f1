package memmap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// pythonBlock returns the block of Python in a section of a page.
func pythonBlock(t *testing.T, page, section string) string {
	t.Helper()
	_, text, ok := strings.Cut(string(tensor.Must(os.ReadFile(page))), "\n## "+section+"\n")
	require.True(t, ok, "no section %s", section)
	_, text, ok = strings.Cut(text, "\n```python\n")
	require.True(t, ok)
	block, _, ok := strings.Cut(text, "\n```\n")
	require.True(t, ok)
	return block + "\n"
}

// TestPythonSelects runs the selection of rows in docs/from-python.md, and compares with a mask.
func TestPythonSelects(t *testing.T) {
	top := testkit.TempDir(t)
	td := tdict.New(5)
	require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings([]string{"good", "", "bad", "wörld", "best"}))))
	require.NoError(t, td.Set("tokens", tensor.Must(ragged.From[int32]([][]int32{{1, 2}, {}, {3}, {4, 5, 6}, {7}}))))
	require.NoError(t, td.Set("rating", tensor.Vector[float32](5, 4, 1, 3, 4.5)))
	require.NoError(t, memmap.Save(filepath.Join(top, "reviews"), td))
	block := pythonBlock(t, filepath.Join("..", "docs", "from-python.md"), "Ragged rows")
	const start = "import os, sys\nsys.path.insert(0, sys.argv[2])\nos.chdir(sys.argv[1])\n"
	said := processkit.Python(t, start+block, top, tensor.Must(filepath.Abs("../python/src")))
	require.Contains(t, said, "'wörld', 'best'] [[1, 2], [], [3], [4, 5, 6], [7]]")
	want := tensor.Must(td.Index(ix.Mask([]bool{true, true, false, false, true})))
	require.NoError(t, want.Set("first", tensor.Must(ragged.FromStrings([]string{"g", "", "b"}))))
	requireSame(t, want, open(t, filepath.Join(top, "good")).TensorDict)
}
