package pickstack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWorkers: results are equal bit for bit whatever the number of goroutines.
func TestWorkers(t *testing.T) {
	for _, w := range ways() {
		for _, batch := range []int{1, 16} {
			t.Run(w.name, func(t *testing.T) { sameForWorkers(t, w, batch) })
		}
	}
}

func sameForWorkers(t *testing.T, w way, batch int) {
	rows := 64_000 // 4 MB
	if !longtests.On() {
		rows = 16_000
	}
	p := large(w, batch, rows)
	xs, g := p.inputs(), dense(p.dtype, p.out(), p.g)
	var first [][]byte
	for _, workers := range []int{1, 2, 8, 0} {
		p.opt.Workers = workers
		plan := p.plan(t, tensor.Int32)
		out, err := plan.Forward(xs...)
		require.NoError(t, err)
		dxs, err := plan.Gradient(g, xs...)
		require.NoError(t, err)
		got := [][]byte{testkit.Content(t, out)}
		for _, dx := range dxs {
			got = append(got, testkit.Content(t, dx))
		}
		if first == nil {
			first = got
		}
		for i := range got {
			require.True(t, slices.Equal(first[i], got[i]), "%d workers, result %d", workers, i)
		}
	}
}

// large returns a problem whose output has so many rows of 16 numbers, in all batch elements.
func large(w way, batch, rows int) problem {
	d := newDrawer(uint64(batch))
	p := problem{dtype: tensor.Float32, pick: w.pick, batch: batch, rows: rows / batch, opt: pickstack.PoolOptions{Reduction: w.reduction}}
	p.widths, p.channels = []int{min(300, rows), min(1000, 3*rows)}, []int{7, 9}
	for _, width := range p.widths {
		index := make([][]int, p.rows)
		for a := range index {
			index[a] = []int{d.IntN(width)}
			for range d.IntN(3) {
				if !w.pick {
					index[a] = append(index[a], d.IntN(width))
				}
			}
		}
		p.index = append(p.index, index)
	}
	for n := range p.widths {
		p.xs = append(p.xs, d.normals(batch*p.widths[n]*p.channels[n]))
	}
	p.g = d.normals(batch * p.rows * p.width())
	return p
}
