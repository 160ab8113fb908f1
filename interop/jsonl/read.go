package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// The defaults of ReadOptions.
const (
	maxRecord = 1 << 30
	maxDepth  = 64
)

// ReadOptions say how to read. The zero ReadOptions are valid, and read strictly.
type ReadOptions struct {
	// Rows is the number of rows of a chunk; 0 or less means 4096. The last chunk may have fewer,
	// as may a chunk whose text would exceed 16 MiB.
	Rows int
	// SkipUnknown skips fields that are not in the schema. By default they are an error.
	SkipUnknown bool
	// Raw makes text entries accept values that are not strings: the text is their JSON.
	Raw bool
	// MaxRecord is the largest size of a line in bytes; 0 or less means 1 GiB.
	MaxRecord int
	// MaxDepth is the largest nesting depth of lists and objects; 0 or less means 64. It is at most
	// 100,000.
	MaxDepth int
	// Workers is the number of goroutines that parse; 0 or less means GOMAXPROCS.
	Workers int

	// Fill has, for a key, the text that is read in place of a missing value.
	Fill map[nestedkey.Key]string
}

// Read returns an iterator over the rows of a file, a JSON object on each line:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop continues: then its memory is reused. Clone it to keep it longer.
// The allocations for a chunk do not depend on its number of rows.
//
// After an error Read yields it and stops. The error is tdict.ErrSchema for a schema that a table
// cannot hold, the cause of ctx, or a [*ParseError]: [ErrSyntax], [ErrField], [ErrValue],
// [ErrTooLong] or the error of r. All rows before the invalid one were yielded; the last of them
// are in a shorter chunk. Read reads ahead of the loop. When the loop ends, early or not, Read
// waits for a running call of r.Read; no goroutine outlives the loop.
//
// The iterator is single-use: ranging again yields [ErrUsed]. It uses r while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		opt := opt.withDefaults()
		d := newDocument(source.Open(r))
		s := table.NewSplitter(d, d, opt.MaxRecord)
		table.Read(ctx, s, opt.Rows, opt.Workers, func() (table.Parser, error) { return newParser(schema, &opt, d) })(yield)
	})
}

// ChunkSchema returns the schema of the chunks that [Read] yields for a schema: with the masks. A
// dataset of the rows fits it. Its Meta is a prototype for a Writer that appends the rows.
// ChunkSchema returns tdict.ErrSchema for a schema that a table cannot hold.
func ChunkSchema(schema tdict.Schema, opt ReadOptions) (tdict.Schema, error) {
	t, err := table.New(schema, opt.table())
	if err != nil {
		return nil, err
	}
	return t.Schema(), nil
}

// withDefaults returns opt with defaults in place of zeros.
func (opt ReadOptions) withDefaults() ReadOptions {
	opt.Rows = cmp.Or(max(0, opt.Rows), 4096)
	opt.MaxRecord = cmp.Or(max(0, opt.MaxRecord), maxRecord)
	opt.MaxDepth = cmp.Or(max(0, opt.MaxDepth), maxDepth)
	return opt
}

func (opt *ReadOptions) table() table.Options {
	return table.Options{Fill: opt.Fill}
}

// Table returns the table.
func (p *parser) Table() *table.Table { return p.table }

// Parse appends the first rows rows of a text to the table.
func (p *parser) Parse(text []byte, number, rows int) (int, error) {
	for n := 0; n < rows; {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line = text[:i]
		}
		text = text[min(len(line)+1, len(text)):]
		if !blank(line) {
			if err := p.parse(line); err != nil {
				if p.document.values {
					number += p.document.Lines(line[:p.scan.Pos()])
				}
				return n, &ParseError{Line: number, Key: p.at, Err: err}
			}
			n++
		}
		if number++; p.document.values {
			number += p.document.Lines(line) - 1
		}
	}
	return rows, nil
}
