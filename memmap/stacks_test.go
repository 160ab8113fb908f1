package memmap_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// requireSameStacks requires of two dictionaries, and of those in them and of their members, the
// same batch shape, keys, stack dim and values.
func requireSameStacks(t *testing.T, want, got *tdict.TensorDict) {
	t.Helper()
	require.Equal(t, want.Shape(), got.Shape())
	dim, lazy := tdict.StackDim(want)
	gotDim, gotLazy := tdict.StackDim(got)
	require.Equal(t, []any{lazy, dim}, []any{gotLazy, gotDim}, "whether it is a lazy stack, and along which dim")
	require.ElementsMatch(t, slices.Collect(want.Keys()), slices.Collect(got.Keys()))
	for key := range want.NestedKeys() {
		d, err := want.Dict(key)
		if err != nil {
			continue // a leaf
		}
		inner := tensor.Must(got.Dict(key))
		require.Equal(t, d.Shape(), inner.Shape(), key)
		if !lazy { // otherwise the members are compared; a dictionary in a stack is a stack when it is opened
			requireSameStacks(t, d, inner)
		}
	}
	if !lazy {
		require.True(t, want.Equal(got))
		return
	}
	_, members, err := tdict.Members(want)
	require.NoError(t, err)
	_, others, err := tdict.Members(got)
	require.NoError(t, err)
	require.Len(t, others, len(members))
	for i, m := range members {
		requireSameStacks(t, m, others[i])
	}
}

// A stacker makes random dictionaries with stacks.
type stacker struct{ *rand.Rand }

// dict returns a dictionary of the given batch shape with up to three entries, or none.
func (r stacker) dict(batch shapeops.Shape, depth int) *tdict.TensorDict {
	td := tdict.New(batch...)
	for range r.IntN(4) {
		key := nestedkey.Of([]string{"a", "b", "next", "0", "x y"}[r.IntN(5)])
		var v tdict.Value
		switch k := r.IntN(10); {
		case k < 3 || depth > 2:
			v = r.leaf(batch)
		case k < 4:
			v = tensor.Must(tdict.NewData("text", batch...))
		case k < 5:
			v = tensor.Must(tdict.NewUnbatched(tensor.Vector[int16](1, 2, 3, 4, 5)))
		case k < 6:
			v = tdict.New(batch...)
		case k < 8:
			v = r.dict(append(batch.Clone(), make([]int, r.IntN(2))...), depth+1)
			if d := v.(*tdict.TensorDict); len(d.Shape()) > len(batch) {
				v = r.dict(append(batch.Clone(), 1+r.IntN(3)), depth+1)
			}
		default:
			v = r.stack(batch, depth+1)
		}
		_ = td.Set(key, v)
	}
	return td
}

func (r stacker) leaf(batch shapeops.Shape) *tensor.Tensor {
	return counted([]tensor.DType{tensor.Int16, tensor.Float32, tensor.Uint8}[r.IntN(3)], append(batch.Clone(), 1+r.IntN(3))...)
}

// stack returns a lazy stack of the given batch shape; the members may have other keys, leaves of
// other shapes, and more batch dims.
func (r stacker) stack(batch shapeops.Shape, depth int) *tdict.TensorDict {
	if len(batch) == 0 {
		return r.dict(batch, depth)
	}
	dim := r.IntN(len(batch))
	members := make([]*tdict.TensorDict, batch[dim])
	inner := slices.Delete(batch.Clone(), dim, dim+1)
	more := r.IntN(3) // how many more dims, of other sizes
	for i := range members {
		own := inner.Clone()
		for j := range more {
			own = append(own, 2+(i+j)%2)
		}
		if r.IntN(4) == 0 {
			members[i] = r.stack(own, depth)
		} else {
			members[i] = r.dict(own, depth)
		}
	}
	td, err := tdict.LazyStack(members, dim)
	if err != nil { // values of other kinds under one key
		return r.dict(batch, depth+1)
	}
	return td
}

// changed returns td after an operation that keeps it, or a part of it, a stack.
func (r stacker) changed(td *tdict.TensorDict) *tdict.TensorDict {
	var out *tdict.TensorDict
	var err error
	all := make([]ix.Index, len(td.Shape()))
	dim := r.IntN(len(all))
	switch r.IntN(8) {
	case 0:
		all[dim] = ix.Range(0, td.Shape()[dim])
		out, err = td.Index(all...)
	case 1:
		all[dim] = ix.Take(0)
		out, err = td.Index(all...)
	case 2:
		out, err = td.Unsqueeze(r.IntN(len(all) + 1))
	case 3:
		out, err = shapeops.Cat([]*tdict.TensorDict{td, td}, dim)
	case 4:
		out, err = shapeops.Stack([]*tdict.TensorDict{td, td}, dim)
	case 5:
		out, err = td.Transpose(0, len(all)-1)
	case 6:
		out = td.Copy()
		err = out.Set("later", r.leaf(td.Shape()))
	case 7:
		out, err = tdict.LazyStack([]*tdict.TensorDict{td, td}, dim)
	}
	if err != nil {
		return td
	}
	return out
}

// TestStacksKeepTheirShape saves random dictionaries with stacks in each form, also after
// operations, and opens them: a stack is a stack, with the same members, and nothing else is one.
func TestStacksKeepTheirShape(t *testing.T) {
	n := 100
	if longtests.On() {
		n = 5000
	}
	dir, stacks, refused := testkit.TempDir(t), 0, 0
	for seed := range n {
		r := stacker{rand.New(rand.NewPCG(uint64(seed), 3))}
		batch := shapeops.Shape{1 + r.IntN(3), 1 + r.IntN(3)}[:1+r.IntN(2)]
		td := r.stack(batch, 0)
		if seed%3 == 0 {
			td = r.dict(batch, 0)
		}
		for range r.IntN(3) {
			td = r.changed(td)
		}
		if _, lazy := tdict.StackDim(td); lazy {
			stacks++
		}
		form := []string{"", ".tdz", ".tdc"}[seed%3]
		at := filepath.Join(dir, fmt.Sprint(seed)+form)
		err := memmap.Save(at, td)
		if errors.Is(err, memmap.ErrUnsupported) { // a later leaf leaves no dim to a member that is a stack itself
			require.ErrorContains(t, err, "after the batch shape")
			refused++
			continue
		}
		require.NoError(t, err, "seed %d: %v", seed, td)
		ds := open(t, at)
		requireSameStacks(t, td, ds.TensorDict)
		require.NotEmpty(t, ds.String())
		require.NotEmpty(t, fmt.Sprint(ds.Listing()))
		if t.Failed() {
			t.Fatalf("seed %d: %v", seed, td)
		}
	}
	require.Greater(t, stacks, n/2)
	require.Less(t, refused, n/50)
}
