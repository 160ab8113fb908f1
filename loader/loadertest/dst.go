package loadertest

import (
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// fits fetches repeatedly into the previous result, after overwriting it.
func (c *checker) fits() error {
	if c.n == 0 {
		return nil
	}
	n := min(3, len(c.rows))
	dst, err := c.fetch(c.at(c.all(0, n)...), nil)
	for i := 0; i < 4 && err == nil; i++ {
		var td *tdict.TensorDict
		if err = fillers[i%len(fillers)].write(dst); err == nil {
			td, err = c.fetched(c.all(i+1, n), dst)
		}
		dst = td
	}
	return err
}

// unfit calls Fetch with dictionaries that differ from the result.
func (c *checker) unfit() error {
	if c.n == 0 {
		return nil
	}
	positions := c.all(0, min(3, len(c.rows)))
	for _, u := range unfits {
		dst, err := c.fetch(c.at(c.all(1, len(positions)+u.more)...), nil)
		if err == nil {
			dst, err = dst.Clone()
		}
		if err != nil {
			return err
		}
		if ok, err := u.change(dst); err != nil || !ok {
			continue // dst has nothing to change
		}
		if _, err := c.fetched(positions, dst); err != nil {
			return fmt.Errorf("dst with %s: %w", u.name, err)
		}
	}
	return nil
}

// An unfit is a way to make a dst that does not fit.
type unfit struct {
	name   string
	more   int // additional rows
	change func(dst *tdict.TensorDict) (changed bool, err error)
}

var unfits = []unfit{
	{"a row more", 1, func(*tdict.TensorDict) (bool, error) { return true, nil }},
	{"no entries", 0, func(dst *tdict.TensorDict) (bool, error) { return !dst.IsEmpty(), empty(dst) }},
	{"a key more", 0, func(dst *tdict.TensorDict) (bool, error) {
		return true, dst.Set("loadertest", tdict.New(dst.Shape()...))
	}},
	{"a key less", 0, func(dst *tdict.TensorDict) (bool, error) {
		var last nestedkey.Key
		for key := range dst.Leaves() {
			last = key
		}
		if dst.IsEmpty() {
			return false, nil
		}
		return true, dst.Delete(last)
	}},
	{"another dtype in its first tensor", 0, func(dst *tdict.TensorDict) (bool, error) { return change(dst, 0, dtype) }},
	{"another dtype in its last tensor", 0, func(dst *tdict.TensorDict) (bool, error) { return change(dst, -1, dtype) }},
	{"another shape in its last tensor", 0, func(dst *tdict.TensorDict) (bool, error) { return change(dst, -1, deeper) }},
	{"another kind in place of its last tensor", 0, func(dst *tdict.TensorDict) (bool, error) { return change(dst, -1, kind) }},
}

// change replaces the first tensor of td, or the last if which is -1, by the result of fn. It
// reports whether td has a tensor.
func change(td *tdict.TensorDict, which int, fn func(x *tensor.Tensor, batch []int) (tdict.Value, error)) (bool, error) {
	var keys []nestedkey.Key
	for key := range td.Tensors() {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return false, nil
	}
	key := keys[(which+len(keys))%len(keys)]
	x, err := td.Tensor(key)
	if err != nil {
		return false, err
	}
	v, err := fn(x, td.Shape())
	if err != nil {
		return false, err
	}
	return true, td.Set(key, v)
}

// dtype returns zeros of another dtype.
func dtype(x *tensor.Tensor, _ []int) (tdict.Value, error) {
	if x.DType() == tensor.Int16 {
		return tensor.Zeros[int32](x.Shape()...)
	}
	return tensor.Zeros[int16](x.Shape()...)
}

// deeper returns x with one more feature dim.
func deeper(x *tensor.Tensor, _ []int) (tdict.Value, error) { return x.Unsqueeze(-1) }

// kind returns data in place of x.
func kind(x *tensor.Tensor, batch []int) (tdict.Value, error) {
	return tdict.NewData("loadertest", batch...)
}
