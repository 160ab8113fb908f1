package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

var (
	path    = filepath.Join(here, "../../docs/cookbook.md")
	heading = regexp.MustCompile(`(?m)^### (.*)$`)
	outside = "From a Parquet file" // interop/arrow/examples/visits tests its lines
)

// TestPage compares docs/cookbook.md with the tasks: their names and order, their lines, and what
// the examples and the script print.
func TestPage(t *testing.T) {
	text := page.Read(t, path)
	var names, want []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, task := range tasks {
		want = append(want, task.name)
	}
	require.Equal(t, want, slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == outside }))

	for i, section := range heading.Split(text, -1)[1:] {
		fences, lines := page.Split(section)
		n := strings.Count(fences[0].Text, "\n")
		require.True(t, 5 <= n && n <= 15, "%s has %d lines, want 5 to 15", names[i], n)
		require.LessOrEqual(t, strings.Count(lines[2].Text, ". "), 1, "%s has more than two sentences", names[i])
		if names[i] == outside {
			continue
		}
		for j, f := range fences {
			switch langs := fences[0].Lang + " " + f.Lang; {
			case j == 0 && langs == "go go":
				page.CheckSource(t, []page.Fence{f}, filepath.Join(here, "*.go"))
			case j == 1 && langs == "go text":
				f.Text = "// Output:\n" + regexp.MustCompile("(?m)^(.)").ReplaceAllString(f.Text, "// $1")
				page.CheckSource(t, []page.Fence{f}, filepath.Join(here, "*_test.go"))
			case j == 2 && langs == "go console": // TestPage of cmd/internal/command runs it
			case j == 0 && langs == "python python":
				require.Equal(t, script, f.Text)
			case j == 1 && langs == "python text":
				require.Equal(t, scriptOutput, f.Text)
			default:
				t.Errorf("%s has another fence: %q", names[i], f.Text)
			}
		}
	}
}
