package view

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/view/internal/picture"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const (
	pagePictures  = 96                 // pictures of a page
	largePictures = 64                 // pictures larger than 64 x 64 of a page
	largeSide     = 64                 // of a picture
	pageElements  = 64 * 224 * 224 * 3 // elements of the pictures of a page
	mostOptions   = 100                // leaves that a field offers
	nothing       = "~"                // in a field, in place of a key; no key is spelled so
)

// A picturesData is the data of the template of pictures.
type picturesData struct {
	Frame      frame
	Note       string
	Hidden     []pair
	Leaves     []option
	Layouts    []option
	Labels     []option // empty if no leaf can be a label
	Black      string
	White      string
	Sizes      []option
	Size       string
	Guess      string
	GuessTo    string // address of the page as guessed, "" if it is shown so
	Pictures   []drawn
	Smooth     bool
	Failed     text.Text // why labels or masks cannot be read
	Notes      []string  // what is left out
	Empty      bool
	EmptyShape string
	Pager      *pager
}

// An option is one choice of a field.
type option struct {
	Value, Text string
	Link        string
	Chosen      bool
}

// pictures answers with a page of pictures.
func (v *visit) pictures() error {
	n, err := v.plotted("pictures", v.hasPictures)
	if err != nil {
		return err
	}
	s, guess, err := v.asked(v.r.Context(), n)
	if err != nil {
		return v.unread(n, err)
	}
	label, err := v.askedLabel(n)
	if err != nil {
		return err
	}
	from, err := v.number("from", 0)
	if err != nil {
		return err
	}
	d := picturesData{Frame: v.frame("Pictures", nil), Empty: v.version.Rows == 0, EmptyShape: text.Shape(n.Shape)}
	d.Frame.Title = "Pictures of " + text.ShowRunes(string(n.Key), 64).String() + " · " + v.set.Name
	d.Frame.Class = "plots"
	v.pictureFields(&d, n, s, guess, label)
	if err := v.leftOut(&d, n); err != nil {
		return v.unread(n, err)
	}
	if !d.Empty {
		v.picturePage(&d, n, s, label, from)
	}
	return v.exec("pictures", d)
}

// plotted returns the leaf that a page of plots is about: the leaf that the address names,
// otherwise the first leaf that such a page can show.
func (v *visit) plotted(page string, fits func(*shelf.Node) bool) (*shelf.Node, error) {
	n, err := v.node()
	if err != nil {
		return nil, err
	}
	if v.version.Rows < 0 {
		return nil, fail(http.StatusNotFound, "There are no rows", "the batch shape is []: all values stand on the pages of the leaves")
	}
	if !v.query.Has("k") {
		for at := range v.offered(nil, fits) {
			return at, nil
		}
		return nil, fail(http.StatusNotFound, "No leaf is shown as "+page, fitting[page])
	}
	if !fits(n) {
		return nil, &pageError{
			code: http.StatusBadRequest, key: string(n.Key), title: "cannot be shown as " + page,
			why:  "It is " + v.kind(n, false) + " in each row. " + fitting[page],
			todo: []todo{{"Show the leaf", v.of("leaf", n)}, {"All leaves of " + v.set.Name, v.to("")}},
		}
	}
	return n, nil
}

// fitting says which leaves fit a page.
var fitting = map[string]string{
	"pictures": "Pictures are numbers, not complex, with [H W], [H W C] or [C H W] in each row: H and W from 4 to 4,096 and at most 8 to 1, C 1, 3 or 4.",
	"lines":    "Lines are numbers, not complex, with [T] or [T F] in each row, T at least 8 and F at most 16, or ragged rows of one level.",
}

// offered iterates over the leaves that a field offers: first, unless it is nil, and the leaves
// that fit. It looks at the first 10,000.
func (v *visit) offered(first *shelf.Node, fits func(*shelf.Node) bool) iter.Seq[*shelf.Node] {
	return func(yield func(*shelf.Node) bool) {
		x, count := v.version.Index, 0
		for i, at := range x.Shown {
			n := &x.Nodes[at]
			if n != first && (i >= mostPlots || count >= mostOptions || !fits(n)) {
				continue
			}
			if count++; !yield(n) {
				return
			}
		}
	}
}

// options returns the choices of a field of leaves. Their keys are escaped, as forms change the
// ends of lines.
func (v *visit) options(chosen *shelf.Node, fits func(*shelf.Node) bool) (all []option) {
	for n := range v.offered(chosen, fits) {
		all = append(all, option{Value: url.QueryEscape(string(n.Key)), Text: text.ShowRunes(string(n.Key), 64).String(), Chosen: n == chosen})
	}
	return all
}

