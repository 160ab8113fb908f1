package tdict_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// classed returns a dictionary [2 3] of class my.Outer with one of class my.Inner in it.
func classed(t *testing.T) *tdict.TensorDict {
	td := tdict.New(2, 3)
	require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[float32](2, 3))))
	require.NoError(t, td.Set("in/y", tensor.Must(tensor.Zeros[float32](2, 3, 4))))
	require.NoError(t, td.SetClass("my.Outer"))
	require.NoError(t, tensor.Must(td.Dict("in")).SetClass("my.Inner"))
	return td
}

// TestClassTravels checks that whatever makes a dictionary of one keeps the names of classes.
func TestClassTravels(t *testing.T) {
	td := classed(t)
	mask := tensor.Must(tensor.Full(true, 2, 3))
	same := func(_ key, x *tensor.Tensor) (*tensor.Tensor, error) { return x, nil }
	rows := []*tdict.TensorDict{tensor.Must(td.Index(ix.At(0))), tensor.Must(td.Index(ix.At(1)))}
	stacked := tensor.Must(tdict.StackRagged(rows))
	leaves, tree := td.Tree()
	tests := map[string]func() (*tdict.TensorDict, error){
		"Copy":           func() (*tdict.TensorDict, error) { return td.Copy(), nil },
		"Clone":          td.Clone,
		"Index":          func() (*tdict.TensorDict, error) { return td.Index(ix.At(0)) },
		"Take":           func() (*tdict.TensorDict, error) { return td.Index(ix.Take(1, 0)) },
		"Reshape":        func() (*tdict.TensorDict, error) { return td.Reshape(6) },
		"MaskedSelect":   func() (*tdict.TensorDict, error) { return td.MaskedSelect(mask) },
		"WithBatch":      func() (*tdict.TensorDict, error) { return td.WithBatch(2) },
		"NewZeros":       func() (*tdict.TensorDict, error) { return td.NewZeros(5, 3) },
		"NewZeros ranks": func() (*tdict.TensorDict, error) { return td.NewZeros(5) },
		"ToMeta":         td.ToMeta,
		"Cast":           func() (*tdict.TensorDict, error) { return td.Cast(tensor.Float64) },
		"Select":         func() (*tdict.TensorDict, error) { return td.Select("in/y", "x") },
		"Exclude":        func() (*tdict.TensorDict, error) { return td.Exclude("x"), nil },
		"SortKeys":       func() (*tdict.TensorDict, error) { return td.SortKeys(), nil },
		"FilterEmpty":    func() (*tdict.TensorDict, error) { return td.FilterEmpty(), nil },
		"Separate":       func() (*tdict.TensorDict, error) { return td.Copy().Separate("in") },
		"Merge": func() (*tdict.TensorDict, error) {
			return tdict.Merge([]*tdict.TensorDict{td, tdict.New(2, 3)}, tdict.MergeOptions{})
		},
		"Stack":       func() (*tdict.TensorDict, error) { return shapeops.Stack([]*tdict.TensorDict{td, td}, 0) },
		"Cat":         func() (*tdict.TensorDict, error) { return shapeops.Cat([]*tdict.TensorDict{td, td}, 0) },
		"StackRagged": func() (*tdict.TensorDict, error) { return stacked, nil },
		"Apply":       func() (*tdict.TensorDict, error) { return td.Apply(same) },
		"Apply to a batch": func() (*tdict.TensorDict, error) {
			each := func(_ key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return xs[0], nil }
			return tdict.Apply(context.Background(), []*tdict.TensorDict{td}, each, tdict.ApplyOptions{Batch: shapeops.Shape{2}})
		},
		"Tree":  func() (*tdict.TensorDict, error) { return tree.Build(leaves) },
		"Add":   func() (*tdict.TensorDict, error) { return arith.Add(td, 1) },
		"Sum":   func() (*tdict.TensorDict, error) { return arith.Sum(td, arith.Dims(0)) },
		"Where": func() (*tdict.TensorDict, error) { return arith.Where(mask, td, td) },
		"SplitKeys": func() (*tdict.TensorDict, error) {
			return tensor.Must(tdict.SplitKeys(td, nil))[1], nil
		},
		"UnmarshalJSON": func() (*tdict.TensorDict, error) {
			back := td.Copy()
			return back, json.Unmarshal([]byte(`{"batch":[2,3],"entries":{"in":{"batch":[2,3],"entries":{}}}}`), back)
		},
		"Create": func() (*tdict.TensorDict, error) {
			out := td.Exclude("in")
			return out, out.SetIndexWith(td, tdict.SetIndexOptions{Create: true})
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := make()
			require.NoError(t, err)
			require.Equal(t, "my.Outer", got.Class())
			if in, err := got.Dict("in"); err == nil && name != "UnmarshalJSON" {
				require.Equal(t, "my.Inner", in.Class())
			}
		})
	}
	require.Contains(t, td.String(), "class=my.Inner")
	require.True(t, td.Equal(td.Exclude()), "a class is not compared")
}

func TestSetClassRefuses(t *testing.T) {
	td := classed(t)
	for _, name := range []string{"\u0085", "a\u2028b", "my.", ".", "a b", "a'b", "a\"b", "a\nb", "a\xff", "\x7f"} {
		require.ErrorIs(t, td.SetClass(name), tdict.ErrName, "%q", name)
	}
	require.Equal(t, "my.Outer", td.Class())
	require.NoError(t, td.SetClass("__main__.make.<locals>.Frame"))
	require.NoError(t, td.SetClass(""))
	td.Lock()
	require.ErrorIs(t, td.SetClass("my.Outer"), tdict.ErrLocked)
	require.ErrorIs(t, tensor.Must(td.Dict("in")).SetClass(""), tdict.ErrLocked)
	require.Empty(t, td.Class())
}

// TestSetClassOfMade checks that dictionaries which Set makes have no class.
func TestSetClassOfMade(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.SetClass("my.Frame"))
	require.NoError(t, td.Set("a/b/c", count(2)))
	require.Empty(t, tensor.Must(td.Dict("a")).Class()+tensor.Must(td.Dict("a/b")).Class())
}
