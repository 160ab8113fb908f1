package pickstack

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Apply sets an entry of a dictionary to what [Plan.Forward] makes of others:
//
//	td [B]: inputs[n] [P_n C_n] -> out [A sum(C_n)]
//
// Its errors are those of Forward, tdict.Get and TensorDict.Set; then td has not changed.
func (p *Plan) Apply(td *tdict.TensorDict, out nestedkey.Key, inputs ...nestedkey.Key) error {
	return apply[*tensor.Tensor](p, td, out, inputs)
}

// ApplyGradient goes back over what [Plan.Apply] did: of the gradient that grads holds under out it
// makes those of the inputs, and sets them in grads under the same keys as td has the inputs under.
//
//	td [B]: inputs[n] [P_n C_n];  grads [B]: out [A sum(C_n)] -> inputs[n] [P_n C_n]
//
// Where grads has something already, or a key is listed twice, the sum is set: so layers that share
// an input are gone over one after another, the last first. Entries are replaced, never written in
// place. On an error grads has not changed.
//
// A layer that has put something else under the key of an input, so that td is what was there
// before it, has what grads holds under that key deleted first: that is the gradient of the new.
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
		return fmt.Errorf("entry %q: %w", out, err)
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

func applyGradient[V arith.Operand[V]](p layer[V], grads, td *tdict.TensorDict, out nestedkey.Key, inputs []nestedkey.Key) error {
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
		return fmt.Errorf("entry %q: %w", out, err)
	}
	sums := tdict.New(grads.Shape()...)
	for n, key := range inputs {
		if err := sumEntry(sums, grads, key, dxs[n]); err != nil {
			return err
		}
	}
	return grads.Update(sums)
}

// sumEntry sets an entry of sums to x, added to what it has already, or else grads has.
func sumEntry[V arith.Operand[V]](sums, grads *tdict.TensorDict, key nestedkey.Key, x V) error {
	from := sums
	if !sums.Has(key) {
		from = grads
	}
	if from.Has(key) {
		old, err := tdict.Get[V](from, key)
		if err != nil {
			return err
		}
		if x, err = arith.Add(old, x); err != nil {
			return fmt.Errorf("entry %q: %w", key, err)
		}
	}
	return sums.Set(key, x)
}