// hasPictures reports whether a leaf can be shown as pictures, if somebody wants it.
func (v *visit) hasPictures(n *shelf.Node) bool {
	return n.Kind == tdict.KindTensor && len(picture.Layouts(n.DType, v.features(n))) > 0
}

// fresh reports whether the fields of the address are about another leaf than n: somebody has
// chosen another one in the form, and the values of the other fields were guessed for the one
// before.
func (v *visit) fresh(n *shelf.Node) bool {
	return v.query.Has("of") && v.query.Get("of") != url.QueryEscape(string(n.Key))
}

// choice returns the leaf that a field names, nil for nothing. said is false if the address lacks
// the field, and ok if there is no such leaf.
func (v *visit) choice(field string) (n *shelf.Node, said, ok bool) {
	name := v.query.Get(field)
	if !v.query.Has(field) || name == nothing {
		return nil, v.query.Has(field), true
	}
	key, err := url.QueryUnescape(name)
	if err == nil {
		n, ok = v.version.Index.Find(nestedkey.Key(key))
	}
	return n, true, ok
}

// asked returns how a leaf is shown: as the address says, and as guessed where it says nothing.
func (v *visit) asked(ctx context.Context, n *shelf.Node) (s, guess shown, err error) {
	layouts := picture.Layouts(n.DType, v.features(n)) // plotted returns no leaf without one
	said := v.query.Get("layout") != "" && v.query.Get("black") != "" && v.query.Get("white") != ""
	if guess.layout = layouts[0]; v.path != "/picture" || !said {
		if guess, err = v.shown(ctx, n); err != nil {
			return s, guess, err
		}
	}
	if s = guess; v.fresh(n) {
		return s, guess, nil
	}
	if name := v.query.Get("layout"); name != "" {
		if s.layout, err = picture.ParseLayout(name); err != nil || !slices.Contains(layouts, s.layout) {
			return s, guess, fail(http.StatusBadRequest, "The pictures do not have this layout",
				fmt.Sprintf("layout: got %q, want %s for %s in each row", text.Show(name, 40), names(layouts), v.kind(n, false)))
		}
	}
	if s.black, err = v.float("black", guess.black); err != nil {
		return s, guess, err
	}
	s.white, err = v.float("white", guess.white)
	return s, guess, err
}

// names lists layouts: "N H W C or N C H W".
func names(all []picture.Layout) string {
	var words []string
	for _, l := range all {
		words = append(words, l.String())
	}
	return strings.Join(words, " or ")
}

// pictureFields fills the form.
func (v *visit) pictureFields(d *picturesData, n *shelf.Node, s, guess shown, label *shelf.Node) {
	d.Hidden = append(d.Frame.Hidden, pair{"of", url.QueryEscape(string(n.Key))})
	d.Leaves = v.options(n, v.hasPictures)
	for _, l := range picture.Layouts(n.DType, v.features(n)) {
		d.Layouts = append(d.Layouts, option{Value: l.String(), Text: l.String(), Chosen: l == s.layout})
	}
	d.Black, d.White = short(s.black), short(s.white)
	if all := v.options(label, v.isLabel); len(all) > 0 {
		d.Labels = append([]option{{Value: nothing, Text: "none", Chosen: label == nil}}, all...)
	}
	d.Size = "m"
	if size := v.query.Get("size"); size == "s" || size == "l" {
		d.Size = size
	}
	for _, size := range []string{"s", "m", "l"} {
		d.Sizes = append(d.Sizes, option{Value: size, Text: strings.ToUpper(size), Chosen: size == d.Size, Link: v.elsewhere("size", size)})
	}
	d.Guess = fmt.Sprintf("guessed from %v %s", n.DType, text.Shape(n.Shape))
	if s != guess {
		d.Guess = fmt.Sprintf("the guess from %v %s is %v, %s to %s", n.DType, text.Shape(n.Shape), guess.layout, text.Number(guess.black, 6), text.Number(guess.white, 6))
		d.GuessTo = v.of("pictures", n, "size", v.query.Get("size"), "from", v.query.Get("from"))
	}
}

// leftOut says which parts of a leaf the pictures do not show.
func (v *visit) leftOut(d *picturesData, n *shelf.Node) error {
	say := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	if mask := n.Mask; mask != 0 {
		say("A picture is missing if %s hides all of it. Other missing values are shown as they are stored.",
			text.ShowRunes(string(v.version.Index.Nodes[mask].Key), 64))
	}
	p, err := v.whole(v.r.Context(), n, profiling{sample: true})
	if err != nil {
		return err
	}
	some := ""
	if p.Read < p.Total {
		some = " in a sample of " + text.Count(p.Read)
		say("Black and white are guessed %s of %s values.", some[1:], text.Count(p.Total))
	}
	if p.NaN > 0 {
		say("NaN is black: %s%s.", plural(p.NaN, "value", "values"), some)
	}
	if p.Inf > 0 {
		say("Infinite values are black or white: %s%s.", plural(p.Inf, "value", "values"), some)
	}
	return nil
}

