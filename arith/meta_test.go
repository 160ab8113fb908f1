package arith_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestVerbsOnMeta: on device meta the operations make the dtypes and shapes that they make of
// elements.
func TestVerbsOnMeta(t *testing.T) {
	index, opt := tensor.Vector[int64](0, 1, 2), arith.SortOptions{}
	ops := map[string]func(x *tdict.TensorDict) (*tdict.TensorDict, error){
		"where":       func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Where(mask3, x, 1) },
		"where both":  func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Where(mask3, x, x) },
		"masked fill": func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.MaskedFill(x, mask3, 1) },
		"sort":        func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Sort(x, 0, opt) },
		"arg sort":    func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.ArgSort(x, 0, opt) },
		"scatter add": func(x *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.ScatterAdd(x, 0, index, x) },
	}
	for name, op := range ops {
		t.Run(name, func(t *testing.T) {
			x := rows(0)
			want := tensor.Must(op(x))
			got, err := op(tensor.Must(x.ToMeta()))
			require.NoError(t, err)
			for key, w := range want.Tensors() {
				g := tensor.Must(got.Tensor(key))
				require.Equal(t, tensor.Meta, g.Device(), key)
				require.Equal(t, fmt.Sprint(w.DType(), w.Shape()), fmt.Sprint(g.DType(), g.Shape()), key)
			}
		})
	}
	const n = 1 << 40
	big, bit := tensor.Must(tensor.NewMeta(tensor.Float32, n)), tensor.Scalar(true)
	testkit.MaxBytes(t, 1<<16, func() {
		_ = tensor.Must(arith.Where(bit, tensor.Must(arith.Sort(big, 0, opt)), big))
	})
	x := numbers(0, 3)
	meta := tensor.Must(x.ToMeta())
	require.ErrorIs(t, arith.WhereInto(x, mask3, x, meta), tensor.ErrMeta)
	require.ErrorIs(t, arith.SortInto(meta, meta, 0, opt), tensor.ErrMeta)
	require.ErrorIs(t, arith.ScatterAddInto(x, x, 0, index, meta), tensor.ErrMeta)
	require.Equal(t, []int64{0, 1, 2}, testkit.Elements[int64](t, x))
}
