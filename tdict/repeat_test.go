package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What goes into a dictionary that is there costs headers only, however many rows it has. The
// numbers are ceilings: whoever saves an allocation lowers them.
func TestLayoutsIntoAllocateHeaders(t *testing.T) {
	type dictionary = *tdict.TensorDict
	verbs := []struct {
		name string
		most float64
		make func(n int) func() error
	}{
		{"flip", 26, func(n int) func() error {
			td, dst := wide(10, n), wide(10, n)
			return func() error { return shapeops.FlipInto(dst, td, 0) }
		}},
		{"pad", 44, func(n int) func() error {
			td, dst := wide(10, n), wide(10, n+3)
			return func() error { return td.PadInto(dst, tdict.PadOptions{}, 1, 2) }
		}},
		{"gather", 16, func(n int) func() error {
			td, dst, index := wide(10, n), wide(10, n), tensor.Must(tensor.Zeros[int64](n))
			return func() error { return td.GatherInto(dst, 0, index) }
		}},
		{"masked select", 16, func(n int) func() error {
			td, dst, mask := wide(10, n), wide(10, n), tensor.Must(tensor.Full(true, n))
			return func() error { return td.IndexInto(dst, tensor.Must(mask.AsMask())) }
		}},
		{"pad sequence", 48, func(n int) func() error {
			xs, dst := []dictionary{wide(10, n), wide(10, n-5)}, tensor.Must(tensor.Must(wide(10, 2*n).Unflatten(0, 2, n)).Clone())
			return func() error { return shapeops.PadSequenceInto(dst, xs, shapeops.PadSequenceOptions{}) }
		}},
	}
	for _, v := range verbs {
		cost := func(n int) float64 {
			do := v.make(n)
			return testing.AllocsPerRun(20, func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		few, many := cost(10), cost(1000)
		require.InDelta(t, few, many, 2, v.name)
		require.LessOrEqual(t, many, v.most+6, v.name) // a few more under the race detector
	}
}

// Results of many leaves come from few blocks, however many leaves there are.
func TestLayoutsAllocateFewBlocks(t *testing.T) {
	type dictionary = *tdict.TensorDict
	verbs := []struct {
		name string
		most float64 // more for 100 leaves than for 10
		do   func(td dictionary) (dictionary, error)
	}{
		{"pad", 2, func(td dictionary) (dictionary, error) { return td.Pad(tdict.PadOptions{Fill: 1}, 1, 1) }},
		{"pad with a value of a leaf's own", 2, func(td dictionary) (dictionary, error) {
			var first tdict.PadOptions
			for key := range td.Leaves() {
				first.Fills = map[nestedkey.Key]any{key: 1}
				break
			}
			return td.Pad(first, 1, 1)
		}},
		{"flip", 2, func(td dictionary) (dictionary, error) { return shapeops.Flip(td, 0) }},
		{"roll", 2, func(td dictionary) (dictionary, error) { return shapeops.Roll(td, 0, 3) }},
		{"repeat", 2, func(td dictionary) (dictionary, error) { return shapeops.Repeat(td, 2) }},
		{"unfold", 2, func(td dictionary) (dictionary, error) { return shapeops.Unfold(td, 0, 2, 1) }},
		{"gather", 2, func(td dictionary) (dictionary, error) { return td.Gather(0, tensor.Vector[int64](3, 1, 2)) }},
	}
	for _, v := range verbs {
		cost := func(leaves int) float64 {
			td := wide(leaves, 32)
			return testing.AllocsPerRun(20, func() {
				if _, err := v.do(td); err != nil {
					t.Error(err)
				}
			})
		}
		few, many := cost(10), cost(100)
		require.LessOrEqual(t, many-few, v.most, v.name)
	}
}
