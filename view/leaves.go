package view

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	wallLeaves = 500 // beyond it the list is shown first
	wallCards  = 60  // cards of a page
	listRows   = 200 // rows of a list
	homeCards  = 20  // cards of each of several datasets on the first page
	homeSets   = 12  // datasets of a page
)

// leaves answers with the wall or the list of the leaves of a dataset or a dictionary, or with all
// datasets.
func (v *visit) leaves() error {
	if v.set == nil {
		return v.home()
	}
	n, err := v.node()
	if err != nil {
		return err
	}
	if !n.IsDict() {
		v.w.Header().Set("Location", v.of("leaf", n)) // relative, for prefixes
		v.w.WriteHeader(http.StatusSeeOther)
		return nil
	}
	from, err := v.number("from", 0)
	if err != nil {
		return err
	}
	as := v.query.Get("as")
	if as != "wall" && as != "list" {
		if as = "wall"; v.version.Index.Root().Leaves > wallLeaves {
			as = "list"
		}
	}
	if as == "list" {
		return v.list(n, from)
	}
	return v.wall(n, from)
}

// A leavesData is the data of the templates of the wall and the list.
type leavesData struct {
	Frame    frame
	Title    text.Text
	Facts    []fact
	Metadata []pair
	Wall     bool
	WallTo   string
	ListTo   string
	Note     string
	Empty    bool
	Growing  bool
	Batch    string
	Zone     string // of the times on the page
}

// A fact is a number with a word.
type fact struct {
	Strong, Text, Name string // Name: the script keeps the number current
	Before             string
}

// overview returns the part above the wall and the list.
func (v *visit) overview(n *shelf.Node, wall bool) leavesData {
	x := v.version
	d := leavesData{Frame: v.frame("Leaves", n), Wall: wall, WallTo: v.of("", n, "as", "wall"), ListTo: v.of("", n, "as", "list")}
	d.Frame.Tree = v.tree(n)
	d.Frame.Class = "leaves"
	d.Zone = time.Now().Format("MST")
	d.Batch, d.Growing, d.Empty = text.Shape(x.Dict.Shape()), x.Growing(), x.Rows == 0
	d.Title = text.ShowRunes(string(n.Key), 200)
	if n.Depth == 0 {
		d.Title = text.ShowRunes(v.set.Name, 200)
		d.Facts = append(d.Facts, v.form())
	}
	d.Facts = append(d.Facts, v.counts(n)...)
	d.Metadata = v.metadata(n)
	return d
}

const mostMetadata = 100

// metadata returns the metadata of the dataset and the class of a dictionary: the first 100.
func (v *visit) metadata(n *shelf.Node) (all []pair) {
	td := v.version.Dict
	if n.Depth > 0 {
		td, _ = v.version.Dict.Dict(n.Key) // n is a dictionary
	}
	if td != nil && td.Class() != "" {
		all = append(all, pair{"class", plain(td.Class())})
	}
	if n.Depth > 0 {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(v.set.Metadata)) {
		if len(all) == mostMetadata {
			all = append(all, pair{"…", plural(len(v.set.Metadata)-mostMetadata, "other", "others")})
			break
		}
		all = append(all, pair{plain(name), plain(v.set.Metadata[name])})
	}
	return all
}

// plain returns a text of at most 1,000 bytes as pages show it, for a place that has no markup.
func plain(s string) string { return text.Show(s, 1000).String() }

// form returns the form of the dataset in words.
func (v *visit) form() fact {
	x := v.version
	form := x.Form
	if x.Growing() {
		form += ", a Writer is open; last commit " + clock(x.Opened)
	}
	return fact{Text: form, Name: "form"}
}

// counts returns the line of facts about a dataset or a dictionary.
func (v *visit) counts(n *shelf.Node) []fact {
	x := v.version
	var facts []fact
	if shape := n.Shape; len(shape) == 1 {
		facts = append(facts, fact{Strong: text.Count(shape[0]), Text: word(shape[0], "row", "rows"), Name: "rows"})
	} else {
		facts = append(facts, fact{Before: "batch shape", Strong: text.Shape(shape)})
	}
	leaves := word(n.Leaves, "leaf", "leaves")
	if masks := x.Index.Masks; n.Depth == 0 && masks > 0 {
		leaves += ", of which " + text.Count(masks) + word(masks, " is a mask", " are masks")
	}
	if dicts := x.Index.Dicts; n.Depth == 0 && dicts > 0 {
		leaves += " in " + text.Count(dicts) + word(dicts, " dictionary", " dictionaries")
	}
	facts = append(facts, fact{Strong: text.Count(n.Leaves), Text: leaves, Name: "leaves"}, bytesFact(n.Size))
	if n.Depth == 0 && x.Dataset != nil {
		facts = append(facts, fact{Before: "checksums", Strong: text.Count(n.Sums), Text: "of " + text.Count(n.Leaves)})
		saved := "no schema"
		if x.Schema != nil {
			saved = "schema saved"
		}
		facts = append(facts, fact{Text: saved})
		if took := x.Took.Milliseconds(); took >= 100 {
			facts = append(facts, fact{Text: fmt.Sprintf("opened in %.1f s", float64(took)/1000)})
		}
	}
	return facts
}

