package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// tutorial is the page that explains this program.
var tutorial = filepath.Join("..", "..", "docs", "tutorial.md")

// TestOutput runs the program and compares its output with the page. The last step needs
// Python: see the variable TENSORDICT_PYTHON.
func TestOutput(t *testing.T) {
	shown := page.Fences(t, tutorial, "text")
	require.Len(t, shown, len(steps))
	want := ""
	for i, step := range steps {
		text := shown[i].Text
		if step.name == "python" && os.Getenv("TENSORDICT_PYTHON") == "" {
			text = "skipped: TENSORDICT_PYTHON is not set\n"
		}
		want += fmt.Sprintf("--- %d. %s\n%s", i+1, step.name, text)
	}
	require.Equal(t, want, page.Output(t, main))
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
