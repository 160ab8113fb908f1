package main

import (
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// pooling is that of a proposition layer: ELU makes nothing less than -1.
var pooling = pickstack.PoolOptions{MinValue: new(-1.0)}

// A module says which vectors the actions of a schema, or the propositions of a predicate, read:
// those of what they are related to, and their own, a skip connection. It serves any number of
// states and of channels, and so all layers.
type module struct {
	key    nestedkey.Key   // of the vectors that are made: act/stack
	inputs []nestedkey.Key // of those that are read: act/stack, prop/holding, prop/clear, ...
	plan   *pickstack.Plan
}

// stacked returns the key of what is read, in one tensor: in/act/stack.
func (m module) stacked() nestedkey.Key { return nestedkey.Join("in", m.key) }

// actionModules returns the module of each schema.
func (p *problem) actionModules() (all []module) {
	for _, of := range p.acts {
		all = append(all, p.actionModule(of))
	}
	return all
}

// actionModule returns a module in which each action picks the proposition in each of its slots.
func (p *problem) actionModule(to actions) module {
	keys, widths, indices := []nestedkey.Key{to.key}, []int{len(to.all)}, []*tensor.Tensor{nil}
	for slot, text := range to.slots {
		from := p.predicate(text)
		keys = append(keys, from.key)
		widths = append(widths, len(from.all))
		indices = append(indices, to.index(slot, from.all))
	}
	plan := tensor.Must(pickstack.NewPick(indices, widths, pickstack.PickOptions{}))
	return module{to.key, keys, plan}
}

// predicate returns the propositions of the predicate that a text begins with.
func (p *problem) predicate(text string) propositions {
	i := slices.IndexFunc(p.props, func(of propositions) bool { return of.key == propKey(text) })
	return p.props[i]
}

// index returns where among its predicate's propositions each action has that in a slot: [A].
func (to actions) index(slot int, propositions []string) *tensor.Tensor {
	var index []int64
	for _, a := range to.all {
		index = append(index, int64(slices.Index(propositions, a.slots[slot])))
	}
	return tensor.Vector(index...)
}

// propositionModules returns the module of each predicate.
func (p *problem) propositionModules(opt pickstack.PoolOptions) (all []module) {
	for _, of := range p.props {
		all = append(all, p.propositionModule(of, opt))
	}
	return all
}

// propositionModule returns a module in which each proposition pools, for each slot of each schema
// that has its predicate, the actions that have it there.
func (p *problem) propositionModule(to propositions, opt pickstack.PoolOptions) module {
	keys, widths, pools := []nestedkey.Key{to.key}, []int{len(to.all)}, []*ragged.Tensor{nil}
	for _, from := range p.acts {
		for slot, text := range from.slots {
			if propKey(text) == to.key {
				keys = append(keys, from.key)
				widths = append(widths, len(from.all))
				pools = append(pools, from.pools(slot, to.all))
			}
		}
	}
	plan := tensor.Must(pickstack.NewPool(pools, widths, opt))
	return module{to.key, keys, plan}
}

// pools returns the actions that have a proposition in a slot, for each of the propositions: [P *].
func (from actions) pools(slot int, propositions []string) *ragged.Tensor {
	pools := make([][]int64, len(propositions))
	for i, a := range from.all {
		at := slices.Index(propositions, a.slots[slot])
		pools[at] = append(pools[at], int64(i))
	}
	return tensor.Must(ragged.From[int64](pools))
}
