//go:build linux

package slurm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// docsPage is the page about these scripts.
const docsPage = "../../docs/slurm.md"

// TestPage wants that the pieces of scripts and programs that the page shows are in them, and that
// it shows what a trainer and a script say.
func TestPage(t *testing.T) {
	bash, python := page.Fences(t, docsPage, "bash"), page.Fences(t, docsPage, "python")
	require.NotEmpty(t, bash)
	require.NotEmpty(t, python)
	page.CheckSource(t, bash, "*/*.sh")
	page.CheckSource(t, python, "*.py")
	page.CheckSource(t, page.Fences(t, "../../docs/samplecache.md", "python"), "*.py")
}

var variable = regexp.MustCompile(`(?m)^([A-Z_]+)=\$\{([A-Z_]+):-`)

// TestScripts has rules for all scripts.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("*/*.sh")
	require.NoError(t, err)
	require.Len(t, paths, 6)
	pages := page.Read(t, docsPage)
	for _, path := range paths {
		text := page.Read(t, path)
		require.Contains(t, text, "\nset -euo pipefail\n", path)
		require.Contains(t, text, "\n#SBATCH --signal=B:TERM@60\n", path)
		require.Contains(t, text, "\n#SBATCH --requeue\n", path)
		require.NotContains(t, text, "$0", "%s: it runs as a copy", path)
		require.NotContains(t, text, "BASH_SOURCE", "%s: it runs as a copy", path)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&0o100, path)
		for _, found := range variable.FindAllStringSubmatch(text, -1) {
			require.Equal(t, found[1], found[2], path)
		}
		require.Contains(t, pages, "("+"../examples/slurm/"+filepath.Dir(path)+"/README.md", path)
		require.Contains(t, page.Read(t, filepath.Join(filepath.Dir(path), "README.md")), "]("+filepath.Base(path)+")")
		if strings.Contains(text, "password") && path != filepath.Join("many-nodes", "generate.sh") && path != filepath.Join("many-nodes", "train.sh") {
			require.Contains(t, text, "\numask 077", "%s: it writes the password", path)
		}
	}
}
