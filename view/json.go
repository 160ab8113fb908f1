package view

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A jsonNode is a value of JSON on a page: lists and objects can be folded.
type jsonNode struct {
	Name     *text.Text // of a field
	Text     text.Text  // of a value, or what a list or object has
	Kind     string     // "text", "number", "bool", "null", "list", "object"
	Children []jsonNode
	Left     string // values that are left out
	Open     bool
}

// folded returns a value of Data for a page: at most 64 kB of it, ten levels deep; what is left out
// is counted.
func folded(value any) *jsonNode {
	budget := rowBytes
	n := fold(value, 0, &budget)
	return &n
}

// fold takes the bytes of a value from the budget.
func fold(value any, depth int, budget *int) jsonNode {
	*budget -= 16
	switch x := value.(type) {
	case nil:
		return jsonNode{Kind: "null", Text: text.Show("null", 10)}
	case string:
		t := text.Show(x, max(*budget, 16))
		*budget -= len(x)
		return jsonNode{Kind: "text", Text: t}
	case bool:
		return jsonNode{Kind: "bool", Text: text.Show(fmt.Sprint(x), 10)}
	case []any:
		n := jsonNode{Kind: "list", Text: text.Show(plural(len(x), "value", "values"), 40), Open: depth < 2}
		for i, inner := range x {
			if *budget <= 0 || depth == 10 {
				n.Left = plural(len(x)-i, "value is left out", "values are left out")
				break
			}
			n.Children = append(n.Children, fold(inner, depth+1, budget))
		}
		return n
	case *tdict.Object:
		n := jsonNode{Kind: "object", Text: text.Show(plural(x.Len(), "field", "fields"), 40), Open: depth < 2}
		for name, inner := range x.All() {
			if *budget <= 0 || depth == 10 {
				n.Left = plural(x.Len()-len(n.Children), "field is left out", "fields are left out")
				break
			}
			child := fold(inner, depth+1, budget)
			t := text.Show(name, 200)
			*budget -= len(name)
			child.Name = &t
			n.Children = append(n.Children, child)
		}
		return n
	}
	return jsonNode{Kind: "number", Text: text.Show(text.Exact(value), 400)}
}
