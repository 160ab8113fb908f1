package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// root is the module's directory.
const root = "../.."

// A doc is a Markdown file.
type doc struct {
	path   string // from the root, with slashes
	fences []page.Fence
	lines  []page.Line // which are in none of the fences
}

// docs returns the Markdown files of the module.
func docs(t *testing.T) (docs []*doc) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "memmap/*.md", "samplecache/*/*.md", "examples/slurm/*/*.md"} {
		paths, err := fs.Glob(os.DirFS(root), pattern)
		require.NoError(t, err)
		for _, path := range paths {
			docs = append(docs, open(t, path))
		}
	}
	return docs
}

// open reads a page.
func open(t *testing.T, path string) *doc {
	d := &doc{path: path}
	d.fences, d.lines = page.Split(page.Read(t, filepath.Join(root, filepath.FromSlash(path))))
	return d
}

var notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors returns the anchors of the headings of the page.
func (d *doc) anchors() (all []string) {
	for _, l := range d.lines {
		if title, ok := strings.CutPrefix(strings.TrimLeft(l.Text, "#"), " "); ok && strings.HasPrefix(l.Text, "#") {
			all = append(all, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return all
}

// sources returns the texts of the examples' Go files.
func sources(t *testing.T) (texts []string) {
	for _, dir := range []string{"..", "../../samplecache/natscache", "../../interop/arrow/examples"} { // the last two are in separate modules
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			texts = append(texts, page.Read(t, path))
			return nil
		}))
	}
	return texts
}
