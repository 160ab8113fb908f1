package tdict_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only value.go knows the kinds of value, and stackragged.go, whose whole work is to tell them
// apart: no other file asks which one a value is, so that a new kind is written in one place.
func TestKindsAreListedOnce(t *testing.T) {
	kinds := []string{"*tensor.Tensor", "*TensorDict", "*ragged.Tensor", "*Data", "*Unbatched", "*Stacked"}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	listed := map[string]int{}
	for _, file := range files {
		name := file.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			for _, asked := range typesAsked(n) {
				if slices.Contains(kinds, types.ExprString(asked)) {
					listed[name]++
				}
			}
			return true
		})
	}
	require.Greater(t, listed["value.go"], len(kinds))
	delete(listed, "value.go")
	delete(listed, "stackragged.go")
	delete(listed, "joint.go")
	require.Empty(t, listed)
}

// typesAsked returns the types that a type assertion or a case asks for.
func typesAsked(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			return []ast.Expr{n.Type}
		}
	case *ast.CaseClause:
		return n.List
	}
	return nil
}
