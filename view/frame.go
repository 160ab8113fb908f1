package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// A frame is the part that all pages have: title, header, tabs, badge, search and tree.
type frame struct {
	Title   string
	Class   string // of the body: what the script does with the page
	Up      string // "../" for each part of a path that leads nowhere
	Home    string // address of the first page
	Top     string // its name
	Set     string // name of the dataset, if there are several
	SetLink string
	Key     *text.Text // of the entry that the page is about
	Tabs    []tab
	Search  bool   // there is a search field
	Query   string // in the search field
	Hidden  []pair // other values of the search form
	Badge   *badge
	Notice  *notice
	Tree    *tree
	Events  string // address of the stream of events, "" without one
	Assets  map[string]string
	KeysTo  string
}

type pair struct{ Name, Value string }

type tab struct {
	Name, Link, Count string
	Current           bool
}

// A badge says whether the dataset grows.
type badge struct {
	Growing bool
	Word    string
	Rows    string
	At, On  string // when the page was made, and the zone
}

// A notice says that the dataset was replaced.
type notice struct {
	At, Was, Is string
	Link        string
}

// frame returns the frame of a page of the current dataset. tab is the name of its tab, and n the
// entry that it is about, if any.
func (v *visit) frame(current string, n *shelf.Node) frame {
	up := strings.Repeat("../", max(0, strings.Count(v.path, "/")-1))
	f := frame{Title: "tdict", Up: up, Home: up + "./", Top: "datasets", Assets: assetNames, KeysTo: v.to("keys")}
	if len(v.shelf.Sets) == 1 {
		f.Top = v.shelf.Sets[0].Name
	}
	if v.set == nil {
		f.Search = true
		return f
	}
	f.Title, f.Home = v.set.Name, v.to("")
	f.Hidden = []pair{}
	if len(v.shelf.Sets) > 1 {
		f.Home, f.Set, f.SetLink = "./", v.set.Name, v.to("")
		f.Hidden = append(f.Hidden, pair{"d", v.set.Name})
	}
	if v.version == nil {
		return f
	}
	f.Search = true
	if v.version.ID != "" {
		f.Hidden = append(f.Hidden, pair{"v", v.version.ID})
	}
	if n != nil && n.Depth > 0 {
		key := text.ShowRunes(string(n.Key), 64)
		f.Key = &key
		f.Title = key.String() + " · " + v.set.Name
	}
	f.Tabs = v.tabs(current)
	v.follow(&f)
	return f
}

// tabs returns the tabs. Pictures and Lines are there if a leaf can be shown so.
func (v *visit) tabs(current string) []tab {
	x := v.version
	tabs := []tab{{Name: "Leaves", Link: v.to(""), Count: text.Count(x.Index.Root().Leaves)}}
	if x.Rows >= 0 {
		tabs = append(tabs, tab{Name: "Rows", Link: v.to("rows"), Count: text.Count(x.Rows)})
	}
	pictures, lines := v.plots()
	if pictures != nil {
		tabs = append(tabs, tab{Name: "Pictures", Link: v.of("pictures", pictures)})
	}
	if lines != nil {
		tabs = append(tabs, tab{Name: "Lines", Link: v.of("lines", lines)})
	}
	for i := range tabs {
		tabs[i].Current = tabs[i].Name == current
	}
	return tabs
}

// follow adds the badge and the notice about commits and replacements.
func (v *visit) follow(f *frame) {
	x := v.version
	if x.Dataset == nil {
		return
	}
	state, _ := v.set.State()
	now := time.Now()
	if state.ID != "" && state.ID != x.ID {
		f.Notice = &notice{At: clock(state.Replaced), Was: rows(x.Rows), Is: rows(state.Rows), Link: v.elsewhere("v", "")}
		return
	}
	f.Events = v.to("events", "rows", fmt.Sprint(x.Rows))
	switch {
	case state.Failed != nil:
		f.Badge = &badge{Word: "cannot follow: " + v.told(v.set, state.Failed), At: clock(now)}
	case x.Growing():
		f.Badge = &badge{Growing: true, Word: "growing", Rows: text.Count(x.Rows), At: clock(now), On: now.Format("MST")}
	}
}

func clock(t time.Time) string { return t.Format("15:04:05") }

// rows returns a number of rows in words.
func rows(n int) string {
	switch {
	case n < 0:
		return "no rows"
	case n == 1:
		return "1 row"
	}
	return text.Count(n) + " rows"
}
