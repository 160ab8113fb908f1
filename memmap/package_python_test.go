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
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPythonPackageKeepsRagged has the Python package tdict open datasets of ragged tensors, whole
// and growing, and save them and some of their rows in each form. Go opens the results. Python
// takes some seconds to start.
func TestPythonPackageKeepsRagged(t *testing.T) {
	top := testkit.TempDir(t)
	want := map[string]*tdict.TensorDict{}
	for _, c := range raggedCases() {
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
	script := string(tensor.Must(os.ReadFile(filepath.Join("testdata", "python", "package.py"))))
	processkit.Python(t, script, tensor.Must(filepath.Abs("../python/src")), top)
	for name, td := range want {
		t.Run(name, func(t *testing.T) {
			picked := td
			if len(td.Shape()) > 0 {
				rows := []int{}
				for i := 1; i < td.Shape()[0]; i += 2 {
					rows = append(rows, i)
				}
				picked = tensor.Must(td.Index(ix.Take(rows...)))
			}
			for file, td := range map[string]*tdict.TensorDict{"all": td, "picked": picked} {
				for _, form := range []string{"", ".tdz", ".tdc", "-again", ".tdz-again"} {
					at := filepath.Join(top, name, file+form)
					if form == ".tdc" && strings.HasPrefix(name, "beside others") {
						continue // it has an unbatched tensor
					}
					require.NoError(t, differs(td, open(t, at).TensorDict), "%s%s", file, form)
				}
			}
		})
	}
}
