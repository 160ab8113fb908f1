package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks checks that links within the module lead to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	all := docs(t)
	for _, d := range all {
		for _, l := range d.lines {
			for _, found := range link.FindAllStringSubmatch(quoted.ReplaceAllString(l.Text, ""), -1) {
				if !strings.Contains(found[1], "://") && !d.leads(all, found[1]) {
					t.Errorf("%s:%d: link to %s: no such file or heading", d.path, l.Number, found[1])
				}
			}
		}
	}
}

// leads reports whether the target of a link of the page exists.
func (d *doc) leads(all []*doc, target string) bool {
	name, anchor, _ := strings.Cut(target, "#")
	if name = path.Join(path.Dir(d.path), name); target[0] == '#' {
		name = d.path
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
		return false
	}
	i := slices.IndexFunc(all, func(other *doc) bool { return other.path == name })
	return anchor == "" || i >= 0 && slices.Contains(all[i].anchors(), anchor)
}

var command = regexp.MustCompile(`go (?:run|doc|test|install)(?: -C (\w+))? \./(\w[\w/]*)`)

// TestCommands checks that packages named in commands of the pages exist.
func TestCommands(t *testing.T) {
	for _, d := range docs(t) {
		for _, found := range command.FindAllStringSubmatch(page.Read(t, filepath.Join(root, d.path)), -1) {
			if strings.ToUpper(path.Base(found[2])) == path.Base(found[2]) {
				continue // ./examples/NAME
			}
			if _, err := os.Stat(filepath.Join(root, found[1], filepath.FromSlash(found[2]))); err != nil {
				t.Errorf("%s: %q: no such package", d.path, found[0])
			}
		}
	}
}

var (
	quoted = regexp.MustCompile("`[^`]+`")
	name   = regexp.MustCompile(`(?:^|[^\w./"])([a-z]+)\.([A-Z]\w*)`)
	tests  = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)`)
)

// TestNames checks that the names of a package in the pages are exported, or tests.
func TestNames(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "internal/test/layers/testdata/exported.txt"))
	require.NoError(t, err)
	var exported []string // names without their types
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		exported = append(exported, name)
	}
	for _, d := range docs(t) {
		if d.path == "CHANGELOG.md" || strings.HasPrefix(d.path, "docs/notes/") {
			continue // these name the past
		}
		for _, l := range d.lines {
			code := strings.Join(quoted.FindAllString(l.Text, -1), " ")
			for _, found := range name.FindAllStringSubmatch(code, -1) {
				if !tests.MatchString(found[2]) && known(exported, found[1], "") && !known(exported, found[1], found[2]) {
					t.Errorf("%s:%d: %s exports no %s", d.path, l.Number, found[1], found[2])
				}
			}
		}
	}
}

// known reports whether a package exports a name, or anything.
func known(exported []string, pkg, name string) bool {
	return slices.ContainsFunc(exported, func(e string) bool {
		dot := strings.Index(e, ".")
		return dot > 0 && path.Base(e[:dot]) == pkg && (name == "" || e[dot+1:] == name)
	})
}

var (
	figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)
	other  = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|v\\d+(\\.\\d+)*")
)

// TestFigures checks each line of README with figures that links to a page of measurements: the
// page has the figures.
func TestFigures(t *testing.T) {
	checked := 0
	for _, l := range open(t, "README.md").lines {
		sources := measured(t, l.Text)
		if sources == "" {
			continue
		}
		for _, number := range figure.FindAllString(other.ReplaceAllString(l.Text, ""), -1) {
			checked++
			if !slices.Contains(figure.FindAllString(sources, -1), number) {
				t.Errorf("README.md:%d: %s is on none of the pages of measurements that the line links to", l.Number, number)
			}
		}
	}
	require.NotZero(t, checked)
}

// measured returns the texts of the measurements that a line links to.
func measured(t *testing.T, line string) (texts string) {
	for _, found := range link.FindAllStringSubmatch(line, -1) {
		name, _, _ := strings.Cut(found[1], "#")
		if slices.Contains([]string{"docs/benchmarks.md", "docs/reliability.md", "docs/epochs.svg"}, name) {
			text, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			texts += string(text)
		}
	}
	return texts
}
