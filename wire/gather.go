package wire

import (
	"io"
	"net"

	"github.com/go-tensordict/tensordict/tensor"
)

const (
	// apart is from how many bytes on a slice is sent from where it lies.
	apart = 64 << 10
	// most is how many slices the system takes in one call.
	most = 1024
)

// A gather writes slices to w, many in one call where w can: it copies small ones, and keeps large
// ones as they are until flush. What is given to Write must not change until then.
type gather struct {
	w     io.Writer
	small []byte      // copies; its memory never moves
	from  int         // bytes of small that are in parts already
	parts net.Buffers // to be written, before small[from:]
	out   net.Buffers // what is left of parts during a call
	sent  int64       // bytes that w took
	now   bool        // large slices are written before Write returns
}

// Leaf is told of a tensor before its elements are written: those of lent memory, and copies of
// those that are not contiguous, are valid during Write only.
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

// copy adds a copy of b.
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

// end adds the copies that came last to parts.
func (g *gather) end() {
	if g.from < len(g.small) {
		g.parts = append(g.parts, g.small[g.from:])
		g.from = len(g.small)
	}
}

// flush writes all that was given. It returns io.ErrShortWrite if w took less and no error.
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

// drop forgets what was not written.
func (g *gather) drop() {
	clear(g.parts)
	g.parts, g.out, g.small, g.from = nil, nil, nil, 0
}
