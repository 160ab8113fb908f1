package jsonl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// Infer proposes a schema for the first n rows of r, or for all rows if n is 0. For each field it
// chooses the first of the types below that fits all these rows, and a Doc of one line that
// describes them. Check the result, and correct it where you know more:
//
//   - true and false are Bool, integers are Int64, or Uint64 if necessary, other numbers are
//     Float64
//   - strings are text, or Int64 with Time and Unit if all are dates or times of ISO 8601 in one
//     layout; beside numbers, or alone, "NaN", "+Inf" and "-Inf" are numbers
//   - lists whose length is the same in all rows are dims; lists of other lengths are levels of a
//     ragged tensor, down to the last level at which lengths differ, and the dims below are
//     features. Lists of texts of other lengths are all levels, and so are lists down to null in
//     lists of other lengths or in a list of nothing but null
//   - lists that have nothing but null are ragged and Float64, and so are lists that are always
//     empty
//   - objects are nested keys; a field whose objects are always empty is KindDict
//   - lists of objects, also of one length, are KindDict with Depth, above ragged columns
//   - a field that is null or missing is Optional; if it is an object or a list of objects, it has
//     a Mask
//   - anything else is text, which Read accepts with [ReadOptions.Raw]; [Inferrer.Notes] has the
//     reasons. Values of different types, integers that no dtype holds, integers beside other
//     numbers if Float64 would change a digit, numbers that Float64 rounds to infinity or to 0,
//     lists of objects without fields, and fields that are always null
//
// Read with that option accepts all rows that Infer has read. Infer returns the errors of [Read].
// It may read beyond the n rows, and takes memory in proportion to the number of different fields.
func Infer(r io.Reader, n int) (tdict.Schema, error) {
	var in Inferrer
	if err := in.Add(r, n); err != nil {
		return nil, err
	}
	return in.Schema()
}

// Hints steer what an Inferrer proposes. A key has at most one hint. Its fields are:
//
//	Dates      map[nestedkey.Key]string       // layouts of package time; "" for ISO 8601
//	Categories map[nestedkey.Key]bool         // texts that become int32 codes
//	DTypes     map[nestedkey.Key]tensor.DType // the zero DType means text
//	Float32    bool                           // floats are Float32 unless one becomes Inf or 0
//
// They are for values in lists too. Dates with a layout count the coarsest unit that holds each
// time of the layout. The layout "" means dates and times of ISO 8601, which Infer also finds
// without a hint. With the hint, other values are an error. Spec.Categories has the texts in sorted
// order, so rows that were not inferred must not have others.
type Hints = table.Hints

// An Inferrer proposes one schema for several files, as [Infer] does for one. The zero Inferrer is
// ready for use. Its fields must be set before the first Add. Not safe for concurrent use.
type Inferrer struct {
	Hints Hints
	// MaxRecord and MaxDepth are as in [ReadOptions].
	MaxRecord, MaxDepth int

	rows    inferrer
	entries []explained
}

// Add reads the first n rows of a file, or all rows if n is 0. It returns the errors of Infer, and
// [ErrValue] for a value that does not fit its hint. After an error the Inferrer must not be used.
func (x *Inferrer) Add(r io.Reader, n int) error {
	if n <= 0 {
		n = math.MaxInt
	}
	in := &x.rows
	in.hints, in.depth = &x.Hints, cmp.Or(max(0, x.MaxDepth), maxDepth)
	var text []byte
	d := newDocument(source.Open(r))
	s := table.NewSplitter(d, d, cmp.Or(max(0, x.MaxRecord), maxRecord))
	for range n {
		var err error
		if text, in.line, err = s.One(text); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		blank := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
		in.line += d.Lines(text[:blank])
		if err := in.add(text); err != nil {
			line := in.line
			if d.values {
				line += d.Lines(text[blank:in.scan.Pos()])
			}
			return &ParseError{Line: line, Key: in.at, Err: err}
		}
	}
	return nil
}

