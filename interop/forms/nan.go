package forms

import (
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// withNaN returns r with NaN for the missing values of floating-point tensors, and without their
// masks, if the options or the form want it.
func (s *saver) withNaN(r rows, f Form) (rows, error) {
	if !s.opt.MissingNaN && f != Npy && f != Npz && f != Safetensors {
		return r, nil
	}
	columns := floatsWithMask(r.like, r.says)
	if len(columns) == 0 {
		return r, nil
	}
	r.says = slices.Clone(r.says)
	for i := range columns {
		at := slices.IndexFunc(r.says, func(s tdict.Spec) bool { return s.Key == columns[i].Key })
		r.says[at].Mask, r.says[at].Optional = "", false
	}
	var unused []nestedkey.Key
	for _, c := range columns {
		if !slices.ContainsFunc(r.says, func(s tdict.Spec) bool { return s.Mask == c.Mask }) {
			unused = append(unused, c.Mask)
		}
	}
	r.td = nil // chunk by chunk: the values are new
	r, err := r.each(func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return filledNaN(td, columns, unused) })
	if err == nil {
		r.says = carried(r.says, r.like)
		r.schema = schemaOf(r.like, r.says)
	}
	return r, err
}

// floatsWithMask returns the specs of the floating-point tensors of td that have a mask.
func floatsWithMask(td *tdict.TensorDict, says tdict.Schema) (found []tdict.Spec) {
	for _, s := range says {
		t, err := td.Tensor(s.Key)
		if s.Mask != "" && err == nil && t.DType().IsFloat() && td.Has(s.Mask) {
			found = append(found, s)
		}
	}
	return found
}

// filledNaN returns td with NaN where the masks of columns are false, and without some masks.
func filledNaN(td *tdict.TensorDict, columns []tdict.Spec, unused []nestedkey.Key) (*tdict.TensorDict, error) {
	out := td.Copy()
	for _, c := range columns {
		values, err := td.Tensor(c.Key)
		if err != nil {
			return nil, err
		}
		mask, err := td.Tensor(c.Mask)
		if err != nil {
			return nil, err
		}
		var filled *tensor.Tensor
		if filled, err = arith.Where(mask, values, math.NaN()); err == nil {
			err = out.Set(c.Key, filled)
		}
		if err != nil {
			return nil, &tdict.KeyError{Op: "save", Key: c.Key, Err: err}
		}
	}
	return out.Exclude(unused...), nil
}
