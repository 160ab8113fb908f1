package dircache

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A filler is an io.Writer that copies what is written to it.
type filler struct{ to []byte }

// Write implements io.Writer.
func (f *filler) Write(p []byte) (int, error) {
	n := copy(f.to, p)
	f.to = f.to[n:]
	return n, nil
}

// Fill implements samplecache.Row.
func (r *row) Fill(td *tdict.TensorDict) error {
	if !r.gate.enter() {
		return fmt.Errorf("fill: %w: the slot was committed or aborted", samplecache.ErrClosed)
	}
	defer r.gate.leave()
	for i, l := range r.s.fixed.Schema {
		x, err := tdict.Get[*tensor.Tensor](td, l.Key)
		if err == nil && l.bytes > 0 {
			err = r.bytes(i, l.bytes, func(to []byte) error {
				_, err := x.WriteTo(&filler{to})
				return err
			})
		}
		if err != nil {
			return fmt.Errorf("fill: %q: %w", l.Key, err)
		}
	}
	return nil
}

// bytes calls fn with the memory of a leaf.
func (r *row) bytes(leaf, size int, fn func(b []byte) error) (err error) {
	file := r.w.files[leaf]
	b, err := file.Borrow()
	if err != nil {
		return err
	}
	defer file.Return()
	failed := mapping.Guard(func() { err = fn(b[r.slot*size:][:size]) })
	return errors.Join(failed, err, file.Intact())
}
