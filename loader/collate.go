package loader

import (
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
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

// PadOptions say how [Pad] pads ragged leaves. The zero value pads all of them with zeros after
// each row, to the longest row of the batch.
type PadOptions struct {
	// Keys are the leaves to pad; nil means all ragged leaves. Other leaves stay ragged.
	Keys []nestedkey.Key
	// Left, Fill, Widths and KeepLast are as in ragged.DensifyOptions.
	Left     bool
	Fill     any
	Widths   []int
	KeepLast bool
	// Masks is the key of a dictionary of masks; "" means no masks. For a leaf with one level, the
	// mask is under the leaf's key, bool [N L], true where there is a value. For a leaf with
	// several levels there is a dictionary under the leaf's key, with a mask under the number of
	// each level: "1" is bool [N L], "2" is bool [N L M].
	Masks nestedkey.Key
}

// Pad returns a [Collate] that pads ragged leaves to dense tensors:
//
//	[N * F...] -> [N L F...]
//
// * is a ragged dim, whose size differs between rows. L is its width: the length of the longest row
// of the batch, or PadOptions.Widths.
//
// It returns tdict.ErrMissing for a key that a batch does not have, tdict.ErrExists if the key of a
// mask is in use, and the errors of ragged.Tensor.Densify.
func Pad(opt PadOptions) Collate {
	return func(td *tdict.TensorDict, mem *Memory) (*tdict.TensorDict, error) {
		if td == nil {
			return nil, fmt.Errorf("pad: %w", errNilDict)
		}
		out := td.Copy()
		for _, key := range opt.keys(td) {
			if err := opt.pad(out, td, key, mem); err != nil {
				return nil, fmt.Errorf("pad: %w", err)
			}
		}
		return out, nil
	}
}

// keys returns the keys of the leaves of td to pad.
func (o PadOptions) keys(td *tdict.TensorDict) []nestedkey.Key {
	if o.Keys != nil {
		return o.Keys
	}
	var keys []nestedkey.Key
	for key, leaf := range td.Leaves() {
		if _, ok := leaf.(*ragged.Tensor); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// pad sets the padded leaf and its masks in out.
func (o PadOptions) pad(out, td *tdict.TensorDict, key nestedkey.Key, mem *Memory) error {
	x, err := tdict.Get[*ragged.Tensor](td, key)
	if err != nil {
		return err
	}
	dense, masks, err := o.densify(x, mem.Buffer(key))
	if err != nil {
		return &tdict.KeyError{Op: "densify", Key: key, Err: err}
	}
	mem.keep(dense)
	mem.keep(masks...)
	if err := out.Set(key, dense); err != nil {
		return err
	}
	return addMasks(out, nestedkey.Join(o.Masks, key), masks)
}

// densify returns x padded, with masks if o.Masks is set.
func (o PadOptions) densify(x *ragged.Tensor, buffer *ragged.Buffer) (*tensor.Tensor, []*tensor.Tensor, error) {
	opt := ragged.DensifyOptions{
		Left: o.Left, Fill: o.Fill, Widths: o.Widths, KeepLast: o.KeepLast,
		Buffer: buffer, Workers: 1,
	}
	if o.Masks != "" {
		return x.DensifyMasked(opt)
	}
	dense, err := x.Densify(opt)
	return dense, nil, err
}

// addMasks sets masks under a key: a single mask at the key itself, several under their numbers.
func addMasks(out *tdict.TensorDict, at nestedkey.Key, masks []*tensor.Tensor) error {
	if len(masks) == 1 {
		return add(out, at, masks[0])
	}
	for i, mask := range masks {
		if err := add(out, nestedkey.Join(at, nestedkey.Of(strconv.Itoa(i+1))), mask); err != nil {
			return err
		}
	}
	return nil
}
