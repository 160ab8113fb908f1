package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
)

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
	// Separator, if not "", splits headers into the parts of nested keys; "/" corresponds to
	// separator="/" of Python's from_csv. By default each header is a key of one part.
	Separator string
	// Decimal is the character before the fraction of a real number; 0 means '.'. It must be ASCII,
	// and not a letter, a digit, a quote, a sign or a parenthesis. If it is Comma, numbers with it
	// are in quotes.
	Decimal byte
	// Thousands, if not 0, may be between groups of three digits of a number: '.' for 1.234.567.
	// Write writes none, since 2026 may be a year. The rules of Decimal apply.
	Thousands byte
	// NA lists the spellings of missing values. The first one is written. Nil means "NA" and the
	// empty field.
	NA []string
	// Fill has, for a key, the text that is read in place of a missing value, a number with a
	// point.
	Fill map[nestedkey.Key]string
}

// maxRecord is the default bound on the bytes of a record. Memory grows with the record. The bound
// is for a quote that is never closed.
const maxRecord = 1 << 30

// withDefaults returns f with defaults in place of zeros, or [ErrFormat].
func (f Format) withDefaults() (Format, error) {
	f.Comma = cmp.Or(f.Comma, ',')
	f.Decimal = cmp.Or(f.Decimal, '.')
	if f.NA == nil {
		f.NA = []string{"NA", ""}
	}
	if !delimits(f.Comma) || f.Comment != 0 && (!delimits(f.Comment) || f.Comment == f.Comma) {
		return f, fmt.Errorf("%w: got delimiter %q and comment %q, want two different characters that do not occur in numbers", ErrFormat, f.Comma, f.Comment)
	}
	if !f.marks(f.Decimal) || f.Thousands != 0 && (!f.marks(f.Thousands) || f.Thousands == f.Decimal) {
		return f, fmt.Errorf("%w: got Decimal %q and Thousands %q, want two different characters that do not occur in numbers otherwise, nor begin a comment", ErrFormat, f.Decimal, f.Thousands)
	}
	if i := slices.IndexFunc(f.NA, func(na string) bool { return f.quotes([]byte(na)) }); i >= 0 {
		return f, fmt.Errorf("%w: got %q for missing values, want a text that needs no quotes", ErrFormat, f.NA[i])
	}
	return f, nil
}

// delimits reports whether c can be a delimiter.
func delimits(c byte) bool {
	return c < 0x80 && c != 0 && !alphanumeric(c) && !strings.ContainsRune("+-.()\"\r\n", rune(c))
}

// alphanumeric reports whether c is a letter or a digit.
func alphanumeric(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// marks reports whether c can be a mark in numbers. It may be a delimiter: then numbers with it are
// in quotes.
func (f *Format) marks(c byte) bool {
	return c < 0x80 && c >= ' ' && !alphanumeric(c) && !strings.ContainsRune("+-()\"", rune(c)) && c != f.Comment
}

// quotes reports whether a text contains something that needs quotes.
func (f *Format) quotes(text []byte) bool {
	return f.NoHeader && source.Name(text) != "" || bytes.HasPrefix(text, []byte("\ufeff")) || bytes.ContainsAny(text, "\"\r\n") || bytes.IndexByte(text, f.Comma) >= 0 ||
		f.Comment != 0 && len(text) > 0 && text[0] == f.Comment
}

// options returns the options of the table.
func (f Format) options() table.Options {
	return table.Options{Fill: f.Fill}
}
