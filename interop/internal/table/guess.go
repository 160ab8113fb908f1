package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Hints steer what an Inferrer proposes. A key has at most one hint, and is the key of an entry. A
// value that does not fit a hint is [ErrValue].
type Hints struct {
	// Dates has entries that are dates or times, and their layouts for package time. The layout ""
	// means one of ISO 8601, which Infer finds; it finds it without a hint, too, but then other
	// values make the column text. A text without a zone is in UTC, and all are written in UTC.
	Dates map[nestedkey.Key]string
	// Categories has entries that become int32 codes of their texts, which Spec.Categories has in
	// sorted order.
	Categories map[nestedkey.Key]bool
	// DTypes has the dtypes of entries. The zero DType means text.
	DTypes map[nestedkey.Key]tensor.DType
	// Float32 makes Float32 of all columns of floats, unless a value would become an infinity or 0.
	Float32 bool
}

// Check returns tdict.ErrSchema, with the key, for a key that is not known or has two hints, and
// for a DType that does not exist.
func (h *Hints) Check(known func(nestedkey.Key) bool) error {
	count := map[nestedkey.Key]int{}
	for key := range h.Dates {
		count[key]++
	}
	for key, on := range h.Categories {
		if on {
			count[key]++
		}
	}
	for key, d := range h.DTypes {
		if count[key]++; d != 0 && elemtext.Of(d.String()) == nil {
			return refusedKey(key, "got the DType %v, which does not exist", d)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		if count[key] > 1 {
			return refusedKey(key, "got %d hints, want one of Dates, Categories and DTypes", count[key])
		}
		if !known(key) {
			return refusedKey(key, "got a hint for a key that the file does not have")
		}
	}
	return nil
}

// A Guess proposes the type of a column from its values and its hint.
type Guess struct {
	Counts
	hinted  bool
	hint    nestedkey.Key // has the hint
	fixed   *Column       // what the hint says, or nil
	text    bool          // the hint says text
	iso     bool          // the hint says dates of ISO 8601
	single  bool          // floats are Float32
	texts   map[string]bool
	others  int      // times that are written back in another spelling
	other   spelling // the first one
	written []byte
}

// Guess returns a guess without values for an entry. It takes the hint of the first key that has
// one.
func (h *Hints) Guess(keys ...nestedkey.Key) Guess {
	g := Guess{single: h.Float32}
	for _, key := range keys {
		layout, dated := h.Dates[key]
		d, typed := h.DTypes[key]
		switch {
		case dated && layout != "":
			g.fix(tdict.Spec{DType: tensor.Int64, Time: layout, Unit: Unit(layout)})
		case dated:
			g.iso = true
		case typed && d != 0:
			g.fix(tdict.Spec{DType: d})
		case typed:
			g.text = true
		case h.Categories[key]:
			g.texts = map[string]bool{}
		default:
			continue
		}
		g.hint, g.hinted = key, true
		break
	}
	return g
}

// SameHint reports whether two guesses have the same hint or none, so that they can be merged.
func (g *Guess) SameHint(x *Guess) bool { return g.hinted == x.hinted && g.hint == x.hint }

// fix sets the column that the hint says.
func (g *Guess) fix(s tdict.Spec) { g.fixed, _ = newMaker(nil).column(s) } // without categories it does not fail

// IsText reports whether the hint says that the values are texts.
func (g *Guess) IsText() bool { return g.text || g.texts != nil }

// Categories returns the number of categories. ok is false if the hint does not say that the values
// are categories.
func (g *Guess) Categories() (n int, ok bool) { return len(g.texts), g.texts != nil }

// IsNumber reports whether the hint says that the values are real numbers.
func (g *Guess) IsNumber() bool {
	return g.fixed != nil && !g.fixed.IsText() && (g.fixed.elem.Kind == elemtext.Integer || g.fixed.elem.Kind == elemtext.Float)
}

// MayBeNumber reports whether the hint says so, or nothing.
func (g *Guess) MayBeNumber() bool { return g.IsNumber() || g.fixed == nil && !g.IsText() }

// Hinted takes a value if a hint says the type of the column. It returns [ErrValue] if the value
// does not fit the hint.
func (g *Guess) Hinted(text []byte, line int) (taken bool, err error) {
	switch {
	case g.texts != nil:
		if g.texts[string(text)] {
			return true, nil
		}
		if !utf8.Valid(text) {
			return true, refused(text, "a category in UTF-8")
		}
		g.texts[string(text)] = true
		return true, nil
	case g.fixed == nil:
		return g.text, nil
	}
	c := g.fixed
	c.data = c.data[:0]
	if err := c.parse(text); err != nil || c.time == nil {
		return true, err
	}
	if g.written = c.Text(g.written[:0], 0); string(g.written) != string(text) {
		g.others++
		g.other.note(text, line)
	}
	return true, nil
}

// Propose sets Kind, DType, Time, Unit and Categories of a spec, and returns a description of the
// values, "" for texts, and the reason why their type is not the type of most of them, or "".
func (g *Guess) Propose(s *tdict.Spec) (what, why string) {
	switch {
	case g.fixed != nil && g.fixed.time != nil:
		s.DType, s.Time, s.Unit = tensor.Int64, g.fixed.Spec.Time, g.fixed.Spec.Unit
		if g.others > 0 {
			why = fmt.Sprintf("%d times would be written back in another spelling, first %v", g.others, g.other)
		}
		return "times", why
	case g.fixed != nil:
		s.DType = g.fixed.Spec.DType
		return "values as " + s.DType.String(), ""
	case g.texts != nil:
		s.DType, s.Categories = tensor.Int32, slices.AppendSeq([]string{}, maps.Keys(g.texts))
		slices.Sort(s.Categories)
		return "", ""
	case g.text:
		s.Kind = tdict.KindText
		return "", ""
	}
	if layout, what := g.Time(); layout != "" {
		s.DType, s.Time, s.Unit = tensor.Int64, layout, Unit(layout)
		return what, ""
	}
	if s.DType, what = g.DType(); s.DType == 0 {
		s.Kind = tdict.KindText
		return "", g.Why()
	}
	s.Bare = s.DType == tensor.Float64 && g.Bare()
	if g.single && s.DType == tensor.Float64 {
		if most := max(math.Abs(g.low.value), math.Abs(g.high.value)); most > math.MaxFloat32 {
			return what, fmt.Sprintf("float32 does not hold %v", most)
		}
		if g.tiny.line > 0 {
			return what, fmt.Sprintf("float32 would make 0 of %v", g.tiny)
		}
		s.DType = tensor.Float32
	}
	return what, ""
}

// Missed returns [ErrValue], and the line of the value, if a hint says that the values are dates of
// ISO 8601, and one is not.
func (g *Guess) Missed() (line int, err error) {
	most := g.mostDates()
	if !g.iso || g.total() == 0 || most != nil && most.n == g.total() {
		return 0, nil
	}
	want := "a date of ISO 8601"
	if most != nil {
		want = "a date as " + most.layout()
	}
	other := g.firstOther(most)
	return other.line, refused([]byte(other.text), "%s", want)
}

// Merge adds the values of another guess with the same hint.
func (g *Guess) Merge(x *Guess) {
	g.Counts.Merge(&x.Counts)
	for text := range x.texts {
		g.texts[text] = true
	}
	if g.others += x.others; g.other.line == 0 || x.other.line > 0 && x.other.line < g.other.line {
		g.other = x.other
	}
}