func word(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// bytesFact returns a size as a number and its unit.
func bytesFact(n int64) fact {
	size := text.Bytes(n)
	for i := range size {
		if size[i] == ' ' {
			return fact{Strong: size[:i], Text: size[i+1:], Name: "size"}
		}
	}
	return fact{Strong: size, Name: "size"}
}

// A section is the leaves of one dictionary on the wall.
type section struct {
	Title text.Text
	Link  string
	Note  string
	Inner bool // a heading of the dataset is above it
}

// wall streams the cards of the leaves in a dictionary.
func (v *visit) wall(n *shelf.Node, from int) error {
	leaves := v.version.Index.In(n)
	from = max(0, min(from, len(leaves)-1)/wallCards*wallCards)
	shown := leaves[from:min(len(leaves), from+wallCards)]
	d := v.overview(n, true)
	d.Note = v.readNote(shown)
	if len(leaves) > len(shown) {
		d.Note += fmt.Sprintf("; leaves %s to %s of %s", text.Count(from+1), text.Count(from+len(shown)), text.Count(len(leaves)))
	}
	if err := v.exec("wall-head", d); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	if !d.Empty {
		if err := v.cards(n, shown); err != nil {
			return err
		}
	}
	if d.Growing && v.version.Rows > 0 {
		if err := v.lastRows(); err != nil {
			return err
		}
	}
	pager := v.pager(from, wallCards, len(leaves), "leaf")
	return v.exec("wall-foot", pager)
}

// readNote says which part of the leaves the wall reads.
func (v *visit) readNote(shown []int) string {
	note := "every value read"
	for i, how := range v.budget(shown) {
		if n := &v.version.Index.Nodes[shown[i]]; n.Bytes > v.opt.MaxRead || how.sample && n.Bytes > sampleSize {
			note = "large leaves by a sample"
		}
	}
	if v.version.Index.Masks > 0 {
		note += "; masks stand with their leaf"
	}
	return note
}

// cards streams the cards of some leaves, with a heading for each dictionary.
func (v *visit) cards(around *shelf.Node, shown []int) error {
	how := v.budget(shown)
	made := workers.Stream(v.r.Context(), len(shown), 0, 8, func(ctx context.Context, i int) (card, error) {
		c := v.card(ctx, &v.version.Index.Nodes[shown[i]], how[i])
		return c, ctx.Err()
	})
	dict := -1
	i := 0
	for c, err := range made {
		if err != nil {
			return err
		}
		if parent := v.version.Index.Nodes[shown[i]].Parent; parent != dict {
			if err := v.section(around, parent, dict >= 0); err != nil {
				return err
			}
			dict = parent
		}
		if err := v.exec("card", c); err != nil {
			return err
		}
		if i++; i%8 == 0 {
			if err := v.flush(); err != nil {
				return err
			}
		}
	}
	return v.exec("cards-end", dict >= 0)
}

// section begins the cards of a dictionary.
func (v *visit) section(around *shelf.Node, at int, ends bool) error {
	if err := v.exec("cards-end", ends); err != nil {
		return err
	}
	n := &v.version.Index.Nodes[at]
	if n == around {
		return v.exec("cards", nil)
	}
	return v.exec("cards", &section{
		Title: text.ShowRunes(string(n.Key), 200), Link: v.of("", n), Note: plural(n.Leaves, "leaf", "leaves"), Inner: len(v.shelf.Sets) > 1 && !v.query.Has("d"),
	})
}

// budget says how each leaf of a wall is read: in full until they have read four times MaxRead
// together, then by samples.
func (v *visit) budget(shown []int) []profiling {
	how := make([]profiling, len(shown))
	left := 4 * v.opt.MaxRead
	for i, at := range shown {
		how[i].workers = 1
		size := v.version.Index.Nodes[at].Bytes
		if size > v.opt.MaxRead {
			size = sampleSize
		}
		if left -= size; left < 0 {
			how[i].sample = true
		}
	}
	return how
}

// A pager leads to the pages before and after.
type pager struct {
	Prev, Next string // "" at the ends
	From       int
	Hidden     []pair
	Field      string // "from row"; "" without a field
	Note       string
}

// pager returns the pager of a page with size items, beginning at from, of all.
func (v *visit) pager(from, size, all int, one string) *pager {
	if all <= size {
		return nil
	}
	p := &pager{From: from, Note: fmt.Sprintf("%d a page", size)}
	if from > 0 {
		p.Prev = v.elsewhere("from", fmt.Sprint(max(0, from-size)))
	}
	if from+size < all {
		p.Next = v.elsewhere("from", fmt.Sprint(from+size))
	}
	p.Field, p.Hidden = "from "+one, v.fields("from", "row")
	return p
}
