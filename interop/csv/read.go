package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tdict"
)

// ReadOptions say how to read. The zero ReadOptions are valid.
type ReadOptions struct {
	Format
	// Rows is the number of rows of a chunk: 4096 if it is 0. The last chunk has fewer, and one
	// whose text exceeds 16 MiB.
	Rows int
	// SkipUnknown skips columns that the schema lacks, which are an error without it.
	SkipUnknown bool
	// MaxRecord bounds the bytes of a record, or of a comment: 1 MiB if it is 0.
	MaxRecord int
	// Workers is the number of goroutines that parse: GOMAXPROCS if it is 0.
	Workers int
}

// Read returns an iterator over the rows of a file:
//
//	chunk [n], n <= opt.Rows, with the entries of schema and their masks
//
// A chunk is valid until the loop goes on: its memory is used again, and Clone keeps it longer. What
// is allocated for one does not depend on its rows, but for new categories.
//
// After an error Read yields it and stops: tdict.ErrSchema for a schema that a table cannot hold,
// [ErrFormat], the cause of ctx, the error of r, or what is wrong with the file. All rows before the
// wrong one have come then, the last of them in a chunk that is shorter. Reading is ahead of the
// loop; when that ends, early or not, Read waits for a call of r.Read that is under way, and no
// goroutine is left.
//
// The iterator is single-use. It uses r, and the TextCodes of opt.Categories, while the loop runs.
func Read(ctx context.Context, r io.Reader, schema tdict.Schema, opt ReadOptions) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		x, err := newReader(r, schema, opt)
		if err != nil {
			yield(nil, err)
			return
		}
		x.run(ctx, yield)
	}
}

// A reader is one loop over a file.
type reader struct {
	*splitter
	rows, workers int
	chunks        []*chunk // of item i at i modulo their number

	turns sync.Cond
	turn  int // the item that may use the splitter
}

func newReader(r io.Reader, schema tdict.Schema, opt ReadOptions) (*reader, error) {
	f, err := opt.Format.withDefaults()
	if err != nil {
		return nil, err
	}
	if opt.Rows < 0 || opt.MaxRecord < 0 {
		return nil, fmt.Errorf("%w: got %d rows of at most %d bytes, want neither negative", ErrFormat, opt.Rows, opt.MaxRecord)
	}
	x := &reader{
		splitter: newSplitter(r, &f, cmp.Or(opt.MaxRecord, maxRecord)), rows: cmp.Or(opt.Rows, 4096),
		workers: workers.Count(opt.Workers, math.MaxInt), turns: sync.Cond{L: &sync.Mutex{}},
	}
	var headers []string
	if !f.NoHeader {
		if headers, err = x.headers(&f); err != nil {
			return nil, err
		}
	}
	for range x.workers + 2 {
		c, err := newChunk(schema, &f, headers, opt.SkipUnknown)
		if err != nil {
			return nil, err
		}
		x.chunks = append(x.chunks, c)
	}
	return x, nil
}

// headers reads the line of headers.
func (s *splitter) headers(f *Format) (headers []string, err error) {
	line := s.line
	var text []byte
	for n := 0; n == 0; {
		if text, n, err = s.next(text[:0], 1); n > 0 {
			break
		} else if err == io.EOF {
			return nil, &ParseError{Line: line, Err: fmt.Errorf("%w: got an empty file, want headers", ErrHeader)}
		} else if err != nil {
			return nil, err
		}
		line = s.line
	}
	scan := newScanner(f)
	scan.reset(text, line)
	scan.more()
	for last := false; !last; {
		var field []byte
		if field, _, last, err = scan.field(); err != nil {
			return nil, scan.fail("", err)
		}
		headers = append(headers, string(field))
	}
	return headers, nil
}

// errEnd ends the stream of chunks.
var errEnd = errors.New("end of the file")

// run yields the chunks.
func (x *reader) run(ctx context.Context, yield func(*tdict.TensorDict, error) bool) {
	for c, err := range workers.Stream(ctx, math.MaxInt, x.workers, len(x.chunks)-1, x.chunk) {
		switch {
		case err == errEnd:
			return
		case err != nil:
			yield(nil, err)
			return
		}
		if c.rows > 0 {
			td, err := c.table.Dict(c.rows)
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
	ended := x.err != nil
	c.line = x.line
	c.text, c.rows, err = x.next(c.text[:0], x.rows)
	if c.err = nil; err != nil && err != io.EOF {
		c.err = err
	}
	if ended {
		return errEnd
	}
	return nil
}

// A chunk has the text of some rows, and the rows.
type chunk struct {
	text []byte
	line int // of the first byte
	rows int
	err  error // after the rows

	scan    *scanner
	na      naSet
	table   *table.Table
	columns []column
	lacking []*table.Column
}

// newChunk returns a chunk for files with some headers, nil for those of the schema.
func newChunk(schema tdict.Schema, f *Format, headers []string, skip bool) (*chunk, error) {
	t, err := table.New(schema, f.options())
	if err != nil {
		return nil, err
	}
	c := &chunk{scan: newScanner(f), na: newNASet(f.NA), table: t}
	if c.columns, err = columnsOf(t, f); err != nil || headers == nil {
		return c, err
	}
	if c.columns, c.lacking, err = arranged(c.columns, headers, skip); err != nil {
		return nil, &ParseError{Line: 1, Err: err}
	}
	return c, nil
}

// parse parses the text: all rows, or those before the first that is wrong.
func (c *chunk) parse() {
	good, err := c.parseRows(c.rows)
	if err != nil {
		_, _ = c.parseRows(good) // without the fields that the wrong row had
		c.rows, c.err = good, err
	}
}

// parseRows parses so many rows, and returns how many there are before an error.
func (c *chunk) parseRows(rows int) (int, error) {
	c.table.Reset()
	c.scan.reset(c.text, c.line)
	for i := range rows {
		c.scan.more()
		if err := c.row(); err != nil {
			return i, err
		}
	}
	return rows, nil
}

// row parses a row.
func (c *chunk) row() error {
	line := c.scan.line
	for i, last := 0, false; !last || i < len(c.columns); i++ {
		if last || i == len(c.columns) {
			return c.scan.wrongCount(i, len(c.columns), last, line)
		}
		var field []byte
		var quoted bool
		var err error
		if field, quoted, last, err = c.scan.field(); err != nil {
			return c.scan.fail(c.columns[i].key(), err)
		}
		if err := c.put(&c.columns[i], field, quoted); err != nil {
			return c.scan.fail(c.columns[i].key(), err)
		}
	}
	for _, column := range c.lacking {
		if err := column.AppendMissing(); err != nil {
			return &tdict.KeyError{Op: "csv", Key: column.Spec.Key, Err: err}
		}
	}
	return nil
}

// put appends a field to its column.
func (c *chunk) put(to *column, field []byte, quoted bool) error {
	switch {
	case to.values == nil: // skipped
		return nil
	case to.missable && !(to.text && quoted) && c.na.has(field):
		return to.values.AppendMissing()
	}
	return to.values.Append(field)
}
