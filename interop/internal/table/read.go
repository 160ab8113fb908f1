package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Parser appends rows to a table.
type Parser interface {
	// Table returns the table.
	Table() *Table
	// Parse appends the first n rows of a text whose first line has number line. It returns the
	// number of rows before an error.
	Parse(text []byte, line, n int) (int, error)
}

// Read returns an iterator over the chunks of a file, of at most rows rows each. count workers
// parse them, each with its own parsers:
//
//	chunk [n], n <= rows
//
// A chunk is valid until the loop continues. After an error Read yields it and stops; all rows
// before the invalid one were yielded. Read reads ahead of the loop. When the loop ends, early or
// not, Read waits for a running read of the file; no goroutine outlives the loop. The iterator is
// single-use.
func Read(ctx context.Context, s *Splitter, rows, count int, newParser func() (Parser, error)) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		x := &reader{splitter: s, rows: rows, turns: sync.Cond{L: &sync.Mutex{}}}
		count = workers.Count(count, math.MaxInt)
		for range count + 2 {
			p, err := newParser()
			if err != nil {
				yield(nil, err)
				return
			}
			x.chunks = append(x.chunks, &chunk{parser: p})
		}
		x.run(ctx, count, yield)
	}
}

// ErrUsed says that the iterator was used before.
var ErrUsed = errors.New("rows were read already")

// Once returns rows as a single-use iterator: ranging again yields [ErrUsed].
func Once(rows iter.Seq2[*tdict.TensorDict, error]) iter.Seq2[*tdict.TensorDict, error] {
	var used atomic.Bool
	return func(yield func(*tdict.TensorDict, error) bool) {
		if used.Swap(true) {
			yield(nil, fmt.Errorf("%w: call Read again, with a reader at the beginning of the file", ErrUsed))
			return
		}
		rows(yield)
	}
}

// A reader is one loop over a file.
type reader struct {
	splitter *Splitter
	rows     int
	chunks   []*chunk // chunk of item i at index i modulo the length

	turns sync.Cond
	turn  int // the item that may use the splitter
}

// errEnd ends the stream of chunks.
var errEnd = errors.New("end of the file")

// run yields the chunks.
func (x *reader) run(ctx context.Context, count int, yield func(*tdict.TensorDict, error) bool) {
	for c, err := range workers.Stream(ctx, math.MaxInt, count, len(x.chunks)-1, x.chunk) {
		switch {
		case err == errEnd:
			return
		case err != nil:
			yield(nil, err)
			return
		}
		if c.rows > 0 {
			td, err := c.parser.Table().Dict(c.rows)
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
	if x.splitter.err != nil {
		return errEnd
	}
	c.line = x.splitter.Line()
	c.text, c.rows, err = x.splitter.Next(c.text[:0], x.rows)
	if c.err = nil; err != io.EOF {
		c.err = err
	}
	return nil
}

// A chunk is the text of some rows, and the table of its parser.
type chunk struct {
	text   []byte
	line   int // number of the first line
	rows   int
	err    error // the error after the rows
	parser Parser
}

// parse parses the text: all rows, or those before the first invalid one.
func (c *chunk) parse() {
	c.parser.Table().Reset()
	c.parser.Table().Grow(c.rows)
	good, err := c.parser.Parse(c.text, c.line, c.rows)
	if err == nil {
		return
	}
	c.parser.Table().Reset() // removes the values of the invalid row
	_, _ = c.parser.Parse(c.text, c.line, good)
	c.rows, c.err = good, err
}
