package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// runs is a Transfer of runs alone.
func runs(dst, src *tensor.Tensor, list ...shape.Run) error {
	var tr tensor.Transfer
	if err := tr.Runs(dst, src, list); err != nil {
		return err
	}
	return tr.Run()
}

// randomRuns returns up to three runs, that may write a row twice.
func randomRuns(r *rand.Rand, to, from int) []shape.Run {
	list := make([]shape.Run, r.IntN(4))
	for i := range list {
		n := r.IntN(min(to, from) + 1)
		list[i] = shape.Run{To: r.IntN(to - n + 1), From: r.IntN(from - n + 1), Len: n}
	}
	return list
}

// Runs copy the rows that nested loops copy, in order, and nothing else of the memory, from any
// layout and memory to any.
func TestRunsOracle(t *testing.T) {
	r, twice := rand.New(rand.NewPCG(1, 3)), 0
	testkit.Specimens(t, func(t *testing.T, src testkit.Specimen) {
		if len(src.Array.Shape) == 0 {
			return
		}
		for _, m := range testkit.Memories {
			for _, l := range testkit.Layouts {
				shape := slices.Clone(src.Array.Shape)
				shape[0] = r.IntN(6)
				dst := testkit.Make(t, src.DType(), shape, l, m, 50)
				list := randomRuns(r, shape[0], src.Array.Shape[0])
				want, at, width := slices.Clone(dst.Mem), dst.Array.At, naive.Size(shape[1:])
				for _, run := range list {
					part := naive.Array{At: at[run.To*width : (run.To+run.Len)*width]}
					value := src.Want(naive.Array{At: src.Array.At[run.From*width : (run.From+run.Len)*width]})
					want = testkit.Scatter(want, src.DType().Size(), part, value)
				}
				if len(list) == 2 && list[0].To == list[1].To && list[0].From != list[1].From {
					twice++
				}
				if refusesWrites(t, dst, runs(dst.Tensor, src.Tensor, list...)) {
					continue
				}
				require.Equal(t, want, dst.Mem, "%v %v to %s/%s", src, list, m.Name, l.Name)
			}
		}
	})
	require.Greater(t, twice, 10, "rows that are written twice")
}

// Runs within one memory read what was there before.
func TestRunsWithinOneMemory(t *testing.T) {
	type list = []shape.Run
	tests := []struct {
		name string
		runs list
		want string
	}{
		{"apart", list{{To: 0, From: 4, Len: 2}, {To: 2, From: 6, Len: 1}}, "[4 5 6 3 4 5 6 7]"},
		{"between what is read", list{{To: 1, From: 0, Len: 1}, {To: 2, From: 3, Len: 1}}, "[0 0 3 3 4 5 6 7]"},
		{"onto itself", list{{To: 2, From: 2, Len: 4}}, "[0 1 2 3 4 5 6 7]"},
		{"onto itself, beside a copy", list{{To: 2, From: 2, Len: 2}, {To: 0, From: 6, Len: 2}}, "[6 7 2 3 4 5 6 7]"},
		{"by one up", list{{To: 1, From: 0, Len: 3}}, "[0 0 1 2 4 5 6 7]"},
		{"by one down", list{{To: 0, From: 1, Len: 3}}, "[1 2 3 3 4 5 6 7]"},
		{"what another run wrote", list{{To: 0, From: 4, Len: 1}, {To: 1, From: 0, Len: 1}}, "[4 0 2 3 4 5 6 7]"},
		{"what another run will write", list{{To: 1, From: 0, Len: 1}, {To: 0, From: 4, Len: 1}}, "[4 0 2 3 4 5 6 7]"},
		{"a swap", list{{To: 0, From: 1, Len: 1}, {To: 1, From: 0, Len: 1}}, "[1 0 2 3 4 5 6 7]"},
		{"a row onto itself that another run wrote", list{{To: 0, From: 4, Len: 1}, {To: 0, From: 0, Len: 1}}, "[0 1 2 3 4 5 6 7]"},
		{"one row twice, the last stays", list{{To: 0, From: 4, Len: 2}, {To: 1, From: 6, Len: 1}}, "[4 6 2 3 4 5 6 7]"},
		{"one row twice, the other way round", list{{To: 1, From: 6, Len: 1}, {To: 0, From: 4, Len: 2}}, "[4 5 2 3 4 5 6 7]"},
		{"nothing where it would overlap", list{{To: 1, From: 0, Len: 0}, {To: 7, From: 6, Len: 1}}, "[0 1 2 3 4 5 6 6]"},
		{"no run", nil, "[0 1 2 3 4 5 6 7]"},
	}
	for _, m := range testkit.Memories[:3] {
		for _, l := range testkit.Layouts[:2] {
			for _, tt := range tests {
				t.Run(m.Name+"/"+l.Name+"/"+tt.name, func(t *testing.T) {
					x := testkit.Make(t, tensor.Int16, []int{8}, l, m, 0).Tensor
					require.NoError(t, x.CopyFrom(tensor.Must(tensor.Arange[int16](0, 8, 1))))
					require.NoError(t, runs(x, x, tt.runs...))
					require.Equal(t, "int16 [8]\n"+tt.want, x.String())
				})
			}
		}
	}
}

