package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme runs the program that README.md shows, and compares it and its output with the page.
func TestReadme(t *testing.T) {
	fences := open(t, "README.md").fences()
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, program, _ := strings.Cut(string(source), "// Readme is the program that README.md shows.\n")
	require.Contains(t, texts(fences, "go"), program)

	t.Chdir(t.TempDir())
	require.Contains(t, texts(fences, "text"), untimed(output(t, main)))
}

// texts returns the fences of a language, without times.
func texts(fences []*fence, language string) (all []string) {
	for _, f := range fences {
		if f.language == language {
			all = append(all, untimed(f.text))
		}
	}
	return all
}

var timed = regexp.MustCompile(`(?m) in \S+: .*`)

// untimed returns a text without how long what it tells took.
func untimed(text string) string { return timed.ReplaceAllString(text, "") }

// output returns what a function prints.
func output(t *testing.T, fn func()) string {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	f, err := os.Create("output")
	require.NoError(t, err)
	defer f.Close()
	os.Stdout = f
	fn()
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(text)
}
