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
// after the batch shape, and Doc. A star is a level, a question mark means any size or dtype.
// Before the Doc comes what else the [Spec] says: "optional", the mask, the unit, the layout of
// times, the number of categories and the columns.
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

// cells returns the cells of s in a table.
func (s *Spec) cells() []string {
	doc := []string{"", s.Meaning(), oneLine(s.Doc)}
	if s.Optional {
		doc[0] = "optional"
	}
	doc = slices.DeleteFunc(doc, func(part string) bool { return part == "" })
	return []string{errtext.Line(string(s.Key)), s.Kind.String(), s.dtypeText(), s.shapeText(nil), strings.Join(doc, ", ")}
}

// Meaning returns what s says of the values, for people: the mask, the unit, the layout of times,
// bare numbers, the categories and the names of columns, such as "mask age_mask, unit d, time
// 2006-01-02". It is "" if s says nothing of them.
func (s Spec) Meaning() string {
	var parts []string
	add := func(there bool, text string) {
		if there {
			parts = append(parts, text)
		}
	}
	add(s.Mask != "", "mask "+errtext.Line(string(s.Mask)))
	add(s.Unit != "", "unit "+errtext.Line(s.Unit))
	add(s.Time != "", "time "+errtext.Line(s.Time))
	add(s.Bare, "whole numbers without .0")
	add(s.Categories != nil, fmt.Sprintf("%d categories%s", len(s.Categories), firstQuoted(s.Categories)))
	add(s.Columns != nil, "column"+firstQuoted(s.Columns))
	return strings.Join(parts, ", ")
}

// mostQuoted is the largest number of texts in a meaning.
const mostQuoted = 6

// firstQuoted returns the first texts, in quotes, each after a space.
func firstQuoted(texts []string) (list string) {
	for i, text := range texts {
		if i == mostQuoted {
			return list + " ..."
		}
		list += " " + errtext.Quote(text)
	}
	return list
}

// describe returns a description of an entry with spec s in a dictionary with the given batch
// shape, such as "ragged int64 [3 * *]".
func (s *Spec) describe(batch shapeops.Shape) string {
	parts := []string{s.Kind.String(), s.dtypeText(), s.shapeText(batch)}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// dtypeText returns the name of the dtype, "?" for any, or "" if the kind has none.
func (s *Spec) dtypeText() string {
	switch {
	case s.DType != 0:
		return s.DType.String()
	case s.Kind.typed():
		return "?"
	}
	return ""
}

// shapeText returns the dims of an entry with spec s in a dictionary with the given batch shape;
// for an unbatched tensor, only its own. It appends Batch unless levels separate it from Shape.
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
// for each entry that only other has. It returns "" if there are no differences. The order of
// entries and their Docs are ignored.
func (s Schema) Diff(other Schema) string {
	var lines []string
	mine, others := s.byKey(), other.byKey()
	for i := range s {
		if a, b := s[i].diffText(), others[s[i].Key].diffText(); a != b {
			lines = append(lines, fmt.Sprintf("%q: %s, other %s", s[i].Key, a, b))
		}
	}
	for i := range other {
		if mine[other[i].Key] == nil {
			lines = append(lines, fmt.Sprintf("%q: none, other %s", other[i].Key, other[i].diffText()))
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

// diffText returns a text of s without Key and Doc, which differs for specs that differ. It returns
// "none" for nil.
func (s *Spec) diffText() string {
	if s == nil {
		return "none"
	}
	text := s.describe(nil)
	if s.Optional {
		text += ", optional"
	}
	if meaning := s.Meaning(); meaning != "" {
		text += ", " + meaning
	}
	if len(s.Categories) > mostQuoted {
		text += fmt.Sprintf(" %q", s.Categories)
	}
	return text
}
