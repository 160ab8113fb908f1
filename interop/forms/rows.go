package forms

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows are the rows to save, in chunks.
type rows struct {
	like   *tdict.TensorDict // has the entries of each chunk
	source *tdict.TensorDict // has the entries from which rows are appended; nil if none are
	td     *tdict.TensorDict // all rows, in mapped files; nil if there are only chunks
	schema tdict.Schema      // columns of a table
	says   tdict.Schema      // what is known of the entries: the schema to save; or nil
	only   *[]nestedkey.Key  // the entries that drivers read, all if that is nil; or nil
	chunks iter.Seq2[*tdict.TensorDict, error]
}

// mappedRows returns all rows of a dictionary whose elements are in mapped files. says describes
// its entries, as far as known.
func (s *saver) mappedRows(td *tdict.TensorDict, says tdict.Schema) rows {
	return rows{like: td, source: td, td: td, schema: schemaOf(td, says), says: carried(says, td), chunks: chunksOf(s.ctx, td)}
}

// each returns the rows with fn applied to each chunk and to the whole.
func (r rows) each(fn func(*tdict.TensorDict) (*tdict.TensorDict, error)) (out rows, err error) {
	out = rows{source: r.source, schema: r.schema, says: r.says, chunks: mapped(r.chunks, fn)}
	if out.like, err = fn(r.like); err == nil && r.td != nil {
		out.td, err = fn(r.td)
	}
	return out, err
}

// mapped applies a function to each chunk.
func mapped(chunks iter.Seq2[*tdict.TensorDict, error], fn func(*tdict.TensorDict) (*tdict.TensorDict, error)) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for chunk, err := range chunks {
			if err == nil {
				chunk, err = fn(chunk)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// ahead yields chunks, and makes the next chunk meanwhile. Chunks must not share memory.
func ahead(ctx context.Context, chunks iter.Seq2[*tdict.TensorDict, error]) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		next, stop := iter.Pull2(chunks)
		defer stop()
		one := func(context.Context, int) (*tdict.TensorDict, error) {
			chunk, err, more := next()
			if !more {
				err = io.EOF
			}
			return chunk, err
		}
		for chunk, err := range workers.Stream(ctx, math.MaxInt, 1, 1, one) {
			if err == io.EOF || !yield(chunk, err) {
				return
			}
		}
	}
}

// chunkBytes is the size of a chunk. Chunks are larger if one row is, and smaller if there are few
// rows.
const chunkBytes = 4 << 20

// chunksOf yields views of the rows of td.
func chunksOf(ctx context.Context, td *tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	if len(td.Shape()) == 0 {
		return func(yield func(*tdict.TensorDict, error) bool) { yield(nil, errNoRows(td)) }
	}
	return cut(ctx, td, td.Shape()[0], nil, func(start, n int) []ix.Index { return []ix.Index{ix.Range(start, start+n)} })
}

// cut yields n rows of td as chunks that expr selects: all rows, or the rows of a list. A chunk has
// the number of rows that have [chunkBytes] on average, and fewer rows if these have more than
// twice chunkBytes.
func cut(ctx context.Context, td *tdict.TensorDict, n int, list []int, expr func(start, n int) []ix.Index) iter.Seq2[*tdict.TensorDict, error] {
	sized, uneven := sizeable(td)
	most := max(1, chunkBytes/max(1, rowBytes(sized)))
	next := func(start int) (*tdict.TensorDict, int, error) {
		k := min(most, n-start)
		for uneven && k > 1 {
			bytes, err := sizeOf(sized, start, k, list)
			if err != nil {
				return nil, 0, err
			}
			if bytes <= 2*chunkBytes {
				break
			}
			k /= 2
		}
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		chunk, err := td.Index(expr(start, k)...)
		return chunk, k, err
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		for start := 0; start < n || start == 0; {
			chunk, k, err := next(start)
			if !yield(chunk, err) || err != nil || n == 0 {
				return
			}
			start += k
		}
	}
}

// sizeOf returns the bytes of n rows of td, or of a list of its rows. It stops when they are too
// large for a chunk.
func sizeOf(td *tdict.TensorDict, start, n int, list []int) (total int, err error) {
	if list == nil {
		part, err := td.Narrow(0, start, n)
		if err != nil {
			return 0, err
		}
		return part.ByteSize(), nil
	}
	for _, row := range list[start : start+n] {
		bytes, err := sizeOf(td, row, 1, nil)
		if err != nil {
			return 0, err
		}
		if total += bytes; total > 2*chunkBytes {
			break
		}
	}
	return total, nil
}

// sizeable returns the entries of td whose size depends on its rows, and whether rows differ in
// size.
func sizeable(td *tdict.TensorDict) (sized *tdict.TensorDict, uneven bool) {
	var others []nestedkey.Key
	for key, leaf := range td.Leaves() {
		switch leaf.(type) {
		case *tensor.Tensor:
		case *ragged.Tensor, *tdict.Stacked:
			uneven = true
		default:
			others = append(others, key)
		}
	}
	return td.Exclude(others...), uneven
}

func errNoRows(td *tdict.TensorDict) error {
	return fmt.Errorf("%w: got batch shape %v, want a dim of rows", shapeops.ErrDim, td.Shape())
}
