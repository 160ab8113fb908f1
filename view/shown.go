package view

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/picture"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

// shown says how the rows of a leaf are shown as pictures.
type shown struct {
	layout       picture.Layout
	black, white float64
}

// A drawn is a picture on a page.
type drawn struct {
	Src, Alt string
	Link     string // to its row
	Label    text.Text
	Row      string
	Wide     int // in pixels of the page
	High     int
}

// looksLikePicture reports whether a leaf is shown as pictures.
func (v *visit) looksLikePicture(n *shelf.Node) bool {
	return n.Kind == tdict.KindTensor && picture.LooksLike(n.DType, v.features(n))
}

// looksLikeLines reports whether a leaf is shown as lines.
func (v *visit) looksLikeLines(n *shelf.Node) bool {
	features := v.features(n)
	switch {
	case n.Kind == tdict.KindTensor:
		return picture.LooksLikeLines(n.DType, features)
	case n.Kind == tdict.KindRagged && len(features) > 0 && features[0] == tdict.Any:
		return picture.RaggedLooksLikeLines(n.DType, features[1:])
	}
	return false
}

// mostPlots bounds the leaves that are looked at for the tabs Pictures and Lines.
const mostPlots = 10_000

// plots returns the first leaf that is shown as pictures, and the first one that is shown as lines,
// nil if there is none. They are the leaf that the page is about, if it is one.
func (v *visit) plots() (pictures, lines *shelf.Node) {
	x := v.version.Index
	if v.version.Rows <= 0 {
		return nil, nil
	}
	look := func(n *shelf.Node) {
		if pictures == nil && v.looksLikePicture(n) {
			pictures = n
		}
		if lines == nil && v.looksLikeLines(n) {
			lines = n
		}
	}
	if n, ok := x.Find(nestedkey.Key(v.query.Get("k"))); ok && v.query.Has("k") {
		look(n)
	}
	for _, at := range x.Shown[:min(len(x.Shown), mostPlots)] {
		if pictures != nil && lines != nil {
			break
		}
		look(&x.Nodes[at])
	}
	return pictures, lines
}

// isThumb reports whether the rows of a leaf are shown as pictures that are small enough for a
// table.
func (v *visit) isThumb(n *shelf.Node) bool {
	return v.looksLikePicture(n) && v.features(n).Size() <= 256*256*4
}

// shown returns how a leaf is shown if nobody says otherwise.
func (v *visit) shown(ctx context.Context, n *shelf.Node) (s shown, err error) {
	layouts := picture.Layouts(n.DType, v.features(n))
	if len(layouts) == 0 {
		return s, fmt.Errorf("%w: %v %v does not look like pictures", picture.ErrLayout, n.DType, n.Shape)
	}
	p, err := v.whole(ctx, n, profiling{sample: true})
	if err != nil {
		return s, err
	}
	s.layout = layouts[0]
	if h := p.Values; h != nil && h.Quantiles != nil {
		s.black, s.white = picture.Bounds(n.DType, number(h.Max), h.Quantiles[0], h.Quantiles[4])
	}
	return s, nil
}

// drawn returns the picture of a row.
func (v *visit) drawn(n *shelf.Node, row int, s shown) drawn {
	return drawn{
		Src: v.of("picture", n, "row", strconv.Itoa(row), "layout", s.layout.String(), "black", short(s.black), "white", short(s.white)),
		Alt: "row " + text.Count(row), Row: text.Count(row), Link: v.to("rows", "row", strconv.Itoa(row)),
	}
}

// short returns a number for an address.
func short(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