// Rows of another view of the memory meet where their elements do.
func TestRunsOfAnotherView(t *testing.T) {
	x := tensor.Must(tensor.Must(tensor.Arange[int8](0, 12, 1)).Reshape(6, 2))
	low, high := tensor.Must(x.Index(ix.Range(0, 4))), tensor.Must(x.Index(ix.Range(2, 6)))
	left, right := tensor.Must(x.Index(ix.All, ix.At(0))), tensor.Must(x.Index(ix.All, ix.At(1)))
	require.NoError(t, runs(low, high, shape.Run{To: 2, From: 0, Len: 2}), "onto itself")
	require.NoError(t, runs(low, high, shape.Run{To: 1, From: 0, Len: 2}), "by one row")
	require.Equal(t, []int8{0, 1, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11}, testkit.Elements[int8](t, x))
	require.NoError(t, x.CopyFrom(tensor.Must(tensor.Must(tensor.Arange[int8](0, 12, 1)).Reshape(6, 2))))
	require.NoError(t, runs(left, right, shape.Run{To: 1, From: 0, Len: 5}), "columns are apart")
	require.Equal(t, []int8{0, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11}, testkit.Elements[int8](t, x))
}

// Many cores share the runs only if no row is written twice.
func TestLargeRuns(t *testing.T) {
	const rows, cols = 3000, 1024
	src := tensor.Must(tensor.Must(tensor.Arange[uint32](0, rows*cols, 1)).Reshape(rows, cols))
	back, again := []shape.Run{}, []shape.Run{}
	for i := range rows / 10 {
		back = append(back, shape.Run{To: 10 * i, From: rows - 10*(i+1), Len: 10})
		again = append(again, shape.Run{To: 0, From: rows - i - 1, Len: 1}) // soon done, and last
	}
	again = append(slices.Repeat([]shape.Run{{Len: rows}}, 40), again...)
	tests := []struct {
		name string
		runs []shape.Run
		from func(row int) int
	}{
		{"apart", back, func(row int) int { return rows - 10*(row/10+1) + row%10 }},
		{"twice", again, func(row int) int { return max(row, (rows-rows/10)*max(0, 1-row)) }},
	}
	for _, tt := range tests {
		dst, tr := tensor.Must(tensor.Zeros[uint32](rows, cols)), tensor.Transfer{Workers: 4}
		require.NoError(t, tr.Runs(dst, src, tt.runs))
		require.NoError(t, tr.Run())
		for i, v := range tensor.Must(tensor.Of[uint32](dst)) {
			if v != uint32(tt.from(i/cols)*cols+i%cols) {
				t.Fatalf("%s: row %d: got element %d", tt.name, i/cols, v)
			}
		}
	}
}

// Fill sets each element of the destination and nothing else of its memory.
func TestFillOracle(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, dst testkit.Specimen) {
		for i, m := range testkit.Memories {
			value := testkit.Make(t, dst.DType(), [][]int{{}, {1}, {1, 1}, {1}}[i], testkit.Stepped, m, 77)
			var tr tensor.Transfer
			after := dst.Written(dst.Array, value.Want(value.Array))
			err := tr.Fill(dst.Tensor, value.Tensor)
			if refusesWrites(t, dst, err) {
				continue
			}
			require.NoError(t, tr.Run())
			require.Equal(t, after, dst.Mem, "%v", dst)
		}
	})
}

func TestRunsAndFillRefuse(t *testing.T) {
	type tr = *tensor.Transfer
	x, y := tensor.Must(tensor.Zeros[int8](4, 2)), tensor.Must(tensor.Full[int8](1, 3, 2))
	one := []shape.Run{{Len: 1}}
	at := func(i int) *tensor.Tensor { return tensor.Must(x.Index(ix.At(i), ix.At(0))) }
	tests := []struct {
		name string
		do   func(tr tr) error
		want error
	}{
		{"beyond the source", func(tr tr) error { return tr.Runs(x, y, []shape.Run{{Len: 1}, {To: 0, From: 1, Len: 3}}) }, shapeops.ErrIndex},
		{"beyond the destination", func(tr tr) error { return tr.Runs(x, y, []shape.Run{{To: 3, Len: 2}}) }, shapeops.ErrIndex},
		{"a length that overflows", func(tr tr) error { return tr.Runs(x, y, []shape.Run{{To: 1, From: 1, Len: math.MaxInt}}) }, shapeops.ErrIndex},
		{"other rows", func(tr tr) error { return tr.Runs(x, tensor.Must(tensor.Zeros[int8](4)), one) }, shapeops.ErrShape},
		{"no rows", func(tr tr) error { return tr.Runs(tensor.Scalar[int8](1), tensor.Scalar[int8](1), one) }, shapeops.ErrShape},
		{"another dtype", func(tr tr) error { return tr.Runs(x, tensor.Must(tensor.Zeros[uint8](4, 2)), one) }, tensor.ErrDType},
		{"an expanded destination", func(tr tr) error { return tr.Runs(tensor.Must(at(0).Expand(3, 2)), y, one) }, tensor.ErrLayout},
		{"filling with two elements", func(tr tr) error { return tr.Fill(x, tensor.Vector[int8](1, 2)) }, shapeops.ErrShape},
		{"filling with none", func(tr tr) error { return tr.Fill(x, tensor.Vector[int8]()) }, shapeops.ErrShape},
		{"filling with another dtype", func(tr tr) error { return tr.Fill(x, tensor.Scalar(1.0)) }, tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tr tensor.Transfer
			testkit.Fails(t, tt.want, tt.do(&tr))
			require.NoError(t, tr.Run(), "nothing was added")
			require.Equal(t, fmt.Sprint(tensor.Must(tensor.Zeros[int8](4, 2))), x.String())
		})
	}
	var tr2 tensor.Transfer
	require.NoError(t, tr2.Fill(at(1), at(1)), "an element with itself")
	require.NoError(t, tr2.Fill(tensor.Must(x.Index(ix.At(0))), at(1)), "with a neighbour")
}
