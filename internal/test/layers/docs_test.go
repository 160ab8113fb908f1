package layers

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
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

func isParagraph(b comment.Block) bool { _, ok := b.(*comment.Paragraph); return ok }

func isCode(b comment.Block) bool { _, ok := b.(*comment.Code); return ok }
