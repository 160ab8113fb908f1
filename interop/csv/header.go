package csv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// quotable: a value may need quotes
	quotable bool
}

// columnsOf returns the columns of a file of t. It returns tdict.ErrSchema for an entry that cannot
// be in a file, such as ragged numbers, and for duplicate headers.
func columnsOf(t *table.Table, f *Format) ([]column, error) {
	var all []column
	known := map[string]bool{}
	for _, c := range t.Columns() {
		if c.Spec.Kind == tdict.KindRagged {
			return nil, refused(c, "got %v, want a tensor or text (text is ragged uint8 with KindText in the schema)", c.Spec.Kind)
		}
		if c.Width > maxColumns-len(all) {
			return nil, refused(c, "got shape %v, want at most %d columns", c.Spec.Shape, maxColumns)
		}
		_, timed := f.Times[c.Spec.Key]
		text := c.Spec.Kind == tdict.KindText
		for i := range c.Width {
			header := f.header(c.Spec, i)
			if known[header] {
				return nil, refused(c, "got duplicate header %q", header)
			}
			known[header] = true
			all = append(all, column{header, c, i, text, c.Missable(), text || timed})
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
	header := strings.Join(slices.Collect(s.Key.Parts()), f.Separator)
	for _, at := range s.Shape.Position(i) {
		header += "." + strconv.Itoa(at)
	}
	return header
}

// key returns the key of a header.
func (f *Format) key(header string) nestedkey.Key {
	parts := strings.Split(header, f.Separator)
	return nestedkey.Of(parts[0], parts[1:]...)
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
func arranged(all []column, headers []string, skip bool) (there []column, lacking []*table.Column, err error) {
	there = make([]column, len(headers))
	byName := make(map[string]int, len(all))
	for i, c := range all {
		byName[c.header] = i
	}
	begun := map[*table.Column]bool{} // entries with at least one column in the file
	found := make([]bool, len(all))
	for i, header := range headers {
		at, ok := byName[header]
		switch {
		case !ok && !skip:
			return nil, nil, fmt.Errorf("%w: got the unknown column %q, want only %s: %s", ErrHeader, header, listed(all), advice(headers))
		case !ok:
			continue
		case found[at]:
			return nil, nil, fmt.Errorf("%w: got duplicate column %q", ErrHeader, header)
		case at > 0 && all[at-1].values == all[at].values && !found[at-1]:
			return nil, nil, fmt.Errorf("%w: got %q, want %q before it", ErrHeader, header, all[at-1].header)
		}
		found[at], there[i], begun[all[at].values] = true, all[at], true
	}
	for i, c := range all {
		switch {
		case found[i]:
		case begun[c.values] || !c.values.Spec.Optional:
			return nil, nil, fmt.Errorf("%w: got no %q", ErrHeader, c.header)
		default:
			lacking = append(lacking, c.values)
		}
	}
	return there, lacking, nil
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
