package layers

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestDocsBeginWithAnExample checks that the documentation of each package that others may import
// begins with a paragraph and a piece of code.
func TestDocsBeginWithAnExample(t *testing.T) {
	for _, p := range packages(t) {
		if !importable(p.name) {
			continue
		}
		path := filepath.Join("..", "..", "..", p.name, "doc.go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		if os.IsNotExist(err) {
			t.Errorf("package %s has no doc.go", p.name)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		blocks := new(comment.Parser).Parse(file.Doc.Text()).Content
		if len(blocks) < 2 || !isParagraph(blocks[0]) || !isCode(blocks[1]) {
			t.Errorf("package %s: the documentation does not begin with a paragraph and an example", p.name)
		}
	}
}

// twoScreens is the number of lines on two screens.
const twoScreens = 100

// TestLongIndexesAreGrouped checks the packages of which go doc prints more than two screens: their
// documentation names each function and type, where it groups them by subject. An Into form goes
// with its function, options and stats with what takes or returns them.
func TestLongIndexesAreGrouped(t *testing.T) {
	names, checked := map[string][]string{}, 0
	for _, line := range exported(t) {
		name, typ, _ := strings.Cut(line, " ")
		dot := strings.Index(name, ".")
		if pkg, name := name[:dot], name[dot+1:]; !strings.Contains(name, ".") && !strings.HasPrefix(typ, "const") && typ != "var" {
			names[pkg] = append(names[pkg], name)
		}
	}
	for pkg, all := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "..", pkg, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		doc := string(new(comment.Printer).Text(new(comment.Parser).Parse(file.Doc.Text())))
		if strings.Count(doc, "\n")+len(all) <= twoScreens {
			continue
		}
		checked++
		words := strings.FieldsFunc(doc, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, name := range all {
			if !slices.Contains(words, strings.TrimSuffix(name, "Into")) && !strings.HasSuffix(name, "Options") && !strings.HasSuffix(name, "Stats") {
				t.Errorf("the documentation of package %s is longer than two screens, and does not name %s", pkg, name)
			}
		}
	}
	if checked == 0 || checked == len(names) {
		t.Errorf("checked %d of %d packages", checked, len(names))
	}
}

// mostDoc is how many lines the documentation of one function may have. A function that needs more
// has too many cases, or does two things.
const mostDoc = 25

// TestDocsOfFunctionsAreShort checks the documentation of exported functions and methods, also of
// interfaces.
func TestDocsOfFunctionsAreShort(t *testing.T) {
	for _, p := range packages(t) {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", p.name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, long := range longDocs(file) {
				t.Errorf("%s: the documentation of %s has more than %d lines", path, long, mostDoc)
			}
		}
	}
}

// longDocs returns the names of the exported functions and methods of a file whose documentation is
// too long.
func longDocs(file *ast.File) (names []string) {
	check := func(name *ast.Ident, doc *ast.CommentGroup) {
		if name.IsExported() && strings.Count(doc.Text(), "\n") > mostDoc {
			names = append(names, name.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			check(n.Name, n.Doc)
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, name := range method.Names {
					check(name, method.Doc)
				}
			}
		}
		return true
	})
	return names
}

// TestLongDocs checks that longDocs finds functions, methods and methods of interfaces.
func TestLongDocs(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("// A line.\n", n) }
	long, most := lines(mostDoc+1), lines(mostDoc)
	text := "package p\n" + long + "func F() {}\n" + most + "func G() {}\n" + long + "func h() {}\n" +
		long + "func (t T) M() {}\n" + "type I interface {\n" + long + "N()\n" + most + "O()\n}\n" + long + "type T int\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := longDocs(file), []string{"F", "M", "N"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func isParagraph(b comment.Block) bool { _, ok := b.(*comment.Paragraph); return ok }

func isCode(b comment.Block) bool { _, ok := b.(*comment.Code); return ok }
