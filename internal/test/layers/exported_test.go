package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const exportedFile = "testdata/exported.txt"

// TestExported compares the exported names of every package that others may import with
// testdata/exported.txt: a new name is a decision. UPDATE_TEXTS=1 writes the file.
func TestExported(t *testing.T) {
	got := strings.Join(exported(t), "\n") + "\n"
	if os.Getenv("UPDATE_TEXTS") != "" {
		if err := os.WriteFile(exportedFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(exportedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range missing(string(want), got) {
		t.Errorf("%s has %q, which is not exported", exportedFile, line)
	}
	for _, line := range missing(got, string(want)) {
		t.Errorf("%q is exported, and not in %s", line, exportedFile)
	}
}

// missing returns the lines of a that b has not.
func missing(a, b string) (lines []string) {
	have := strings.Split(b, "\n")
	for line := range strings.SplitSeq(a, "\n") {
		if !slices.Contains(have, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestMethods bounds how many methods a type has.
func TestMethods(t *testing.T) {
	limits := map[string]int{"tdict.TensorDict": 86, "tensor.Tensor": 55, "ragged.Tensor": 50, "ragged/joint.Joint": 20}
	count := map[string]int{}
	for _, line := range exported(t) {
		count[line[:strings.LastIndex(line, ".")]]++
	}
	for name, most := range limits {
		if n := count[name]; n == 0 || n > most {
			t.Errorf("%s: got %d methods, want 1 to %d", name, n, most)
		}
	}
}

// exported returns the exported names of the packages that others may import, sorted, a method as
// "tdict.TensorDict.Set".
func exported(t *testing.T) (lines []string) {
	t.Helper()
	for _, p := range packages(t) {
		if !importable(p.name) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", "..", p.name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				lines = append(lines, exportedOf(t, p.name, name)...)
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// exportedOf returns a line for each exported name of a file.
func exportedOf(t *testing.T, pkg, name string) (lines []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(of string, name *ast.Ident) {
		if name.IsExported() {
			lines = append(lines, of+"."+name.Name)
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if of := receiver(d); of == nil {
				add(pkg, d.Name)
			} else if of.IsExported() {
				add(pkg+"."+of.Name, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(pkg, s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(pkg, name)
					}
				}
			}
		}
	}
	return lines
}

// receiver returns the type that a function is a method of, or nil.
func receiver(d *ast.FuncDecl) *ast.Ident {
	if d.Recv == nil {
		return nil
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch index := typ.(type) {
	case *ast.IndexExpr:
		typ = index.X
	case *ast.IndexListExpr:
		typ = index.X
	}
	return typ.(*ast.Ident)
}