// Schema proposes a schema for all rows. It returns tdict.ErrSchema if a table cannot have it, and
// for a hint without a field, and [ErrValue] for a field that does not fit its hint.
func (x *Inferrer) Schema() (tdict.Schema, error) {
	var p proposal
	p.fields(&x.rows.root, 0, x.rows.root.objects, "rows")
	x.entries = p.explained
	if p.err != nil {
		return nil, p.err
	}
	keys := map[nestedkey.Key]bool{}
	for _, e := range p.explained {
		keys[e.key] = true
	}
	if err := x.Hints.Check(func(key nestedkey.Key) bool { return keys[key] }); err != nil {
		return nil, err
	}
	s := p.schema()
	if _, err := table.New(s, table.Options{}); err != nil {
		return nil, err
	}
	return s, nil
}

// Notes returns a line for each field whose type is not the type of most of its values, with the
// reason. Such a field is text though most values are numbers. Call it after Schema.
func (x *Inferrer) Notes() (all []string) {
	for _, e := range x.entries {
		if e.why != "" {
			all = append(all, fmt.Sprintf("%s becomes %s: %s", errtext.Quote(string(e.key)), e.what, e.why))
		}
	}
	return all
}

// Explain returns a line for each field: its type, the number of rows or objects with a value, the
// range of the values, and why the type is not the type of most values. Call it after Schema.
func (x *Inferrer) Explain() (all []string) {
	for _, e := range x.entries {
		all = append(all, fmt.Sprintf("%s: %s, %s", errtext.Quote(string(e.key)), e.what, e.doc))
	}
	return all
}

// An explained is the type of a field, and the reason if it is not the type of most of its values.
type explained struct {
	key            nestedkey.Key
	what, doc, why string
}

// An inferrer reads rows for an Inferrer.
type inferrer struct {
	scan    jsonscan.Scanner
	hints   *Hints
	depth   int           // the largest
	line    int           // of the row
	objects int           // counts objects
	at      nestedkey.Key // of a value that does not fit its hint
	root    seen
}

// add adds a row.
func (in *inferrer) add(line []byte) error {
	in.scan.Reset(line, in.depth)
	err := in.object(&in.root)
	if err == nil {
		err = in.scan.End()
	}
	return severalLines(line, err)
}

// severalLines adds to a syntax error that an object has several lines, but earlier objects have
// one.
func severalLines(line []byte, err error) error {
	if errors.Is(err, ErrSyntax) && string(bytes.TrimSpace(line)) == "{" {
		return fmt.Errorf("%w: the object has several lines, want one line for each, as jq -c . writes them", err)
	}
	return err
}

// A seen counts the values of one field by their types. Depths are numbers of lists around a value,
// without those around the object that has the field.
type seen struct {
	name   string
	key    nestedkey.Key
	last   int     // the number of the last object with the field
	fields []*seen // of objects, in the order in which they first appear
	named  map[string]*seen

	table.Guess // of scalars, also in lists
	hint        hint

	values, nulls int // not in lists; values are not null
	lists         int // not in lists
	objects       int // also in lists
	at, within    span
	lengths       []span // of lists, by depth
	inside        []int  // null in lists, by depth
	nullLists     bool   // a list has nothing but null
}

// A span has a least and a largest number: of the depths of scalars or objects, or of the lengths
// of lists. The zero span has none.
type span struct {
	low, high int
	some      bool
}

func (s *span) add(n int) {
	if !s.some {
		*s = span{n, n, true}
	}
	s.low, s.high = min(s.low, n), max(s.high, n)
}

// one reports whether all numbers are n.
func (s span) one(n int) bool { return s.some && s.low == n && s.high == n }