// picturePage adds the pictures of a page.
func (v *visit) picturePage(d *picturesData, n *shelf.Node, s shown, label *shelf.Node, from int) {
	all := v.version.Rows
	size, large := pageSize(v.features(n), s.layout)
	if from < 0 {
		from += all
	}
	if from = max(0, min(from, all-1)); all <= size {
		from = 0
	}
	stop := min(all, from+size)
	d.Smooth = large > map[string]int{"s": 32, "m": 46, "l": 80}[d.Size]
	d.Note = fmt.Sprintf("%s to %s of %s, in the order of the data", text.Count(from), text.Count(stop-1), text.Count(all))
	d.Pager = v.pager(from, size, all, "row")
	var failed error
	if d.Pictures, failed = v.drawnRows(n, s, from, stop); failed == nil {
		failed = v.labels(d.Pictures, label, from)
	}
	if failed != nil {
		d.Failed = text.Show(v.told(v.set, failed), 1000)
	}
}

// pageSize returns how many pictures a page has, and the longer side of one.
func pageSize(features shapeops.Shape, l picture.Layout) (pictures, side int) {
	sides := features[:2]
	if l == picture.CHW {
		sides = features[1:]
	}
	pictures, side = pagePictures, slices.Max(sides)
	if side > largeSide {
		pictures = largePictures
	}
	return max(1, min(pictures, pageElements/features.Size())), side
}

// drawnRows returns the pictures of rows. One that a mask hides has no Src. If the mask cannot be
// read, the pictures are returned with the error.
func (v *visit) drawnRows(n *shelf.Node, s shown, from, stop int) ([]drawn, error) {
	all := make([]drawn, stop-from)
	for i := range all {
		all[i] = v.drawn(n, from+i, s)
	}
	_, mask, err := v.part(n, ix.Range(from, stop))
	if err != nil || mask == nil {
		return all, err
	}
	present, err := bits(mask)
	size := len(present) / max(1, len(all))
	for i := range all {
		if err == nil && !slices.Contains(present[i*size:][:size], true) {
			all[i].Src, all[i].Alt = "", all[i].Alt+", missing"
		}
	}
	return all, err
}

// isLabel reports whether a leaf can be the label of pictures: it has one number or text in each
// row.
func (v *visit) isLabel(n *shelf.Node) bool {
	features := v.features(n)
	return !n.IsMask && (n.Kind == tdict.KindTensor && len(features) == 0 || isText(n.Entry) && len(features) == 1)
}

// labelOf returns the leaf that labels the pictures of n, or nil.
func (v *visit) labelOf(n *shelf.Node) *shelf.Node {
	key, ok := picture.LabelOf(n.Key, func(yield func(nestedkey.Key) bool) {
		for _, at := range v.version.Index.Shown {
			if c := &v.version.Index.Nodes[at]; v.isLabel(c) && !yield(c.Key) {
				return
			}
		}
	})
	if !ok {
		return nil
	}
	label, _ := v.version.Index.Find(key)
	return label
}

// askedLabel returns the label of the address, otherwise the label that is guessed, or nil.
func (v *visit) askedLabel(n *shelf.Node) (*shelf.Node, error) {
	label, said, ok := v.choice("label")
	switch {
	case !said, v.fresh(n):
		return v.labelOf(n), nil
	case !ok, label != nil && !v.isLabel(label):
		return nil, fail(http.StatusBadRequest, "This leaf is no label",
			fmt.Sprintf("label: got %q, want a leaf with one number or text in each row", text.ShowRunes(v.query.Get("label"), 64)))
	}
	return label, nil
}

// labels sets the labels of the pictures of the rows from a row on. A nil label has none.
func (v *visit) labels(pictures []drawn, label *shelf.Node, from int) error {
	if label == nil || len(pictures) == 0 {
		return nil
	}
	cells, err := v.cells(label, from, from+len(pictures))
	if err != nil {
		return err
	}
	for i, c := range cells[:min(len(cells), len(pictures))] {
		p := &pictures[i]
		if p.Label = c.Text; c.Missing {
			p.Label = text.Show("missing", cellBytes)
		}
		p.Alt += ", label " + p.Label.String()
	}
	return nil
}
