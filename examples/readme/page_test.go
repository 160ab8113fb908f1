package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's directory.
const root = "../.."

// A page is a Markdown file.
type page struct {
	path  string // from the root, with slashes
	text  string
	lines []line
}

// A line is one of a page that is not within a fence.
type line struct {
	number int
	text   string
}

// A fence is a block of code of a page.
type fence struct {
	page     *page
	number   int // of its first line
	language string
	text     string
}

// pages returns the Markdown files of the module.
func pages(t *testing.T) (pages []*page) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "memmap/*.md", "samplecache/*/*.md"} {
		paths, err := fs.Glob(os.DirFS(root), pattern)
		require.NoError(t, err)
		for _, path := range paths {
			pages = append(pages, open(t, path))
		}
	}
	return pages
}

// open reads a page.
func open(t *testing.T, path string) *page {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	p := &page{path: path, text: string(text)}
	p.split(func(*fence) {}, func(l line) { p.lines = append(p.lines, l) })
	return p
}

// fences returns the blocks of code of a page.
func (p *page) fences() (all []*fence) {
	p.split(func(f *fence) { all = append(all, f) }, func(line) {})
	return all
}

// split calls code with each fence, and prose with each other line.
func (p *page) split(code func(*fence), prose func(line)) {
	var open *fence
	for i, text := range strings.SplitAfter(p.text, "\n") {
		language, marked := strings.CutPrefix(strings.TrimSpace(text), "```")
		switch {
		case marked && open == nil:
			open = &fence{page: p, number: i + 2, language: language}
		case marked:
			code(open)
			open = nil
		case open != nil:
			open.text += text
		default:
			prose(line{i + 1, strings.TrimSuffix(text, "\n")})
		}
	}
}

var notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns what a link to a heading of the page may say after "#".
func (p *page) anchors() (all []string) {
	for _, l := range p.lines {
		if title, ok := strings.CutPrefix(strings.TrimLeft(l.text, "#"), " "); ok && strings.HasPrefix(l.text, "#") {
			all = append(all, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return all
}

// sources returns the texts of the examples' Go files, without indents.
func sources(t *testing.T) (texts []string) {
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		texts = append(texts, flush(string(text)))
		return err
	}))
	return texts
}

// flush returns a text without the indents of its lines.
func flush(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// quotes reports whether the fence is a piece of one of some sources.
func (f *fence) quotes(sources []string) bool {
	return slices.ContainsFunc(sources, func(source string) bool {
		return strings.Contains(source, flush(f.text))
	})
}
