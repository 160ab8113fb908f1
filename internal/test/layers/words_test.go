package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A phrase is a wording that comments and errors of this module do not use.
type phrase struct {
	match   *regexp.Regexp
	except  *regexp.Regexp // matches of it are allowed; nil for none
	instead string
}

// TestWords checks that comments, string literals and recorded errors use neither the phrases of
// testdata/phrases.txt nor the words that docs/glossary.md lists as replaced.
func TestWords(t *testing.T) {
	phrases := append(fixedPhrases(t), replacedWords(t)...)
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || path == filepath.Join(root, "internal", "layers")):
			return fs.SkipDir
		case entry.Name() == "errors.txt":
			checkLines(t, phrases, path)
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			checkSource(t, phrases, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPhrasesMatch checks that a text with a phrase is found, and an exception is not.
func TestPhrasesMatch(t *testing.T) {
	phrases := append(fixedPhrases(t), replacedWords(t)...)
	for text, want := range map[string]string{
		"It tells whether x is locked.":           "tells whether",
		"the shape, or that\n\tof the first":      "that of",
		"it is a copy else.":                      "else.",
		"anything else, or nothing else.":         "",
		"an empty list if there are none":         "",
		"a dim that is none of the batch":         "is none",
		"the straight layout of x":                "straight layout",
		"the plain words of a library":            "",
		"Furnish gives the pass memory":           "Furnish",
		"It is no mutex, and is no longer locked": "It is no mutex",
	} {
		got := ""
		for _, p := range phrases {
			if found := p.find(text); found != "" {
				got = found
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// fixedPhrases reads testdata/phrases.txt: lines of a regular expression, the wording to use
// instead, and perhaps an expression for exceptions, separated by tabs.
func fixedPhrases(t *testing.T) (phrases []phrase) {
	for _, line := range lines(t, filepath.Join("testdata", "phrases.txt")) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) < 2 || len(cells) > 3 {
			t.Fatalf("phrases.txt: got %q, want two or three cells", line)
		}
		p := phrase{match: regexp.MustCompile(`(?i)\b(?:` + cells[0] + `)`), instead: cells[1]}
		if len(cells) == 3 {
			p.except = regexp.MustCompile(`(?i)\b(?:` + cells[2] + `)`)
		}
		phrases = append(phrases, p)
	}
	return phrases
}

// replacedWords reads the table under the heading "Replaced words" of the glossary.
func replacedWords(t *testing.T) (phrases []phrase) {
	_, table, _ := strings.Cut(strings.Join(lines(t, filepath.Join("..", "..", "..", "docs", "glossary.md")), "\n"), "## Replaced words\n")
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 || cells[0] == "instead of" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		for word := range strings.SplitSeq(cells[0], ", ") {
			p := phrase{match: regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `s?\b`), instead: cells[1]}
			phrases = append(phrases, p)
		}
	}
	if len(phrases) == 0 {
		t.Fatal("docs/glossary.md: found no replaced words")
	}
	return phrases
}

// checkSource checks the comments and string literals of a file.
func checkSource(t *testing.T, phrases []phrase, path string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	check := func(at token.Pos, text string) {
		for _, p := range phrases {
			if found := p.find(text); found != "" {
				t.Errorf("%v: %q: write %s", files.Position(at), found, p.instead)
			}
		}
	}
	for _, group := range file.Comments {
		check(group.Pos(), group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			check(literal.Pos(), literal.Value)
		}
		return true
	})
}

// checkLines checks the lines of a text file.
func checkLines(t *testing.T, phrases []phrase, path string) {
	for i, line := range lines(t, path) {
		_, text, _ := strings.Cut(line, "\t") // the name of the test comes first
		for _, p := range phrases {
			if found := p.find(text); found != "" {
				t.Errorf("%s:%d: %q: write %s", path, i+1, found, p.instead)
			}
		}
	}
}

// find returns the first match in text, or "".
func (p phrase) find(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if p.except != nil {
		text = p.except.ReplaceAllString(text, "")
	}
	return p.match.FindString(text)
}

func lines(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}
