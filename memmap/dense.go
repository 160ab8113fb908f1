package memmap

import (
	"io"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/tensor"
)

// tensor returns the tensor of the leaf e. It checks the file, which holds nothing but the
// elements, and does not map it.
func (r *reader) tensor(n tree, e *metaEntry) (*tensor.Tensor, error) {
	dtype, err := e.element()
	if err == nil && e.nested == isNested {
		err = unsupported("a nested tensor")
	}
	if err != nil {
		return nil, r.failAt(leafPath(n, e.name), err)
	}
	size, err := byteSize(dtype, e.shape)
	if err != nil {
		return nil, r.failAt(leafPath(n, e.name), corrupt("%w", err))
	}
	if size == 0 { // no elements, so no file
		t, err := tensor.New(dtype, e.shape...)
		return t, r.failAt(leafPath(n, e.name), err)
	}
	file, offset, err := n.leaf(e.name, size)
	if err != nil {
		return nil, err
	}
	if err := r.opened(n, e, file, nil); err != nil {
		return nil, err
	}
	t, err := tensor.FromLender(dtype, file, offset, e.shape...)
	if err != nil {
		return nil, r.failAt(leafPath(n, e.name), err)
	}
	return t, nil
}

// tensor plans to save t as the entry e of n.
func (s *saver) tensor(n *savedNode, e *metaEntry, t *tensor.Tensor) error {
	at, err := n.claim(e.name, leafExt)
	if err == nil {
		err = checkShape(t.Shape())
	}
	if err != nil {
		return s.fail(at, err)
	}
	e.dtype, e.shape, e.nested = torch+t.DType().String(), t.Shape().Clone(), isDense
	if t.Size() > 0 {
		write := func(w io.Writer) error { _, err := bundle.Write(w, t); return err }
		s.add(&savedFile{at: at, bytes: int64(t.ByteSize()), sums: &e.fact.sums, write: write, shared: e.fact.unbatched})
	}
	return nil
}
