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
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// pythonBlocks returns the two blocks of Python in a section of a page.
func pythonBlocks(t *testing.T, page, section string) (blocks []string) {
	t.Helper()
	_, text, ok := strings.Cut(string(tensor.Must(os.ReadFile(page))), "\n## "+section+"\n")
	require.True(t, ok, "no section %s", section)
	text, _, _ = strings.Cut(text, "\n## ")
	for _, part := range strings.Split(text, "\n```python\n")[1:] {
		block, _, ok := strings.Cut(part, "\n```\n")
		require.True(t, ok)
		blocks = append(blocks, block+"\n")
	}
	require.Len(t, blocks, 2)
	return blocks
}

// TestPythonSelects runs the selection of rows in docs/from-python.md, and compares with a mask.
func TestPythonSelects(t *testing.T) {
	top := testkit.TempDir(t)
	td := tdict.New(5)
	require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings([]string{"good", "", "bad", "wörld", "best"}))))
	require.NoError(t, td.Set("tokens", tensor.Must(ragged.From[int32]([][]int32{{1, 2}, {}, {3}, {4, 5, 6}, {7}}))))
	require.NoError(t, td.Set("rating", tensor.Vector[float32](5, 4, 1, 3, 4.5)))
	require.NoError(t, memmap.Save(filepath.Join(top, "reviews"), td))
	blocks := pythonBlocks(t, filepath.Join("..", "docs", "from-python.md"), "Ragged rows")
	processkit.Python(t, blocks[0]+"import os, sys\nos.chdir(sys.argv[1])\n"+blocks[1], top)
	want := tensor.Must(td.Index(ix.Mask([]bool{true, true, false, false, true})))
	requireSame(t, want, open(t, filepath.Join(top, "good")).TensorDict)
}

// TestPythonUnpacks runs the functions of docs/from-python.md on datasets that Go saved, and opens
// what they pack. Python takes some seconds to start.
func TestPythonUnpacks(t *testing.T) {
	top := testkit.TempDir(t)
	want := map[string]*tdict.TensorDict{}
	for _, c := range raggedCases() {
		if c.name == "integers" { // torch has no operations for uint16, uint32 and uint64
			continue
		}
		td := c.make(t, 0)
		want[c.name] = td
		require.NoError(t, os.Mkdir(filepath.Join(top, c.name), 0o777))
		require.NoError(t, memmap.Save(filepath.Join(top, c.name, "data"), td))
		if len(td.Shape()) > 0 {
			at := filepath.Join(top, c.name+", growing")
			require.NoError(t, os.Mkdir(at, 0o777))
			saveGrowing(t, filepath.Join(at, "data"), td)
			want[c.name+", growing"] = td
		}
	}
	for name := range want {
		if strings.HasPrefix(name, "text") {
			write(t, filepath.Join(top, name), "text", "hello||wörld")
		}
	}
	functions := pythonBlocks(t, filepath.Join("..", "docs", "from-python.md"), "Ragged rows")[0]
	processkit.Python(t, functions+string(tensor.Must(os.ReadFile(filepath.Join("testdata", "python", "unpack.py")))), top)
	picked := 0
	for name, td := range want {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, differs(td, open(t, filepath.Join(top, name, "packed")).TensorDict))
			keys := oneLevel(td)
			if len(td.Shape()) == 0 || len(keys) == 0 {
				return
			}
			rows := []int{}
			for i := 1; i < td.Shape()[0]; i += 2 {
				rows = append(rows, i)
			}
			odd := tensor.Must(tensor.Must(td.Select(keys...)).Index(ix.Take(rows...)))
			requireSame(t, odd, open(t, filepath.Join(top, name, "picked")).TensorDict)
			picked++
		})
	}
	require.Greater(t, picked, 10)
}

// oneLevel returns the keys of ragged leaves of td that have one level and one batch dim.
func oneLevel(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for key, v := range td.Leaves() {
		if t, ok := v.(*ragged.Tensor); ok && t.Depth() == 1 && len(t.Shape()) == 1 {
			keys = append(keys, key)
		}
	}
	return keys
}
