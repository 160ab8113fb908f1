// Package page compares pages of docs with the programs that they show.
package page

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Fence is a fenced block of a page: its language and its lines.
type Fence struct{ Lang, Text string }

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// Fences returns the fenced blocks of a page in one of some languages, in order.
func Fences(t testing.TB, path string, langs ...string) (fences []Fence) {
	t.Helper()
	text := Read(t, path)
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		for _, lang := range langs {
			if m[1] == lang {
				fences = append(fences, Fence{m[1], m[2]})
			}
		}
	}
	return fences
}

// CheckSource reports each fence whose lines do not follow one another in a file that matches
// pattern. They may be indented by a tab there.
func CheckSource(t testing.TB, fences []Fence, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		source.WriteString("\n" + Read(t, file))
	}
	for _, f := range fences {
		if !strings.Contains(source.String(), "\n"+f.Text) && !strings.Contains(source.String(), "\n"+indented(f.Text)) {
			t.Errorf("not in %s:\n%s", pattern, f.Text)
		}
	}
}

// indented returns text with a tab before each line that is not empty.
func indented(text string) string {
	return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(text, "\t$1")
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
