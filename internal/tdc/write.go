package tdc

import (
	"io"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// WriteData writes the data to w, leaf by leaf, each in as few calls as its layout allows. If w has
// a method Leaf(t *tensor.Tensor), WriteData calls it with each tensor before it writes the
// elements. It returns a fileformat.Error with the name of the leaf.
func (p *Plan) WriteData(w io.Writer) error {
	observer, _ := w.(interface{ Leaf(t *tensor.Tensor) })
	at := 0
	for i := range p.leaves {
		l := &p.leaves[i]
		if observer != nil {
			observer.Leaf(l.t)
		}
		if err := writeZeros(w, l.start-at); err != nil {
			return err
		}
		if _, err := bundle.Write(w, l.t); err != nil {
			return fileformat.In(string(nestedkey.Of(l.name)), err)
		}
		if err := writeZeros(w, l.end()-l.start-l.t.ByteSize()); err != nil {
			return err
		}
		at = l.end()
	}
	return nil
}

var zeros [1 << 12]byte

// writeZeros writes n zeros.
func writeZeros(w io.Writer, n int) error {
	for n > 0 {
		some, err := w.Write(zeros[:min(n, len(zeros))])
		if err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// Tensors yields each tensor with the start of its elements in the data.
func (p *Plan) Tensors(yield func(start int, t *tensor.Tensor) bool) {
	for i := range p.leaves {
		if !yield(p.leaves[i].start, p.leaves[i].t) {
			return
		}
	}
}
