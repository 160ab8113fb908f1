package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply sets an entry of a dictionary to the result of [Plan.Forward] on other entries:
//
//	td [B]: inputs[n] [P_n C_n] -> out [A sum(C_n)]
//
// out may be the key of an input, which it replaces. Apply returns the errors of Forward, tdict.Get
// and TensorDict.Set; on an error td has not changed.
func (p *Plan) Apply(td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return apply[*tensor.Tensor](p, td, out, inputs)
}

// ApplyGradient is the backward pass of [Plan.Apply]. It reads the gradient of the output from
// grads, under the key out, and sets the gradients of the inputs in grads, under the keys of the
// inputs in td:
//
//	td [B]: inputs[n] [P_n C_n];  grads [B]: out [A sum(C_n)] -> inputs[n] [P_n C_n]
//
// If grads has an entry under such a key already, or inputs lists a key twice, the entry becomes
// the sum. So layers that share an input can be applied backward one after another, the last layer
// first, beginning with a new grads. Entries are replaced, never written in place. If out is the
// key of an input, its gradient replaces the gradient of the output.
//
// ApplyGradient returns tensor.ErrOverlap if grads is td; grads must not share inner dictionaries
// with td either. On an error grads has not changed.
//
// If a later layer replaced the value of an input, pass the dictionary from before that layer as
// td. grads then holds the gradient of the new value under that key: Delete it first.
func (p *Plan) ApplyGradient(grads, td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return applyGradient[*tensor.Tensor](p, grads, td, out, inputs)
}

// Apply is [Plan.Apply] on ragged entries of a dictionary of batch shape [Q].
func (p *RaggedPlan) Apply(td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return apply[*ragged.Tensor](p, td, out, inputs)
}

// ApplyGradient is [Plan.ApplyGradient] on ragged entries.
func (p *RaggedPlan) ApplyGradient(grads, td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return applyGradient[*ragged.Tensor](p, grads, td, out, inputs)
}

// A layer is a plan for values of one type.
type layer[V tdict.Value] interface {
	Forward(xs ...V) (V, error)
	Gradient(g V, xs ...V) ([]V, error)
}

func apply[V tdict.Value](p layer[V], td *tdict.TensorDict, out nestedkey.Key, inputs []nestedkey.Key) error {
	xs, err := getAll[V](td, inputs)
	if err != nil {
		return err
	}
	y, err := p.Forward(xs...)
	if err != nil {
		return fmt.Errorf("apply: %q of %q: %w", out, inputs, err)
	}
	return td.Set(out, y)
}

// getAll returns the values under keys.
func getAll[V tdict.Value](td *tdict.TensorDict, keys []nestedkey.Key) (xs []V, err error) {
	xs = make([]V, len(keys))
	for n, key := range keys {
		if xs[n], err = tdict.Get[V](td, key); err != nil {
			return nil, err
		}
	}
	return xs, nil
}

func applyGradient[V arith.Elementwise[V]](p layer[V], grads, td *tdict.TensorDict, out nestedkey.Key, inputs []nestedkey.Key) error {
	if grads == td {
		return fmt.Errorf("apply gradient: %w: got one dictionary for gradients and values", tensor.ErrOverlap)
	}
	xs, err := getAll[V](td, inputs)
	if err != nil {
		return err
	}
	g, err := tdict.Get[V](grads, out)
	if err != nil {
		return err
	}
	dxs, err := p.Gradient(g, xs...)
	if err != nil {
		return fmt.Errorf("apply gradient: %q of %q: %w", out, inputs, err)
	}
	sums, made := grads.Exclude(out).Copy(), tdict.New(grads.Shape()...)
	for n, key := range inputs {
		sum := dxs[n]
		if sums.Has(key) {
			has, err := tdict.Get[V](sums, key)
			if err != nil {
				return fmt.Errorf("apply gradient: %w", err)
			}
			if got, want := shapeText(has), shapeText(sum); got != want {
				return fmt.Errorf("apply gradient: gradient under %q: %w: got %s, want %s", key, shapeops.ErrShape, got, want)
			}
			if sum, err = arith.Add(has, sum); err != nil {
				return fmt.Errorf("apply gradient: gradient under %q: %w", key, err)
			}
		}
		if err := sums.Set(key, sum); err != nil {
			return fmt.Errorf("apply gradient: %w", err)
		}
		if err := made.Set(key, sum); err != nil {
			return err
		}
	}
	return grads.Update(made)
}

// shapeText returns the shape of a value for errors: for a ragged tensor its text.
func shapeText(v tdict.Value) string {
	if r, ok := v.(*ragged.Tensor); ok {
		return r.Text()
	}
	return v.Shape().String()
}
