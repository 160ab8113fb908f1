package tdict_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// raggedLeaves returns a dictionary [8] of so many ragged leaves of depth 2, which share a layout
// or have one each.
func raggedLeaves(n int, shared bool) *tdict.TensorDict {
	layout := func() *ragged.Layout {
		return tensor.Must(ragged.LayoutOf(shapeops.Shape{8}, []int64{1, 2, 0, 1, 3, 0, 1, 2}, []int64{1, 0, 2, 1, 0, 1, 1, 3, 0, 1}))
	}
	td, one := tdict.New(8), layout()
	for i := range n {
		l := one
		if !shared {
			l = layout()
		}
		key := nestedkey.Key(fmt.Sprint("leaf", i))
		if err := td.Set(key, tensor.Must(ragged.New(count(10), l))); err != nil {
			panic(err)
		}
	}
	return td
}

// raggedBulks must each take time and bytes in proportion to the leaves.
var raggedBulks = []struct {
	name string
	run  func(td *tdict.TensorDict) error
}{
	{"index-range", func(td *tdict.TensorDict) error { return testkit.Err(td.Index(ix.Range(2, 6))) }},
	{"index-list", func(td *tdict.TensorDict) error { return testkit.Err(td.Index(ix.Take(5, 1, 1, 7))) }},
	{"index-into", func(td *tdict.TensorDict) error {
		return td.IndexInto(tensor.Must(td.NewZeros(4)), ix.Take(5, 1, 1, 7))
	}},
	{"stack", func(td *tdict.TensorDict) error {
		return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td, td, td}, 0))
	}},
	{"pad", func(td *tdict.TensorDict) error { return testkit.Err(td.Pad(tdict.PadOptions{}, 1, 1)) }},
	{"clone", func(td *tdict.TensorDict) error { return testkit.Err(td.Clone()) }},
	{"set-index", func(td *tdict.TensorDict) error {
		return td.SetIndex(tensor.Must(td.Index(ix.At(7))), ix.At(0))
	}},
	{"add", func(td *tdict.TensorDict) error { return testkit.Err(arith.Add(td, 1)) }},
	{"add-rows", func(td *tdict.TensorDict) error { return testkit.Err(arith.Add(td, count(8))) }},
	{"apply", func(td *tdict.TensorDict) error { return testkit.Err(td.Cast(tensor.Float32)) }},
	{"zeros", func(td *tdict.TensorDict) error { return testkit.Err(td.NewZeros(td.Shape()...)) }},
	{"equal", func(td *tdict.TensorDict) error { return testkit.Err(td.Diff(td)) }},
}

// What is done to all of many ragged leaves allocates in proportion to them, whether they share a
// layout or not. Allocations are counted, not bytes: under the race detector pools drop what they
// have at random.
func TestManyRaggedLeavesAllocateInProportion(t *testing.T) {
	for _, b := range raggedBulks {
		for _, shared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/shared=%t", b.name, shared), func(t *testing.T) {
				allocs := func(n int) float64 {
					td := raggedLeaves(n, shared)
					require.NoError(t, b.run(td))
					return testing.AllocsPerRun(2, func() { _ = b.run(td) })
				}
				few := allocs(10)
				for n := 100; n <= 1000; n *= 10 {
					many := allocs(n)
					require.LessOrEqual(t, many, 15*few, "%d leaves", n)
					few = many
				}
			})
		}
	}
}

// A layout that leaves share is worked out once: each further leaf costs what its values do. The
// numbers are ceilings: whoever saves an allocation lowers them.
func TestRaggedLeavesThatShareCostTheirValues(t *testing.T) {
	most := map[string]float64{
		"index-range": 1, "index-list": 10, "index-into": 16, "stack": 25, "pad": 10, "clone": 4, "set-index": 3,
		"add": 2, "add-rows": 12, "apply": 5, "zeros": 4, "equal": 11,
	}
	for _, b := range raggedBulks {
		allocs := func(n int) float64 {
			td := raggedLeaves(n, true)
			return testing.AllocsPerRun(20, func() { _ = b.run(td) })
		}
		perLeaf := (allocs(110) - allocs(10)) / 100
		require.LessOrEqual(t, perLeaf, most[b.name]+1.5, b.name)
	}
}
