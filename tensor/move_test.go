package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows can be listed on both sides at once: where a list is arranged in dims that are not evenly
// spaced in the destination (or, of SetIndex, in the value), and where a reshape meets strides that
// express it on neither side. The trailing dims make rows of single elements, of blocks and of
// strided items.
func TestRowsListedOnBothSides(t *testing.T) {
	type array = naive.Array
	list := func(shape ...int) ix.Index { return ix.TakeND([]int{3, 0, 2, 2, 1, 0}[:naive.Size(shape)], shape...) }
	index := func(expr ...ix.Index) func(s shapeops.Shape) (*plan.Plan, error) {
		return func(s shapeops.Shape) (*plan.Plan, error) { return plan.Index(s, expr...) }
	}
	reshape := func(sizes ...int) func(s shapeops.Shape) (*plan.Plan, error) {
		return func(s shapeops.Shape) (*plan.Plan, error) { return plan.Reshape(s, sizes...) }
	}
	selects := func(expr ...ix.Index) func(a array) array {
		return func(a array) array { a, _ = a.Index(expr...); return a }
	}
	becomes := func(sizes ...int) func(a array) array { return func(a array) array { return a.Reshape(sizes...) } }
	tests := []struct {
		name  string
		shape []int
		plan  func(s shapeops.Shape) (*plan.Plan, error)
		want  func(a array) array
	}{
		{"a list in two dims", []int{4, 3}, index(list(2, 3)), selects(list(2, 3))},
		{"of single elements", []int{4}, index(list(3, 2)), selects(list(3, 2))},
		{"behind a dim", []int{2, 4, 3}, index(ix.All, list(2, 2)), selects(ix.All, list(2, 2))},
		{"of two dims at once", []int{4, 4, 2}, index(list(2, 2), list(2, 2)), selects(list(2, 2), list(2, 2))},
		{"of two dims apart", []int{4, 2, 4}, index(list(2, 2), ix.All, list(2, 2)), selects(list(2, 2), ix.All, list(2, 2))},
		{"in three dims", []int{4, 2}, index(list(1, 3, 2)), selects(list(1, 3, 2))},
		{"a reshape", []int{2, 3, 4}, reshape(4, 6), becomes(4, 6)},
		{"a reshape to one dim", []int{3, 4}, reshape(12), becomes(12)},
		{"a reshape to more dims", []int{4, 6}, reshape(2, 2, 3, 2), becomes(2, 2, 3, 2)},
		{"a reshape without elements", []int{2, 0, 3}, reshape(3, 0), becomes(3, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, d := range testkit.Widths {
				for _, l := range testkit.Layouts {
					for i, m := range testkit.Memories {
						src := testkit.Make(t, d, tt.shape, l, m, 0)
						want, p := tt.want(src.Array), pass(tt.plan(tt.shape))
						equals(t, tensor.Must(src.Ops().Execute(p)), want.Shape, src.Want(want), "%v %s/%s", src, m.Name, l.Name)
						for _, to := range testkit.Layouts[:3] {
							about := fmt.Sprintf("%v %s/%s to %s", src, m.Name, l.Name, to.Name)
							into(t, src, want, p, testkit.Make(t, d, want.Shape, to, testkit.Memories[i%3], 50), about)
						}
					}
				}
			}
		})
	}
}

// into executes a plan into a destination, and writes the destination back by it where it picks.
func into(t *testing.T, src testkit.Specimen, want naive.Array, p *plan.Pass, dst testkit.Specimen, about string) {
	t.Helper()
	var tr tensor.Transfer
	after := dst.Written(dst.Array, src.Want(want))
	require.NoError(t, src.Ops().AddExecute(&tr, dst.Tensor, p), about)
	require.NoError(t, tr.Run(), about)
	require.Equal(t, after, dst.Mem, about)
	if p.Plan.Pick() == nil {
		return
	}
	for i := range dst.Mem { // other values, to be seen
		dst.Mem[i] ^= 1
	}
	tr.Reset()
	after = src.Written(want, dst.Want(dst.Array))
	if refusesWrites(t, src, src.Ops().AddWrite(&tr, dst.Tensor, p)) {
		return
	}
	require.NoError(t, tr.Run(), about)
	require.Equal(t, after, src.Mem, about)
	for i := range src.Mem {
		src.Mem[i] = byte(i)
	}
}

// BenchmarkRuns moves runs of 1 to 16 rows of 64 bytes, a million rows in all, in another order.
// how=copy is a plain copy loop over the same runs.
func BenchmarkRuns(b *testing.B) {
	const rows, width = 1_000_000, 64
	src := tensor.Must(tensor.New(tensor.Uint8, rows, width))
	dst := tensor.Must(tensor.New(tensor.Uint8, rows, width))
	runs := shuffledRuns(rows)
	from, to := tensor.Must(tensor.Of[uint8](src)), tensor.Must(tensor.Of[uint8](dst))
	b.Run("how=copy", func(b *testing.B) {
		b.SetBytes(rows * width)
		for b.Loop() {
			for _, r := range runs {
				copy(to[r.To*width:(r.To+r.Len)*width], from[r.From*width:])
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("how=runs/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(rows * width)
			b.ReportAllocs()
			tr := tensor.Transfer{Workers: workers}
			for b.Loop() {
				tr.Reset()
				if err := tr.Runs(dst, src, runs); err != nil {
					b.Fatal(err)
				}
				if err := tr.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// shuffledRuns cuts so many rows into runs, which come one after the other, from places in another
// order.
func shuffledRuns(rows int) []shape.Run {
	rng := rand.New(rand.NewPCG(3, 4))
	var runs []shape.Run
	for at := 0; at < rows; at += runs[len(runs)-1].Len {
		runs = append(runs, shape.Run{From: at, Len: min(1+rng.IntN(16), rows-at)})
	}
	rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	at := 0
	for i := range runs {
		runs[i].To = at
		at += runs[i].Len
	}
	return runs
}

// BenchmarkFill fills 4 MiB with one element. how=loop is a plain loop over a slice.
func BenchmarkFill(b *testing.B) {
	const n = 1 << 20
	dst := tensor.Must(tensor.Zeros[float32](n))
	to, value := tensor.Must(tensor.Of[float32](dst)), tensor.Scalar[float32](7)
	b.Run("how=loop", func(b *testing.B) {
		b.SetBytes(4 * n)
		for b.Loop() {
			for i := range to {
				to[i] = 7
			}
		}
	})
	b.Run("how=fill", func(b *testing.B) {
		b.SetBytes(4 * n)
		for b.Loop() {
			var tr tensor.Transfer
			if err := tr.Fill(dst, value); err != nil {
				b.Fatal(err)
			}
			if err := tr.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
