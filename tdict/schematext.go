package tdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
)

// String returns s as a table for people: a line for each entry with its key, kind, dtype, shape
// after the batch shape, and Doc. A star is a level, a question mark any size or dtype, and
// "optional" stands before the Doc.
func (s Schema) String() string {
	lines := [][]string{{"key", "kind", "dtype", "shape", "doc"}}
	for i := range s {
		lines = append(lines, s[i].cells())
	}
	out := strings.Split(aligned(lines), "\n")
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return strings.Join(out, "\n")
}

// cells returns the line of s in a table.
func (s *Spec) cells() []string {
	doc := oneLine(s.Doc)
	if s.Optional {
		doc = strings.TrimSuffix("optional, "+doc, ", ")
	}
	return []string{errtext.Line(string(s.Key)), s.Kind.String(), s.dtypeText(), s.shapeText(nil), doc}
}

// what describes s in a dictionary with a batch shape: "ragged int64 [3 * *]".
func (s *Spec) what(batch shapeops.Shape) string {
	parts := []string{s.Kind.String(), s.dtypeText(), s.shapeText(batch)}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// dtypeText returns the name of the dtype, if the kind has one.
func (s *Spec) dtypeText() string {
	switch {
	case s.DType != 0:
		return s.DType.String()
	case s.Kind.typed():
		return "?"
	}
	return ""
}

// shapeText returns the dims of s in a dictionary with a batch shape; of an unbatched tensor, its
// own. Where the dims do not show which are of Batch, it appends Batch.
func (s *Spec) shapeText(batch shapeops.Shape) string {
	parts, more := sizeTexts(s.Shape), ""
	if s.Kind != KindUnbatched {
		levels := slices.Repeat([]string{"*"}, min(max(0, s.Depth), MaxDepth))
		parts = slices.Concat(sizeTexts(batch), sizeTexts(s.Batch), levels, parts)
	}
	if len(s.Batch) > 0 && s.Depth == 0 {
		more = " with Batch [" + strings.Join(sizeTexts(s.Batch), " ") + "]"
	}
	return "[" + strings.Join(parts, " ") + "]" + more
}

// sizeTexts returns the texts of sizes.
func sizeTexts(sizes shapeops.Shape) []string {
	texts := make([]string, len(sizes))
	for i, n := range sizes {
		if texts[i] = strconv.Itoa(n); n == Any {
			texts[i] = "?"
		}
	}
	return texts
}

// Diff returns a line for each entry in which s and other differ, in the order of s, then a line
// for each that only other has; "" if there are none. The order of entries and their Docs do not
// count.
func (s Schema) Diff(other Schema) string {
	var lines []string
	mine, others := s.byKey(), other.byKey()
	for i := range s {
		if a, b := s[i].whole(), others[s[i].Key].whole(); a != b {
			lines = append(lines, fmt.Sprintf("%q: %s, other %s", s[i].Key, a, b))
		}
	}
	for i := range other {
		if mine[other[i].Key] == nil {
			lines = append(lines, fmt.Sprintf("%q: none, other %s", other[i].Key, other[i].whole()))
		}
	}
	return strings.Join(lines, "\n")
}

// byKey returns the specs of s by their keys.
func (s Schema) byKey() map[nestedkey.Key]*Spec {
	specs := make(map[nestedkey.Key]*Spec, len(s))
	for i := range s {
		specs[s[i].Key] = &s[i]
	}
	return specs
}

// whole returns a text of s, without Key and Doc, that differs for specs that do; "none" for nil.
func (s *Spec) whole() string {
	if s == nil {
		return "none"
	}
	if s.Optional {
		return s.what(nil) + ", optional"
	}
	return s.what(nil)
}
