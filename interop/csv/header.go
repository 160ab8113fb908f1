package csv

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// maxColumns is the largest number of columns of a file.
const maxColumns = 1 << 20

// A column is a column of a file: one element of an entry.
type column struct {
	header  string
	values  *table.Column
	element int // of Shape, row-major
	// text: a quoted field is not missing; missable: an unquoted field may be missing
	text, missable bool
	// quotable: a value may need quotes; marked: its numbers have the marks of Format
	quotable, marked bool
}

// columnsOf returns the columns of a file of t. It returns tdict.ErrSchema for an entry that cannot
// be in a file, such as ragged numbers.
func columnsOf(t *table.Table, f *Format) ([]column, error) {
	var all []column
	for _, c := range t.Columns() {
		if c.Spec.Kind == tdict.KindRagged || c.Spec.Depth > 0 {
			return nil, refused(c, "got %v of depth %d, want a tensor or text without levels (text is ragged uint8 with KindText in the schema)", c.Spec.Kind, c.Spec.Depth)
		}
		if c.Width > maxColumns-len(all) {
			return nil, refused(c, "got shape %v, want at most %d columns", c.Spec.Shape, maxColumns)
		}
		if c.Spec.Columns != nil && len(c.Spec.Columns) != c.Width {
			return nil, refused(c, "got %d names in Columns, want %d, one for each element", len(c.Spec.Columns), c.Width)
		}
		text := c.Spec.Kind == tdict.KindText || c.Spec.Categories != nil
		d := c.Spec.DType
		marked := newNumerals(f).used() && !c.IsText() && (d.IsInteger() || d.IsFloat())
		for i := range c.Width {
			all = append(all, column{f.header(c.Spec, i), c, i, text, c.Missable(), c.IsText() || marked, marked})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: got no columns, want at least one", tdict.ErrSchema)
	}
	return all, nil
}

func refused(c *table.Column, format string, args ...any) error {
	return &tdict.KeyError{Op: "csv", Key: c.Spec.Key, Err: fmt.Errorf("%w: "+format, append([]any{tdict.ErrSchema}, args...)...)}
}

// header returns the header of element i of an entry.
func (f *Format) header(s tdict.Spec, i int) string {
	if s.Columns != nil {
		return s.Columns[i]
	}
	header := strings.Join(slices.Collect(s.Key.Parts()), cmp.Or(f.Separator, "/"))
	for _, at := range s.Shape.Position(i) {
		header += "." + strconv.Itoa(at)
	}
	return header
}

// cutIndex splits an index such as ".0.1" off a header.
func cutIndex(header string) (name string, index shapeops.Shape) {
	for {
		dot := strings.LastIndexByte(header, '.')
		i, err := strconv.Atoi(header[dot+1:])
		if dot < 0 || err != nil || strconv.Itoa(i) != header[dot+1:] || i < 0 {
			return header, index
		}
		header, index = header[:dot], append(shapeops.Shape{i}, index...)
	}
}

// arranged returns the columns of a file in the order of its headers, with a zero column for each
// skipped header, and the columns of the schema that the file lacks.
func (f *Format) arranged(all []column, headers []string, skip bool) (there []column, lacking []*table.Column, err error) {
	at, err := f.places(all, headers)
	if err != nil {
		return nil, nil, err
	}
	there = make([]column, len(headers))
	found := make([]bool, len(headers))
	begun := map[*table.Column]bool{} // entries with at least one column in the file
	for i, c := range all {
		if at[i] < 0 {
			continue
		}
		if i > 0 && all[i-1].values == c.values && (at[i-1] < 0 || at[i-1] > at[i]) {
			return nil, nil, fmt.Errorf("%w: got %q, want %q before it", ErrHeader, c.header, all[i-1].header)
		}
		there[at[i]], found[at[i]], begun[c.values] = c, true, true
	}
	if i := slices.Index(found, false); i >= 0 && !skip {
		return nil, nil, unknown(all, headers, i)
	}
	for i, c := range all {
		switch {
		case at[i] >= 0:
		case begun[c.values] || c.values.Spec.Mask == "":
			return nil, nil, fmt.Errorf("%w: got no %q", ErrHeader, c.header)
		default:
			lacking = append(lacking, c.values)
		}
	}
	return there, lacking, nil
}

// places returns the index in headers of each column, or -1. Of equal headers a column has the
// header whose key is the key of the column. The rest are in the order of the columns if their
// number is equal; otherwise the error is [ErrHeader].
func (f *Format) places(all []column, headers []string) ([]int, error) {
	if at := inOrder(all, headers); at != nil {
		return at, nil
	}
	byName := make(map[string][]int, len(headers))
	for i, header := range headers {
		byName[header] = append(byName[header], i)
	}
	byKey := map[nestedkey.Key]int{}
	if keys, _, err := f.keys(headers); err == nil && len(byName) < len(headers) {
		for i, key := range keys {
			byKey[key] = i
		}
	}
	at, taken, rest := make([]int, len(all)), map[int]bool{}, map[string][]int{}
	var names []string // the keys of rest, in order
	for i, c := range all {
		if k, ok := byKey[c.key()]; ok && headers[k] == c.header && c.values.Width == 1 {
			at[i], taken[k] = k, true
		} else {
			if at[i] = -1; rest[c.header] == nil {
				names = append(names, c.header)
			}
			rest[c.header] = append(rest[c.header], i)
		}
	}
	for _, header := range names {
		columns := rest[header]
		places := slices.DeleteFunc(byName[header], func(k int) bool { return taken[k] })
		if len(places) > 1 && len(places) != len(columns) {
			return nil, fmt.Errorf("%w: got the header %s for %d columns, want it for %d", ErrHeader, errtext.Quote(header), len(places), len(columns))
		}
		for i, k := range places {
			at[columns[i]] = k
		}
	}
	return at, nil
}

// inOrder returns 0, 1 and so on if the headers are the keys of the columns, in their order, and
// have one part each, so that no two are equal. Otherwise it returns nil. It takes no maps.
func inOrder(all []column, headers []string) []int {
	if len(all) != len(headers) {
		return nil
	}
	at := make([]int, len(all))
	for i, c := range all {
		if c.values.Width != 1 || c.header != headers[i] || nestedkey.Of(headers[i]) != c.key() {
			return nil
		}
		at[i] = i
	}
	return at
}

// unknown returns ErrHeader for a header that no column has.
func unknown(all []column, headers []string, i int) error {
	header := errtext.Quote(headers[i])
	if slices.ContainsFunc(all, func(c column) bool { return c.header == headers[i] }) {
		return fmt.Errorf("%w: column %d: got the header %s once more than the schema", ErrHeader, i+1, header)
	}
	return fmt.Errorf("%w: got the unknown column %s, want only %s: %s", ErrHeader, header, listed(all), advice(headers))
}

// advice says what to do about a header that no column of the schema has.
func advice(headers []string) string {
	if len(headers) == 1 && strings.ContainsAny(headers[0], ";\t|,") {
		return "set Comma to what separates the fields"
	}
	return "set SkipUnknown to skip others"
}

// listed returns the first headers as text.
func listed(all []column) string {
	var names []string
	for _, c := range all[:min(len(all), 8)] {
		names = append(names, strconv.Quote(c.header))
	}
	if len(all) > len(names) {
		names = append(names, "...")
	}
	return strings.Join(slices.Clip(names), ", ")
}

// key returns the key of the entry, or "" if the column is skipped.
func (c *column) key() nestedkey.Key {
	if c.values == nil {
		return ""
	}
	return c.values.Spec.Key
}
