package tdict_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// adding is a kernel that adds up int64 operands.
func adding() *tensor.Kernel {
	return &tensor.Kernel{
		Op: "add",
		Check: func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			for _, x := range xs {
				if x.DType() != tensor.Int64 {
					return 0, nil, tensor.ErrDType
				}
			}
			return tensor.Int64, xs[0].Shape(), nil
		},
		Elements: func(b *tensor.Block) error {
			for row := range b.Rows {
				for x := range b.Width {
					sum := byte(0) // of the lowest bytes
					for _, l := range b.Src {
						at := map[tensor.Per]int{tensor.PerElement: row*b.Width + x, tensor.PerRow: row}[l.Per]
						sum += l.Bytes[at*l.DType.Size()]
					}
					clear(b.Dst[(row*b.Width+x)*8:][:8])
					b.Dst[(row*b.Width+x)*8] = sum
				}
			}
			return nil
		},
	}
}

// TestLeafwiseOperands adds a dictionary, a tensor over the batch dims and a number to each leaf.
func TestLeafwiseOperands(t *testing.T) {
	td, perRow := sample(), tensor.Vector[int64](10, 20, 30)
	testkit.Unchanged(t, td, state, func() {
		got := tensor.Must(td.Ops().Leafwise(adding(), sample(), perRow, 1))
		consistent(t, got)
		require.Equal(t, keys(td), keys(got))
		for key, width := range map[nestedkey.Key]int{"a": 4, "b/c": 8} {
			for i, v := range values(t, got, key) {
				require.Equal(t, int64(2*i+10*(i/width+1)+1), v, "%s %d", key, i)
			}
		}
		into := tensor.Must(sample().NewZeros(3))
		require.NoError(t, td.Ops().LeafwiseInto(into, adding(), sample(), perRow, 1))
		require.Equal(t, state(t, got), state(t, into))
		into = sample()
		require.NoError(t, td.Ops().LeafwiseInto(into, adding(), into, perRow, 1), "into an operand")
		require.Equal(t, state(t, got), state(t, into))
	})
	require.NoError(t, td.Ops().LeafwiseInto(td, adding(), td), "twice itself, in place")
	require.Equal(t, []int64{0, 2, 4}, values(t, td, "a")[:3])
}

// TestLeafwiseTransposedBatch has leaves that do not lie in order, and a leaf without elements.
func TestLeafwiseTransposedBatch(t *testing.T) {
	td := dict([]int{2, 3}, entry{"x", count(2, 3, 2)}, entry{"none", count(2, 3, 0)}, entry{"y", count(2, 3)})
	got := tensor.Must(tensor.Must(td.Permute(1, 0)).Ops().Leafwise(adding(), count(3, 1)))
	require.Equal(t, []int64{0, 1, 6, 7, 3, 4, 9, 10, 6, 7, 12, 13}, values(t, got, "x"))
	require.Equal(t, []int64{0, 3, 2, 5, 4, 7}, values(t, got, "y"))
	require.Empty(t, values(t, got, "none"))
	empty := tensor.Must(tdict.New(0, 4).Ops().Leafwise(adding(), 1))
	require.Equal(t, shapeops.Shape{0, 4}, empty.Shape().Clone())
}

// TestLeafwiseIntoMissing makes what Leafwise makes if something stands for what is missing.
func TestLeafwiseIntoMissing(t *testing.T) {
	k := adding()
	k.Missing = 5
	x, y := dict([]int{2}, entry{"a", count(2)}), dict([]int{2}, entry{"a", count(2)}, entry{"b", count(2)})
	want := tensor.Must(x.Ops().Leafwise(k, y))
	require.Equal(t, []int64{5, 6}, values(t, want, "b"))
	dst := tensor.Must(want.NewZeros(2))
	require.NoError(t, x.Ops().LeafwiseInto(dst, k, y))
	require.Equal(t, state(t, want), state(t, dst))
}

// TestLeafwiseChangesAllOrNone: a kernel that fails while it runs leaves every leaf as it was.
func TestLeafwiseChangesAllOrNone(t *testing.T) {
	no := errors.New("no")
	k := adding()
	k.Elements = nil
	k.Whole = func(dst *tensor.Tensor, xs []*tensor.Tensor, _ int) error {
		if len(xs[0].Shape()) > 2 {
			return no
		}
		return dst.CopyFrom(tensor.Scalar[int64](9))
	}
	td := sample()
	testkit.Unchanged(t, td, state, func() { require.ErrorIs(t, td.Ops().LeafwiseInto(td, k), no) })
}

