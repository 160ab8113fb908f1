package pickstack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tensor"
)

// TestAllocations: a call with a plan that was used allocates nothing, on one goroutine or two.
func TestAllocations(t *testing.T) {
	dtypes := []tensor.DType{tensor.Float32, tensor.Float64}
	if testing.Short() {
		dtypes = dtypes[:1]
	}
	for _, d := range dtypes {
		for _, w := range ways() {
			for _, workers := range []int{1, 2} {
				for _, batch := range []int{1, 16} {
					t.Run(fmt.Sprintf("%v/%s/%d workers/batch of %d", d, w.name, workers, batch), func(t *testing.T) {
						p := large(w, batch, 2000) // two tasks
						p.dtype, p.opt.Workers = d, workers
						p.allocatesNothing(t)
					})
				}
			}
		}
	}
}

// allocatesNothing fails the test if a call with a plan that was used allocates.
func (p problem) allocatesNothing(t *testing.T) {
	t.Helper()
	plan, xs, g := p.plan(t, tensor.Int64), p.inputs(), dense(p.dtype, p.out(), p.g)
	out, dxs := tensor.Must(plan.Forward(xs...)), tensor.Must(plan.Gradient(g, xs...))
	for name, call := range map[string]func() error{
		"ForwardInto":  func() error { return plan.ForwardInto(out, xs...) },
		"GradientInto": func() error { return plan.GradientInto(dxs, g, xs...) },
		"AddGradient":  func() error { return plan.AddGradient(dxs, g, xs...) },
	} {
		require.NoError(t, call())
		got := testing.AllocsPerRun(10, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		})
		require.LessOrEqual(t, got, poolLoss, name)
	}
}
