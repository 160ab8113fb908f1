package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// TestReadme runs the program that docs/start.md shows, and compares it and its output with the
// page.
func TestReadme(t *testing.T) {
	fences := open(t, "docs/start.md").fences
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, program, _ := strings.Cut(string(source), "// Readme is the program that docs/start.md shows.\n")
	require.Contains(t, texts(fences, "go"), program)

	t.Chdir(t.TempDir())
	require.Contains(t, texts(fences, "text"), untimed(page.Output(t, main)))
}

// texts returns the fences of a language, without times.
func texts(fences []page.Fence, language string) (all []string) {
	for _, f := range fences {
		if f.Lang == language {
			all = append(all, untimed(f.Text))
		}
	}
	return all
}

var timed = regexp.MustCompile(`(?m) in \S+: .*`)

// untimed removes the times from a text.
func untimed(text string) string { return timed.ReplaceAllString(text, "") }
