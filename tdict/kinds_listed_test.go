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

// TestKindsAreListedOnce finds the switches over the kinds of value: kinds.go has the table of what
// each kind does, and stackragged.go says what becomes of each. A new kind is written
// there. Any function may ask whether a value is of one kind.
func TestKindsAreListedOnce(t *testing.T) {
	kinds := []string{"*tensor.Tensor", "*TensorDict", "*ragged.Tensor", "*Data", "*Unbatched", "*Stacked"}
	const most = 2 // kinds in one switch elsewhere
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	switches := map[string]int{}
	for _, file := range files {
		name := file.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSwitchStmt)
			if !ok {
				return true
			}
			listed := 0
			for _, c := range s.Body.List {
				for _, typ := range c.(*ast.CaseClause).List {
					if slices.Contains(kinds, types.ExprString(typ)) {
						listed++
					}
				}
			}
			if listed > most {
				switches[name]++
			}
			return true
		})
	}
	require.Equal(t, 1, switches["kinds.go"])
	for _, name := range []string{"kinds.go", "stackragged.go"} {
		delete(switches, name)
	}
	require.Empty(t, switches)
}