// TestLeafwiseSelectsAlone: without another dictionary there is nothing to select from.
func TestLeafwiseSelectsAlone(t *testing.T) {
	k := adding()
	k.Select = func() (*plan.Plan, error) { return nil, errors.New("not to be asked") }
	td := dict([]int{3}, entry{"x", count(3)}, entry{"name", texts("a", "b", "c")})
	require.NotPanics(t, func() {
		got := tensor.Must(td.Ops().Leafwise(k))
		require.Equal(t, state(t, td), state(t, got))
	})
}

// TestLeafwiseKeepsTheBatchShape: a kernel whose results have other shapes than the batch makes no
// dictionary.
func TestLeafwiseKeepsTheBatchShape(t *testing.T) {
	k := adding()
	k.Check = func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) {
		return tensor.Int64, shapeops.Shape{2}, nil
	}
	k.Elements = nil
	k.Whole = func(*tensor.Tensor, []*tensor.Tensor, int) error { return nil }
	require.ErrorIs(t, testkit.Err(sample().Ops().Leafwise(k)), shapeops.ErrShape)
}

func TestLeafwiseRefuses(t *testing.T) {
	no := errors.New("no")
	var noDict *tdict.TensorDict
	var noTensor *tensor.Tensor
	failing := adding()
	failing.Check = func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) { return 0, nil, no }
	with := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := sample()
		_ = td.Set(key, v)
		return td
	}
	loop := tdict.New(3)
	refuse(t, sample, []refusal{
		{"the kernel's own error", func(td *tdict.TensorDict) error { return testkit.Err(td.Ops().Leafwise(failing)) }, no},
		{"no dictionary", func(td *tdict.TensorDict) error { return testkit.Err(td.Ops().Leafwise(adding(), noDict)) }, tdict.ErrKind},
		{"no tensor", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), noTensor) }, tdict.ErrKind},
		{"nothing", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), nil) }, tdict.ErrKind},
		{"no destination", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(nil, adding()) }, tdict.ErrKind},
		{"data as an operand", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), texts("a", "b", "c")) }, tdict.ErrKind},
		{"another batch shape", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), tdict.New(2)) }, shapeops.ErrShape},
		{"a destination of another batch shape", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(tdict.New(2), adding()) }, shapeops.ErrShape},
		{"a tensor beyond the batch dims", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), count(3, 4)) }, shapeops.ErrShape},
		{"a missing key", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), loop) }, tdict.ErrMissing},
		{"a key too many", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), with("z", count(3))) }, tdict.ErrMissing},
		{"another kind within", func(td *tdict.TensorDict) error {
			return td.Ops().LeafwiseInto(td, adding(), with("b/c", data(1, 3, 4)))
		}, tdict.ErrKind},
		{"other features", func(td *tdict.TensorDict) error { return td.Ops().LeafwiseInto(td, adding(), with("a", count(3, 2))) }, shapeops.ErrShape},
	})
}

// TestLeafwiseAllocations: what is allocated grows with the leaves, and no faster.
func TestLeafwiseAllocations(t *testing.T) {
	allocations := func(leaves int) float64 {
		td, _ := manyLeaves(leaves)
		dst := tensor.Must(td.Clone())
		k := adding()
		k.Check = func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) {
			return xs[0].DType(), xs[0].Shape(), nil
		}
		k.Elements = func(*tensor.Block) error { return nil }
		return testing.AllocsPerRun(3, func() { require.NoError(t, td.Ops().LeafwiseInto(dst, k, 1)) })
	}
	few, more, many := allocations(10), allocations(100), allocations(1000)
	require.LessOrEqual(t, more, 11*few)
	require.LessOrEqual(t, many, 10.5*more)
}

// A kernel that is none, or makes nothing, is refused.
func TestNoKernel(t *testing.T) {
	check := func([]*tensor.Tensor, int) (tensor.DType, shapeops.Shape, error) { return tensor.Int64, nil, nil }
	for name, k := range map[string]*tensor.Kernel{"nil": nil, "no check": {}, "nothing to run": {Check: check}} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, testkit.Err(sample().Ops().Leafwise(k)), tdict.ErrKind)
			require.ErrorIs(t, sample().Ops().LeafwiseInto(sample(), k), tdict.ErrKind)
			require.ErrorIs(t, testkit.Err(count(2).Ops().Leafwise(k)), tdict.ErrKind)
		})
	}
}
