package csv

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/tdict"
)

// ReadOptions say how to read. The zero ReadOptions are valid.
type ReadOptions struct {
	Format
	// Rows is the number of rows of a chunk: 4096 if it is not positive. The last chunk has fewer,
	// and one whose text exceeds 16 MiB.
	Rows int
	// SkipUnknown skips columns that the schema lacks, which are an error without it.
	SkipUnknown bool
	// MaxRecord bounds the bytes of a record, or of a comment: 1 MiB if it is not positive.
	MaxRecord int
	// Workers is the number of goroutines that parse: GOMAXPROCS if it is not positive.
	Workers int
}

// Read returns an iterator over the rows of a file:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop goes on: its memory is used again, and Clone keeps it longer.
// What is allocated for one does not depend on its rows, but for new categories.
//
// After an error Read yields it and stops: tdict.ErrSchema for a schema that a table cannot hold,
// [ErrFormat], the cause of ctx, the error of r, or a [*ParseError]. All rows before
// the wrong one have come then, the last of them in a chunk that is shorter. Reading is ahead of
// the loop; when that ends, early or not, Read waits for a call of r.Read that is under way, and no
// goroutine is left.
//
// The iterator can be used once; then it yields [ErrUsed]. It uses r, and the TextCodes of
// opt.Categories, while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		f, err := opt.Format.withDefaults()
		s := f.splitter(r, cmp.Or(max(0, opt.MaxRecord), maxRecord))
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

// A header is the line of headers.
type header struct {
	line  int
	names []string
}

// readHeader reads the line of headers.
func (f *Format) readHeader(s *table.Splitter) (h header, err error) {
	var text []byte
	line := s.Line()
	for n := 0; n == 0; {
		line = s.Line()
		if text, n, err = s.Next(text[:0], 1); n == 0 && err == io.EOF {
			return h, &ParseError{Line: line, Err: fmt.Errorf("%w: got an empty file, want headers", ErrHeader)}
		} else if n == 0 && err != nil {
			return h, err
		}
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

// ChunkSchema returns the schema of the chunks that [Read] yields of a schema: with the masks, and
// with int32 codes where f has Categories. A dataset of the rows fits it, and its Meta is the row
// of a Writer that appends them. It returns tdict.ErrSchema for a schema that a table cannot hold.
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
	table   *table.Table
	columns []column
	lacking []*table.Column
}

// newParser returns a parser of files with a header, which has no names for those of the schema.
func newParser(schema tdict.Schema, f *Format, h header, skip bool) (*parser, error) {
	t, err := table.New(schema, f.options())
	if err != nil {
		return nil, err
	}
	p := &parser{scan: newScanner(f), na: newNASet(f.NA), table: t}
	if p.columns, err = columnsOf(t, f); err != nil || h.names == nil {
		return p, err
	}
	if p.columns, p.lacking, err = arranged(p.columns, h.names, skip); err != nil {
		return nil, &ParseError{Line: h.line, Err: err}
	}
	return p, nil
}

// Table returns the table.
func (p *parser) Table() *table.Table { return p.table }

// Parse appends the first rows of a text to the table.
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
			return p.scan.wrongCount(i, len(p.columns), last, line)
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
	err := to.values.Append(field)
	if err != nil && p.na.has(field) {
		err = fmt.Errorf("%w: make the entry Optional, or give it a Fill, for a missing value", err)
	}
	return err
}
