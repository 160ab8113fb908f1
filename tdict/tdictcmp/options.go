package tdictcmp

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Options compare *tdict.TensorDict, *tensor.Tensor, *ragged.Tensor, *tdict.Data, *tdict.Unbatched
// and *tdict.Stacked as their Equal methods do: the order of keys, names of dims and locks are
// ignored, and NaN differs from itself. A leaf that cannot be read differs. Safe for concurrent
// use.
var Options = Within(tensor.Tolerance{})

// Within returns Options that treat elements of tensors as equal if they differ no more than a
// tolerance allows. As cmp wants, the order of two does not matter: a relative tolerance is a share
// of the smaller one.
func Within(tol tensor.Tolerance) cmp.Options {
	return cmp.Options{
		cmp.Transformer("tdictcmp.Dict", func(td *tdict.TensorDict) *entries { return entriesOf(td, tol) }),
		cmp.Transformer("tdictcmp.Tensor", func(t *tensor.Tensor) *leaf { return leafOf(t, tol, t == nil) }),
		cmp.Transformer("tdictcmp.Ragged", func(t *ragged.Tensor) *leaf { return leafOf(t, tol, t == nil) }),
		cmp.Transformer("tdictcmp.Data", func(d *tdict.Data) *leaf { return leafOf(d, tol, d == nil) }),
		cmp.Transformer("tdictcmp.Unbatched", func(u *tdict.Unbatched) *leaf { return leafOf(u, tol, u == nil) }),
		cmp.Transformer("tdictcmp.Stacked", func(s *tdict.Stacked) *leaf { return leafOf(s, tol, s == nil) }),
		cmp.Comparer((*leaf).equal),
	}
}

// entries are the batch shape, dictionaries and leaves of a dictionary, at every depth.
type entries struct {
	Batch  string
	Dicts  map[nestedkey.Key]string // the batch shapes of nested dictionaries
	Leaves map[nestedkey.Key]*leaf
}

func entriesOf(td *tdict.TensorDict, tol tensor.Tolerance) *entries {
	if td == nil {
		return nil
	}
	e := &entries{td.Shape().String(), map[nestedkey.Key]string{}, map[nestedkey.Key]*leaf{}}
	for key := range td.NestedKeys() {
		if d, err := td.Dict(key); err == nil {
			e.Dicts[key] = d.Shape().String()
		}
	}
	for key, v := range td.Leaves() {
		e.Leaves[key] = leafOf(v, tol, false)
	}
	return e
}

// A leaf is one of two leaves that are compared. Each comparison makes new ones. A leaf prints its
// differences from the leaf that it was last compared with.
type leaf struct {
	isData bool
	alone  *tdict.TensorDict // the leaf under the key ""; without entries if it is not a value
	text   string            // a description, such as "float32 [2 3]"
	tol    tensor.Tolerance
	number uint64               // a serial number
	other  atomic.Pointer[leaf] // cmp compares on several goroutines
}

var leaves atomic.Uint64

// leafOf returns a leaf of v, or nil if none is true.
func leafOf(v tdict.Leaf, tol tensor.Tolerance, none bool) *leaf {
	if none {
		return nil
	}
	l := &leaf{alone: tdict.New(), text: "no value", tol: tol, number: leaves.Add(1)}
	_, l.isData = v.(*tdict.Data)
	if err := l.alone.Set("", v); err == nil {
		d, _ := first(l.alone.Diffs(tdict.New()))
		l.text = d.A
	}
	return l
}

// first returns the first difference, or false if there is none.
func first(all iter.Seq[tdict.Difference]) (tdict.Difference, bool) {
	for d := range all {
		return d, true
	}
	return tdict.Difference{}, false
}

// diff returns the difference between two leaves, or false if they are equal.
func (l *leaf) diff(other *leaf) (tdict.Difference, bool) {
	d, differ := first(l.alone.DiffsWithin(other.alone, l.tol))
	if differ || l.tol.Relative == 0 {
		return d, differ
	}
	d, differ = first(other.alone.DiffsWithin(l.alone, l.tol))
	for i, e := range d.Elements {
		d.Elements[i].A, d.Elements[i].B = e.B, e.A
	}
	return d, differ
}

// equal reports whether two leaves are equal. Afterwards each prints its differences from the
// other.
func (l *leaf) equal(other *leaf) bool {
	if l == nil || other == nil {
		return l == other
	}
	l.other.Store(other)
	other.other.Store(l)
	_, differ := l.diff(other)
	return !differ
}

// String returns a description of the leaf and its first elements that differ. If two leaves differ
// and have the same text, the second text ends with the reason; otherwise cmp would print their
// fields.
func (l *leaf) String() string {
	other := l.other.Load()
	if other == nil {
		return cut(l.text)
	}
	d, differ := l.diff(other)
	text := l.about(d)
	if !differ || l.number < other.number {
		return text
	}
	if e, _ := other.diff(l); other.about(e) == text {
		text += " " + l.hint(d)
	}
	return text
}

// about returns a description of the leaf and its first elements that differ.
func (l *leaf) about(d tdict.Difference) string {
	text := l.text
	switch {
	case d.Err != nil:
		return cut(fmt.Sprintf("%s: %v", text, d.Err))
	case d.Count == 0 && d.A == d.B: // such as lengths of rows, which the shape does not show
		return cut(text + strings.TrimPrefix(d.Text, `""`))
	case d.Count == 0:
		return cut(text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d differ:", text, d.Count)
	for _, e := range d.Elements[:min(len(d.Elements), shown)] {
		fmt.Fprintf(&b, " %v=%s", e.Position, e.A)
	}
	if d.Count > shown {
		b.WriteString(" ...")
	}
	return cut(b.String())
}

// hint returns the reason why two leaves with the same text differ.
func (l *leaf) hint(d tdict.Difference) string {
	nan := func(e tensor.ElementDiff) bool { return e.A == e.B && strings.Contains(e.A, "NaN") }
	switch {
	case d.Err != nil:
		return "(it cannot be compared)"
	case !slices.ContainsFunc(d.Elements, nan):
		return "(they differ after this text)"
	case l.isData:
		return "(NaN differs from itself)"
	}
	return "(NaN differs from itself: see Tolerance.EqualNaN)"
}

const (
	shown    = 4   // elements that a text shows
	maxBytes = 180 // of a text without hint: cmp compares the first 256 bytes
)

// cut returns text, shortened if it is long.
func cut(text string) string {
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes], "") + "..."
}
