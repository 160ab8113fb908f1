//go:build !race

package pickstack_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// The race detector has a sync.Pool forget what was put into it, so that there is nothing to count.

// TestAllocations: a call with a plan that was used allocates nothing, on one goroutine or two,
// whatever the dtype, also of rows that do not lie side by side, in memory that is lent.
func TestAllocations(t *testing.T) {
	dtypes := floats
	if !longtests.On() {
		dtypes = dtypes[:1]
	}
	for _, d := range dtypes {
		for _, w := range ways() {
			for _, workers := range []int{1, 2} {
				for i, m := range aligned {
					t.Run(fmt.Sprintf("%v/%s/%d workers/%s", d, w.name, workers, m.Name), func(t *testing.T) {
						p := large(w, 16, 2000) // two tasks
						p.dtype, p.opt.Workers = d, workers
						p.allocatesNothing(t, layouts[i], m)
					})
				}
			}
		}
	}
}

// allocatesNothing fails the test if a call with a plan that was used allocates.
func (p problem) allocatesNothing(t *testing.T, l layout, m testkit.Memory) {
	t.Helper()
	plan, g := p.plan(t, tensor.Int64), lay(t, p.dtype, p.out(), p.g, l, m).Tensor
	out, dxs, xs := lay(t, p.dtype, p.out(), p.g, l, m).Tensor, []*tensor.Tensor{}, []*tensor.Tensor{}
	for n := range p.xs {
		xs = append(xs, lay(t, p.dtype, p.in(n), p.xs[n], l, m).Tensor)
		dxs = append(dxs, lay(t, p.dtype, p.in(n), p.xs[n], l, m).Tensor)
	}
	for name, call := range map[string]func() error{
		"ForwardInto":  func() error { return plan.ForwardInto(out, xs...) },
		"GradientInto": func() error { return plan.GradientInto(dxs, g, xs...) },
		"AddGradient":  func() error { return plan.AddGradient(dxs, g, xs...) },
	} {
		require.NoError(t, call())
		got := math.Inf(1)
		for try := 0; got > 0 && try < 5; try++ { // a busy machine may need another goroutine now and then
			got = testing.AllocsPerRun(10, func() {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			})
		}
		require.Zero(t, got, name)
	}
}
