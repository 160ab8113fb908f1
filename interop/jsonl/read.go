package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// What ReadOptions has if it says nothing else.
const (
	maxRecord = 16 << 20
	maxDepth  = 64
)

// ReadOptions say how to read. The zero ReadOptions are valid, and read strictly.
type ReadOptions struct {
	// Rows is the number of rows of a chunk: 4096 if it is not positive. The last chunk has fewer,
	// and one whose text exceeds 16 MiB.
	Rows int
	// SkipUnknown skips fields that the schema lacks, which are an error without it.
	SkipUnknown bool
	// Raw has entries of text take values that are not strings, spelled as they are.
	Raw bool
	// MaxRecord bounds the bytes of a line: 16 MiB if it is not positive.
	MaxRecord int
	// MaxDepth bounds how deep lists and objects are nested: 64 if it is not positive, and never
	// more than 1000.
	MaxDepth int
	// Workers is the number of goroutines that parse: GOMAXPROCS if it is not positive.
	Workers int

	// Categories makes entries of texts int32 codes; see the package.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the entries of int64 that are strings: dates or times.
	Times map[nestedkey.Key]Time
	// Fill has the text of the value that stands where one is missing.
	Fill map[nestedkey.Key]string
}

// A Time says how an entry of int64 is written as dates or times. Its fields are:
//
//	Layout string         // one of package time, such as time.DateOnly
//	Unit   time.Duration  // of the numbers, which count from 1970 on in UTC; 0: time.Second
//	Zone   *time.Location // of texts that name none, and of written texts; nil: UTC
//
// A text that is not a whole number of units, or that an int64 does not count, is [ErrValue].
// Where clocks change, a text without a zone is read as time.ParseInLocation reads it, and a number
// whose text reads back as another is [ErrValue] too.
type Time = table.Time

// Read returns an iterator over the rows of a file, a JSON object on each line:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop goes on: its memory is used again, and Clone keeps it longer.
// What is allocated for one does not depend on its rows, but for new categories.
//
// After an error Read yields it and stops: tdict.ErrSchema for a schema that a table cannot hold,
// the cause of ctx, or a [*ParseError]: [ErrSyntax], [ErrField],
// [ErrValue], [ErrTooLong] or the error of r. All rows before the wrong one have come then, the
// last of them in a chunk that is shorter. Reading is ahead of the loop; when that ends, early or
// not, Read waits for a call of r.Read that is under way, and no goroutine is left.
//
// The iterator can be used once; then it yields [ErrUsed]. It uses r, and the TextCodes of
// opt.Categories, while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		opt := opt.withDefaults()
		s := table.NewSplitter(r, lines{}, opt.MaxRecord)
		table.Read(ctx, s, opt.Rows, opt.Workers, func() (table.Parser, error) { return newParser(schema, &opt) })(yield)
	})
}

// ChunkSchema returns the schema of the chunks that [Read] yields of a schema: with the masks, and
// with int32 codes where opt has Categories. A dataset of the rows fits it, and its Meta is the row
// of a Writer that appends them. It returns tdict.ErrSchema for a schema that a table cannot hold.
func ChunkSchema(schema tdict.Schema, opt ReadOptions) (tdict.Schema, error) {
	t, err := table.New(schema, opt.table())
	if err != nil {
		return nil, err
	}
	return t.Schema(), nil
}

// withDefaults returns opt without zeros.
func (opt ReadOptions) withDefaults() ReadOptions {
	opt.Rows = cmp.Or(max(0, opt.Rows), 4096)
	opt.MaxRecord = cmp.Or(max(0, opt.MaxRecord), maxRecord)
	opt.MaxDepth = cmp.Or(max(0, opt.MaxDepth), maxDepth)
	return opt
}

func (opt *ReadOptions) table() table.Options {
	return table.Options{Categories: opt.Categories, Times: opt.Times, Fill: opt.Fill}
}

// Table returns the table.
func (p *parser) Table() *table.Table { return p.table }

// Parse appends the first rows of a text to the table.
func (p *parser) Parse(text []byte, number, rows int) (int, error) {
	for n := 0; n < rows; number++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line = text[:i]
		}
		text = text[min(len(line)+1, len(text)):]
		if blank(line) {
			continue
		}
		if err := p.parse(line); err != nil {
			return n, &ParseError{Line: number, Key: p.at, Err: err}
		}
		n++
	}
	return rows, nil
}

// lines say that a row is a line.
type lines struct{}

// Ends reports true.
func (lines) Ends([]byte, bool) bool { return true }

// Skips reports whether a line has nothing but white space.
func (lines) Skips(line []byte) bool { return blank(line) }

// blank reports whether a line has nothing but white space.
func blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' {
		return false
	}
	return len(bytes.TrimLeft(line, " \t\r\n")) == 0
}
