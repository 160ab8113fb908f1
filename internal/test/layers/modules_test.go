package layers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modules are those that go.mod requires, and why.
var modules = map[string]string{
	"github.com/edsrzf/mmap-go":         "internal/mapping",
	"golang.org/x/sys":                  "internal/{mapping,vector,vfs}, samplecache/dircache/internal/host",
	"github.com/google/go-cmp":          "tdict/tdictcmp",
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
