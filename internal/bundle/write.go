package bundle

import (
	"io"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/tensor"
)

// Write writes the elements of t to w, as t.WriteTo does. If t holds bools and has a byte that is
// neither 0 nor 1, as a file may hold, Write returns ErrCorrupt with the position.
func Write(w io.Writer, t *tensor.Tensor) (int64, error) {
	if t.DType() != tensor.Bool {
		return t.WriteTo(w)
	}
	return t.WriteTo(&bools{w: w})
}

// A bools writes bytes that are bools to w.
type bools struct {
	w io.Writer
	n int // bytes written so far
}

// Write implements io.Writer.
func (b *bools) Write(p []byte) (int, error) {
	if err := tensor.CheckBools(p); err != nil {
		for i, c := range p {
			if c > 1 {
				return 0, fileformat.Corrupt("got byte %d for bool element %d, want 0 or 1", c, b.n+i)
			}
		}
	}
	n, err := b.w.Write(p)
	b.n += n
	return n, err
}
