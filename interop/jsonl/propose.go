package jsonl

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schema appends the entries of the fields of s, nested in outer unless it is nil.
func (s *seen) schema(out tdict.Schema, outer *nestedkey.Key, rows int) tdict.Schema {
	for _, f := range s.fields {
		key := nestedkey.Of(f.name)
		if outer != nil {
			key = nestedkey.Join(*outer, key)
		}
		spec := tdict.Spec{Key: key, Optional: f.inside || f.values < rows}
		spec.Doc = f.count(rows)
		if f.objects == f.values && len(f.fields) > 0 {
			out = f.schema(out, &key, rows)
			continue
		}
		if f.propose(&spec); f.mixed != "" {
			spec.Optional = f.values < rows // null in a list is in the text
		}
		out = append(out, spec)
	}
	return out
}

// count describes how many of the rows have a value.
func (s *seen) count(of int) string {
	if s.nulls == 0 {
		return fmt.Sprintf("%d of %d rows", s.values, of)
	}
	return fmt.Sprintf("%d of %d rows, %d null", s.values, of, s.nulls)
}

// propose sets the kind, dtype and shape that fit s, and extends the Doc.
func (s *seen) propose(spec *tdict.Spec) {
	dtype, what := s.dtype()
	switch {
	case s.values == 0:
		spec.Kind, what = tdict.KindText, "as text"
	case s.objects == s.values:
		spec.Kind, what = tdict.KindDict, "empty objects"
	case s.lists == s.values && s.deep < 0 && !s.inside:
		spec.Kind, spec.DType, spec.Depth = tdict.KindRagged, tensor.Float64, len(s.lengths)
		what = "empty lists, as lists of numbers"
	case !s.even() || what == "" || !s.arrange(spec, dtype):
		*spec = tdict.Spec{Key: spec.Key, Kind: tdict.KindText, Optional: spec.Optional, Doc: spec.Doc}
		s.mixed = s.mix()
		what = "mixed, as text: " + s.mixed
	case s.lists > 0:
		what = s.sizes() + what
	}
	spec.Doc += ": " + what
}

// even reports whether all scalars are inside the same number of lists, no list is nested deeper,
// and there are no objects.
func (s *seen) even() bool {
	return s.shallow == s.deep && len(s.lengths) == s.deep && s.objects+s.listed == 0
}

// dtype returns the dtype, or 0 for text, and a description of the values. The
// description is "" if the types are mixed.
func (s *seen) dtype() (tensor.DType, string) {
	d, what := s.DType()
	if d == 0 && s.Bools+s.Ints+s.Floats+s.Beyond == 0 {
		what = "strings"
	}
	return d, what
}

// arrange sets kind, dtype and shape, and reports whether the values fit a kind.
func (s *seen) arrange(spec *tdict.Spec, dtype tensor.DType) bool {
	for i, l := range s.lengths {
		if l[0] != l[1] || l[0] == 0 {
			spec.Depth = i + 1
		}
	}
	for _, l := range s.lengths[spec.Depth:] {
		spec.Shape = append(spec.Shape, l[0])
	}
	if spec.DType = dtype; spec.Depth > 0 {
		spec.Kind = tdict.KindRagged
	} else if dtype == 0 {
		spec.Kind = tdict.KindText
	}
	return spec.Depth == 0 || dtype != 0 && !s.inside
}

// sizes describes the lengths of lists.
func (s *seen) sizes() string {
	var b strings.Builder
	for _, l := range s.lengths {
		if l[0] == l[1] {
			fmt.Fprintf(&b, "lists of %d ", l[0])
		} else {
			fmt.Fprintf(&b, "lists of %d to %d ", l[0], l[1])
		}
	}
	return b.String()
}

// mix describes how many values of each type there are.
func (s *seen) mix() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{s.Bools, "bools"}, {s.Ints, "integers"}, {s.Floats, "other numbers"}, {s.Beyond, "numbers beyond float64"},
		{s.Words + s.Texts, "strings"}, {s.lists, "lists"}, {s.objects + s.listed, "objects"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if s.lists > 0 && s.inside {
		parts = append(parts, "null in lists")
	}
	if why := s.Why(); why != "" && s.objects+s.listed == 0 {
		parts = append(parts, why)
	}
	return strings.Join(parts, ", ")
}
