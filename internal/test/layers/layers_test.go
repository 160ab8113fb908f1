package layers

import (
	"cmp"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/go-tensordict/tensordict/"

// layers lists the packages, lowest first. A package imports only from lines above its own. A name
// that ends in "/" stands for all packages below it.
var layers = []string{
	"nestedkey shape shapeops/ix internal/cast internal/fnv internal/half internal/jsonscan internal/test/longtests internal/mapping internal/sizetext internal/splitmix internal/workers samplecache/dircache/internal/host view/internal/chart",
	"internal/elemtext internal/errtext internal/test/testkit/processkit internal/test/testkit/slurmkit",
	"internal/fileformat internal/jsonlists internal/test/naive internal/plan internal/vector internal/vfs samplecache/mongowire/internal/bson",
	"internal/arena interop/internal/safetensors interop/internal/source internal/transpose internal/vfs/vfstest internal/zipfile",
	"tensor",
	"internal/mapfile shapeops",
	"internal/test/testkit view/internal/picture",
	"arith internal/test/testkit/filekit",
	"ragged",
	"tdict",
	"internal/bundle internal/datajson internal/masks internal/rowsort interop/internal/table interop/internal/table/tabletest tdict/tensorclass",
	"internal/pool ragged/joint",
	"internal/tdc",
	"wire",
	"memmap transform where pickstack interop/csv interop/jsonl interop/npy interop/nrt interop/safetensors interop/torchzip loader/sampler tdict/tdictcmp",
	"inspect interop/forms loader samplecache/engine",
	"feed loader/loadertest samplecache view/internal/text",
	"samplecache/dircache samplecache/memcache samplecache/mongowire samplecache/samplecachetest view/internal/shelf",
	"view",
	"cmd/internal/doctor cmd/internal/loopback cmd/internal/programs examples/internal/",
	"cmd/internal/command examples/slurm/epochs examples/slurm/slurmtest",
	"cmd/tdict examples/ internal/test/conformance internal/test/layers",
}

// leashed says which packages alone may import a package, besides tests.
var leashed = map[string][]string{
	"unsafe":                            {"internal/cast", "internal/mapping"},
	"github.com/alecthomas/kong":        {"cmd/internal/command"},
	"github.com/schollz/progressbar/v3": {"cmd/internal/command"},
	"golang.org/x/term":                 {"cmd/internal/command"},
	"go.yaml.in/yaml/v3":                {"cmd/internal/command"},
	"reflect":                           {"tdict/tensorclass"},
	"github.com/edsrzf/mmap-go":         {"internal/mapping"},
	"golang.org/x/sys/cpu":              {"internal/vector"},
	"golang.org/x/sys/unix":             {"internal/mapping", "samplecache/dircache/internal/host", "internal/vfs"},
	"golang.org/x/sys/windows":          {"internal/mapping"},
	"github.com/google/go-cmp/":         {"tdict/tdictcmp"},
	"github.com/klauspost/compress/":    {"interop/internal/source"},
	"github.com/stretchr/testify/":      {"internal/test/testkit/filekit", "internal/test/testkit/processkit", "examples/slurm/slurmtest"},
	module + "internal/test/naive":      {"internal/test/testkit"},
	module + "internal/test/testkit":    {"internal/test/testkit/filekit"},
}

// A pkg is a package of this module with what it imports, tests left out.
type pkg struct {
	name    string
	imports []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = path.Join("..", "..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		all = append(all, pkg{strings.TrimPrefix(fields[0], module), fields[1:]})
	}
	if len(all) < 8 {
		t.Fatalf("got %d packages", len(all))
	}
	return all
}

// importable reports whether other modules may import a package.
func importable(name string) bool {
	return !strings.HasPrefix(name, "internal/") && !strings.Contains(name, "/internal/") && !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "cmd/")
}

// layer returns the number of a package's line, or -1.
func layer(name string) int {
	return slices.IndexFunc(layers, func(line string) bool {
		return slices.ContainsFunc(strings.Fields(line), func(entry string) bool { return matches(name, entry) })
	})
}

func matches(name, entry string) bool {
	return name == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(name, entry)
}

// wrongs returns what is wrong with the imports of a package.
func wrongs(p pkg) []string {
	own := layer(p.name)
	if own < 0 {
		return []string{"package " + p.name + " has no layer"}
	}
	var found []string
	for _, imported := range p.imports {
		if name, ok := strings.CutPrefix(imported, module); ok && layer(name) >= own {
			found = append(found, p.name+" imports "+name+", which is not below it")
		}
		if foreign(imported) && !onLeash(imported) {
			found = append(found, p.name+" imports "+imported+", which is not in the standard library")
		}
		for what, allowed := range leashed {
			if matches(imported, what) && !slices.Contains(allowed, p.name) {
				found = append(found, p.name+" imports "+imported+", which only "+cmp.Or(strings.Join(allowed, ", "), "tests")+" may")
			}
		}
	}
	return found
}

// foreign reports whether a package is neither of this module nor of the standard library, whose
// paths begin without a domain.
func foreign(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".") && !strings.HasPrefix(name, module)
}

// onLeash reports whether leashed has a rule for a package.
func onLeash(name string) bool {
	for what := range leashed {
		if matches(name, what) {
			return true
		}
	}
	return false
}

func TestImportsPointDownwards(t *testing.T) {
	for _, p := range packages(t) {
		for _, wrong := range wrongs(p) {
			t.Error(wrong)
		}
	}
}

// TestWrongImportsAreFound checks the check.
func TestWrongImportsAreFound(t *testing.T) {
	tests := []struct {
		name string
		p    pkg
		want string
	}{
		{"upwards", pkg{"tensor", []string{module + "shapeops"}}, "tensor imports shapeops, which is not below it"},
		{"sideways", pkg{"internal/cast", []string{module + "nestedkey"}}, "internal/cast imports nestedkey, which is not below it"},
		{"unsafe", pkg{"tensor", []string{"unsafe"}}, "tensor imports unsafe, which only internal/cast, internal/mapping may"},
		{"from a module nobody chose", pkg{"internal/workers", []string{"golang.org/x/sync/errgroup"}}, "internal/workers imports golang.org/x/sync/errgroup, which is not in the standard library"},
		{"what is for tests", pkg{"memmap", []string{module + "internal/test/naive"}}, "memmap imports " + module + "internal/test/naive, which only internal/test/testkit may"},
		{"what only one package may", pkg{"tdict", []string{"github.com/google/go-cmp/cmp"}}, "tdict imports github.com/google/go-cmp/cmp, which only tdict/tdictcmp may"},
		{"a package nobody placed", pkg{"util", nil}, "package util has no layer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrongs(tt.p); len(got) != 1 || got[0] != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := wrongs(pkg{"tdict", []string{module + "tensor", "fmt"}}); got != nil {
		t.Errorf("got %q for imports that are right", got)
	}
}
