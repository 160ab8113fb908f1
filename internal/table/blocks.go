package table

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/tdict"
)

// blockRows is the number of rows that LoadAll loads at a time.
const blockRows = 4096

// LoadAll loads the rows of all chunks, a few thousand at a time, and calls write for each such
// block, with its number of rows. So chunks may be larger than memory. It returns the first error:
// of chunks, of [Table.Load], of write, or the cause of ctx.
func (t *Table) LoadAll(ctx context.Context, chunks iter.Seq2[*tdict.TensorDict, error], write func(rows int) error) error {
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
			if err == nil {
				err = write(block.Shape()[0])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// blockOf returns a view of the block of a chunk that begins with row from. It returns the chunk
// itself if it is small, or invalid for a table.
func blockOf(chunk *tdict.TensorDict, from int) (*tdict.TensorDict, error) {
	if chunk == nil || len(chunk.Shape()) == 0 || chunk.Shape()[0] <= blockRows {
		return chunk, nil
	}
	return chunk.Narrow(0, from, min(blockRows, chunk.Shape()[0]-from))
}
