package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A tree is the tree of keys at the side of a page.
type tree struct {
	Head, Note string
	Live       bool // Note is the number of rows, which the script keeps current
	Rows       []treeRow
}

// A treeRow is one line of the tree.
type treeRow struct {
	Depth   int // of its indent, at most 6
	Name    text.Text
	Link    string
	Note    string
	Dict    bool
	Open    bool
	Current bool
	Inset   bool   // a leaf below or beside dictionaries, which have a triangle
	More    string // "337 more" in place of a name
}

// Class returns the class of a row.
func (r treeRow) Class() string {
	var class []string
	if r.Depth > 0 {
		class = append(class, "d"+strconv.Itoa(r.Depth))
	}
	if r.Inset {
		class = append(class, "in")
	}
	if r.Current {
		class = append(class, "now")
	}
	return strings.Join(class, " ")
}

const (
	mostTree   = 60 // entries of a dictionary in the tree
	fewTree    = 10 // entries of one that is more than two levels above
	mostLevels = 8  // levels of the tree
)

// tree returns the tree with the dictionaries around n open.
func (v *visit) tree(n *shelf.Node) *tree {
	t := &tree{}
	if len(v.shelf.Sets) > 1 {
		t.Head, t.Note = "Datasets", text.Count(len(v.shelf.Sets))
		at := slices.Index(v.shelf.Sets, v.set) / homeSets * homeSets
		sets := v.shelf.Sets[at:min(len(v.shelf.Sets), at+homeSets)]
		for _, set := range sets {
			row := treeRow{Name: text.ShowRunes(set.Name, 64), Link: v.toSet("", set), Dict: true}
			if set == v.set {
				row.Open, row.Note, row.Current = true, batchRows(v.version.Rows), n != nil && n.Depth == 0
			}
			t.Rows = append(t.Rows, row)
			if set == v.set {
				t.level(v, t.top(v, n, 1), n, 1)
			}
		}
		if left := len(v.shelf.Sets) - len(sets); left > 0 {
			t.Rows = append(t.Rows, treeRow{More: text.Count(left) + " more", Link: "./?from=" + strconv.Itoa(at)})
		}
		return t
	}
	t.Head, t.Note, t.Live = v.set.Name, rows(v.version.Rows), true
	t.level(v, t.top(v, n, 0), n, 0)
	return t
}

// batchRows returns a number of rows for the tree, "" for a dataset without rows.
func batchRows(n int) string {
	if n < 0 {
		return ""
	}
	return text.Count(n)
}

// top returns the dictionary with which the tree begins: the dataset, or one closer to n if n is
// deep.
func (t *tree) top(v *visit, n *shelf.Node, depth int) *shelf.Node {
	x := v.version.Index
	if n == nil || n.Depth <= mostLevels {
		return x.Root()
	}
	above := x.Path(n)[n.Depth-1-mostLevels]
	t.Rows = append(t.Rows, treeRow{Depth: depth, More: plural(above.Depth, "level above", "levels above"), Link: v.of("", above)})
	return above
}

// level adds the entries of a dictionary. Below the dictionary that contains n it adds the entries
// of that. In a small dataset all dictionaries are open.
func (t *tree) level(v *visit, dict, n *shelf.Node, depth int) {
	x := v.version.Index
	open := -1 // the entry around n
	if n != nil && n.Depth > dict.Depth && dict.At <= n.At && n.At < dict.End {
		open = x.Path(n)[dict.Depth].At
	}
	var all []*shelf.Node
	at, dicts := 0, false
	for c := range x.Children(dict.At) {
		if c.IsMask && c.At != open {
			continue
		}
		if c.At == open {
			at = len(all)
		}
		all, dicts = append(all, c), dicts || c.IsDict()
	}
	most := mostTree
	if n != nil && n.Depth > dict.Depth+3 {
		most = fewTree
	}
	first := max(0, min(at-most/2, len(all)-most))
	shown := all[first:min(len(all), first+most)]
	for _, c := range shown {
		opened := c.IsDict() && (c.At == open || len(x.Nodes) <= mostTree)
		row := v.treeRow(c, n, opened, depth)
		row.Inset = !c.IsDict() && (dicts || depth > 0)
		t.Rows = append(t.Rows, row)
		if opened {
			t.level(v, c, n, depth+1)
		}
	}
	if left := len(all) - len(shown); left > 0 {
		t.Rows = append(t.Rows, treeRow{Depth: min(depth, 6), More: text.Count(left) + " more", Link: v.of("", dict, "as", "list")})
	}
}

// treeRow returns the row of an entry.
func (v *visit) treeRow(c, n *shelf.Node, open bool, depth int) treeRow {
	row := treeRow{
		Depth: min(depth, 6), Name: text.ShowRunes(string(c.Name()), 64), Link: v.of("leaf", c), Note: v.kind(c, true),
		Dict: c.IsDict(), Open: open, Current: n != nil && c.At == n.At,
	}
	if c.IsDict() {
		row.Link, row.Note = v.of("", c), text.Count(c.Leaves)
	}
	return row
}

// isText reports whether an entry is text.
func isText(e memmap.Entry) bool {
	stars := 0
	for _, size := range e.Shape {
		if size == tdict.Any {
			stars++
		}
	}
	return e.Kind == tdict.KindText || e.Kind == tdict.KindRagged && e.DType == tensor.Uint8 && stars > 0 && e.Shape[len(e.Shape)-1] == tdict.Any
}

// kind returns the dtype of an entry with the shape of one row: "int64", "uint8 [8 8]", "int64
// [*]", "text". In the tree it is short: "uint8 8×8", "int64 *".
func (v *visit) kind(n *shelf.Node, short bool) string {
	switch {
	case isText(n.Entry):
		return "text"
	case n.Kind == tdict.KindData:
		return "data"
	case n.IsDict():
		return "dictionary"
	}
	name := "stack"
	if n.DType != 0 {
		name = n.DType.String()
	}
	features := v.features(n)
	switch {
	case len(features) == 0:
		return name
	case !short:
		return name + " " + text.Shape(features)
	}
	return name + " " + strings.ReplaceAll(strings.Trim(text.Shape(features), "[]"), " ", "×")
}

// dtype returns the dtype of an entry, for a place with the shape beside it.
func (v *visit) dtype(n *shelf.Node) string {
	if n.DType == 0 || isText(n.Entry) {
		return v.kind(n, true)
	}
	return n.DType.String()
}

// features returns the sizes of one row of an entry: the dims after the first batch dim.
func (v *visit) features(n *shelf.Node) shapeops.Shape {
	if v.version.Rows >= 0 && n.Kind != tdict.KindUnbatched && len(n.Shape) > 0 {
		return n.Shape[1:]
	}
	return n.Shape
}
