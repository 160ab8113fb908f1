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
)

// Infer proposes a schema for the first n rows of r, or for all rows if n is 0. For each column it
// chooses the first of the types below that fits all these rows, and a Doc of one line that
// describes them. If a column becomes text although most of its values are numbers or dates, the
// Doc says why. Check the result, and correct it where you know more, or use an [Inferrer] with
// [Hints]:
//
//   - true and false, also in capitals, are Bool
//   - integers are Int64, or Uint64 if necessary
//   - other numbers are Float64, and so are NaN, +Inf and -Inf alone, without
//     quotes
//   - dates and times of ISO 8601 are Int64 with Time and Unit, if all have one layout: a date; or
//     a date, T or a blank, and a time with or without seconds and a fraction; and with Z or
//     without a zone. Fractions have equal numbers of digits, or different ones without a 0 at the
//     end. Unit is the coarsest of d, s, ms, us and ns that holds each time of the layout
//   - anything else is text: also integers that no type holds, integers beside other numbers if
//     Float64 would change a digit, numbers that Float64 rounds to infinity or to 0, numbers such
//     as 007, 0x10 and 1_000, and dates with an offset such as +02:00
//   - a column with a missing value is Optional, unless f.Fill has the key
//   - consecutive columns x.0, x.1 and so on are one entry, of Shape [2] for two, if their types
//     agree
//   - without headers the keys are column0, column1 and so on
//
// [Read] with the same Format accepts all rows that Infer has read, and [Write] writes dates,
// texts and categories as they were. Infer returns the errors of Read. It may read beyond the n
// rows, and takes memory in proportion to the number of columns.
func Infer(r io.Reader, n int, f Format) (tdict.Schema, error) {
	in := NewInferrer(f)
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
// Dates with a layout count the coarsest unit that holds each time of the layout. The layout ""
// means dates and times of ISO 8601, which Infer also finds without a hint. With the hint, other
// values are an error. Spec.Categories has the texts in sorted order, so rows that were not
// inferred must not have others.
type Hints = table.Hints

// An Inferrer proposes one schema for several files, as [Infer] does for one. Not safe for
// concurrent use.
type Inferrer struct {
	// Hints must be set before the first Add.
	Hints Hints
	// MaxRecord is as in [ReadOptions].
	MaxRecord int

	splitter *table.Splitter
	format   *Format
	na       naSet
	numbers  *numerals
	scan     *scanner
	text     []byte
	line     int // of the header, or the first line
	rows     int
	known    []*seen        // columns of the first file, in its order; nil before that
	columns  []*seen        // in the order of the current file
	taken    keySet         // the keys of the columns
	merged   keySet         // those, and the keys of several columns
	elements map[string]int // number of columns whose header is this name and an index
	empty    int            // the first empty line in a file of one column, or 0
}

// NewInferrer returns an Inferrer for files with the given Format.
func NewInferrer(f Format) *Inferrer { return &Inferrer{format: &f} }

// Add reads the first n rows of a file, or all rows if n is 0. Each file must have the columns of
// the first one, in any order, or, without headers, the same number of columns: otherwise Add
// returns [ErrHeader] or [ErrFields]. It also returns the errors of Infer, [ErrValue] for a value
// that does not fit its hint, and tdict.ErrSchema for a hint without a column. After an error the
// Inferrer must not be used.
func (in *Inferrer) Add(r io.Reader, n int) error {
	f, err := in.format.withDefaults()
	if err != nil {
		return err
	}
	if n <= 0 {
		n = math.MaxInt
	}
	*in = Inferrer{Hints: in.Hints, MaxRecord: in.MaxRecord, format: &f, na: newNASet(f.NA), numbers: newNumerals(&f), splitter: f.splitter(r, in.MaxRecord), scan: newScanner(&f), line: 1,
		rows: in.rows, known: in.known, columns: in.known, empty: in.empty, taken: in.taken}
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
	if in.line, in.columns = h.line, nil; in.known == nil {
		err = in.begin(h.names)
	} else {
		err = in.again(h.names)
	}
	if err != nil {
		return &ParseError{Line: h.line, Err: err}
	}
	return nil
}

// begin begins the columns of the first file.
func (in *Inferrer) begin(headers []string) error {
	keys, set, err := in.format.keys(headers)
	if err != nil {
		return err
	}
	in.taken = set
	wholes := map[nestedkey.Key]bool{} // of which a column may be an element
	for i, header := range headers {
		name, _ := cutIndex(header)
		wholes[in.format.key(name)] = true
		in.columns = append(in.columns, in.newSeen(header, keys[i]))
	}
	return in.Hints.Check(func(key nestedkey.Key) bool { return set.entries[key] || wholes[key] })
}

// again finds the columns of another file. Columns with the same header are in the same order.
func (in *Inferrer) again(headers []string) error {
	byName := map[string][]*seen{}
	for _, c := range in.known {
		byName[c.header] = append(byName[c.header], c)
	}
	for _, header := range headers {
		rest := byName[header]
		if len(rest) == 0 {
			return fmt.Errorf("%w: got %s, want the columns of the first file", ErrHeader, errtext.Quote(header))
		}
		in.columns, byName[header] = append(in.columns, rest[0]), rest[1:]
	}
	for _, c := range in.known {
		if len(byName[c.header]) > 0 {
			return fmt.Errorf("%w: got no %s, want the columns of the first file", ErrHeader, errtext.Quote(c.header))
		}
	}
	return nil
}

// Notes returns a line for each fact that may surprise a user: that a column has another type than
// most of its values, with the reason; that the key of a column is not its header; that there are
// empty lines between the rows of one column, which could be meant as missing values. Call it after
// Schema.
func (in *Inferrer) Notes() (all []string) {
	if in.empty > 0 {
		all = append(all, fmt.Sprintf("line %d is empty, and so no row: a missing value is written %s", in.empty, cmp.Or(in.format.NA[0], `""`)))
	}
	for _, c := range in.known {
		if c.entry.Key == c.key && c.key != in.format.key(c.header) {
			all = append(all, fmt.Sprintf("column %s becomes the entry %s, since its name is taken", errtext.Quote(c.header), errtext.Quote(string(c.key))))
		}
		if c.why != "" {
			all = append(all, fmt.Sprintf("%s becomes %s: %s", c.title(), c.become(), c.why))
		}
	}
	return all
}

// Explain returns a line for each column of the first file: its type, the numbers of fields with a
// value and without, the range of the values, and why the type is not the type of most values. Call
// it after Schema.
func (in *Inferrer) Explain() (all []string) {
	for _, c := range in.known {
		own, _ := c.spec(in.rows)
		_, what, _ := strings.Cut(own.Doc, " fields: ")
		none := c.none
		if c.entry.Kind != tdict.KindText && c.entry.Categories == nil {
			none += c.quoted
		}
		all = append(all, fmt.Sprintf("%s: %s, %d values, %d missing: %s", c.title(), c.become(), in.rows-none, none, what))
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
	if in.known == nil && in.rows == 0 && in.format.NoHeader {
		if err := in.unnamed(text, line); err != nil {
			return err
		}
	}
	for i, last := 0, false; !last || i < len(in.columns); i++ {
		if last || i == len(in.columns) {
			return in.wrongCount(i, last, line)
		}
		var field []byte
		var quoted bool
		if field, quoted, last, err = in.scan.field(); err != nil {
			return in.scan.fail(in.columns[i].key, err)
		}
		if err := in.columns[i].add(in, field, quoted); err != nil {
			return in.scan.fail(in.columns[i].key, err)
		}
	}
	in.rows++
	return nil
}

// wrongCount returns ErrFields for a record after i fields were read.
func (in *Inferrer) wrongCount(i int, last bool, line int) error {
	var key nestedkey.Key
	if i < len(in.columns) {
		key = in.columns[i].key
	}
	return in.scan.wrongCount(i, len(in.columns), last, line, key)
}

// unnamed begins the columns of a file without headers, for the fields of its first row.
func (in *Inferrer) unnamed(text []byte, line int) error {
	var names []string
	for last := false; !last; {
		var err error
		if _, _, last, err = in.scan.field(); err != nil {
			return in.scan.fail("", err)
		}
		names = append(names, "column"+strconv.Itoa(len(names)))
	}
	in.scan.reset(text, line)
	in.scan.more()
	if err := in.begin(names); err != nil {
		return &ParseError{Line: line, Err: err}
	}
	return nil
}

// Schema proposes a schema for all rows, with columns in the order of the first file. It returns
// [ErrHeader] if there are no columns, and [ErrValue] if the hint of an entry says dates of ISO
// 8601 and a value is not one.
func (in *Inferrer) Schema() (tdict.Schema, error) {
	if in.known == nil {
		return nil, fmt.Errorf("%w: got no columns, want at least one", ErrHeader)
	}
	s := make(tdict.Schema, 0, len(in.known))
	in.merged, in.elements = in.taken.clone(), map[string]int{}
	for _, c := range in.known {
		name, _ := cutIndex(c.header)
		in.elements[name]++
		if line, err := c.Missed(); err != nil {
			return nil, &ParseError{Line: cmp.Or(line, in.line), Key: c.key, Err: err}
		}
	}
	for i := 0; i < len(in.known); {
		spec, n := in.together(i)
		s = append(s, spec)
		i += n
	}
	if at := strings.IndexAny(in.known[0].header, ";\t|"); len(s) == 1 && at >= 0 {
		s[0].Doc += fmt.Sprintf("; one column: is %q the delimiter?", in.known[0].header[at])
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
	if whole, n := in.whole(i); n > 0 {
		for _, c := range in.known[i : i+n] {
			c.entry = whole
			_, c.why = c.spec(in.rows)
		}
		return whole, n
	}
	c := in.known[i]
	c.entry, c.why = c.spec(in.rows)
	if in.format.header(c.entry, 0) != c.header {
		c.entry.Columns = []string{c.header}
	}
	return c.entry, 1
}

// whole proposes an entry for the columns from i on that are its elements. It returns their number,
// or 0 if column i is not an element.
func (in *Inferrer) whole(i int) (tdict.Spec, int) {
	name, index := cutIndex(in.known[i].header)
	key := in.format.key(name)
	if len(index) == 0 || index.Size() != 0 || slices.Max(index) != 0 || in.merged.entries[key] {
		return tdict.Spec{}, 0
	}
	n := 1
	for i+n < len(in.known) {
		next, at := cutIndex(in.known[i+n].header)
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
		return tdict.Spec{}, 0
	}
	all := in.newSeen(name, key)
	for _, c := range in.known[i : i+n] {
		if !all.SameHint(&c.Guess) {
			return tdict.Spec{}, 0
		}
		all.merge(c)
	}
	whole, _ := all.spec(n * in.rows)
	whole.Shape = shape
	for j, c := range in.known[i : i+n] {
		if own, _ := c.spec(in.rows); c.header != in.format.header(whole, j) || own.Kind != whole.Kind || own.Time != whole.Time {
			return tdict.Spec{}, 0
		}
	}
	if !in.merged.add(key) {
		return tdict.Spec{}, 0
	}
	return whole, n
}
