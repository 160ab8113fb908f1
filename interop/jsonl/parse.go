package jsonl

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A parser appends rows to a table. It is reused for the next rows.
type parser struct {
	scan    jsonscan.Scanner
	table   *table.Table
	root    *object
	objects int // counts objects, including earlier chunks
	opt     *ReadOptions
	at      nestedkey.Key // the current entry, for errors

	document *document // has begun when there is a text
}

// newParser returns a parser for rows of a schema.
func newParser(schema tdict.Schema, opt *ReadOptions, d *document) (*parser, error) {
	t, err := table.New(schema, opt.table())
	if err != nil {
		return nil, err
	}
	root, err := objectOf(schema, t)
	return &parser{table: t, opt: opt, root: root, document: d}, err
}

// parse appends the row of a line. After an error the table may have a part of the row.
func (p *parser) parse(line []byte) error {
	p.scan.Reset(line, p.opt.MaxDepth)
	err := p.object(p.root)
	if err == nil {
		err = p.scan.End()
	}
	return severalLines(line, err)
}

// object reads an object.
func (p *parser) object(o *object) error {
	p.at = o.key
	if err := p.scan.OpenObject(); err != nil {
		return err
	}
	p.objects++
	number := p.objects
	for i := 0; ; i++ {
		p.at = o.key
		ok, err := p.scan.More(i, '}')
		if err != nil {
			return err
		}
		if !ok {
			return p.lacking(o, number)
		}
		if err := p.field(o, i, number); err != nil {
			return err
		}
	}
}

// field reads field i of object o, which has a number.
func (p *parser) field(o *object, i, number int) error {
	name, err := p.scan.Name()
	if err != nil {
		return err
	}
	var f *field
	if i < len(o.fields) && o.fields[i].name == string(name) {
		f = o.fields[i]
	} else if f = o.named[string(name)]; f == nil {
		return p.unknown(name)
	}
	p.at = f.key
	if f.last == number {
		return duplicate(f.name)
	}
	f.last = number
	return p.value(f, o.depth)
}

// unknown skips a field that is not in the schema, or returns an error.
func (p *parser) unknown(name []byte) error {
	if !p.opt.SkipUnknown {
		return fmt.Errorf("%w: got the unknown field %s: add it to the schema, or set SkipUnknown", ErrField, errtext.Quote(string(name)))
	}
	return p.scan.Skip()
}

// duplicate returns the error for a duplicate field in an object.
func duplicate(name string) error {
	return fmt.Errorf("%w: got duplicate field %s", ErrField, errtext.Quote(name))
}

// lacking appends missing values for the fields that an object does not have.
func (p *parser) lacking(o *object, number int) error {
	for _, f := range o.fields {
		if f.last != number {
			if err := p.missing(f, o.depth, "no field"); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing appends a missing value of each entry of f, inside depth lists. got is for errors.
func (p *parser) missing(f *field, depth int, got string) error {
	p.at = f.key
	if f.inner == nil {
		return p.absent(f, depth, got)
	}
	mask := f.mask(depth)
	if mask == nil && (depth < f.inner.depth || len(f.inner.fields) == 0) {
		return fmt.Errorf("%w: got %s, want %s", ErrValue, got, f.what(depth))
	}
	mask.Add(false)
	if depth < f.inner.depth {
		f.entry.Levels[depth].End(0)
		return nil
	}
	for _, inner := range f.inner.fields {
		if err := p.missing(inner, depth, got); err != nil {
			return err
		}
	}
	return nil
}

// absent appends a missing list or missing values to a column, inside depth lists.
func (p *parser) absent(f *field, depth int, got string) error {
	if f.deep && f.mask(depth) == nil || !f.deep && !f.column.Missable() {
		return fmt.Errorf("%w: got %s, want %s", ErrValue, got, f.what(depth))
	}
	if f.deep {
		return f.column.Missing(depth)
	}
	for range f.left(depth) {
		if err := f.column.AppendMissing(); err != nil {
			return err
		}
	}
	return nil
}

// value reads a value that is inside depth lists.
func (p *parser) value(f *field, depth int) error {
	c := p.scan.Next()
	if c == 'n' {
		if err := p.scan.Null(); err != nil {
			return err
		}
		return p.missing(f, depth, "null")
	}
	if f.masked {
		f.mask(depth).Add(true)
	}
	switch {
	case f.inner != nil && depth == f.inner.depth && c == '{':
		return p.object(f.inner)
	case f.inner == nil && depth == len(f.levels):
		return p.scalar(f, c)
	case depth < len(f.levels) && c == '[':
		return p.list(f, depth)
	}
	return p.refused(f, depth)
}

// list reads a list.
func (p *parser) list(f *field, depth int) error {
	l := f.levels[depth]
	if err := p.scan.Open(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		p.at = f.key
		ok, err := p.scan.More(i, ']')
		switch {
		case err != nil:
			return err
		case !ok && l.size >= 0 && i != l.size:
			return fmt.Errorf("%w: got a list of %d, want %d", ErrValue, i, l.size)
		case !ok && l.lists != nil:
			l.lists.End(i)
			return nil
		case !ok:
			return nil
		case i == l.size:
			return fmt.Errorf("%w: got a list of more than %d", ErrValue, i)
		}
		if err := p.value(f, depth+1); err != nil {
			return err
		}
	}
}

// scalar reads a value that begins with c.
func (p *parser) scalar(f *field, c byte) (err error) {
	var text []byte
	switch {
	case c == '"' && f.want != aNumber && f.want != aBool:
		if text, err = p.scan.Text(); err == nil && f.want == aFloat && !jsonscan.IsWord(text) {
			return fmt.Errorf("%w: got the string %s, want %s", ErrValue, errtext.Quote(string(text)), f.what(len(f.levels)))
		}
	case f.want == aText && p.opt.Raw && f.column.Spec.Kind == tdict.KindText:
		text, err = p.raw()
	case f.want == aBool && (c == 't' || c == 'f'):
		text, err = p.scan.Raw()
	case f.want < aBool && (c == '-' || '0' <= c && c <= '9' || c == 'N' || c == 'I'):
		text, err = p.scan.Digits()
	default:
		return p.refused(f, len(f.levels))
	}
	if err != nil {
		return err
	}
	return f.column.Append(text)
}

// raw reads a value of any type and returns its text.
func (p *parser) raw() ([]byte, error) {
	text, err := p.scan.Raw()
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%w: got a string that is not UTF-8", ErrSyntax)
	}
	return text, err
}

// refused returns the error for a value of a wrong type. It checks that the value is valid JSON
// first.
func (p *parser) refused(f *field, depth int) error {
	text, err := p.scan.Raw()
	if err != nil {
		return err
	}
	advice := ""
	if f.want == aText && f.inner == nil && depth == len(f.levels) {
		advice = ": set Raw to read its JSON as text"
	}
	return fmt.Errorf("%w: got %s, want %s%s", ErrValue, errtext.Cut(string(text), 60), f.what(depth), advice)
}
