package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// tutorial is the page that explains this program.
var tutorial = filepath.Join("..", "..", "docs", "tutorial.md")

// TestOutput runs the program and compares the output of each step with the page. The last step
// needs Python: see the variable TENSORDICT_PYTHON.
func TestOutput(t *testing.T) {
	shown := page.Fences(t, tutorial, "text")
	require.Len(t, shown, len(steps))
	dir := filepath.Join(t.TempDir(), "visits")
	for i, step := range steps {
		if step.name == "python" && os.Getenv("TENSORDICT_PYTHON") == "" {
			continue
		}
		require.Equal(t, shown[i].Text, page.Output(t, func() { step.run(dir) }), "step %d of %s", i+1, tutorial)
	}
}

// TestPage compares the code that the page shows with the files of the program.
func TestPage(t *testing.T) {
	page.CheckSource(t, page.Fences(t, tutorial, "go"), "*.go")
	page.CheckSource(t, page.Fences(t, tutorial, "python"), "share.py")
	text := page.Read(t, tutorial)
	for _, step := range steps {
		require.Contains(t, text, "(../examples/tutorial/"+step.name+".go)")
	}
}
