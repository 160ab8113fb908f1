package tdict_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What comes out of a dictionary goes in again, and is what it was.
func TestTreeRoundTrip(t *testing.T) {
	named := family()
	require.NoError(t, named.SetNames("time"))
	gaps := many()
	require.NoError(t, gaps.Delete("c"))
	require.NoError(t, gaps.Set("c", count(2)))
	tests := map[string]*tdict.TensorDict{
		"sample": sample(), "kinds": kinds(), "names": named, "many": many(), "after a deletion": gaps, "locked": locked(),
		"empty": tdict.New(3, 4), "no row": dict([]int{0}, entry{"x", count(0, 2)}), "batch shape []": dict(nil, entry{"x", count(2)}),
		"only other kinds": dict([]int{3}, entry{"name", texts("x", "y", "z")}, entry{"d", tdict.New(3)}), "deep": chain(tdict.MaxDepth, count(1)),
	}
	for name, td := range tests {
		t.Run(name, func(t *testing.T) {
			before := state(t, td.Copy())
			leaves, tree := td.Tree()
			tensors, found := []*tensor.Tensor{}, []key{}
			for k, x := range td.Tensors() {
				tensors, found = append(tensors, x), append(found, k)
			}
			require.Equal(t, len(tensors), len(leaves))
			for i := range leaves {
				require.Same(t, tensors[i], leaves[i], "in the order of Tensors")
			}
			require.Equal(t, found, slices.AppendSeq([]key{}, tree.Keys()))

			got, err := tree.Build(leaves)
			require.NoError(t, err)
			require.Equal(t, before, state(t, got))
			require.True(t, td.Equal(got))
			require.False(t, got.Locked())
			for i, d := range dicts(got) {
				require.Equal(t, dicts(td)[i].Names(), d.Names())
				require.False(t, d == dicts(td)[i])
			}
			for k, leaf := range td.Leaves() {
				require.True(t, tensor.Must(got.Get(k)) == tdict.Value(leaf), "%s is shared", k)
			}
			consistent(t, got)
			ruin(t, got)
			again, err := tree.Build(leaves)
			require.NoError(t, err)
			require.Equal(t, before, state(t, again), "the structure is new each time")
		})
	}
}

// Other tensors may have other dtypes and features, and the dictionary may change meanwhile.
func TestTreeBuildsOthers(t *testing.T) {
	td := sample()
	_, tree := td.Tree()
	ruin(t, td)
	got, err := tree.Build([]*tensor.Tensor{tensor.Vector(true, false, true), count(3, 4, 7, 2)})
	require.NoError(t, err)
	require.Equal(t, []key{"a", "b", "b/c"}, keys(got))
	require.Equal(t, tensor.Bool, tensor.Must(got.Tensor("a")).DType())
	require.Equal(t, shapeops.Shape{3, 4, 7, 2}, tensor.Must(got.Tensor("b/c")).Shape())
	consistent(t, got)
}

func TestTreeRefuses(t *testing.T) {
	build := func(edit func(leaves []*tensor.Tensor) []*tensor.Tensor) func(*tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error {
			leaves, tree := td.Tree()
			return testkit.Err(tree.Build(edit(leaves)))
		}
	}
	put := func(x *tensor.Tensor) func(*tdict.TensorDict) error {
		return build(func(leaves []*tensor.Tensor) []*tensor.Tensor { leaves[1] = x; return leaves })
	}
	refuse(t, family, []refusal{
		{"one leaf too few", build(func(leaves []*tensor.Tensor) []*tensor.Tensor { return leaves[:2] }), shapeops.ErrShape},
		{"no leaves", build(func([]*tensor.Tensor) []*tensor.Tensor { return nil }), shapeops.ErrShape},
		{"one too many", build(func(leaves []*tensor.Tensor) []*tensor.Tensor { return append(leaves, count(2)) }), shapeops.ErrShape},
		{"another batch shape", put(count(3)), shapeops.ErrShape},
	})
}

func TestTreeOfNothing(t *testing.T) {
	var none tdict.Tree
	require.Empty(t, slices.Collect(none.Keys()))
	require.True(t, tdict.New().Equal(tensor.Must(none.Build(nil))))
	require.ErrorIs(t, testkit.Err(none.Build([]*tensor.Tensor{count()})), shapeops.ErrShape)
	for range many().Tensors() {
		break
	}
	_, tree := many().Tree()
	for k := range tree.Keys() {
		require.Equal(t, key("a/a/aa"), k)
		break
	}
}

// Several goroutines build of one Tree.
func TestTreeIsShared(t *testing.T) {
	leaves, tree := many().Tree()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				got, err := tree.Build(leaves)
				if err != nil || got.Set("new", count(2)) != nil || !got.Has("a/a/aa") {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// Build allocates for dictionaries, not for leaves.
func TestTreeAllocations(t *testing.T) {
	allocs := func(leaves int) float64 {
		td, _ := manyLeaves(leaves)
		list, tree := td.Tree()
		return testing.AllocsPerRun(20, func() { tensor.Must(tree.Build(list)) })
	}
	require.Equal(t, allocs(10), allocs(1000))
	require.LessOrEqual(t, allocs(10), 8.0)
}
