package loader

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/masks"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Collate turns td, the rows [N B...] that a source returned, into a batch. It may change the
// entries of td, but not the elements of its leaves unless Options.Own is set. It may use mem for
// its results. It must be safe for concurrent use; concurrent calls get different mem.
type Collate func(td *tdict.TensorDict, mem *Memory) (*tdict.TensorDict, error)

// A Memory is memory for one batch. It is reused when the batch is no longer valid. Not safe for
// concurrent use.
type Memory struct {
	buffers map[nestedkey.Key]*ragged.Buffer
	made    []*tensor.Tensor // tensors of this batch in the buffers
	own     bool
}

// keep records tensors in the buffers, for Options.Poison.
func (m *Memory) keep(xs ...*tensor.Tensor) {
	if m != nil && !m.own {
		m.made = append(m.made, xs...)
	}
}

// Buffer returns the buffer for the tensors of a key. If Options.Own is set it returns nil, with
// which methods of ragged tensors allocate new memory.
func (m *Memory) Buffer(key nestedkey.Key) *ragged.Buffer {
	if m == nil || m.own {
		return nil
	}
	if m.buffers == nil {
		m.buffers = map[nestedkey.Key]*ragged.Buffer{}
	}
	if m.buffers[key] == nil {
		m.buffers[key] = &ragged.Buffer{}
	}
	return m.buffers[key]
}

// Pad returns a [Collate] that pads the ragged leaves under keys, or all ragged leaves if there are
// no keys, to dense tensors, and sets their masks if opt.Masks is set:
//
//	[N * F...] -> [N L F...]
//
// * is a ragged dim, whose size differs between rows. L is its width: the length of the longest row
// of the batch, or opt.Widths. The loader sets opt.Buffer; opt.Rows must be nil, and opt.Workers 0
// means 1.
//
// The Collate returns tdict.ErrMissing for a key that a batch does not have, tdict.ErrExists if the
// key of a mask is in use, shapeops.ErrShape if opt.Rows is set, and the errors of
// ragged.Tensor.Densify.
func Pad(opt ragged.DensifyOptions, keys ...nestedkey.Key) Collate {
	return func(td *tdict.TensorDict, mem *Memory) (*tdict.TensorDict, error) {
		if td == nil {
			return nil, fmt.Errorf("pad: %w", errNilDict)
		}
		if opt.Rows != nil {
			return nil, fmt.Errorf("pad: %w: got Rows, want nil: a batch has all of its rows", shapeops.ErrShape)
		}
		chosen := slices.Clip(keys)
		if len(keys) == 0 {
			for key, leaf := range td.Leaves() {
				if _, ok := leaf.(*ragged.Tensor); ok {
					chosen = append(chosen, key)
				}
			}
		}
		out := td.Copy()
		for _, key := range chosen {
			if err := pad(out, td, key, mem, opt); err != nil {
				return nil, fmt.Errorf("pad: %w", err)
			}
		}
		return out, nil
	}
}

// pad sets the padded leaf and its masks in out.
func pad(out, td *tdict.TensorDict, key nestedkey.Key, mem *Memory, opt ragged.DensifyOptions) error {
	x, err := tdict.Get[*ragged.Tensor](td, key)
	if err != nil {
		return err
	}
	under := opt.Masks
	opt.Buffer, opt.Workers, opt.Masks = mem.Buffer(key), max(1, opt.Workers), ""
	var dense *tensor.Tensor
	var bits []*tensor.Tensor
	if under != "" {
		dense, bits, err = x.DensifyMasked(opt)
	} else {
		dense, err = x.Densify(opt)
	}
	if err != nil {
		return errtext.Named("densify", &tdict.KeyError{Key: key, Err: err})
	}
	mem.keep(dense)
	mem.keep(bits...)
	if err := out.Set(key, dense); err != nil {
		return err
	}
	return masks.Add(out, nestedkey.Join(under, key), bits)
}
