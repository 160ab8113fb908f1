package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	exportedFile = "testdata/exported.txt"
	releasedFile = "testdata/released.txt"
)

// TestExported compares what every package that others may import exports with
// testdata/exported.txt: a new name is a decision. UPDATE_TEXTS=1 writes the file.
func TestExported(t *testing.T) {
	got := strings.Join(exported(t), "\n") + "\n"
	if os.Getenv("UPDATE_TEXTS") != "" {
		if err := os.WriteFile(exportedFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := read(t, exportedFile)
	for _, line := range missing(want, got) {
		t.Errorf("%s has %q, which is not exported", exportedFile, line)
	}
	for _, line := range missing(got, want) {
		t.Errorf("%q is exported, and not in %s", line, exportedFile)
	}
}

// TestReleased says what the next release breaks: the lines of testdata/released.txt, which is the
// exported.txt of the last release and empty before v0.1, that testdata/exported.txt lacks. The
// first section of CHANGELOG must have the name of each.
func TestReleased(t *testing.T) {
	_, after, _ := strings.Cut(read(t, "../../../CHANGELOG.md"), "\n## ")
	next, _, _ := strings.Cut(after, "\n## ")
	for _, line := range unannounced(read(t, releasedFile), read(t, exportedFile), next) {
		t.Errorf("the next release breaks %s: say in CHANGELOG.md what takes its place", line)
	}
}

// TestUnannounced has changes of an API.
func TestUnannounced(t *testing.T) {
	for name, tt := range map[string]struct {
		exported, changelog string
		want                []string
	}{
		"nothing changes":               {"a.F func(int)\na.T struct", "", nil},
		"something is new":              {"a.F func(int)\na.G func()\na.T struct", "", nil},
		"a name is gone":                {"a.F func(int)", "", []string{"a.T struct"}},
		"a type changes":                {"a.F func(string)\na.T struct", "", []string{"a.F func(int)"}},
		"what is gone is announced":     {"a.F func(int)", "`a.T` -> `a.U`", nil},
		"a longer name is announced":    {"a.F func(int)", "`a.Tensor` -> `a.U`", []string{"a.T struct"}},
		"the announcement is elsewhere": {"a.F func(int)", "`b.T` -> `b.U`", []string{"a.T struct"}},
	} {
		if got := unannounced("a.F func(int)\na.T struct", tt.exported, tt.changelog); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// unannounced returns the lines of released that exported has not, and whose names changelog has
// not as `name`.
func unannounced(released, exported, changelog string) []string {
	return slices.DeleteFunc(missing(released, exported), func(line string) bool {
		name, _, _ := strings.Cut(line, " ")
		return strings.Contains(changelog, "`"+name+"`")
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// missing returns the lines of a that b has not.
func missing(a, b string) (lines []string) {
	have := map[string]bool{}
	for line := range strings.SplitSeq(b, "\n") {
		have[line] = true
	}
	for line := range strings.SplitSeq(a, "\n") {
		if !have[line] {
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
		if name, typ, _ := strings.Cut(line, " "); strings.HasPrefix(typ, "func") {
			count[name[:strings.LastIndex(name, ".")]]++
		}
	}
	for name, most := range limits {
		if n := count[name]; n == 0 || n > most {
			t.Errorf("%s: got %d methods, want 1 to %d", name, n, most)
		}
	}
}

// exported returns what the packages that others may import export, sorted: names with their types,
// such as "tdict.TensorDict.Set func(any, any) error".
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

// exportedOf returns a line for each exported name of a file, and for each exported field and
// method of its types.
func exportedOf(t *testing.T, pkg, name string) (lines []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(of string, name *ast.Ident, typ string) {
		if name.IsExported() {
			lines = append(lines, strings.TrimSpace(of+"."+name.Name+" "+typ))
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if of := receiver(d); of == nil {
				add(pkg, d.Name, typeText(d.Type))
			} else if of.IsExported() {
				typ := typeText(d.Type)
				if _, pointer := d.Recv.List[0].Type.(*ast.StarExpr); !pointer {
					typ += ", of values"
				}
				add(pkg+"."+of.Name, d.Name, typ)
			}
		case *ast.GenDecl:
			typ := ""
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(pkg, s.Name, specText(s))
					for _, f := range fieldsOf(s) {
						for _, name := range f.Names {
							add(pkg+"."+s.Name.Name, name, typeText(f.Type))
						}
						if f.Names == nil {
							lines = append(lines, pkg+"."+s.Name.Name+" has "+typeText(f.Type))
						}
					}
				case *ast.ValueSpec:
					if s.Type != nil || s.Values != nil { // otherwise as the constant before
						typ = ""
					}
					if s.Type != nil {
						typ = typeText(s.Type)
					}
					for _, name := range s.Names {
						add(pkg, name, strings.TrimSpace(d.Tok.String()+" "+typ))
					}
				}
			}
		}
	}
	return lines
}

// fieldsOf returns the fields of an exported struct, or the methods of an exported interface.
func fieldsOf(s *ast.TypeSpec) []*ast.Field {
	switch typ := s.Type.(type) {
	case *ast.StructType:
		if s.Name.IsExported() {
			return typ.Fields.List
		}
	case *ast.InterfaceType:
		if s.Name.IsExported() {
			return typ.Methods.List
		}
	}
	return nil
}

// specText returns the type that a name is declared with.
func specText(s *ast.TypeSpec) string {
	text := typeText(s.Type)
	if s.Assign.IsValid() {
		text = "= " + text
	}
	if s.TypeParams != nil {
		text = "[" + listText(s.TypeParams) + "] " + text
	}
	return text
}

// typeText returns a type without the names of parameters and of results.
func typeText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.FuncType:
		text := "func"
		if x.TypeParams != nil {
			text += "[" + listText(x.TypeParams) + "]"
		}
		text += "(" + listText(x.Params) + ")"
		if results := listText(x.Results); x.Results.NumFields() > 1 {
			return text + " (" + results + ")"
		} else if results != "" {
			return text + " " + results
		}
		return text
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	}
	return types.ExprString(x)
}

// listText returns the types of a list of parameters or results.
func listText(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var texts []string
	for _, f := range list.List {
		texts = append(texts, slices.Repeat([]string{typeText(f.Type)}, max(1, len(f.Names)))...)
	}
	return strings.Join(texts, ", ")
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
