package wire

import (
	"io"
	"net"

	"github.com/go-tensordict/tensordict/tensor"
)

const (
	// apart is the least size in bytes of a slice that is sent without a copy.
	apart = 64 << 10
	// most bounds the slices in one system call.
	most = 1024
)

// A gather writes slices to w, many in one call where w can do so. It copies small slices, and
// keeps large ones as they are until flush; these must not change until then.
type gather struct {
	w     io.Writer
	small []byte      // copies; never reallocated
	from  int         // small[:from] is in parts
	parts net.Buffers // to be written before small[from:]
	out   net.Buffers // rest of parts during a call
	sent  int64       // bytes written to w
	now   bool        // Write writes large slices before it returns
}

// Leaf prepares g for the elements of t. Slices of lent memory, and of copies of tensors that are
// not contiguous, are valid only until Write returns.
func (g *gather) Leaf(t *tensor.Tensor) { g.now = t.Lender() != nil || !t.View().IsContiguous() }

// Write implements io.Writer.
func (g *gather) Write(b []byte) (int, error) {
	if len(b) < apart {
		return len(b), g.copy(b)
	}
	g.end()
	g.parts = append(g.parts, b)
	if g.now || len(g.parts) >= most-1 {
		if err := g.flush(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// copy adds a copy of b to small.
func (g *gather) copy(b []byte) error {
	if g.small == nil {
		g.small = make([]byte, 0, 2*apart)
	}
	if len(b) > cap(g.small)-len(g.small) {
		if err := g.flush(); err != nil {
			return err
		}
	}
	g.small = append(g.small, b...)
	return nil
}

// end adds small[from:] to parts.
func (g *gather) end() {
	if g.from < len(g.small) {
		g.parts = append(g.parts, g.small[g.from:])
		g.from = len(g.small)
	}
}

// flush writes all slices. It returns io.ErrShortWrite if w took fewer bytes without an error.
func (g *gather) flush() error {
	g.end()
	g.out = g.parts
	want := int64(0)
	for _, b := range g.parts {
		want += int64(len(b))
	}
	n, err := g.out.WriteTo(g.w)
	if err == nil && n != want {
		err = io.ErrShortWrite
	}
	clear(g.parts)
	g.sent, g.parts, g.small, g.from = g.sent+n, g.parts[:0], g.small[:0], 0
	return err
}

// drop drops the slices that were not written.
func (g *gather) drop() {
	clear(g.parts)
	g.parts, g.out, g.small, g.from = nil, nil, nil, 0
}
