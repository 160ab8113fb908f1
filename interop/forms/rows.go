package forms

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rows are what is to be saved.
type rows struct {
	like   *tdict.TensorDict // has the entries of each chunk
	td     *tdict.TensorDict // all rows, in mapped files; nil if there are only chunks
	copyOf string            // a saved dictionary that td is all of, or ""
	chunks iter.Seq2[*tdict.TensorDict, error]
	schema tdict.Schema // of a table
	from   string       // the input, for errors
}

// each returns the rows with a function applied to each chunk, and to all.
func (r rows) each(fn func(*tdict.TensorDict) (*tdict.TensorDict, error)) (out rows, err error) {
	out = r
	if out.like, err = fn(r.like); err != nil {
		return out, err
	}
	if r.td != nil {
		if out.td, err = fn(r.td); err != nil {
			return out, err
		}
	}
	if r.chunks != nil {
		out.chunks = mapped(r.chunks, fn)
	}
	return out, nil
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

// chunkBytes is how large a chunk is, about.
const chunkBytes = 16 << 20

// chunksOf returns views of the rows of td.
func chunksOf(ctx context.Context, td *tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	if len(td.Shape()) == 0 {
		return func(yield func(*tdict.TensorDict, error) bool) { yield(nil, errNoRows(td)) }
	}
	sized, _ := sizeable(td)
	size := func(start, n int) (int, error) {
		part, err := sized.Narrow(0, start, n)
		if err != nil {
			return 0, err
		}
		return part.ByteSize(), nil
	}
	return cut(ctx, td.Shape()[0], rowBytes(sized), size, func(start, n int) (*tdict.TensorDict, error) {
		return td.Narrow(0, start, n)
	})
}

// taken returns copies of listed rows of td, or of parts of these, which expr selects.
func taken(ctx context.Context, td *tdict.TensorDict, list []int, expr func(start, n int) []ix.Index) iter.Seq2[*tdict.TensorDict, error] {
	sized, uneven := sizeable(td)
	bytes := rowBytes(sized)
	size := func(start, n int) (total int, err error) {
		if !uneven {
			return n * bytes, nil
		}
		for _, row := range list[start : start+n] {
			part, err := sized.Narrow(0, row, 1)
			if err != nil {
				return 0, err
			}
			if total += part.ByteSize(); total > 2*chunkBytes {
				break
			}
		}
		return total, nil
	}
	return cut(ctx, len(list), bytes, size, func(start, n int) (*tdict.TensorDict, error) {
		return td.Index(expr(start, n)...)
	})
}

// cut yields n rows as chunks of about [chunkBytes]: as many rows as have them on average, and fewer
// where size finds them larger than others.
func cut(ctx context.Context, n, bytes int, size func(start, n int) (int, error), span func(start, n int) (*tdict.TensorDict, error)) iter.Seq2[*tdict.TensorDict, error] {
	most := max(1, chunkBytes/max(1, bytes))
	return func(yield func(*tdict.TensorDict, error) bool) {
		for start := 0; start < n || start == 0; {
			k := min(most, n-start)
			total, err := size(start, k)
			for ; err == nil && k > 1 && total > 2*chunkBytes; total, err = size(start, k) {
				k /= 2
			}
			var chunk *tdict.TensorDict
			if err == nil {
				err = context.Cause(ctx)
			}
			if err == nil {
				chunk, err = span(start, k)
			}
			if !yield(chunk, err) || err != nil || n == 0 {
				return
			}
			start += k
		}
	}
}

// rowBytes returns how large a row is on average.
func rowBytes(td *tdict.TensorDict) int { return td.ByteSize() / max(1, td.Shape()[0]) }

// sizeable returns the entries of td that grow with its rows, and whether rows differ in size.
func sizeable(td *tdict.TensorDict) (sized *tdict.TensorDict, uneven bool) {
	var others []nestedkey.Key
	for key, leaf := range td.Leaves() {
		switch leaf.(type) {
		case *tensor.Tensor:
		case *ragged.Tensor:
			uneven = true
		default:
			others = append(others, key)
		}
	}
	return td.Exclude(others...), uneven
}
