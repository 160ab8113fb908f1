package table

import (
	"context"
	"io"
	"iter"

	"github.com/go-tensordict/tensordict/tdict"
)

const (
	blockRows = 4096    // the number of rows that Write loads at a time
	enough    = 1 << 16 // the number of bytes after which it writes them
)

// Write writes head, then calls row for each row of all chunks and writes the bytes that row
// appends. It loads a few thousand rows at a time, so chunks may be larger than memory. row gets
// the index of a row among the loaded ones, and its number among all. Write returns the first
// error: of chunks, of [Table.Load], of row, of w, or the cause of ctx.
func (t *Table) Write(ctx context.Context, w io.Writer, head []byte, chunks iter.Seq2[*tdict.TensorDict, error], row func(b []byte, i, number int) ([]byte, error)) error {
	b, number := head, 0
	flush := func() error {
		_, err := w.Write(b)
		b = b[:0]
		return err
	}
	for chunk, err := range chunks {
		if err != nil {
			return err
		}
		for from := 0; from == 0 || from < chunk.Shape()[0]; from += blockRows {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			block, err := blockOf(chunk, from)
			if err == nil {
				err = t.Load(block)
			}
			for i := 0; err == nil && i < block.Shape()[0]; i++ {
				if b, err = row(b, i, number); err == nil && len(b) >= enough {
					err = flush()
				}
				number++
			}
			if err == nil {
				err = flush()
			}
			if err != nil {
				return err
			}
		}
	}
	return flush()
}

// blockOf returns a view of the block of a chunk that begins with row from. It returns the chunk
// itself if it is small, or invalid for a table.
func blockOf(chunk *tdict.TensorDict, from int) (*tdict.TensorDict, error) {
	if chunk == nil || len(chunk.Shape()) == 0 || chunk.Shape()[0] <= blockRows {
		return chunk, nil
	}
	return chunk.Narrow(0, from, min(blockRows, chunk.Shape()[0]-from))
}
