package csv

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Infer proposes a schema for the first n rows of r, or for all rows if n is 0. For each column it
// chooses the first of the types below that fits all these rows, and a Doc of one line that
// describes them. Check the result, and correct it where you know more:
//
//   - true and false, also in capitals, are Bool
//   - integers are Int64, or Uint64 if necessary
//   - other numbers are Float64, and so are NaN, +Inf and -Inf alone, without
//     quotes
//   - columns in f.Times are Int64
//   - anything else is text: also columns in f.Categories, integers that no type holds, integers
//     beside other numbers if Float64 would change a digit, numbers that Float64 rounds to
//     infinity or to 0, and numbers such as 007 and 1_0
//   - a column with a missing value is Optional, unless f.Fill has the key
//   - consecutive columns x.0, x.1 and so on are one entry, of Shape [2] for two, if their types
//     agree
//   - without headers the keys are column0, column1 and so on
//
// [Read] with the same Format accepts all rows that Infer has read. Infer returns the errors of
// Read, among them [ErrValue] for a text that is not a time in a column of f.Times. It may read
// beyond the n rows, and takes memory in proportion to the number of columns.
func Infer(r io.Reader, n int, f Format) (tdict.Schema, error) {
	in := NewInferrer(f)
	if err := in.Add(r, n); err != nil {
		return nil, err
	}
	return in.Schema()
}

// An Inferrer proposes one schema for several files, as [Infer] does for one. Not safe for
// concurrent use.
type Inferrer struct {
	splitter *table.Splitter
	format   *Format
	na       naSet
	scan     *scanner
	text     []byte
	line     int // of the header, or the first line
	rows     int
	known    []*seen // columns of the first file, in its order; nil before that
	columns  []*seen // in the order of the current file
	headers  map[string]bool
	elements map[string]int // number of columns whose header is this name and an index
	empty    int            // the first empty line in a file of one column, or 0
}

// NewInferrer returns an Inferrer for files with the given Format.
func NewInferrer(f Format) *Inferrer { return &Inferrer{format: &f} }

