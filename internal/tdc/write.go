package tdc

import (
	"io"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// WriteData writes the data to w, leaf by leaf: each in as few calls as its layout allows. It
// returns a fileformat.Error that says the name of the leaf. If w has a method Leaf(t
// *tensor.Tensor), that is told of each tensor before its elements are written.
func (p *Plan) WriteData(w io.Writer) error {
	told, _ := w.(interface{ Leaf(t *tensor.Tensor) })
	at := 0
	for i := range p.leaves {
		l := &p.leaves[i]
		if told != nil {
			told.Leaf(l.t)
		}
		if err := writeZeros(w, l.start-at); err != nil {
			return err
		}
		if _, err := l.t.WriteTo(w); err != nil {
			return fileformat.In(string(nestedkey.Of(l.name)), err)
		}
		if err := writeZeros(w, l.end()-l.start-l.size); err != nil {
			return err
		}
		at = l.end()
	}
	return nil
}

var zeros [16]byte

// writeZeros writes n zeros, at most 16.
func writeZeros(w io.Writer, n int) error {
	if n == 0 {
		return nil
	}
	_, err := w.Write(zeros[:n])
	return err
}

// Tensors yields the tensors with the places where their elements begin.
func (p *Plan) Tensors(yield func(start int, t *tensor.Tensor) bool) {
	for i := range p.leaves {
		if !yield(p.leaves[i].start, p.leaves[i].t) {
			return
		}
	}
}
