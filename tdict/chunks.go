package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A RowsError is an error of an operation, with the rows that it is about.
type RowsError struct {
	Op       string // the function, in lower case: "map chunks", "iter chunks", "vmap"
	From, To int    // the rows are From to To-1
	Err      error  // the reason
}

// Error returns the text: operation, rows, reason.
func (e *RowsError) Error() string {
	if e.To == e.From+1 {
		return fmt.Sprintf("%s: row %d: %v", e.Op, e.From, e.Err)
	}
	return fmt.Sprintf("%s: rows [%d:%d]: %v", e.Op, e.From, e.To, e.Err)
}

// Unwrap returns the reason.
func (e *RowsError) Unwrap() error { return e.Err }

// failedRows adds the name of the operation to an error, unless it is a RowsError.
func failedRows(op string, err error) error {
	if _, ok := err.(*RowsError); ok {
		return err
	}
	return failed(op, err)
}

const (
	defaultChunks = 64
	chunkBytes    = 64 << 20 // the most bytes in a chunk of the default size
	maxChunks     = 1 << 24  // a dictionary without elements can have any number of rows
)

// chunks are the pieces of a dictionary along a dim, and the function that is called with each.
type chunks struct {
	op    string
	td    *TensorDict
	fn    ChunkFunc
	dim   int
	rows  int // the size of dim dim
	size  int // the rows of a chunk; the last may have fewer
	count int // the number of chunks; 1 if there are no rows
}

// newChunks cuts td along a dim, into chunks of the given size or into count chunks. At most one of
// size and count is not 0.
func newChunks(op string, td *TensorDict, fn ChunkFunc, dim, size, count int) (*chunks, error) {
	switch {
	case td == nil:
		return nil, errNil
	case fn == nil:
		return nil, errNoFunc
	case size < 0 || count < 0 || size > 0 && count > 0:
		return nil, fmt.Errorf("%w: got ChunkSize %d and Chunks %d, want one of them positive and the other 0, or both 0",
			shapeops.ErrShape, size, count)
	}
	if err := td.batch.Check(); err != nil {
		return nil, err
	}
	dim, err := td.batch.Dim(dim)
	if err != nil {
		return nil, err
	}
	c := &chunks{op: op, td: td, fn: fn, dim: dim, rows: td.batch[dim]}
	switch {
	case count > 0:
		size = (c.rows-1)/count + 1
	case size == 0 && c.rows > 0:
		perRow := float64(td.ByteSize()) / float64(c.rows)
		if size = (c.rows-1)/defaultChunks + 1; perRow*float64(size) > chunkBytes {
			size = int(chunkBytes / perRow)
		}
	}
	c.size = max(1, size)
	if c.count = max(0, c.rows-1)/c.size + 1; c.count > maxChunks {
		return nil, fmt.Errorf("%w: got %d chunks, want at most %d", shapeops.ErrShape, c.count, maxChunks)
	}
	return c, nil
}

// bounds returns the first row of chunk i, and the one after the last.
func (c *chunks) bounds(i int) (from, to int) {
	from = i * c.size
	return from, from + min(c.rows-from, c.size)
}

// index selects the rows of chunk i of a dictionary.
func (c *chunks) index(i int) []ix.Index {
	from, to := c.bounds(i)
	expr := make([]ix.Index, c.dim+1)
	expr[c.dim] = ix.Range(from, to)
	return expr
}

// failed returns a RowsError for an error about chunk i, or nil for nil.
func (c *chunks) failed(i int, err error) error {
	if err == nil {
		return nil
	}
	from, to := c.bounds(i)
	return &RowsError{Op: c.op, From: from, To: to, Err: err}
}
