package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
)

// A Time says how a column of int64 is written as dates or times. Its fields are:
//
//	Layout string         // one of package time, such as time.DateOnly
//	Unit   time.Duration  // of the numbers, which count from 1970 on in UTC; 0: time.Second
//	Zone   *time.Location // of texts that name none, and of written texts; nil: UTC
//
// A text that is not a whole number of units, or that an int64 does not count, is [ErrValue].
// Where clocks change, a text without a zone is read as time.ParseInLocation reads it, and a number
// whose text reads back as another is [ErrValue] too.
type Time = table.Time

// A Format describes the syntax of a file. Read and write a file with the same Format. The zero
// Format has commas and a header.
type Format struct {
	// Comma stands between fields: ',' if it is 0. It is ASCII, and no letter, digit, quote or
	// line end, nor one of "+-.()".
	Comma byte
	// Comment begins a line that is skipped, if it is not 0. As for Comma.
	Comment byte
	// NoHeader says that the file has no line of headers: it has the columns of the schema, in
	// their order.
	NoHeader bool
	// Separator stands in headers where a key has "/": "/" if it is empty, which Python's from_csv
	// would call separator="/". No header is nested if none has it.
	Separator string
	// NA has the spellings of missing values, the one that is written first: "NA" and the empty
	// field if it is nil.
	NA []string

	// Categories makes entries of texts int32 codes; see the package.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the entries of int64 that are dates or times.
	Times map[nestedkey.Key]Time
	// Fill has the text of the value that stands where one is missing.
	Fill map[nestedkey.Key]string
}

// maxRecord bounds the bytes of a record, unless ReadOptions say otherwise.
const maxRecord = 1 << 20

// withDefaults returns f without zeros, or [ErrFormat].
func (f Format) withDefaults() (Format, error) {
	f.Comma = cmp.Or(f.Comma, ',')
	f.Separator = cmp.Or(f.Separator, "/")
	if f.NA == nil {
		f.NA = []string{"NA", ""}
	}
	if !delimits(f.Comma) || f.Comment != 0 && (!delimits(f.Comment) || f.Comment == f.Comma) {
		return f, fmt.Errorf("%w: got delimiter %q and comment %q, want two that no number has", ErrFormat, f.Comma, f.Comment)
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
	return bytes.HasPrefix(text, []byte("\ufeff")) || bytes.ContainsAny(text, "\"\r\n") || bytes.IndexByte(text, f.Comma) >= 0 ||
		f.Comment != 0 && len(text) > 0 && text[0] == f.Comment
}

// options returns the options of tables.
func (f Format) options() table.Options {
	return table.Options{Categories: f.Categories, Times: f.Times, Fill: f.Fill}
}

// A naSet finds the spellings of missing values.
type naSet struct {
	first [256]bool // bytes with which one begins
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
