package loader

import (
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Collate makes a batch of the rows that a source returned, [N B...]. It may change td, but not
// its leaves' elements unless Options.Own is set, and use mem for what it makes. It must be safe
// for concurrent use, with another mem each time.
type Collate func(td *tdict.TensorDict, mem *Memory) (*tdict.TensorDict, error)

// A Memory is the memory of a batch, which is used again when the batch is not valid any more. Not
// safe for concurrent use.
type Memory struct {
	buffers map[nestedkey.Key]*ragged.Buffer
	made    []*tensor.Tensor // in the buffers, for this batch
	own     bool
}

// keep notes what was made in a buffer, and will be overwritten.
func (m *Memory) keep(xs ...*tensor.Tensor) {
	if m != nil && !m.own {
		m.made = append(m.made, xs...)
	}
}

// Buffer returns memory in which to make what is under a key. It is nil, which stands for new
// memory, if batches own theirs.
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

// PadOptions say how [Pad] pads ragged leaves. The zero value pads all of them with zeros, after
// each row, to the longest of the batch.
type PadOptions struct {
	// Keys are the leaves that are padded; nil means all ragged ones. Others stay ragged.
	Keys []nestedkey.Key
	// Left, Fill, Widths and KeepLast are those of ragged.DensifyOptions.
	Left     bool
	Fill     any
	Widths   []int
	KeepLast bool
	// Masks is the key of a dictionary of masks; "" means that there is none. Under the key of each
	// leaf it says where there are values: bool [N L], or, for several levels, under the number of
	// each level, "1" being bool [N L] and "2" bool [N L M].
	Masks nestedkey.Key
}

// Pad returns a [Collate] that makes dense tensors of ragged leaves:
//
//	[N * F...] -> [N L F...]
//
// It returns tdict.ErrMissing for a key that a batch lacks, tdict.ErrExists if there is something
// where a mask should be, and the errors of ragged.Tensor.Densify.
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

// keys returns the keys of the leaves of td that are padded.
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

// pad puts the padded leaf of td into out, and its masks.
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

// densify returns the padded rows of x, with masks if they are wanted.
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

// addMasks sets the mask of the only level under a key, or those of several under their numbers.
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
