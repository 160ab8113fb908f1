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

// Apply sets an entry of a dictionary to what [Plan.Forward] makes of others:
//
//	td [B]: inputs[n] [P_n C_n] -> out [A sum(C_n)]
//
// out may be the key of an input, which it replaces. Its errors are those of Forward, tdict.Get and
// TensorDict.Set; then td has not changed.
func (p *Plan) Apply(td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return apply[*tensor.Tensor](p, td, out, inputs)
}

// ApplyGradient goes back over what [Plan.Apply] did. It takes the gradient of the output, which
// grads has under out, and sets those of the inputs in grads, under the keys that td has the inputs
// under.
//
//	td [B]: inputs[n] [P_n C_n];  grads [B]: out [A sum(C_n)] -> inputs[n] [P_n C_n]
//
// Where grads has an entry already, or a key is listed twice, the sum is set: so layers that share
// an input are gone over one after another, the last first, beginning with new grads. Entries are
// replaced, never written in place. An input whose key is out has its gradient set, not added. On
// an error grads has not changed. It is one if grads is td; grads must not hold dictionaries of td
// either.
//
// If a layer replaced the value of an input, td is the dictionary from before it. What grads has
// under that key is the gradient of the new value: Delete it first.
func (p *Plan) ApplyGradient(grads, td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return applyGradient[*tensor.Tensor](p, grads, td, out, inputs)
}

// Apply is [Plan.Apply] on ragged entries, of a dictionary of batch shape [Q].
func (p *RaggedPlan) Apply(td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return apply[*ragged.Tensor](p, td, out, inputs)
}

// ApplyGradient is [Plan.ApplyGradient] on ragged entries.
func (p *RaggedPlan) ApplyGradient(grads, td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return applyGradient[*ragged.Tensor](p, grads, td, out, inputs)
}

// A layer is a plan for values of one kind.
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
		if err := addEntry(sums, key, dxs[n]); err != nil {
			return fmt.Errorf("apply gradient: %w", err)
		}
		sum, err := sums.Get(key)
		if err != nil {
			return err
		}
		if err := made.Set(key, sum); err != nil {
			return err
		}
	}
	return grads.Update(made)
}

// addEntry sets an entry to x, added to what is there.
func addEntry[V arith.Elementwise[V]](sums *tdict.TensorDict, key nestedkey.Key, x V) error {
	if !sums.Has(key) {
		return sums.Set(key, x)
	}
	has, err := tdict.Get[V](sums, key)
	if err != nil {
		return err
	}
	if got, want := shapeText(has), shapeText(x); got != want {
		return fmt.Errorf("there is something under %q: %w: got %s, want %s", key, shapeops.ErrShape, got, want)
	}
	sum, err := arith.Add(has, x)
	if err != nil {
		return fmt.Errorf("there is something under %q: %w", key, err)
	}
	return sums.Set(key, sum)
}

// shapeText returns the shape of a value: of a ragged tensor with that of its rows.
func shapeText(v tdict.Value) string {
	if r, ok := v.(*ragged.Tensor); ok {
		return r.Text()
	}
	return v.Shape().String()
}
