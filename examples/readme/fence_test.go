package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// TestFences checks the Go fences of the module's pages. Each is a piece of an example, or compiles
// with the other fences of its page and the declarations of testdata/prelude/PAGE.go.
func TestFences(t *testing.T) {
	examples, compiler := sources(t), newCompiler(t)
	for _, d := range docs(t) {
		var fences []page.Fence
		for _, f := range d.fences {
			if f.Lang == "go" && !f.In(examples) {
				fences = append(fences, f)
			}
		}
		for _, err := range compiler.check(t, d, fences...) {
			t.Error(err)
		}
	}
}

// TestFencesAreChecked sees that a fence with a mistake does not pass.
func TestFencesAreChecked(t *testing.T) {
	compiler, none := newCompiler(t), &doc{path: "docs/none.md"}
	for text, want := range map[string]string{
		"x, err := tensor.From([]int64{1})\n":                        "",
		"func f() int64 { return tensor.Vector[int64]().Shape() }\n": "docs/none.md:7: cannot use",
		"err := memmap.Save(td)\n":                                   "docs/none.md:7: undefined: td",
		"x := tensor.Vector[int64](1)\nx.Nothing()\n":                "docs/none.md:8: x.Nothing undefined",
		"for {\n": "docs/none.md:",
		"for {\n\t...\n}\nfor { ... }\nx, err := tensor.From(all...)": "docs/none.md:11: undefined: all",
	} {
		errs := compiler.check(t, none, page.Fence{Number: 7, Text: text})
		if want == "" {
			require.Empty(t, errs)
			continue
		}
		require.NotEmpty(t, errs, text)
		require.ErrorContains(t, errs[0], want)
	}
}

// A compiler checks the types of fences.
type compiler struct {
	files    *token.FileSet
	importer types.Importer
	imports  string // a declaration that imports all that fences use
}

// std are the packages of the standard library that fences use.
var std = []string{"context", "encoding/json", "fmt", "io", "log", "math", "math/rand/v2", "net/http", "os", "time"}

// newCompiler returns a compiler that knows the module's packages, and some others.
func newCompiler(t *testing.T) *compiler {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,Name,DepOnly,Standard", root + "/..."}, std...)
	text, err := exec.Command("go", args...).Output()
	require.NoError(t, err)
	exports := map[string]string{}
	c := &compiler{files: token.NewFileSet()}
	for list := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath, Export, Name string
			DepOnly                  bool
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Name != "main" && !strings.Contains(p.ImportPath, "internal/") {
			c.imports += fmt.Sprintf("%q; ", p.ImportPath)
		}
	}
	c.importer = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check returns the errors of fences of a page.
func (c *compiler) check(t *testing.T, d *doc, fences ...page.Fence) (errs []error) {
	files := c.prelude(t, d)
	for _, f := range fences {
		file, err := c.parse(d, f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, file)
	}
	conf := types.Config{Importer: c.importer, Error: func(err error) {
		if !unused(err) {
			errs = append(errs, c.at(err))
		}
	}}
	_, _ = conf.Check("fence", c.files, files, nil) // Error has its errors
	return errs
}

// at returns an error with its place in the page.
func (c *compiler) at(err error) error {
	if e, ok := errors.AsType[types.Error](err); ok {
		place := c.files.Position(e.Pos)
		return fmt.Errorf("%s:%d: %s", place.Filename, place.Line, e.Msg)
	}
	return err
}

// unused reports whether an error only says that something declared is not used.
func unused(err error) bool {
	e, ok := errors.AsType[types.Error](err)
	return ok && (strings.HasPrefix(e.Msg, "declared and not used") || strings.HasSuffix(e.Msg, " and not used"))
}

var elision = regexp.MustCompile(`(?m)(^\s*|\{ )\.\.\.($| \})`)

// parse parses a fence: declarations, or statements, with "..." for some of them.
func (c *compiler) parse(d *doc, f page.Fence) (*ast.File, error) {
	text := elision.ReplaceAllString(f.Text, "$1$2")
	file, err := c.file(d, f, "", text, "")
	if err == nil {
		return file, nil
	}
	return c.file(d, f, "func _() {", text, "}")
}

// file parses before, text and after as one Go file.
func (c *compiler) file(d *doc, f page.Fence, before, text, after string) (*ast.File, error) {
	before = "package fence; import (" + c.imports + "); " + before
	place := fmt.Sprintf("/*line %s:%d:1*/", d.path, f.Number)
	return parser.ParseFile(c.files, "", before+place+text+after, parser.SkipObjectResolution)
}

// prelude returns the file with the declarations that the fences of a page rely on, if there is
// one.
func (c *compiler) prelude(t *testing.T, d *doc) []*ast.File {
	path := filepath.Join("testdata", "prelude", strings.TrimSuffix(filepath.Base(d.path), ".md")+".go")
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	file, err := parser.ParseFile(c.files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	return []*ast.File{file}
}
