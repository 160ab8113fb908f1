package pickstack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// lentCall returns a call whose tensors are all lent, and their lenders: of the inputs, the output,
// its gradient and the gradients of the inputs.
func lentCall() (*call, []*testkit.Lender) {
	c, all := newCall(), []*testkit.Lender{}
	for _, x := range []**tensor.Tensor{&c.xs[0], &c.xs[1], &c.out, &c.g, &c.dxs[0], &c.dxs[1]} {
		l := &testkit.Lender{}
		*x, all = lent(l, (*x).Shape().Clone()...), append(all, l)
	}
	return c, all
}

// TestLent: what is lent is returned, whatever happens, and what can vanish is asked about.
func TestLent(t *testing.T) {
	for _, op := range []struct {
		name          string
		run           func(c *call) error
		read, written []int // of the lenders
	}{
		{"forward", forward, []int{0, 1}, []int{2}},
		{"gradient", gradientOf, []int{0, 3}, []int{4, 5}},
		{"add", add, []int{0, 3}, []int{4, 5}},
	} {
		t.Run(op.name, func(t *testing.T) {
			c, all := lentCall()
			require.NoError(t, op.run(c))
			for _, i := range op.read {
				require.Positive(t, all[i].Asked(), "lender %d", i)
				require.Zero(t, all[i].Touched(), "lender %d", i)
			}
			for _, i := range op.written {
				require.Positive(t, all[i].Touched(), "lender %d", i)
			}
			returned(t, all)
			for _, i := range append(op.read, op.written...) {
				failing(t, op.run, i)
			}
		})
	}
}

// failing checks what becomes of an operation if the memory of a lender is gone, or was cut.
func failing(t *testing.T, run func(c *call) error, i int) {
	t.Helper()
	c, all := lentCall()
	all[i].Fail = errGone
	require.ErrorIs(t, run(c), errGone, "lender %d", i)
	returned(t, all)
	all[i].Fail, all[i].Cut = nil, errGone
	require.ErrorIs(t, run(c), errGone, "lender %d", i)
	returned(t, all)
	all[i].Cut = nil
	require.NoError(t, run(c), "the plan can be used again")
}

func returned(t *testing.T, all []*testkit.Lender) {
	t.Helper()
	for i, l := range all {
		require.Zero(t, l.Borrowed(), "lender %d", i)
		require.Zero(t, l.Pinned(), "lender %d", i)
	}
}
