package jsonl

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A parser appends rows to a table. It is reused for the next rows.
type parser struct {
	scan  jsonscan.Scanner
	table *table.Table
	root  object
	row   int // counts rows, including earlier chunks
	opt   *ReadOptions
	at    nestedkey.Key // the current entry, for errors
}

// An object has the fields of a dictionary in the schema.
type object struct {
	key    nestedkey.Key // "" for the row
	fields []*field
	named  map[string]*field
}

// A field is a dictionary or a column.
type field struct {
	name  string
	open  string // the beginning of the field in JSON: {"name": or ,"name":
	key   nestedkey.Key
	inner *object // nil for a column
	row   int     // the last row with the field

	column *table.Column
	ragged bool
	levels []level
	want   scalar
}

// A level describes the lists at one nesting depth of a value.
type level struct {
	size int // length of the lists, or -1 for any
	end  int // the ragged level of which the list is a row, or 0
	rest int // number of elements in a list, if the level is a dim
}

// A scalar is a type of JSON values that are not lists or objects.
type scalar uint8

const (
	aNumber scalar = iota // an integer
	aFloat
	aComplex
	aBool
	aText
)

// newParser returns a parser for rows of a schema.
func newParser(schema tdict.Schema, opt *ReadOptions) (*parser, error) {
	t, err := table.New(schema, opt.table())
	if err != nil {
		return nil, err
	}
	return &parser{table: t, opt: opt, root: objectOf(schema, t, opt.Times)}, nil
}

// objectOf returns the object for the rows of a schema.
func objectOf(schema tdict.Schema, t *table.Table, times map[nestedkey.Key]Time) (root object) {
	columns := t.Columns()
	for _, s := range schema {
		f := root.field(s.Key)
		if s.Kind == tdict.KindDict {
			f.inner = &object{key: f.key}
			continue
		}
		f.column, columns = columns[0], columns[1:]
		f.levels, f.want = levelsOf(s), scalarOf(s)
		f.ragged = s.Kind == tdict.KindRagged
		if _, ok := times[s.Key]; ok {
			f.want = aText
		}
	}
	return root
}

// field returns the field of a key. It adds the field and the dictionaries that contain it if
// necessary.
func (o *object) field(key nestedkey.Key) *field {
	if outer, ok := key.Parent(); ok {
		f := o.field(outer)
		if f.inner == nil {
			f.inner = &object{key: outer}
		}
		o = f.inner
	}
	name := key.Name()
	if f := o.named[name]; f != nil {
		return f
	}
	f := &field{name: name, key: key}
	f.open = string(jsonlists.AppendText([]byte{"{,"[min(len(o.fields), 1)]}, name)) + ":"
	if o.fields = append(o.fields, f); o.named == nil {
		o.named = map[string]*field{}
	}
	o.named[name] = f
	return f
}

// levelsOf returns the nested lists of a value.
func levelsOf(s tdict.Spec) (levels []level) {
	for i := range s.Depth {
		levels = append(levels, level{size: -1, end: i + 1})
	}
	for i, n := range s.Shape {
		levels = append(levels, level{size: n, rest: s.Shape[i:].Size()})
	}
	return levels
}

func scalarOf(s tdict.Spec) scalar {
	switch d := s.DType; {
	case s.Kind == tdict.KindText:
		return aText
	case d == tensor.Bool:
		return aBool
	case d.IsComplex():
		return aComplex
	case d.IsFloat():
		return aFloat
	}
	return aNumber
}

// parse appends the row of a line. After an error the table may have a part of the row.
func (p *parser) parse(line []byte) error {
	p.row++
	p.scan.Reset(line, p.opt.MaxDepth)
	err := p.object(&p.root)
	if err == nil {
		err = p.scan.End()
	}
	return explained(line, err)
}

// object reads an object.
func (p *parser) object(o *object) error {
	p.at = o.key
	if err := p.scan.OpenObject(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		p.at = o.key
		ok, err := p.scan.More(i, '}')
		if err != nil {
			return err
		}
		if !ok {
			return p.lacking(o)
		}
		if err := p.field(o, i); err != nil {
			return err
		}
	}
}

