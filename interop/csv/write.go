package csv

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/tdict"
)

// Write writes the rows of chunks, each a dictionary [n] of the schema, as records, after a header
// line unless f.NoHeader is set. Columns are in the order of the schema:
//
//	tensor [n Shape...], text [n Shape... *] -> n records of size(Shape) fields for each entry
//
// [Read] with the same schema and Format reads equal rows: numbers are written with the fewest
// digits that identify them. A value that is missing by the mask of an Optional entry is written as
// f.NA[0].
//
// Write returns the error of chunks or of w, the cause of ctx, [ErrFormat], tdict.ErrSchema for an
// invalid schema, a chunk that does not fit it, or an entry that cannot be in a file, such as
// ragged numbers, and [ErrValue], with the key and the row, for a code without a text, and for a
// value that would read back as missing, such as NaN if f.NA contains "NaN". On an error, w has got
// the earlier chunks, and perhaps rows of the current one.
//
// Write keeps no chunk, so the memory of chunks may be reused. It copies a few thousand rows at a
// time, so a chunk may be a dataset larger than memory.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], f Format) error {
	p, err := newPrinter(schema, f)
	if err != nil {
		return err
	}
	return p.table.Write(ctx, w, p.headers(), chunks, p.row)
}

// A printer appends rows as records.
type printer struct {
	format  Format
	na      naSet
	numbers *numerals
	table   *table.Table
	columns []column
	missing string    // the spelling of a missing value
	special [256]bool // bytes for which a text may need quotes
}

// newPrinter returns a printer for rows of a schema.
func newPrinter(schema tdict.Schema, f Format) (*printer, error) {
	f, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &printer{format: f, na: newNASet(f.NA), numbers: newNumerals(&f)}
	if p.table, err = table.New(schema, f.options()); err != nil {
		return nil, err
	}
	if p.columns, err = columnsOf(p.table, &f); err != nil {
		return nil, err
	}
	if err := p.setMissing(); err != nil {
		return nil, err
	}
	for _, c := range []byte{'"', '\n', '\r', '\xef', '\xfe', '\xff', '\x1f', '\x28', f.Comma, f.Comment} {
		p.special[c] = c != 0
	}
	return p, nil
}

// setMissing sets the spelling of missing values. It returns [ErrFormat] if one is needed and f has
// none.
func (p *printer) setMissing() error {
	optional := slices.IndexFunc(p.columns, func(c column) bool { return c.values.Spec.Mask != "" })
	switch {
	case optional < 0:
		return nil
	case len(p.format.NA) == 0:
		return fmt.Errorf("%w: got no NA, want a spelling for missing values of %s", ErrFormat, errtext.Quote(p.columns[optional].header))
	case len(p.columns) > 1 || p.format.NA[0] != "": // an empty line would be skipped
		p.missing = p.format.NA[0]
	case p.columns[0].text:
		return fmt.Errorf("%w: the empty spelling of a missing text would be an empty line: put another spelling first in NA", ErrFormat)
	default:
		p.missing = `""`
	}
	return nil
}

// headers returns the header line, if the format has one.
func (p *printer) headers() (b []byte) {
	if p.format.NoHeader {
		return nil
	}
	for i, c := range p.columns {
		b = p.comma(b, i)
		from := len(b)
		b = p.quote(append(b, c.header...), from, c.header == "" && len(p.columns) == 1)
	}
	return append(b, '\n')
}

// comma appends a delimiter, except before the first field.
func (p *printer) comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, p.format.Comma)
	}
	return b
}

// row appends row i as a record.
func (p *printer) row(b []byte, row, number int) ([]byte, error) {
	for i := range p.columns {
		c := &p.columns[i]
		b = p.comma(b, i)
		from := len(b)
		value := row*c.values.Width + c.element
		if !c.values.Present(value) {
			b = append(b, p.missing...)
			continue
		}
		if b = c.values.Text(b, value); c.marked {
			p.numbers.write(b[from:])
		}
		missing := (c.missable || c.text) && p.na.has(b[from:])
		if missing && !c.text {
			return b, p.refuse(c, number, b[from:])
		}
		if c.quotable {
			b = p.quote(b, from, missing || len(p.columns) == 1 && len(b) == from || !c.marked && table.IsWord(b[from:]))
		}
	}
	return append(b, '\n'), nil
}

// refuse returns the error for a text that would read back as missing.
func (p *printer) refuse(c *column, row int, text []byte) error {
	err := fmt.Errorf("row %d: %w: got %s, which would read back as missing: remove it from NA",
		row, ErrValue, errtext.Quote(string(text)))
	return &tdict.KeyError{Op: "write", Key: c.key(), Err: err}
}

// quote puts the text that begins at from in quotes, if must is set or the text needs them.
func (p *printer) quote(b []byte, from int, must bool) []byte {
	text := b[from:]
	for i := 0; !must && i < len(text); i++ {
		must = p.special[text[i]] && p.format.quotes(text)
	}
	if !must && (len(text) == 0 || text[0] != ' ' && text[len(text)-1] != ' ') { // other readers may trim spaces
		return b
	}
	b = append(b, '"')
	for _, c := range text {
		if b = append(b, c); c == '"' {
			b = append(b, c)
		}
	}
	b = append(b, '"')
	return append(b[:from], b[from+len(text):]...)
}
