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
	"github.com/go-tensordict/tensordict/tdict"
)

// WriteOptions say how [Write] writes. [Read] with the same options reads the result.
type WriteOptions struct{}

// Write writes the rows of chunks, each a dictionary [n] of the schema, as JSON objects, one on
// each line. Fields are in the order of the schema:
//
//	tensor [n Shape...], ragged [n * * Shape...], text [n Shape... *] or [n * * *] -> n lines
//
// [Read] with the same schema reads equal rows: numbers are written with the fewest digits that
// identify them, floats with a point or an exponent. A value that a mask hides is written as null.
// A list of a tensor is null if all its elements are missing.
//
// Write returns the error of chunks or of w, the cause of ctx, tdict.ErrSchema for an invalid
// schema or a chunk that does not fit it, ragged.ErrLengths if entries of a list of objects have
// other lengths, and a [*ParseError] with [ErrValue], the line and the
// key, for a text that is not UTF-8 or a code without a text. On an error, w has got the lines of
// the earlier chunks, and perhaps some lines of the current one.
//
// Write keeps no chunk, so the memory of chunks may be reused. It copies a few thousand rows at a
// time, so a chunk may be a dataset larger than memory.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], _ WriteOptions) error {
	t, err := table.New(schema, table.Options{})
	if err != nil {
		return err
	}
	root, err := objectOf(schema, t)
	if err != nil {
		return err
	}
	p := printer{root: root}
	return t.Write(ctx, w, nil, chunks, p.row)
}

// A printer appends rows as lines.
type printer struct {
	root *object
	line int    // of the row
	text []byte // the last text
}

// row appends row i as a line.
func (p *printer) row(b []byte, i, number int) ([]byte, error) {
	p.line = number + 1
	b, err := p.object(b, p.root, i)
	return append(b, '\n'), err
}

// object appends object i of the rows, or of the elements of a list of objects.
func (p *printer) object(b []byte, o *object, i int) (_ []byte, err error) {
	if len(o.fields) == 0 {
		b = append(b, '{')
	}
	for _, f := range o.fields {
		b = append(b, f.open...)
		if b, err = p.value(b, f, o.depth, i); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// value appends value i of those inside depth lists.
func (p *printer) value(b []byte, f *field, depth, i int) ([]byte, error) {
	switch {
	case f.missing(depth, i):
		return append(b, "null"...), nil
	case depth < len(f.levels):
		return p.list(b, f, depth, i)
	case f.inner != nil:
		return p.object(b, f.inner, i)
	}
	return p.scalar(b, f, i)
}

// missing reports whether value i inside depth lists is missing; a list of a tensor is if all its
// elements are.
func (f *field) missing(depth, i int) bool {
	if f.inner != nil || f.deep {
		return f.masked && !f.mask(depth).Present(i)
	}
	n := f.left(depth)
	for k := range n {
		if f.column.Present(i*n + k) {
			return false
		}
	}
	return n > 0
}

// list appends list number i of those inside depth others.
func (p *printer) list(b []byte, f *field, depth, i int) (_ []byte, err error) {
	l := f.levels[depth]
	from, to := i*l.size, (i+1)*l.size
	if l.lists != nil {
		from, to = l.lists.List(i)
	}
	b = append(b, '[')
	for i := from; i < to; i++ {
		if i > from {
			b = append(b, ',')
		}
		if b, err = p.value(b, f, depth+1, i); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// scalar appends element i.
func (p *printer) scalar(b []byte, f *field, i int) ([]byte, error) {
	c := f.column
	switch {
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
