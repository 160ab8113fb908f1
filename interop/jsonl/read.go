package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
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
	// 1000.
	MaxDepth int
	// Workers is the number of goroutines that parse; 0 or less means GOMAXPROCS.
	Workers int

	// Categories has the text entries that are read as int32 codes; see the package doc.
	Categories map[nestedkey.Key]*ragged.TextCodes
	// Times has the int64 entries that are strings of dates or times.
	Times map[nestedkey.Key]Time
	// Fill has the text of the value to use for missing values.
	Fill map[nestedkey.Key]string
}

// A Time says how an int64 entry is written as dates or times. Its fields are:
//
//	Layout string         // a layout of package time, such as time.DateOnly
//	Unit   time.Duration  // of the numbers, which count from 1970 in UTC; 0 means time.Second
//	Zone   *time.Location // of texts without a zone, and of written texts; nil means UTC
//
// A text that is not a whole number of units, or that does not fit an int64, is [ErrValue]. A text
// without a zone at a clock change is read as by time.ParseInLocation. A number whose text would
// read back as another number is [ErrValue] too.
type Time = table.Time

// Read returns an iterator over the rows of a file, a JSON object on each line:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop continues: then its memory is reused. Clone it to keep it longer.
// The allocations for a chunk do not depend on its number of rows, except for new categories.
//
// After an error Read yields it and stops. The error is tdict.ErrSchema for a schema that a table
// cannot hold, the cause of ctx, or a [*ParseError]: [ErrSyntax], [ErrField], [ErrValue],
// [ErrTooLong] or the error of r. All rows before the invalid one were yielded; the last of them
// are in a shorter chunk. Read reads ahead of the loop. When the loop ends, early or not, Read
// waits for a running call of r.Read; no goroutine outlives the loop.
//
// The iterator is single-use: ranging again yields [ErrUsed]. It uses r, and the TextCodes of
// opt.Categories, while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return table.Once(func(yield func(*tdict.TensorDict, error) bool) {
		opt := opt.withDefaults()
		s := table.NewSplitter(r, lines{}, opt.MaxRecord)
		table.Read(ctx, s, opt.Rows, opt.Workers, func() (table.Parser, error) { return newParser(schema, &opt) })(yield)
	})
}

// ChunkSchema returns the schema of the chunks that [Read] yields for a schema: with the masks, and
// with int32 codes for the keys of opt.Categories. A dataset of the rows fits it. Its Meta is a
// prototype for a Writer that appends the rows. ChunkSchema returns tdict.ErrSchema for a schema
// that a table cannot hold.
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
	return table.Options{Categories: opt.Categories, Times: opt.Times, Fill: opt.Fill}
}

// Table returns the table.
func (p *parser) Table() *table.Table { return p.table }

// Parse appends the first rows rows of a text to the table.
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

// lines says that each record is a line.
type lines struct{}

// Ends returns true.
func (lines) Ends([]byte, bool) bool { return true }

// Skips reports whether a line is blank.
func (lines) Skips(line []byte) bool { return blank(line) }

// blank reports whether a line consists of white space.
func blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' {
		return false
	}
	return len(bytes.TrimLeft(line, " \t\r\n")) == 0
}
