package view

import (
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// pieces cuts a key at the words that were searched.
func pieces(key, words string) []piece {
	const most = 300
	cut := text.Show(key, most)
	lower := strings.ToLower(key)
	if len(lower) != len(key) || cut.Left > 0 { // lower case has another length, or the key is long
		return []piece{{Text: cut}}
	}
	hit := make([]bool, len(key))
	for _, word := range strings.Fields(strings.ToLower(words)) {
		for from := 0; ; {
			at := strings.Index(lower[from:], word)
			if at < 0 {
				break
			}
			for i := range len(word) {
				hit[from+at+i] = true
			}
			from += at + len(word)
		}
	}
	var all []piece
	for from := 0; from < len(key); {
		stop := from
		for stop < len(key) && (hit[stop] == hit[from] || !utf8.RuneStart(key[stop])) {
			stop++
		}
		all = append(all, piece{text.Show(key[from:stop], most), hit[from]})
		from = stop
	}
	return all
}

const (
	foundTop   = 60 // entries of the dataset in the tree of what was found
	foundInner = 5  // entries of the first dictionary
)

// foundTree returns the tree of the entries that a search has found, with their numbers.
func (v *visit) foundTree(hits []int) *tree {
	x := v.version.Index
	count := make(map[int]int, len(hits)) // by dictionary or hit
	for _, at := range hits {
		for n := &x.Nodes[at]; n.Depth > 0; n = &x.Nodes[n.Parent] {
			count[n.At]++
		}
	}
	t := &tree{Head: "found", Note: text.Count(len(hits))}
	open := true
	t.found(v, x.Root(), count, foundTop, 0, func(c *shelf.Node) {
		if c.IsDict() && open {
			open = false
			t.Rows[len(t.Rows)-1].Open = true
			t.found(v, c, count, foundInner, 1, nil)
		}
	})
	return t
}

// found adds the entries of a dictionary that were found, at most most of them.
func (t *tree) found(v *visit, dict *shelf.Node, count map[int]int, most, depth int, after func(*shelf.Node)) {
	left := 0
	for c := range v.version.Index.Children(dict.At) {
		if count[c.At] == 0 {
			continue
		}
		if most == 0 {
			left++
			continue
		}
		most--
		row := v.treeRow(c, nil, false, depth)
		if c.IsDict() {
			row.Note = text.Count(count[c.At])
		}
		t.Rows = append(t.Rows, row)
		if after != nil {
			after(c)
		}
	}
	if left > 0 {
		t.Rows = append(t.Rows, treeRow{Depth: depth, More: text.Count(left) + " more", Link: v.of("", dict, "as", "list")})
	}
}
