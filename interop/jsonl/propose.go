package jsonl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A proposal is a schema, and the masks that its entries need.
type proposal struct {
	entries tdict.Schema
	masks   [][]int // of each entry: the depths of its masks, the deepest first
	missing []bool  // of each entry: whether objects lack it

	explained []explained // of each field that is not an object
	err       error
}

// fields adds the entries of the fields of s, which is inside depth lists. of is the number of
// objects that could have the fields, and what describes them.
func (p *proposal) fields(s *seen, depth, of int, what string) {
	for _, f := range s.fields {
		spec := tdict.Spec{Key: f.key, Optional: f.values < of, Doc: f.count(of, what)}
		if f.holdsObjects() {
			p.dict(f, spec, depth, of, what)
			continue
		}
		missing := spec.Optional
		why, mixed := f.propose(&spec, depth)
		p.add(f, spec, depth, missing, mixed)
		p.explained = append(p.explained, explained{f.key, become(&spec), spec.Doc, why})
		if line, err := f.Missed(); err != nil && p.err == nil {
			p.err = &ParseError{Line: line, Key: f.key, Err: err}
		} else if mixed && f.hint.given && !f.hint.any && p.err == nil {
			p.err = &tdict.KeyError{Op: "infer", Key: f.key, Err: fmt.Errorf("%w: got %s, want what the hint says", ErrValue, why)}
		}
	}
}

// become describes the entry that a field becomes.
func become(s *tdict.Spec) string {
	switch {
	case s.Time != "":
		return fmt.Sprintf("times as %q in %s", s.Time, s.Unit)
	case s.Categories != nil:
		return fmt.Sprintf("%d categories", len(s.Categories))
	case s.DType != 0:
		return s.DType.String()
	}
	return s.Kind.String()
}

// holdsObjects reports whether all values are objects with fields, inside the same number of lists.
func (s *seen) holdsObjects() bool {
	return len(s.fields) > 0 && !s.at.some && s.within.one(len(s.lengths))
}

// dict adds a dictionary that is inside depth lists, and its entries.
func (p *proposal) dict(f *seen, spec tdict.Spec, depth, of int, what string) {
	lists := len(f.lengths)
	if lists > 0 || spec.Optional {
		spec.Kind, spec.Depth = tdict.KindDict, depth+lists
		spec.Doc += ": " + f.sizes() + "objects"
		p.add(f, spec, depth, spec.Optional, false)
	}
	if lists > 0 {
		of, what = f.objects, "objects"
		if len(f.inside) > lists {
			of += f.inside[lists]
		}
	}
	p.fields(f, depth+lists, of, what)
}

// add adds an entry that is inside depth lists; missing is set if objects lack it, and mixed if its
// lists are in its texts.
func (p *proposal) add(f *seen, spec tdict.Spec, depth int, missing, mixed bool) {
	var masks []int
	if spec.Depth > depth && !mixed {
		for i, n := range slices.Backward(f.inside) {
			if n > 0 {
				masks = append(masks, depth+i)
			}
		}
	}
	if missing && spec.Kind != tdict.KindTensor {
		masks = append(masks, depth)
	}
	p.entries, p.masks, p.missing = append(p.entries, spec), append(p.masks, masks), append(p.missing, missing)
}

// schema returns the entries with their masks. A mask that table.New adds is left to it.
func (p *proposal) schema() (s tdict.Schema) {
	taken := map[nestedkey.Key]bool{}
	for _, spec := range p.entries {
		for key, nested := spec.Key, true; nested; key, nested = key.Parent() {
			taken[key] = true
		}
	}
	for i, spec := range p.entries {
		at := len(s)
		s = append(s, spec)
		if masks := p.masks[i]; len(masks) == 0 || len(masks) == 1 && p.missing[i] {
			continue
		}
		for _, depth := range p.masks[i] {
			mask := tdict.Spec{DType: tensor.Bool, Depth: depth, Optional: true, Doc: "where " + string(spec.Key) + " is not missing"}
			if depth > 0 {
				mask.Kind = tdict.KindRagged
			}
			mask.Key = table.FreeKey(spec.Key+"_mask", func(key nestedkey.Key) bool { return taken[key] })
			s[len(s)-1].Mask, taken[mask.Key] = mask.Key, true
			s = append(s, mask)
		}
		s[at].Optional = true
	}
	return s
}

