package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme runs the program that README.md shows, and compares the two.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	_, program, _ := strings.Cut(string(source), "// Readme is the program that README.md shows.\n")
	require.Equal(t, program, shown)

	t.Chdir(t.TempDir())
	main()
}
