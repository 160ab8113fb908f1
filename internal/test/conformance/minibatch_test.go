package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/fnv"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// A listOp runs a case on lists of numbers, which are its arguments, and returns what JSON encodes.
type listOp func(c testCase) (any, error)

// listOps has every operation on lists that is implemented.
var listOps = map[string]listOp{
	"group_starts": groupStarts,
	"endpoints":    endpoints,
	"lexsort":      lexsort,
	"fnv_hash": func(c testCase) (any, error) {
		hashes := []int64{}
		for _, id := range arg[[]int64](c, "ids") {
			hashes = append(hashes, fnv.Hash(id))
		}
		return hashes, nil
	},
	"fnv_order": func(c testCase) (any, error) {
		return fnv.Order(arg[[]int64](c, "ids"), arg[int64](c, "seed")), nil
	},
}

// groupStarts says where the runs of equal ids begin, and how many ids there are.
func groupStarts(c testCase) (any, error) {
	ids := arg[[]int64](c, "ids")
	groups, err := sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{Apart: sampler.SeparateApart})
	if err != nil {
		return nil, err
	}
	return append(groups.Firsts(), len(ids)), nil
}

// endpoints says which rows batches of whole groups have, which lie where group_starts says.
func endpoints(c testCase) (any, error) {
	starts := arg[[]int](c, "group_starts")
	var ids []int64
	for g := range len(starts) - 1 {
		ids = append(ids, slices.Repeat([]int64{int64(g)}, starts[g+1]-starts[g])...)
	}
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
	batching, err := groups.Batches(sampler.GroupBatchOptions{Groups: arg[int](c, "batch"), DropLast: arg[bool](c, "drop_last")})
	if err != nil {
		return nil, err
	}
	plan := tensor.Must(batching.Plan(tensor.Must(sampler.Sequential().Order(sampler.Epoch{Units: groups.Len()})), len(ids)))
	ends := [][2]int{}
	for k := range plan.Len() {
		rows := plan.Batch(k, sampler.Batch{}).Rows
		ends = append(ends, [2]int{rows[0], rows[len(rows)-1] + 1})
	}
	return ends, nil
}

// lexsort sorts by keys of which the last is the primary one.
func lexsort(c testCase) (any, error) {
	var columns []*tensor.Tensor
	for _, key := range arg[[][]number](c, "keys") {
		floats := make([]float64, len(key))
		for i, n := range key {
			floats[i] = n.float
		}
		columns = append(columns, tensor.Vector(floats...))
	}
	slices.Reverse(columns)
	rows, err := arith.Lexsort(columns...)
	if err != nil {
		return nil, err
	}
	return rows.Ints()
}

// checkLists runs a case on lists and returns how it went wrong.
func checkLists(run listOp, c testCase) error {
	got, err := run(c)
	switch {
	case c.Error != nil && err == nil:
		return fmt.Errorf("got %v, want an error like %q", got, *c.Error)
	case c.Error != nil:
		return nil
	case err != nil:
		return err
	}
	return compareExactly(got, c.Want)
}

// compareExactly compares lists of integers of up to 64 bits, which are spelled in one way.
func compareExactly(got any, want json.RawMessage) error {
	var g, w bytes.Buffer
	must(json.Compact(&g, tensor.Must(json.Marshal(got))))
	must(json.Compact(&w, want))
	if !bytes.Equal(g.Bytes(), w.Bytes()) {
		return fmt.Errorf("got %v, want %s", got, want)
	}
	return nil
}

// TestIntegersAreComparedExactly: those beyond 53 bits too.
func TestIntegersAreComparedExactly(t *testing.T) {
	if err := compareExactly([]int64{1 << 60, -1}, json.RawMessage(`[1152921504606846976, -1]`)); err != nil {
		t.Error(err)
	}
	if compareExactly([]int64{1<<60 + 1}, json.RawMessage(`[1152921504606846976]`)) == nil {
		t.Error("got no difference, want one of 1")
	}
}
