package jsonl

import (
	"context"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// WriteOptions say how [Write] writes: as [Read] with the same options reads.
type WriteOptions struct {
	// Categories has the texts of entries that are int32 codes, and text in the schema.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has entries of int64 be written as dates or times.
	Times map[nestedkey.Key]Time
}

// Write writes the rows of chunks, each a dictionary [n] of the schema, as JSON objects, one on each
// line, with the fields in the order of the schema:
//
//	tensor [n Shape...], ragged [n * * Shape...], text [n Shape... *] -> n lines
//
// [Read] of the same schema reads equal rows: numbers have the fewest digits with which they are the
// same. A value that the mask of an Optional entry says is missing is null.
//
// Write returns the error of chunks, of w, or the cause of ctx; tdict.ErrSchema for a schema or a
// chunk that does not fit; and an [*ParseError] that is [ErrValue], with the line and the key, for a text
// that is not UTF-8 or a code without a text. Then w has got the lines of the chunks before, and
// perhaps some of the chunk. It keeps no chunk, whose memory may be used again.
func Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error], opt WriteOptions) error {
	t, err := table.New(schema, table.Options{Categories: opt.Categories, Times: opt.Times})
	if err != nil {
		return err
	}
	p := printer{w: w, table: t, root: objectOf(schema, t, opt.Times)}
	for td, err := range chunks {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = p.chunk(td)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A printer writes the rows of one chunk after another.
type printer struct {
	w     io.Writer
	table *table.Table
	root  object
	line  int    // the number of lines written
	out   []byte // lines to be written
	text  []byte // the text of an element
}

// chunk writes the rows of a dictionary.
func (p *printer) chunk(td *tdict.TensorDict) error {
	const enough = 1 << 16
	if err := p.table.Load(td); err != nil {
		return err
	}
	for row := range td.Shape()[0] {
		p.line++
		if err := p.object(&p.root, row); err != nil {
			return err
		}
		if p.out = append(p.out, '\n'); len(p.out) >= enough {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

func (p *printer) flush() error {
	_, err := p.w.Write(p.out)
	p.out = p.out[:0]
	return err
}

// object appends an object of a row.
func (p *printer) object(o *object, row int) (err error) {
	if len(o.fields) == 0 {
		p.out = append(p.out, '{')
	}
	for _, f := range o.fields {
		p.out = append(p.out, f.open...)
		switch {
		case f.inner != nil:
			err = p.object(f.inner, row)
		case len(f.levels) == 0:
			err = p.scalar(f, row)
		case f.ragged && !f.column.Present(row):
			p.out = append(p.out, "null"...)
		default:
			err = p.list(f, 0, row)
		}
		if err != nil {
			return err
		}
	}
	p.out = append(p.out, '}')
	return nil
}

// list appends list i of those in a number of others.
func (p *printer) list(f *field, depth, i int) (err error) {
	l := f.levels[depth]
	from, to := i*l.size, (i+1)*l.size
	if l.end > 0 {
		from, to = f.column.List(l.end, i)
	}
	p.out = append(p.out, '[')
	for i := from; i < to; i++ {
		if i > from {
			p.out = append(p.out, ',')
		}
		if depth+1 == len(f.levels) {
			err = p.scalar(f, i)
		} else {
			err = p.list(f, depth+1, i)
		}
		if err != nil {
			return err
		}
	}
	p.out = append(p.out, ']')
	return nil
}

// scalar appends element i.
func (p *printer) scalar(f *field, i int) error {
	c := f.column
	switch {
	case !f.ragged && !c.Present(i):
		p.out = append(p.out, "null"...)
	case f.want == aText:
		return p.string(f, i)
	case f.want == aComplex:
		p.out = append(c.Text(append(p.out, '"'), i), '"')
	case f.want == aFloat:
		p.float(c, i)
	default:
		p.out = c.Text(p.out, i)
	}
	return nil
}

// float appends float i, as a string if JSON has no number for it.
func (p *printer) float(c *table.Column, i int) {
	from := len(p.out)
	p.out = c.Text(p.out, i)
	if end := p.out[len(p.out)-1]; end == 'N' || end == 'f' { // NaN, +Inf
		p.text = append(p.text[:0], p.out[from:]...)
		p.out = append(append(append(p.out[:from], '"'), p.text...), '"')
	}
}

// string appends text i.
func (p *printer) string(f *field, i int) error {
	p.text = f.column.Text(p.text[:0], i)
	if !utf8.Valid(p.text) {
		err := fmt.Errorf("%w: got the bytes %s, want UTF-8", ErrValue, errtext.Quote(string(p.text)))
		return &ParseError{Line: p.line, Key: f.key, Err: err}
	}
	p.out = jsonlists.AppendText(p.out, p.text)
	return nil
}