// field reads field i of an object.
func (p *parser) field(o *object, i int) error {
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
	if f.row == p.row {
		return duplicate(f.name)
	}
	f.row = p.row
	switch {
	case p.scan.Next() == 'n':
		if err := p.scan.Null(); err != nil {
			return err
		}
		return p.missing(f, "null")
	case f.inner != nil:
		return p.object(f.inner)
	}
	return p.value(f, 0)
}

// unknown skips a field that is not in the schema, or returns an error.
func (p *parser) unknown(name []byte) error {
	if !p.opt.SkipUnknown {
		return fmt.Errorf("%w: got the unknown field %s: add it to the schema, or set SkipUnknown", ErrField, errtext.Quote(string(name)))
	}
	return p.scan.Skip()
}

// duplicate returns the error for a duplicate field in a row.
func duplicate(name string) error {
	return fmt.Errorf("%w: got duplicate field %s", ErrField, errtext.Quote(name))
}

// lacking appends missing values for the fields that the row does not have.
func (p *parser) lacking(o *object) error {
	for _, f := range o.fields {
		if f.row != p.row {
			if err := p.missing(f, "no field"); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing appends missing values for all of f. got is for errors.
func (p *parser) missing(f *field, got string) error {
	if f.inner != nil {
		for _, inner := range f.inner.fields {
			if err := p.missing(inner, got); err != nil {
				return err
			}
		}
		return nil
	}
	p.at = f.key
	if f.ragged {
		return p.absent(f, 0, 1, got)
	}
	return p.absent(f, 0, f.column.Width, got)
}

// absent appends n missing values for a value inside depth lists.
func (p *parser) absent(f *field, depth, n int, got string) error {
	if !f.column.Missable() {
		return fmt.Errorf("%w: got %s, want %s", ErrValue, got, f.what(depth))
	}
	for range n {
		if err := f.column.AppendMissing(); err != nil {
			return err
		}
	}
	return nil
}

// value reads a value that is inside depth lists.
func (p *parser) value(f *field, depth int) error {
	switch c := p.scan.Next(); {
	case c == 'n' && depth > 0 && !f.ragged:
		if err := p.scan.Null(); err != nil {
			return err
		}
		return p.absent(f, depth, f.left(depth), "null")
	case depth == len(f.levels):
		return p.scalar(f, c)
	case c == '[':
		return p.list(f, depth)
	}
	return p.refused(f, depth)
}

// left returns the number of elements of a tensor in a value inside depth lists.
func (f *field) left(depth int) int {
	if depth < len(f.levels) {
		return f.levels[depth].rest
	}
	return 1
}

// list reads a list.
func (p *parser) list(f *field, depth int) error {
	l := f.levels[depth]
	if err := p.scan.Open(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		ok, err := p.scan.More(i, ']')
		switch {
		case err != nil:
			return err
		case !ok && l.size >= 0 && i != l.size:
			return fmt.Errorf("%w: got a list of %d, want %d", ErrValue, i, l.size)
		case !ok && l.end > 0:
			return f.column.EndList(l.end)
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
	switch {
	case string(text) == "null" && (!f.ragged || depth == 0):
		advice = ": make the entry Optional, or set Fill"
	case f.want == aText && !f.ragged:
		advice = ": set Raw to read its JSON as text"
	}
	return fmt.Errorf("%w: got %s, want %s%s", ErrValue, errtext.Cut(string(text), 60), f.what(depth), advice)
}

// what describes the value that f expects inside depth lists, for errors.
func (f *field) what(depth int) string {
	switch {
	case depth < len(f.levels) && f.levels[depth].size >= 0:
		return fmt.Sprintf("a list of %d", f.levels[depth].size)
	case depth < len(f.levels):
		return "a list"
	}
	return [...]string{"an integer", "a number", `a number or a string such as "(1+2i)"`, "true or false", "a string"}[f.want]
}