// field returns the seen of a field of s.
func (in *inferrer) field(s *seen, name []byte) *seen {
	if f := s.named[string(name)]; f != nil {
		return f
	}
	if s.named == nil {
		s.named = map[string]*seen{}
	}
	f := &seen{name: string(name), key: nestedkey.Of(string(name))}
	if s != &in.root {
		f.key = nestedkey.Join(s.key, f.key)
	}
	f.Guess, f.hint = in.hints.Guess(f.key), hintOf(in.hints, f.key)
	s.named[f.name], s.fields = f, append(s.fields, f)
	return f
}

// object adds an object.
func (in *inferrer) object(s *seen) error {
	s.objects++
	in.objects++
	number := in.objects
	return in.scan.Object(func(name []byte) error {
		f := in.field(s, name)
		if f.last == number {
			return duplicate(f.name)
		}
		if f.last = number; in.scan.Next() == 'n' {
			f.nulls++
		} else {
			f.values++
		}
		return in.value(f, 0)
	})
}

// value adds a value that is inside depth lists.
func (in *inferrer) value(s *seen, depth int) error {
	switch in.scan.Next() {
	case 'n':
		if depth > 0 {
			s.inside = longer(s.inside, depth)
			s.inside[depth]++
		}
		return in.scan.Null()
	case '{':
		s.within.add(depth)
		return in.object(s)
	case '[':
		if depth == 0 {
			s.lists++
		}
		return in.list(s, depth)
	}
	s.at.add(depth)
	return in.scalar(s)
}

// longer returns list with at least i+1 elements.
func longer[T any](list []T, i int) []T {
	for len(list) <= i {
		list = append(list, *new(T))
	}
	return list
}

// list adds a list that is inside depth others.
func (in *inferrer) list(s *seen, depth int) error {
	n, nulls := 0, 0
	err := in.scan.Array(func(int) error {
		if n++; in.scan.Next() == 'n' {
			nulls++
		}
		return in.value(s, depth+1)
	})
	s.nullLists = s.nullLists || n > 0 && n == nulls
	s.lengths = longer(s.lengths, depth)
	s.lengths[depth].add(n)
	return err
}

// scalar adds true, false, a number or a string.
func (in *inferrer) scalar(s *seen) (err error) {
	var text []byte
	c := in.scan.Next()
	switch c {
	case 't', 'f':
		text, err = in.scan.Raw()
	case '"':
		text, err = in.scan.Text()
	default:
		text, err = in.scan.Digits()
	}
	if err != nil {
		return err
	}
	word := c == '"' && jsonscan.IsWord(text)
	if s.hint.given {
		if !s.hint.fits(c, word) {
			err = fmt.Errorf("%w: got %s, want %s", ErrValue, errtext.Quote(string(text)), s.hint.want.what())
		} else {
			_, err = s.Hinted(text, in.line)
		}
		if in.at = ""; err != nil {
			in.at = s.key
		}
		return err
	}
	switch {
	case word:
		s.Word(text, in.line, table.IsWord(text))
	case c == '"':
		s.Text(text, in.line)
	case c == 't' || c == 'f':
		s.Bools++
	default:
		s.Number(text, in.line)
	}
	return nil
}

// A hint says which values a field has.
type hint struct {
	given bool
	any   bool // values of any type are texts
	want  scalar
}

// hintOf returns the hint of a key.
func hintOf(h *Hints, key nestedkey.Key) hint {
	layout := h.Dates[key]
	d, typed := h.DTypes[key]
	switch {
	case layout != "" || h.Categories[key]:
		return hint{given: true, want: aText}
	case typed:
		return hint{given: true, any: d == 0, want: scalarOf(tdict.Spec{DType: d})}
	}
	return hint{}
}

// fits reports whether Read takes a value that begins with c; word is set for the string of a
// float.
func (h hint) fits(c byte, word bool) bool {
	switch {
	case h.any:
		return true
	case c == '"':
		return h.want == aText || h.want == aComplex || h.want == aFloat && word
	case c == 't' || c == 'f':
		return h.want == aBool
	}
	return h.want < aBool
}
