package tdc

import (
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

// WriteData writes the data to w, leaf by leaf, each in as few calls as its layout allows. If w has
// a method Leaf(t *tensor.Tensor), WriteData calls it with each tensor before it writes the
// elements. It returns a fileformat.Error with the key of the leaf.
func (p *Plan) WriteData(w io.Writer) error {
	at := 0
	var sums []uint32 // of the parts of a ragged tensor so far
	for i := range p.leaves {
		l := &p.leaves[i]
		if err := writeZeros(w, l.start-at); err != nil {
			return err
		}
		t, to := l.t, w
		var sum *Summer
		if l.summed {
			sum = &Summer{W: w}
			to = sum
		}
		if l.numbered != nil {
			var err error
			if t, err = numbers(pool.Row, l.size, l.numbered, pool.Tag(sums)); err != nil {
				return err
			}
			sums = nil
		}
		if observer, ok := w.(interface{ Leaf(t *tensor.Tensor) }); ok {
			observer.Leaf(t)
		}
		if _, err := bundle.Write(to, t); err != nil {
			return fileformat.In(string(p.keyOf(i)), err)
		}
		if sum != nil {
			sums = append(sums, sum.Sums()...)
		}
		if err := writeZeros(w, l.end()-l.start-l.t.ByteSize()); err != nil {
			return err
		}
		at = l.end()
	}
	return nil
}

// keyOf returns the key of the entry that leaf i, by its index, is or is a part of.
func (p *Plan) keyOf(i int) nestedkey.Key {
	var names []string // from the last
	at := slices.IndexFunc(p.nodes, func(n node) bool { return slices.Contains(n.leaves, i) })
	if p.nodes[at].rows == nil {
		names = append(names, p.leaves[i].name)
	}
	for at > 0 {
		names = append(names, p.nodes[at].name)
		at = slices.IndexFunc(p.nodes, func(n node) bool { return slices.Contains(n.nodes, at) })
	}
	slices.Reverse(names)
	return nestedkey.Of(names[0], names[1:]...)
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
