package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
)

// A Time says how an int64 column is written as dates or times. Its fields are:
//
//	Layout string         // a layout of package time, such as time.DateOnly
//	Unit   time.Duration  // of the numbers, which count from 1970 in UTC; 0 means time.Second
//	Zone   *time.Location // of texts without a zone, and of written texts; nil means UTC
//
// A text that is not a whole number of units, or that does not fit an int64, is [ErrValue]. A text
// without a zone at a clock change is read as by time.ParseInLocation. A number whose text would
// read back as another number is [ErrValue] too.
type Time = table.Time

// A Format describes the syntax of a file. Read and write a file with the same Format. The zero
// Format has commas and a header.
type Format struct {
	// Comma separates fields; 0 means ','. It must be ASCII, and not a letter, a digit, a quote, a
	// line end, or one of "+-.()".
	Comma byte
	// Comment, if not 0, begins a line that is skipped. The rules of Comma apply.
	Comment byte
	// NoHeader says that the file has no header line. Its columns are the entries of the schema, in
	// order.
	NoHeader bool
	// Separator replaces the "/" of keys in headers; "" means "/", which corresponds to
	// separator="/" of Python's from_csv. If no header contains it, no key is nested.
	Separator string
	// NA lists the spellings of missing values. The first one is written. Nil means "NA" and the
	// empty field.
	NA []string

	// Categories has the text entries that are read as int32 codes; see the package doc.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the int64 entries that are dates or times.
	Times map[nestedkey.Key]Time
	// Fill has the text of the value to use for missing values.
	Fill map[nestedkey.Key]string
}

// maxRecord is the default bound on the bytes of a record. Memory grows with the record, so it only
// bounds what a quote costs that is never closed.
const maxRecord = 1 << 30

// withDefaults returns f with defaults in place of zeros, or [ErrFormat].
func (f Format) withDefaults() (Format, error) {
	f.Comma = cmp.Or(f.Comma, ',')
	f.Separator = cmp.Or(f.Separator, "/")
	if f.NA == nil {
		f.NA = []string{"NA", ""}
	}
	if !delimits(f.Comma) || f.Comment != 0 && (!delimits(f.Comment) || f.Comment == f.Comma) {
		return f, fmt.Errorf("%w: got delimiter %q and comment %q, want two different characters that do not occur in numbers", ErrFormat, f.Comma, f.Comment)
	}
	if i := slices.IndexFunc(f.NA, func(na string) bool { return f.quotes([]byte(na)) }); i >= 0 {
		return f, fmt.Errorf("%w: got %q for missing values, want a text that needs no quotes", ErrFormat, f.NA[i])
	}
	return f, nil
}

// delimits reports whether c can be a delimiter.
func delimits(c byte) bool {
	alnum := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	return c < 0x80 && c != 0 && !alnum && !strings.ContainsRune("+-.()\"\r\n", rune(c))
}

// quotes reports whether a text contains something that needs quotes.
func (f *Format) quotes(text []byte) bool {
	return f.NoHeader && table.CheckText(text) != nil || bytes.HasPrefix(text, []byte("\ufeff")) || bytes.ContainsAny(text, "\"\r\n") || bytes.IndexByte(text, f.Comma) >= 0 ||
		f.Comment != 0 && len(text) > 0 && text[0] == f.Comment
}

// options returns the options of the table.
func (f Format) options() table.Options {
	return table.Options{Categories: f.Categories, Times: f.Times, Fill: f.Fill}
}

// A naSet is the set of spellings of missing values.
type naSet struct {
	first [256]bool // first bytes of the spellings
	texts []string
}

func newNASet(texts []string) naSet {
	s := naSet{texts: texts}
	for _, text := range texts {
		if text != "" {
			s.first[text[0]] = true
		}
	}
	return s
}

// has reports whether a field is one of the spellings.
func (s *naSet) has(field []byte) bool {
	if len(field) > 0 && !s.first[field[0]] {
		return false
	}
	for _, text := range s.texts {
		if string(field) == text {
			return true
		}
	}
	return false
}
