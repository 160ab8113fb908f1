package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"sync"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/internal/workers"
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
//	Unit   time.Duration  // of the numbers, which count from the start of 1970 in UTC; 0: time.Second
//	Zone   *time.Location // of texts without one, and of texts that are written; nil: UTC
//
// A text that is not a whole number of units, or that an int64 does not count, is [ErrValue].
type Time = table.Time

// Read returns an iterator over the rows of a file, a JSON object on each line:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop goes on: its memory is used again, and Clone keeps it longer. What
// is allocated for one does not depend on its rows, but for new categories.
//
// After an error Read yields it and stops: tdict.ErrSchema for a schema that a table cannot hold,
// the cause of ctx, or what is wrong with the file, as a [*ParseError]: [ErrSyntax], [ErrField],
// [ErrValue], [ErrTooLong] or the error of r. All rows before the wrong one have come then, the last
// of them in a chunk that is shorter. Reading is ahead of the loop; when that ends, early or not,
// Read waits for a call of r.Read that is under way, and no goroutine is left.
//
// The iterator is single-use. It uses r, and the TextCodes of opt.Categories, while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		x, err := newReader(r, schema, opt.withDefaults())
		if err != nil {
			yield(nil, err)
			return
		}
		x.run(ctx, yield)
	}
}

// withDefaults returns opt without zeros.
func (opt ReadOptions) withDefaults() ReadOptions {
	opt.Rows = cmp.Or(max(0, opt.Rows), 4096)
	opt.MaxRecord = cmp.Or(max(0, opt.MaxRecord), maxRecord)
	opt.MaxDepth = cmp.Or(max(0, opt.MaxDepth), maxDepth)
	opt.Workers = workers.Count(opt.Workers, math.MaxInt)
	return opt
}

func (opt *ReadOptions) table() table.Options {
	return table.Options{Categories: opt.Categories, Times: opt.Times, Fill: opt.Fill}
}

// A reader is one loop over a file.
type reader struct {
	*splitter
	opt    ReadOptions
	chunks []*chunk // of item i at i modulo their number

	turns sync.Cond
	turn  int // the item that may use the splitter
}

func newReader(r io.Reader, schema tdict.Schema, opt ReadOptions) (*reader, error) {
	x := &reader{splitter: newSplitter(r, opt.MaxRecord), opt: opt, turns: sync.Cond{L: &sync.Mutex{}}}
	for range opt.Workers + 2 {
		p, err := newParser(schema, &x.opt)
		if err != nil {
			return nil, err
		}
		x.chunks = append(x.chunks, &chunk{parser: p})
	}
	return x, nil
}

// errEnd ends the stream of chunks.
var errEnd = errors.New("end of the file")

// run yields the chunks.
func (x *reader) run(ctx context.Context, yield func(*tdict.TensorDict, error) bool) {
	for c, err := range workers.Stream(ctx, math.MaxInt, x.opt.Workers, len(x.chunks)-1, x.chunk) {
		switch {
		case err == errEnd:
			return
		case err != nil:
			yield(nil, err)
			return
		}
		if c.rows > 0 {
			td, err := c.parser.table.Dict(c.rows)
			if !yield(td, err) || err != nil {
				return
			}
		}
		if c.err != nil {
			yield(nil, c.err)
			return
		}
	}
}

// chunk reads and parses a chunk. It returns errEnd after the last one.
func (x *reader) chunk(ctx context.Context, item int) (*chunk, error) {
	c := x.chunks[item%len(x.chunks)]
	if err := x.take(c, item); err != nil {
		return nil, err
	}
	c.parse()
	return c, ctx.Err()
}

// take waits for the turn of an item, and reads its text.
func (x *reader) take(c *chunk, item int) (err error) {
	x.turns.L.Lock()
	defer x.turns.L.Unlock()
	for x.turn != item {
		x.turns.Wait()
	}
	defer x.turns.Broadcast()
	x.turn++
	if x.err != nil {
		return errEnd
	}
	c.line = x.line
	c.text, c.rows, err = x.next(c.text[:0], x.opt.Rows)
	if c.err = nil; err != io.EOF {
		c.err = err
	}
	return nil
}

// A chunk has the text of some rows, and the rows.
type chunk struct {
	text   []byte
	line   int // the number of the first line
	rows   int
	err    error // after the rows
	parser *parser
}

// parse parses the text: all rows, or those before the first that is wrong.
func (c *chunk) parse() {
	good, err := c.parseRows(c.rows)
	if err != nil {
		_, _ = c.parseRows(good) // without the values that the wrong row had
		c.rows, c.err = good, err
	}
}

// parseRows parses a number of rows, and returns how many there are before an error.
func (c *chunk) parseRows(rows int) (int, error) {
	c.parser.table.Reset()
	text, number := c.text, c.line
	for n := 0; n < rows; number++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line = text[:i]
		}
		text = text[min(len(line)+1, len(text)):]
		if blank(line) {
			continue
		}
		if err := c.parser.parse(line); err != nil {
			return n, &ParseError{number, c.parser.at, err}
		}
		n++
	}
	return rows, nil
}
