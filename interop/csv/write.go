package csv

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/tdict"
)

// Write writes the rows of chunks, each a dictionary [n] of the schema, as records, after a line of
// headers unless f has NoHeader. The columns are in the order of the schema:
//
//	tensor [n Shape...], text [n Shape... *] -> n records of size(Shape) fields for each entry
//
// [Read] with the same schema and Format reads equal rows: numbers have the fewest digits with
// which they are the same. A value that the mask of an Optional entry says is missing is written as
// the first of f.NA.
//
// Write returns the error of chunks, of w, or the cause of ctx; [ErrFormat]; tdict.ErrSchema for a
// schema or a chunk that does not fit, or an entry that has no columns, as ragged numbers; and
// [ErrValue], with the key and the row, for a value that would read back as missing, such as NaN if
// that is one of f.NA, and for a code without a text. Then w has got the chunks before, and perhaps
// rows of the chunk. Write keeps no chunk, whose memory may be used again. It copies some thousand
// rows at a time, so a chunk may be a dataset larger than memory.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], f Format) error {
	p, err := newPrinter(w, schema, f)
	if err != nil {
		return err
	}
	if err := p.table.LoadAll(ctx, chunks, p.block); err != nil {
		return err
	}
	return p.flush()
}

// A printer writes the rows of one block after another.
type printer struct {
	w       io.Writer
	format  Format
	na      naSet
	table   *table.Table
	columns []column
	missing string    // the spelling of a missing value
	special [256]bool // bytes for which a text may need quotes
	rows    int       // of the blocks before
	out     []byte
}

// newPrinter returns a printer that has the line of headers.
func newPrinter(w io.Writer, schema tdict.Schema, f Format) (*printer, error) {
	f, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &printer{w: w, format: f, na: newNASet(f.NA)}
	if p.table, err = table.New(schema, f.options()); err != nil {
		return nil, err
	}
	if p.columns, err = columnsOf(p.table, &f); err != nil {
		return nil, err
	}
	if err := p.setMissing(); err != nil {
		return nil, err
	}
	for _, c := range []byte{'"', '\n', '\r', '\xef', f.Comma, f.Comment} {
		p.special[c] = c != 0
	}
	if !f.NoHeader {
		p.headers()
	}
	return p, nil
}

// setMissing sets the spelling of missing values. It returns [ErrFormat] if there should be one.
func (p *printer) setMissing() error {
	optional := slices.IndexFunc(p.columns, func(c column) bool { return c.values.Spec.Optional })
	switch {
	case optional < 0:
		return nil
	case len(p.format.NA) == 0:
		return fmt.Errorf("%w: got no NA, want a spelling for what is missing in %s", ErrFormat, errtext.Quote(p.columns[optional].header))
	case len(p.columns) > 1 || p.format.NA[0] != "": // an empty line is no record
		p.missing = p.format.NA[0]
	case p.columns[0].text:
		return fmt.Errorf("%w: got an empty line for a missing text, want another spelling first in NA", ErrFormat)
	default:
		p.missing = `""`
	}
	return nil
}

// headers appends the line of headers.
func (p *printer) headers() {
	for i, c := range p.columns {
		p.comma(i)
		from := len(p.out)
		p.out = append(p.out, c.header...)
		p.quote(from, c.header == "" && len(p.columns) == 1)
	}
	p.out = append(p.out, '\n')
}

// comma appends a delimiter, but before the first field.
func (p *printer) comma(i int) {
	if i > 0 {
		p.out = append(p.out, p.format.Comma)
	}
}

// block writes the rows that are loaded.
func (p *printer) block(rows int) error {
	const enough = 1 << 16
	for row := range rows {
		if err := p.row(row); err != nil {
			return err
		}
		if len(p.out) >= enough {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	p.rows += rows
	return p.flush()
}

func (p *printer) flush() error {
	_, err := p.w.Write(p.out)
	p.out = p.out[:0]
	return err
}

// row appends a record.
func (p *printer) row(row int) error {
	for i := range p.columns {
		c := &p.columns[i]
		p.comma(i)
		from := len(p.out)
		value := row*c.values.Width + c.element
		if !c.values.Present(value) {
			p.out = append(p.out, p.missing...)
			continue
		}
		p.out = c.values.Text(p.out, value)
		missing := c.missable && p.na.has(p.out[from:])
		if missing && !c.text {
			return p.refuse(c, row, p.out[from:])
		}
		if c.quotable {
			p.quote(from, missing || len(p.columns) == 1 && len(p.out) == from)
		}
	}
	p.out = append(p.out, '\n')
	return nil
}

// refuse returns the error of a text that reads back as missing.
func (p *printer) refuse(c *column, row int, text []byte) error {
	err := fmt.Errorf("row %d: %w: got %s, which reads back as missing, want another spelling in NA",
		p.rows+row, ErrValue, errtext.Quote(string(text)))
	return &tdict.KeyError{Op: "write", Key: c.key(), Err: err}
}

// quote puts the text that begins at a place in quotes, if it must have them or needs them.
func (p *printer) quote(from int, must bool) {
	text := p.out[from:]
	for i := 0; !must && i < len(text); i++ {
		must = p.special[text[i]] && p.format.quotes(text)
	}
	if !must && (len(text) == 0 || text[0] != ' ' && text[len(text)-1] != ' ') { // other readers may trim
		return
	}
	p.out = append(p.out, '"')
	for i := range len(text) {
		if c := p.out[from+i]; c == '"' {
			p.out = append(p.out, c, c)
		} else {
			p.out = append(p.out, c)
		}
	}
	p.out = append(p.out, '"')
	p.out = append(p.out[:from], p.out[from+len(text):]...)
}
