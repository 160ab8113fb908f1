package layers

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// modules are those that go.mod requires, and why.
var modules = map[string]string{
	"github.com/edsrzf/mmap-go":         "internal/mapping",
	"golang.org/x/sys":                  "internal/{mapping,vector,vfs}, samplecache/dircache/internal/host",
	"github.com/google/go-cmp":          "tdict/tdictcmp",
	"github.com/klauspost/compress":     "interop/internal/source",
	"github.com/stretchr/testify":       "tests",
	"go.yaml.in/yaml/v3":                "cmd/internal/command and testify",
	"github.com/alecthomas/kong":        "cmd/internal/command",
	"github.com/schollz/progressbar/v3": "cmd/internal/command",
	"golang.org/x/term":                 "cmd/internal/command and progressbar",
	"github.com/mitchellh/colorstring":  "progressbar",
	"github.com/rivo/uniseg":            "progressbar",
}

var required = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\S+`)

// TestModules compares the modules that go.mod requires with the list.
func TestModules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, found := range required.FindAllStringSubmatch(string(text), -1) {
		got = append(got, found[1])
		if modules[found[1]] == "" {
			t.Errorf("go.mod requires %s, which is not in the list", found[1])
		}
	}
	for name := range modules {
		if !slices.Contains(got, name) {
			t.Errorf("go.mod does not require %s, which is in the list", name)
		}
	}
}

// TestProgramsNeedNoModulesOfCommands checks that a program that imports the library builds without
// the modules of cmd/.
func TestProgramsNeedNoModulesOfCommands(t *testing.T) {
	deps := strings.Fields(goList(t, "-deps", "./tdict", "./memmap", "./loader", "./interop/...", "./inspect", "./where"))
	if !slices.Contains(deps, "github.com/edsrzf/mmap-go") {
		t.Fatalf("got %q", deps)
	}
	for _, dep := range deps {
		for name, why := range modules {
			if (dep == name || matches(dep, name+"/")) && (strings.HasPrefix(why, "cmd/") || why == "progressbar") {
				t.Errorf("the library imports %s, which is for %s", dep, why)
			}
		}
	}
}

// TestNestedModulesAreChecked checks that .ci/run vets every module of the repository: go vet ./...
// does not enter the nested ones.
func TestNestedModulesAreChecked(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "testdata" {
			return fs.SkipDir // a go.mod there only keeps files out of the module around it
		}
		if err != nil || entry.Name() != "go.mod" || filepath.Dir(path) == root {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if found++; !strings.Contains(string(ci), "go vet -C "+filepath.ToSlash(dir)+" ") {
			t.Errorf(".ci/run does not vet the module %s", dir)
		}
		return err
	})
	if err != nil || found < 5 {
		t.Errorf("got %d modules, error %v", found, err)
	}
}

// device is the name of a file that Windows takes for a device.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)`)

// unfit reports whether the name of a file in a module cannot have r, by the rule of CheckFilePath
// in golang.org/x/mod/module.
func unfit(r rune) bool {
	return !unicode.IsLetter(r) && !('0' <= r && r <= '9') && !strings.ContainsRune("!#$%&()+,-.=@[]^_{}~ ", r)
}

// TestFilesFitInAZip checks that a module can have the files of the repository: its zip file, which
// go get downloads, cannot have two names that differ in case alone, and names that Windows has
// not.
func TestFilesFitInAZip(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	folded, files := map[string]string{}, 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".git" || path == filepath.Join(root, ".ci", "artifacts")) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && strings.Contains(path, "testdata") {
			return fs.SkipDir // not in the zip file of the module around it
		}
		files++
		if other := folded[strings.ToLower(path)]; other != "" {
			t.Errorf("%s and %s differ in case alone", other, path)
		}
		folded[strings.ToLower(path)] = path
		if name := entry.Name(); path != root && (device.MatchString(name) || strings.ContainsFunc(name, unfit) || strings.HasSuffix(name, ".")) {
			t.Errorf("%s: a module cannot have a file of this name", path)
		}
		return nil
	})
	if err != nil || files < 1000 {
		t.Errorf("got %d files, error %v", files, err)
	}
}

// goList runs go list in the module's root.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = filepath.Join("..", "..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return string(out)
}
