package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/loader/sampler"
)

// spreadOf says in one line how close to uniform the order of an epoch of blocks is: how many units
// have a unit of the same block next, and how far apart in the order two units are that are
// consecutive in the data, relative to a uniform order.
func spreadOf(units, unitBytes int) (string, error) {
	o, err := sampler.Blocks(blocks).Order(sampler.Epoch{Units: units, UnitBytes: unitBytes})
	if err != nil {
		return "", err
	}
	block := max(1, blocks.BlockBytes/unitBytes)
	order, at, same, reach := o.AppendTo(nil, 0, units), make([]int, units), 0, 0
	for i, unit := range order {
		at[unit] = i
		if i > 0 && order[i-1]/block == unit/block {
			same++
		}
	}
	for unit := range units - 1 {
		reach += max(at[unit]-at[unit+1], at[unit+1]-at[unit])
	}
	pairs := float64(max(1, units-1))
	return fmt.Sprintf("%.3g%% of neighbours of one block, uniform %.3g%%; reach %.3g%%",
		100*float64(same)/pairs, 100*float64(min(block, units)-1)/pairs, 300*float64(reach)/pairs/float64(units+1)), nil
}
