// Package page compares pages of docs with the programs that they show.
package page

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Fence is a fenced block of a page.
type Fence struct {
	Number     int // number of its first line
	Lang, Text string
}

// A Line is a line of a page that is not in a fence.
type Line struct {
	Number int
	Text   string
}

// Split returns the fences and the other lines of a page, in order.
func Split(text string) (fences []Fence, lines []Line) {
	in := false
	for i, line := range strings.SplitAfter(text, "\n") {
		lang, marked := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case marked && !in:
			fences, in = append(fences, Fence{Number: i + 2, Lang: lang}), true
		case marked:
			in = false
		case in:
			fences[len(fences)-1].Text += line
		default:
			lines = append(lines, Line{i + 1, strings.TrimSuffix(line, "\n")})
		}
	}
	return fences, lines
}

// Fences returns the fences of a page in any of the given languages, in order.
func Fences(t testing.TB, path string, langs ...string) []Fence {
	t.Helper()
	fences, _ := Split(Read(t, path))
	return slices.DeleteFunc(fences, func(f Fence) bool { return !slices.Contains(langs, f.Lang) })
}

// In reports whether any of the sources has the lines of the fence, whatever their indentation.
func (f Fence) In(sources []string) bool {
	return slices.ContainsFunc(sources, func(source string) bool {
		return strings.Contains("\n"+flush(source), "\n"+flush(f.Text))
	})
}

// CheckSource reports each fence whose lines are in none of the files that match pattern.
func CheckSource(t testing.TB, fences []Fence, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, file := range files {
		sources = append(sources, Read(t, file))
	}
	for _, f := range fences {
		if !f.In(sources) {
			t.Errorf("not in %s:\n%s", pattern, f.Text)
		}
	}
}

// flush removes the indentation of each line of a text.
func flush(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Read returns the text of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Output returns what fn prints to the standard output.
func Output(t testing.TB, fn func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "output")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	fn()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return Read(t, path)
}