// Add reads the first n rows of a file, or all rows if n is 0. Each file must have the columns of
// the first one, in any order, or, without headers, the same number of columns: otherwise Add
// returns [ErrHeader] or [ErrFields]. It also returns the errors of Infer. After an error the
// Inferrer must not be used.
func (in *Inferrer) Add(r io.Reader, n int) error {
	f, err := in.format.withDefaults()
	if err != nil {
		return err
	}
	if n <= 0 {
		n = math.MaxInt
	}
	*in = Inferrer{format: &f, na: newNASet(f.NA), splitter: f.splitter(r, maxRecord), scan: newScanner(&f), line: 1,
		rows: in.rows, known: in.known, columns: in.known, empty: in.empty}
	if !f.NoHeader {
		if err := in.header(); err != nil {
			return err
		}
	}
	for range n {
		if err = in.row(); err != nil {
			break
		}
	}
	if in.known == nil {
		in.known = in.columns
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// header reads the header line, which must have the columns of the first file.
func (in *Inferrer) header() error {
	h, err := in.format.readHeader(in.splitter)
	if err != nil {
		return err
	}
	in.line, in.columns = h.line, nil
	if err := distinct(h.names); err != nil {
		return &ParseError{Line: h.line, Err: err}
	}
	byName := map[string]*seen{}
	for _, c := range in.known {
		byName[c.header] = c
	}
	for _, header := range h.names {
		c := byName[header]
		switch {
		case in.known == nil:
			c = newSeen(header, in.format)
		case c == nil:
			return &ParseError{Line: h.line, Err: fmt.Errorf("%w: got %q, want the columns of the first file", ErrHeader, header)}
		}
		delete(byName, header)
		in.columns = append(in.columns, c)
	}
	for _, c := range in.known {
		if byName[c.header] != nil {
			return &ParseError{Line: h.line, Err: fmt.Errorf("%w: got no %q, want the columns of the first file", ErrHeader, c.header)}
		}
	}
	return nil
}

// distinct returns [ErrHeader] unless all headers differ.
func distinct(headers []string) error {
	first := make(map[string]int, len(headers))
	for i, header := range headers {
		before, found := first[header]
		if first[header] = i; !found {
			continue
		}
		if header == "" {
			return fmt.Errorf("%w: columns %d and %d have no header", ErrHeader, before+1, i+1)
		}
		return fmt.Errorf("%w: columns %d and %d have the header %s", ErrHeader, before+1, i+1, errtext.Quote(header))
	}
	return nil
}

// Notes returns a line for each column of numbers that Schema makes text, with the reason, for each
// header that is a nested key, and for empty lines between the rows of one column, which could be
// meant as missing values. Call it after Schema.
func (in *Inferrer) Notes() (all []string) {
	if in.empty > 0 {
		all = append(all, fmt.Sprintf("line %d is empty, and so no row: a missing value is written %s", in.empty, cmp.Or(in.format.NA[0], `""`)))
	}
	for _, c := range in.known {
		key := in.format.key(c.header)
		if outer, nested := key.Parent(); nested {
			all = append(all, fmt.Sprintf("column %s becomes the entry %s in a dictionary %s: set Separator to a text that no header has to keep the name", errtext.Quote(c.header), errtext.Quote(key.Name()), errtext.Quote(string(outer))))
		}
		if kind, _, _ := c.dtype(); kind == tdict.KindText {
			if why := c.why(); why != "" {
				all = append(all, fmt.Sprintf("column %s becomes text: %s", errtext.Quote(c.header), why))
			}
		}
	}
	return all
}

// row reads a row. It returns io.EOF after the last one.
func (in *Inferrer) row() error {
	text, line, err := in.splitter.One(in.text)
	in.text = text
	if len(in.columns) == 1 && in.format.Comment == 0 && in.empty == 0 && len(text) > 0 && skipped(text, 0) && (err == nil || in.rows == 0) {
		in.empty = line
	}
	if err != nil {
		return err
	}
	in.scan.reset(text, line)
	in.scan.more()
	line = in.scan.line
	for i, last := 0, false; !last || i < len(in.columns); i++ {
		if in.known == nil && in.rows == 0 && in.format.NoHeader && i == len(in.columns) {
			in.columns = append(in.columns, newSeen("column"+strconv.Itoa(i), in.format))
		}
		if last || i == len(in.columns) {
			return in.scan.wrongCount(i, len(in.columns), last, line)
		}
		var field []byte
		var quoted bool
		if field, quoted, last, err = in.scan.field(); err != nil {
			return in.scan.fail("", err)
		}
		if err := in.columns[i].add(in, field, quoted); err != nil {
			return in.scan.fail(in.format.key(in.columns[i].header), err)
		}
	}
	in.rows++
	return nil
}

// A seen counts the fields of a column by their types.
type seen struct {
	header        string
	time          *Time // from f.Times, or nil
	coded, filled bool

	table.Counts          // of the other fields
	none, quoted      int // missing fields, without and with quotes
	shortest, longest int // lengths of texts in bytes
	distinct          map[string]bool
}

// newSeen returns an empty seen, with the options for the key of the header, or for the entry of
// which the column may be an element.
func newSeen(header string, f *Format) *seen {
	s := &seen{header: header, shortest: math.MaxInt, distinct: map[string]bool{}}
	name, _ := cutIndex(header)
	for _, key := range []nestedkey.Key{f.key(name), f.key(header)} {
		if tm, ok := f.Times[key]; ok {
			s.time = &tm
		}
		_, coded := f.Categories[key]
		_, filled := f.Fill[key]
		s.coded, s.filled = s.coded || coded, s.filled || filled
	}
	return s
}

// someTexts is the largest number of distinct texts to count.
const someTexts = 100

// add counts a field. It returns [ErrValue] for a field of a time column that is not a time.
func (s *seen) add(in *Inferrer, field []byte, quoted bool) error {
	na := in.na.has(field)
	switch {
	case na && !quoted:
		s.none++
		return nil
	case na:
		s.quoted++
	}
	s.shortest, s.longest = min(s.shortest, len(field)), max(s.longest, len(field))
	if len(s.distinct) <= someTexts && len(field) <= 1000 && !s.distinct[string(field)] {
		s.distinct[string(field)] = true
	}
	if na {
		return nil
	}
	if s.time != nil {
		return s.time.Check(field)
	}
	s.scalar(field, quoted, in.scan.fieldLine)
	return nil
}

// scalar counts a value by its type.
func (s *seen) scalar(field []byte, quoted bool, line int) {
	digits := table.Unsigned(field)
	zeros := len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && digits[1]|0x20 != 'e' // 007, 0x1p-2
	switch {
	case isBool(field):
		s.Bools++
	case isWord(field, digits):
		s.Word(field, line, !quoted && table.IsWord(field))
	case len(digits) == 0 || digits[0] > '9' || zeros || !s.Number(field, line):
		s.Text(field, line)
	}
}

// isBool reports whether a field is true or false, also in capitals.
func isBool(field []byte) bool {
	if n := len(field); n != len("true") && n != len("false") || field[0]|0x20 != 't' && field[0]|0x20 != 'f' {
		return false // strconv's errors allocate
	}
	_, err := strconv.ParseBool(string(field))
	return err == nil
}

// isWord reports whether a field, without its sign digits, is NaN or an infinity.
func isWord(field, digits []byte) bool {
	if len(digits) == 0 || len(digits) > len("infinity") || digits[0]|0x20 != 'i' && digits[0]|0x20 != 'n' {
		return false // strconv's errors allocate
	}
	_, err := strconv.ParseFloat(string(field), 64)
	return err == nil
}

// spec proposes an entry for a column, or for several merged columns, with fields fields.
func (s *seen) spec(f *Format, fields int) tdict.Spec {
	spec := tdict.Spec{Key: f.key(s.header)}
	what := "times"
	if s.time != nil {
		spec.DType = tensor.Int64
	} else {
		spec.Kind, spec.DType, what = s.dtype()
	}
	none := s.none
	if spec.Kind != tdict.KindText {
		none += s.quoted
	}
	spec.Doc = fmt.Sprintf("%d of %d fields: %s", fields-none, fields, what)
	if why := s.why(); why != "" && spec.Kind == tdict.KindText {
		spec.Doc += "; " + why
	}
	spec.Optional = none > 0 && !s.filled
	return spec
}

// dtype returns the type, and a description of the fields. Categories are text.
func (s *seen) dtype() (tdict.Kind, tensor.DType, string) {
	if d, what := s.DType(); d != 0 && !s.coded {
		return 0, d, what
	}
	return tdict.KindText, 0, s.describe()
}

// why returns why a column of numbers is text, or "".
func (s *seen) why() string {
	if s.coded || s.time != nil {
		return ""
	}
	return s.Why()
}

// describe returns the lengths and the number of distinct texts, for the Doc.
func (s *seen) describe() string {
	if s.longest < s.shortest {
		return "no values, as text"
	}
	distinct := strconv.Itoa(len(s.distinct))
	if len(s.distinct) > someTexts {
		distinct = "more than " + strconv.Itoa(someTexts)
	}
	return fmt.Sprintf("texts of %d to %d bytes, %s distinct", s.shortest, s.longest, distinct)
}

// Schema proposes a schema for all rows, with columns in the order of the first file. It returns
// [ErrHeader] if the headers do not make a valid schema, or if there are no columns.
func (in *Inferrer) Schema() (tdict.Schema, error) {
	if in.known == nil {
		return nil, fmt.Errorf("%w: got no columns, want at least one", ErrHeader)
	}
	var s tdict.Schema
	in.columns = in.known
	in.headers, in.elements = map[string]bool{}, map[string]int{}
	for _, c := range in.columns {
		name, _ := cutIndex(c.header)
		in.headers[c.header] = true
		in.elements[name]++
	}
	for i := 0; i < len(in.columns); {
		spec, n := in.together(i)
		s = append(s, spec)
		i += n
	}
	if at := strings.IndexAny(in.columns[0].header, ";\t|"); len(s) == 1 && at >= 0 {
		s[0].Doc += fmt.Sprintf("; one column: is %q the delimiter?", in.columns[0].header[at])
	}
	t, err := table.New(s, in.format.options())
	if err == nil {
		_, err = columnsOf(t, in.format)
	}
	if err != nil {
		return nil, &ParseError{Line: in.line, Err: fmt.Errorf("%w: %w", ErrHeader, err)}
	}
	return s, nil
}

// together proposes an entry for column i and the following columns that are its elements, and
// returns the number of these columns.
func (in *Inferrer) together(i int) (tdict.Spec, int) {
	one := in.columns[i].spec(in.format, in.rows)
	name, index := cutIndex(in.columns[i].header)
	if len(index) == 0 || index.Size() != 0 || slices.Max(index) != 0 || in.headers[name] {
		return one, 1
	}
	n := 1
	for i+n < len(in.columns) {
		next, at := cutIndex(in.columns[i+n].header)
		if next != name || len(at) != len(index) || slices.Compare(at, index) <= 0 {
			break
		}
		index, n = at, n+1
	}
	shape := make(shapeops.Shape, len(index))
	for dim, at := range index {
		shape[dim] = at + 1
	}
	if shape.Check() != nil || shape.Size() != n || in.elements[name] != n {
		return one, 1
	}
	all := newSeen(name, in.format)
	for _, c := range in.columns[i : i+n] {
		all.merge(c)
	}
	whole := all.spec(in.format, n*in.rows)
	whole.Shape = shape
	for j, c := range in.columns[i : i+n] {
		if c.header != in.format.header(whole, j) || c.spec(in.format, in.rows).Kind != whole.Kind {
			return one, 1
		}
	}
	return whole, n
}

// merge adds the fields of another column.
func (s *seen) merge(other *seen) {
	s.none, s.quoted = s.none+other.none, s.quoted+other.quoted
	s.Merge(&other.Counts)
	s.shortest, s.longest = min(s.shortest, other.shortest), max(s.longest, other.longest)
	for text := range other.distinct {
		s.distinct[text] = true
	}
}
