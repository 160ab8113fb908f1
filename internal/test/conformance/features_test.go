package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// folders has the packages that docs/features.md names.
var folders = map[string]string{
	"conformance": "internal/test/conformance", "nestedkey": "nestedkey", "ix": "shapeops/ix", "shapeops": "shapeops", "plan": "internal/plan", "shape": "shape", "tensor": "tensor", "arith": "arith", "ragged": "ragged", "joint": "ragged/joint", "tdict": "tdict", "memmap": "memmap", "wire": "wire", "nrt": "interop/nrt", "npy": "interop/npy",
	"tdictcmp": "tdict/tdictcmp", "safetensors": "interop/safetensors", "csv": "interop/csv", "jsonl": "interop/jsonl", "inspect": "inspect", "tensorclass": "tdict/tensorclass", "tdarrow": "interop/arrow/tdarrow", "tdparquet": "interop/arrow/tdparquet",
}

// stands says which type a name stands for.
var stands = map[string]string{"td": "tdict.TensorDict", "x": "tensor.Tensor", "r": "ragged.Tensor", "j": "joint.Joint", "key": "nestedkey.Key", "v": "tdict.Value"}

var (
	code     = regexp.MustCompile("`[^`]*`")
	selector = regexp.MustCompile(`\b(\w+)\.([A-Z]\w*)`)
	isTest   = regexp.MustCompile(`^(Test|Example)`)
)

// A declared is what the packages declare: functions and other names as "tdict.New", methods as
// "tdict.TensorDict.Set", tests and examples as "tdict.TestSetIndex".
type declared map[string]bool

// read adds what a package declares.
func (d declared) read(t *testing.T, pkg string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", folders[pkg], "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", pkg, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		inTest := strings.HasSuffix(name, "_test.go")
		for _, decl := range file.Decls {
			for _, name := range names(decl) {
				if isTest.MatchString(name) == inTest {
					d[pkg+"."+name] = true
				}
			}
		}
	}
}

// names returns the names of a declaration, methods after their type.
func names(decl ast.Decl) (all []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{receiver(decl) + decl.Name.Name}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				all = append(all, spec.Name.Name)
				if of, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, method := range of.Methods.List {
						for _, name := range method.Names {
							all = append(all, spec.Name.Name+"."+name.Name)
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					all = append(all, name.Name)
				}
			}
		}
	}
	return all
}

// receiver returns the type of a method with a dot after it, or "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return ""
	}
	of := decl.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// TestFeatures checks docs/features.md: every Go name in it exists, every operation has a test or a
// reason why there is none, and every test that it names exists.
func TestFeatures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	have := declared{}
	for pkg := range folders {
		have.read(t, pkg)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") {
			checkNames(t, have, line, line)
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), "|"), " | ")
		if len(cells) != 3 {
			t.Errorf("want three cells: %s", line)
			continue
		}
		if cells[0] == "Python" {
			continue
		}
		rows++
		checkNames(t, have, line, cells[1])
		checkTests(t, have, line, cells[1], cells[2])
	}
	if rows < 120 {
		t.Errorf("got %d rows", rows)
	}
}

// checkNames checks the Go names in a cell.
func checkNames(t *testing.T, have declared, line, cell string) {
	t.Helper()
	for _, span := range code.FindAllString(cell, -1) {
		for _, m := range selector.FindAllStringSubmatch(span, -1) {
			name := m[0]
			if of, ok := stands[m[1]]; ok {
				name = of + "." + m[2]
			} else if folders[m[1]] == "" {
				continue
			}
			if !have[name] {
				t.Errorf("there is no %s: %s", name, line)
			}
		}
	}
}

// checkTests checks the tests that a row names. One without is about what Go does not have.
func checkTests(t *testing.T, have declared, line, text, cell string) {
	t.Helper()
	tests := code.FindAllString(cell, -1)
	if len(tests) == 0 && !strings.HasPrefix(text, "none") {
		t.Errorf("nothing shows it: %s", line)
	}
	for _, test := range tests {
		name := strings.Trim(test, "`")
		_, short, _ := strings.Cut(name, ".")
		if !isTest.MatchString(short) || !have[name] {
			t.Errorf("there is no test %s: %s", name, line)
		}
	}
}
