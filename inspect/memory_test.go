package inspect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMemoryIsBounded compares and describes leaves of 64 MiB, and allocates little.
func TestMemoryIsBounded(t *testing.T) {
	a, b := tdict.New(1<<17), tdict.New(1<<17)
	for _, td := range []*tdict.TensorDict{a, b} {
		require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float64, 1<<17, 64))))
	}
	testkit.MaxBytes(t, 1<<20, func() {
		require.Empty(t, differences(t, a, b, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{EqualNaN: true}, Workers: 2}))
	})
	opts := map[string]inspect.DescribeOptions{
		"contiguous": {Workers: 2}, "quantiles": {Workers: 2, Quantiles: []float64{0.5}},
	}
	for name, opt := range opts {
		t.Run(name, func(t *testing.T) {
			testkit.MaxBytes(t, 16<<20, func() { describe(t, b, opt) })
		})
	}
}

// TestFewTexts: texts of elements are made for the elements that are listed, and not for each block
// and each member.
func TestFewTexts(t *testing.T) {
	const most = 500
	full := func(v uint8) *tensor.Tensor { return tensor.Must(tensor.Full(v, 4<<20)) }
	dict := func(x tdict.Value) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": x}))
	}
	stack := func(v uint8) *tdict.TensorDict {
		all := make([]*tdict.TensorDict, 4)
		for i := range all {
			all[i] = dict(tensor.Must(full(v).Narrow(0, 0, 1000+i)))
		}
		return tensor.Must(tdict.LazyStack(all, 0))
	}
	for name, both := range map[string][2]*tdict.TensorDict{
		"a tensor of 4 blocks": {dict(full(1)), dict(full(2))},
		"a stack of 4 members": {stack(1), stack(2)},
	} {
		t.Run(name, func(t *testing.T) {
			opt := inspect.DifferencesOptions{Most: most, Workers: 1}
			allocs := testing.AllocsPerRun(1, func() {
				require.Len(t, differences(t, both[0], both[1], opt)[0].Elements, most)
			})
			require.Less(t, allocs, 40.*most, "and not for each of 4 blocks or members")
		})
	}
}

// TestOneOfManyLeaves describes one leaf of many, and does not visit the others.
func TestOneOfManyLeaves(t *testing.T) {
	td := tdict.New()
	for i := range 5000 {
		require.NoError(t, td.Set(nestedkey.Join("in", nestedkey.Key(fmt.Sprint(i))), tensor.Scalar(float32(i))))
	}
	opt := inspect.DescribeOptions{Keys: []nestedkey.Key{"in/4321"}, Schema: tdict.Schema{}, Workers: 1}
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { require.Equal(t, 4321., describe(t, td, opt)[0].Max) }), 200.)
}

// TestFewAllocations has leaves that are small: a dataset may have 100,000 of them.
func TestFewAllocations(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Scalar(float32(1))))
	opt := inspect.DescribeOptions{Workers: 1}
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { describe(t, td, opt) }), 60.)
}
