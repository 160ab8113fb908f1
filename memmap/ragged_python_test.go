package memmap_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type raggedResult struct {
	Op     string
	Flat   bool
	Path   string
	Raised string
}

var raggedForms = map[string]func(t *testing.T, at string, td *tdict.TensorDict){
	"":     func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at, td)) },
	".tdz": func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at+".tdz", td)) },
	".tdc": func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at+".tdc", td)) },
	"growing": func(t *testing.T, at string, td *tdict.TensorDict) {
		row, err := td.NewZeros(append([]int{}, td.Shape()[1:]...)...)
		if td.Shape()[0] > 0 {
			row, err = td.Index(ix.At(0))
		}
		require.NoError(t, err)
		w, err := memmap.NewWriter(at, row, memmap.WriterOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, w.Close()) })
		for i := range td.Shape()[0] {
			require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(i)))))
			require.NoError(t, w.Commit())
		}
	},
}

func TestExplore(t *testing.T) {
	for form, save := range raggedForms {
		if f := os.Getenv("FORM"); f != "" && f != form {
			continue
		}
		top := testkit.TempDir(t)
		cases := map[string]*tdict.TensorDict{}
		for _, c := range raggedCases() {
			td := c.make(t, 0)
			if form == "growing" && len(td.Shape()) == 0 {
				continue
			}
			cases[c.name] = td
			at := filepath.Join(top, c.name)
			require.NoError(t, os.Mkdir(at, 0o777))
			save(t, filepath.Join(at, "data"), td)
			save(t, filepath.Join(at, "other"), c.make(t, 101))
			if form == "growing" {
				write(t, at, "flat", "")
			}
		}
		python(t, string(tensor.Must(os.ReadFile(filepath.Join("testdata", "python", "ragged.py")))), "ops", top)
		for name, td := range cases {
			var results []raggedResult
			require.NoError(t, json.Unmarshal(tensor.Must(os.ReadFile(filepath.Join(top, name, "results.json"))), &results))
			for _, r := range results {
				out := "raised " + r.Raised
				if r.Raised == "" {
					ds, err := memmap.Open(r.Path)
					if err != nil {
						out = "refused " + strings.ReplaceAll(err.Error(), top, "")
						if !errors.Is(err, memmap.ErrCorrupt) {
							out = "ODD " + out
						}
					} else {
						diff, err := td.Diff(ds.TensorDict)
						out = "same"
						if err != nil || diff != "" {
							out = "OTHER " + diff
						}
						ds.Close()
					}
				}
				t.Logf("R|%s|%s|%v|%s|%s", form, name, r.Flat, r.Op, strings.ReplaceAll(out, "\n", " "))
			}
		}
	}
}
