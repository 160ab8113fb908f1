package concepts_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// TestPage compares docs/concepts.md with the examples: their code, and their output.
func TestPage(t *testing.T) {
	concepts := filepath.Join("..", "..", "docs", "concepts.md")
	page.CheckSource(t, page.Fences(t, concepts, "go"), "concepts_test.go")
	outputs := page.Fences(t, concepts, "text")
	for i := range outputs {
		outputs[i].Text = "// Output:\n" + regexp.MustCompile("(?m)^(.)").ReplaceAllString(outputs[i].Text, "// $1")
	}
	page.CheckSource(t, outputs, "concepts_test.go")
}
