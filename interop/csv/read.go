package csv

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// ReadOptions say how to read. The zero ReadOptions are valid.
type ReadOptions struct {
	Format
	// Rows is the number of rows of a chunk; 0 or less means 4096. The last chunk may have fewer,
	// as may a chunk whose text would exceed 16 MiB.
	Rows int
	// SkipUnknown skips columns that are not in the schema. By default they are an error.
	SkipUnknown bool
	// MaxRecord is the largest size of a record or comment in bytes; 0 or less means 1 GiB.
	MaxRecord int
	// Workers is the number of goroutines that parse; 0 or less means GOMAXPROCS.
	Workers int
}

// Read returns an iterator over the rows of a file:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop continues: then its memory is reused. Clone it to keep it longer.
// The allocations for a chunk do not depend on its number of rows.
//
// After an error Read yields it and stops. The error is tdict.ErrSchema for a schema that a table
// cannot hold, [ErrFormat], the cause of ctx, the error of r, or a [*ParseError]. All rows before
// the invalid one were yielded; the last of them are in a shorter chunk. Read reads ahead of the
// loop. When the loop ends, early or not, Read waits for a running call of r.Read; no goroutine
// outlives the loop.
//
// The iterator is single-use: ranging again yields [ErrUsed]. It uses r while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		f, err := opt.Format.withDefaults()
		s := f.splitter(r, opt.MaxRecord)
		var h header
		if err == nil && !f.NoHeader {
			h, err = f.readHeader(s)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		table.Read(ctx, s, cmp.Or(max(0, opt.Rows), 4096), opt.Workers, func() (table.Parser, error) {
			return newParser(schema, &f, h, opt.SkipUnknown)
		})(yield)
	})
}

// A header is the header line of a file.
type header struct {
	line  int
	names []string
}

// readHeader reads the header line.
func (f *Format) readHeader(s *table.Splitter) (h header, err error) {
	text, line, err := s.One(nil)
	if err == io.EOF {
		err = &ParseError{Line: line, Err: fmt.Errorf("%w: got an empty file, want headers", ErrHeader)}
	}
	if err != nil {
		return h, err
	}
	scan := newScanner(f)
	scan.reset(text, line)
	scan.more()
	h.line = scan.line
	for last := false; !last; {
		var field []byte
		if field, _, last, err = scan.field(); err != nil {
			return h, scan.fail("", err)
		}
		h.names = append(h.names, string(field))
	}
	return h, nil
}

// ChunkSchema returns the schema of the chunks that [Read] yields for a schema: with the masks. A
// dataset of the rows fits it. Its Meta is a prototype for a Writer that appends the rows.
// ChunkSchema returns tdict.ErrSchema for a schema that a table cannot hold.
func ChunkSchema(schema tdict.Schema, f Format) (tdict.Schema, error) {
	t, err := table.New(schema, f.options())
	if err != nil {
		return nil, err
	}
	return t.Schema(), nil
}

// A parser parses records.
type parser struct {
	scan    *scanner
	na      naSet
	numbers *numerals
	table   *table.Table
	columns []column
	lacking []*table.Column
}

// newParser returns a parser for files with header h. Without names in h, columns are in the order
// of the schema.
func newParser(schema tdict.Schema, f *Format, h header, skip bool) (*parser, error) {
	t, err := table.New(schema, f.options())
	if err != nil {
		return nil, err
	}
	p := &parser{scan: newScanner(f), na: newNASet(f.NA), numbers: newNumerals(f), table: t}
	if p.columns, err = columnsOf(t, f); err != nil || h.names == nil {
		return p, err
	}
	if p.columns, p.lacking, err = f.arranged(p.columns, h.names, skip); err != nil {
		return nil, &ParseError{Line: h.line, Err: err}
	}
	return p, nil
}

// Table returns the table.
func (p *parser) Table() *table.Table { return p.table }

// Parse appends the first n rows of a text to the table.
func (p *parser) Parse(text []byte, line, n int) (int, error) {
	p.scan.reset(text, line)
	for i := range n {
		p.scan.more()
		if err := p.row(); err != nil {
			return i, err
		}
	}
	return n, nil
}

// row parses a row.
func (p *parser) row() error {
	line := p.scan.line
	for i, last := 0, false; !last || i < len(p.columns); i++ {
		if last || i == len(p.columns) {
			var key nestedkey.Key
			if i < len(p.columns) {
				key = p.columns[i].key()
			}
			return p.scan.wrongCount(i, len(p.columns), last, line, key)
		}
		var field []byte
		var quoted bool
		var err error
		if field, quoted, last, err = p.scan.field(); err != nil {
			return p.scan.fail(p.columns[i].key(), err)
		}
		if err := p.put(&p.columns[i], field, quoted); err != nil {
			return p.scan.fail(p.columns[i].key(), err)
		}
	}
	for _, column := range p.lacking {
		if err := column.AppendMissing(); err != nil {
			return &tdict.KeyError{Op: "csv", Key: column.Spec.Key, Err: err}
		}
	}
	return nil
}

// put appends a field to its column.
func (p *parser) put(to *column, field []byte, quoted bool) error {
	switch {
	case to.values == nil: // skipped
		return nil
	case to.missable && !(to.text && quoted) && p.na.has(field):
		return to.values.AppendMissing()
	}
	var err error
	if !to.marked {
		err = to.values.Append(field)
	} else if plain, ok := p.numbers.read(field); ok {
		err = to.values.Append(plain)
	} else {
		err = p.numbers.refused(field)
	}
	if err != nil && p.na.has(field) {
		err = fmt.Errorf("%w: if it is a missing value, make the entry Optional or set Fill", err)
	}
	return err
}
