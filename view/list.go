package view

import (
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A listRow is an entry in the list.
type listRow struct {
	Name     text.Text
	Link     string
	Dict     bool
	Leaves   string
	Kind     string
	Shape    string
	Bytes    string
	Width    float64 // of the bar, in percent
	Share    string
	Missing  string
	Checksum string
}

// A listData is the data of the template of the list.
type listData struct {
	leavesData
	Rows  []listRow
	Pager *pager
}

// list answers with one level of the tree as a table.
func (v *visit) list(dict *shelf.Node, from int) error {
	d := listData{leavesData: v.overview(dict, false)}
	if v.version.Index.Root().Leaves > wallLeaves {
		d.Note = "more than " + text.Count(wallLeaves) + " leaves: no value is read until you open one"
	}
	var all []*shelf.Node
	most := int64(1)
	for c := range v.version.Index.Children(dict.At) {
		if !c.IsMask {
			most = max(most, c.Size)
			all = append(all, c)
		}
	}
	from = max(0, min(from, len(all)-1)/listRows*listRows)
	for _, c := range all[from:min(len(all), from+listRows)] {
		d.Rows = append(d.Rows, v.listRow(c, most, dict.Size))
	}
	d.Pager = v.pager(from, listRows, len(all), "entry")
	return v.exec("list", d)
}

// listRow returns the row of an entry. most is the size of the largest one, and all of all.
func (v *visit) listRow(c *shelf.Node, most, all int64) listRow {
	row := listRow{
		Name: text.ShowRunes(string(c.Name()), 64), Link: v.of("leaf", c), Dict: c.IsDict(), Kind: v.dtype(c), Shape: text.Shape(c.Shape),
		Bytes: text.Bytes(c.Size), Width: percent(int(c.Size), int(most)), Share: text.Percent(int(c.Size), int(max(all, 1))),
	}
	if c.Leaves > 0 && c.Sums == c.Leaves {
		row.Checksum = "saved"
	}
	if c.IsDict() {
		row.Link, row.Leaves = v.of("", c, "as", "list"), text.Count(c.Leaves)
		if c.Leaves > 0 && c.Sums < c.Leaves && c.Sums > 0 {
			row.Checksum = text.Count(c.Sums) + " of " + text.Count(c.Leaves)
		}
	}
	if c.Mask != 0 {
		row.Missing = v.hidden(c)
	}
	return row
}

// mostMasked bounds the masks that the list reads.
const mostMasked = 1 << 20

// hidden says how many values a mask hides, or that there is a mask, if it is large or there are
// many leaves.
func (v *visit) hidden(c *shelf.Node) string {
	mask := &v.version.Index.Nodes[c.Mask]
	if mask.Bytes > mostMasked || v.version.Index.Root().Leaves > wallLeaves {
		return "masked"
	}
	x, err := v.version.Dict.Tensor(mask.Key)
	if err != nil {
		return "masked"
	}
	present, err := arith.Sum(x, arith.Whole)
	if err != nil {
		return "cannot be read"
	}
	n, err := tensor.Item[int64](present)
	if err != nil {
		return "cannot be read"
	}
	values := 1 // or rows of a ragged leaf
	for _, size := range c.Shape {
		if size == tdict.Any {
			break
		}
		values *= size
	}
	missing := x.Size() - int(n)
	return text.Count(missing * (values / max(x.Size(), 1))) // a value of the mask may hide several
}

// A homeData is the data of the first page of several datasets.
type homeData struct {
	Frame frame
	Title string
	Facts []fact // of the datasets that are open
}

// A homeSet is a dataset on the first page.
type homeSet struct {
	Name   text.Text
	Link   string
	Facts  string
	Note   string
	Failed *errorData
}

// home streams all datasets, each with its first cards. The tree and the facts above them have the
// datasets that are open by then.
func (v *visit) home() error {
	from, err := v.number("from", 0)
	if err != nil {
		return err
	}
	all := v.shelf.Sets
	from = max(0, min(from, len(all)-1)/homeSets*homeSets)
	sets := all[from:min(len(all), from+homeSets)]
	d := homeData{Frame: v.frame("Leaves", nil), Title: fmt.Sprintf("%d datasets", len(all))}
	d.Frame.Title = d.Title
	d.Frame.Tree = &tree{Head: "Datasets", Note: text.Count(len(v.shelf.Sets))}
	for _, set := range sets {
		set.Open() // all at once
	}
	wait, leaves := time.After(v.patience), 0
	for _, set := range sets {
		row := treeRow{Name: text.ShowRunes(set.Name, 64), Link: v.toSet("", set), Dict: true}
		select {
		case <-set.Open():
			if n, ok := d.known(v, set, row); ok {
				leaves += n
				continue
			}
		case <-wait:
			wait = time.After(0)
		}
		d.Frame.Tree.Rows = append(d.Frame.Tree.Rows, row)
	}
	d.Frame.Tabs = []tab{{Name: "Leaves", Link: "./", Count: text.Count(leaves), Current: true}}
	pages := v.pager(from, homeSets, len(all), "dataset")
	if pages != nil { // the leaves of other pages are not counted
		d.Frame.Tabs[0].Count = ""
	}
	if err := v.exec("home-head", d); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	for _, set := range sets {
		if err := v.homeSet(set); err != nil {
			return err
		}
		if err := v.flush(); err != nil {
			return err
		}
	}
	return v.exec("home-foot", pages)
}

// known adds a dataset that is open to the tree and the facts, and returns its number of leaves. A
// small one shows its leaves. ok is false if it could not be opened.
func (d *homeData) known(v *visit, set *shelf.Set, row treeRow) (leaves int, ok bool) {
	inner, err := v.inner(set)
	if err != nil {
		return 0, false
	}
	defer inner.version.Release()
	x := inner.version
	row.Note, row.Open = batchRows(x.Rows), len(x.Index.Nodes) <= homeCards
	d.Frame.Tree.Rows = append(d.Frame.Tree.Rows, row)
	if row.Open {
		d.Frame.Tree.level(inner, x.Index.Root(), nil, 1)
	}
	d.Facts = append(d.Facts, fact{Strong: inner.set.Name, Text: rows(x.Rows) + ", " + text.Bytes(x.Index.Root().Size)})
	return x.Index.Root().Leaves, true
}

// inner returns a visit of one of several datasets. Its version must be released.
func (v *visit) inner(set *shelf.Set) (*visit, error) {
	version, err := set.Acquire(v.r.Context(), "")
	if err != nil {
		return nil, err
	}
	return &visit{Server: v.Server, w: v.w, r: v.r, out: v.out, path: v.path, query: v.query, set: set, version: version, body: v.body}, nil
}

// homeSet writes one dataset of the first page.
func (v *visit) homeSet(set *shelf.Set) error {
	h := homeSet{Name: text.ShowRunes(set.Name, 64), Link: v.toSet("", set)}
	inner, err := v.inner(set)
	if err != nil {
		if v.r.Context().Err() != nil {
			return err
		}
		e := v.unopened(set, err)
		h.Failed = &errorData{Title: text.Show(e.title, 300), Why: e.why, Detail: text.Show(e.detail, 4000)}
		return v.exec("home-set", h)
	}
	version := inner.version
	defer version.Release()
	root := version.Index.Root()
	h.Facts = rows(version.Rows) + ", " + plural(root.Leaves, "leaf", "leaves")
	shown := version.Index.Shown[:min(len(version.Index.Shown), homeCards)]
	if n := len(version.Index.Shown); n > len(shown) {
		h.Note = "all " + text.Count(n) + " leaves"
	}
	if err := v.exec("home-set", h); err != nil {
		return err
	}
	if root.Leaves > wallLeaves {
		return v.exec("home-many", h)
	}
	return inner.cards(root, shown)
}

// A searchData is the data of the template of search.
type searchData struct {
	Frame   frame
	Word    text.Text
	Note    string
	Rows    []found
	Pager   *pager
	AllLink string
	NoKey   bool
}

// A found is a key that search has found, in pieces. Some pieces are hits.
type found struct {
	Pieces []piece
	Link   string
	Kind   string
	Shape  string
	Bytes  string
}

type piece struct {
	Text text.Text
	Hit  bool
}

const searchRows = 50

// search answers with the keys that have the words of a text.
func (v *visit) search() error {
	if v.set == nil {
		return v.searchAll()
	}
	if err := v.open(); err != nil {
		return err
	}
	from, err := v.number("from", 0)
	if err != nil {
		return err
	}
	word := v.query.Get("q")
	began := time.Now()
	x := v.version.Index
	hits := x.Search(word)
	took := time.Since(began)
	d := searchData{Frame: v.frame("Leaves", nil), Word: text.Show(word, 200), AllLink: v.to("")}
	d.Frame.Query, d.Frame.Tree = word, v.foundTree(hits)
	d.Frame.Title = "Found " + d.Word.String()
	from = max(0, min(from, len(hits)-1)/searchRows*searchRows)
	for _, at := range hits[from:min(len(hits), from+searchRows)] {
		d.Rows = append(d.Rows, v.found(&x.Nodes[at], word))
	}
	keys := text.Count(len(x.Nodes) - 1)
	d.Note = fmt.Sprintf("%s to %s of %s, best first; %s keys in %d ms", text.Count(from+1), text.Count(from+len(d.Rows)), text.Count(len(hits)), keys, took.Milliseconds())
	if d.NoKey = len(hits) == 0; d.NoKey {
		d.Note = "no key of " + keys + " has “" + d.Word.String() + "”"
	}
	d.Pager = v.pager(from, searchRows, len(hits), "hit")
	return v.exec("search", d)
}

// found returns the row of an entry that a search for a word has found.
func (v *visit) found(n *shelf.Node, word string) found {
	f := found{Pieces: pieces(string(n.Key), word), Link: v.of("leaf", n), Kind: v.dtype(n), Shape: text.Shape(n.Shape), Bytes: text.Bytes(n.Size)}
	if n.IsDict() {
		f.Link = v.of("", n)
	}
	return f
}

// A setHits is a dataset with the best of its keys that a search has found.
type setHits struct {
	Name   text.Text
	Link   string
	Note   string
	Rows   []found
	Failed bool
}

const bestHits = 10 // of each of several datasets

// searchAll answers a search on the first page of several datasets with the best hits in each.
func (v *visit) searchAll() error {
	word := v.query.Get("q")
	d := struct {
		Frame frame
		Word  text.Text
		Sets  []setHits
	}{Frame: v.frame("", nil), Word: text.Show(word, 200)}
	d.Frame.Query, d.Frame.Title = word, "Found "+d.Word.String()
	for _, set := range v.shelf.Sets {
		set.Open() // all at once
	}
	for _, set := range v.shelf.Sets {
		h := setHits{Name: text.ShowRunes(set.Name, 64), Link: v.toSet("search", set, "q", word)}
		inner, err := v.inner(set)
		if err != nil {
			h.Failed, h.Note = true, "cannot be opened"
			d.Sets = append(d.Sets, h)
			continue
		}
		hits := inner.version.Index.Search(word)
		h.Note = plural(len(hits), "key", "keys")
		for _, at := range hits[:min(len(hits), bestHits)] {
			h.Rows = append(h.Rows, inner.found(&inner.version.Index.Nodes[at], word))
		}
		inner.version.Release()
		d.Sets = append(d.Sets, h)
	}
	return v.exec("search-all", d)
}