// count describes how many of the rows or objects have a value.
func (s *seen) count(of int, what string) string {
	if s.nulls == 0 {
		return fmt.Sprintf("%d of %d %s", s.values, of, what)
	}
	return fmt.Sprintf("%d of %d %s, %d null", s.values, of, what, s.nulls)
}

// propose sets what fits s inside depth lists, and extends the Doc. It returns why the type is not
// the type of most values, and whether it is text because the values are mixed.
func (s *seen) propose(spec *tdict.Spec, depth int) (why string, mixed bool) {
	typed := *spec
	what, why := s.typed(&typed)
	nothing := !s.at.some && !s.within.some
	switch {
	case s.values == 0 && !s.hint.given:
		spec.Kind, spec.Depth, what, why = tdict.KindText, depth, "as text", ""
	case s.objects > 0 && !s.at.some && len(s.lengths) == 0:
		spec.Kind, spec.Depth, what, why = tdict.KindDict, depth, "empty objects", ""
	case s.lists == s.values && nothing && !s.hint.given:
		spec.Kind, spec.DType, spec.Depth = tdict.KindRagged, tensor.Float64, depth+len(s.lengths)
		what, why = "lists without values, as lists of numbers", ""
	case s.objects > 0 || s.at.some && !s.at.one(len(s.lengths)) || what == "":
		mixed, why = true, s.mix()
		spec.Kind, spec.Depth = tdict.KindText, depth
		what = "mixed, as text: " + why
	default:
		*spec = typed
		s.arrange(spec, depth)
		spec.Optional = spec.Optional || len(s.inside) > 0
		if what = s.sizes() + what; why != "" {
			what += "; " + why
		}
	}
	spec.Doc += ": " + what
	return why, mixed
}

// typed sets the kind, dtype, time and categories of single values, and describes them, with "" if
// their types are mixed.
func (s *seen) typed(spec *tdict.Spec) (what, why string) {
	what, why = s.Guess.Propose(spec)
	switch {
	case spec.Categories != nil:
		what = fmt.Sprintf("strings, %d different", len(spec.Categories))
	case s.hint.any:
		what = "texts"
	case spec.Kind == tdict.KindText && s.Bools+s.Ints+s.Floats+s.Beyond == 0:
		what = "strings"
	}
	return what, why
}

// arrange sets kind, depth and shape for the lists around the values.
func (s *seen) arrange(spec *tdict.Spec, depth int) {
	levels := 0
	for i, l := range s.lengths {
		if l.low != l.high || l.low == 0 {
			levels = i + 1
		}
	}
	if depth+levels > 0 || s.nullLists {
		levels = max(levels, len(s.inside)-1)
		if spec.Kind == tdict.KindText {
			levels = len(s.lengths)
		}
	}
	spec.Depth = depth + levels
	for _, l := range s.lengths[levels:] {
		spec.Shape = append(spec.Shape, l.low)
	}
	if spec.Kind != tdict.KindText && spec.Depth > 0 {
		spec.Kind = tdict.KindRagged
	}
}

// sizes describes the lengths of lists.
func (s *seen) sizes() string {
	var b strings.Builder
	for _, l := range s.lengths {
		if l.low == l.high {
			fmt.Fprintf(&b, "lists of %d ", l.low)
		} else {
			fmt.Fprintf(&b, "lists of %d to %d ", l.low, l.high)
		}
	}
	return b.String()
}

// mix describes how many values of each type there are.
func (s *seen) mix() string {
	var parts []string
	objects := "objects"
	if len(s.fields) == 0 {
		objects += " without fields"
	}
	for _, p := range []struct {
		n    int
		what string
	}{
		{s.Bools, "bools"}, {s.Ints, "integers"}, {s.Floats, "other numbers"}, {s.Beyond, "numbers beyond float64"},
		{s.Words + s.Texts, "strings"}, {s.lists, "lists"}, {s.objects, objects},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(s.inside) > 0 {
		parts = append(parts, "null in lists")
	}
	if why := s.Why(); why != "" && s.objects == 0 {
		parts = append(parts, why)
	}
	return strings.Join(parts, ", ")
}
