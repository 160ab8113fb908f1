package jsonl

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// WriteOptions say how [Write] writes. [Read] with the same options reads the result.
type WriteOptions struct {
	// Categories has the texts of entries that are int32 codes in the chunks, and text in the
	// schema.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the int64 entries that are written as dates or times.
	Times map[nestedkey.Key]Time
}

// Write writes the rows of chunks, each a dictionary [n] of the schema, as JSON objects, one on
// each line. Fields are in the order of the schema:
//
//	tensor [n Shape...], ragged [n * * Shape...], text [n Shape... *] -> n lines
//
// [Read] with the same schema reads equal rows: numbers are written with the fewest digits that
// identify them, floats with a point or an exponent. A value that is missing by the mask of an
// Optional entry is written as null, and so is a tensor of which all elements are missing.
//
// Write returns the error of chunks or of w, the cause of ctx, tdict.ErrSchema for an invalid
// schema or a chunk that does not fit it, and a [*ParseError] with [ErrValue], the line and the
// key, for a text that is not UTF-8 or a code without a text. On an error, w has got the lines of
// the earlier chunks, and perhaps some lines of the current one.
//
// Write keeps no chunk, so the memory of chunks may be reused. It copies a few thousand rows at a
// time, so a chunk may be a dataset larger than memory.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], opt WriteOptions) error {
	t, err := table.New(schema, table.Options{Categories: opt.Categories, Times: opt.Times})
	if err != nil {
		return err
	}
	p := printer{root: objectOf(schema, t, opt.Times)}
	return t.Write(ctx, w, nil, chunks, p.row)
}

// A printer appends rows as lines.
type printer struct {
	root object
	line int    // of the row
	text []byte // the last text
}

// row appends row i as a line.
func (p *printer) row(b []byte, i, number int) ([]byte, error) {
	p.line = number + 1
	b, err := p.object(b, &p.root, i)
	return append(b, '\n'), err
}

// object appends an object of a row as JSON.
func (p *printer) object(b []byte, o *object, row int) (_ []byte, err error) {
	if len(o.fields) == 0 {
		b = append(b, '{')
	}
	for _, f := range o.fields {
		b = append(b, f.open...)
		switch {
		case f.inner != nil:
			b, err = p.object(b, f.inner, row)
		case len(f.levels) == 0:
			b, err = p.scalar(b, f, row)
		case f.missing(row):
			b = append(b, "null"...)
		default:
			b, err = p.list(b, f, 0, row)
		}
		if err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// missing reports whether no value of a row is present: a ragged row, or each element of a tensor.
func (f *field) missing(row int) bool {
	if f.ragged {
		return !f.column.Present(row)
	}
	for i := range f.column.Width {
		if f.column.Present(row*f.column.Width + i) {
			return false
		}
	}
	return f.column.Width > 0
}

// list appends list number i of those at nesting depth depth.
func (p *printer) list(b []byte, f *field, depth, i int) (_ []byte, err error) {
	l := f.levels[depth]
	from, to := i*l.size, (i+1)*l.size
	if l.end > 0 {
		from, to = f.column.List(l.end, i)
	}
	b = append(b, '[')
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		if depth+1 == len(f.levels) {
			b, err = p.scalar(b, f, i)
		} else {
			b, err = p.list(b, f, depth+1, i)
		}
		if err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// scalar appends element i.
func (p *printer) scalar(b []byte, f *field, i int) ([]byte, error) {
	c := f.column
	switch {
	case !f.ragged && !c.Present(i):
		b = append(b, "null"...)
	case f.want == aText:
		return p.string(b, f, i)
	case f.want == aComplex:
		b = append(c.Text(append(b, '"'), i), '"')
	case f.want == aFloat:
		from := len(b)
		b = c.Text(b, i)
		if end := b[len(b)-1]; end == 'N' || end == 'f' { // NaN, +Inf
			b = append(slices.Insert(b, from, '"'), '"')
		}
	default:
		b = c.Text(b, i)
	}
	return b, nil
}

// string appends text i.
func (p *printer) string(b []byte, f *field, i int) ([]byte, error) {
	p.text = f.column.Text(p.text[:0], i)
	if !utf8.Valid(p.text) {
		err := fmt.Errorf("%w: got the bytes %s, want UTF-8", ErrValue, errtext.Quote(string(p.text)))
		return b, &ParseError{Line: p.line, Key: f.key, Err: err}
	}
	return jsonlists.AppendText(b, p.text), nil
}
