package tensor_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// fillRuns is a Transfer of FillRuns alone.
func fillRuns(dst, src, value *tensor.Tensor, list ...shape.Run) error {
	var tr tensor.Transfer
	if err := tr.FillRuns(dst, src, value, list); err != nil {
		return err
	}
	return tr.Run()
}

// orderedRuns returns runs in order that do not overlap in the destination; some have no rows.
func orderedRuns(r *rand.Rand, to, from, longestGap, longest int) (list []shape.Run) {
	for at := r.IntN(longestGap + 1); at <= to; at += r.IntN(longestGap + 1) {
		n := min(r.IntN(longest+1), to-at, from)
		list = append(list, shape.Run{To: at, From: r.IntN(from - n + 1), Len: n})
		at += max(n, 1)
	}
	return list
}

// FillRuns sets what nested loops set, and nothing else of the memory, from any layout and memory
// to any.
func TestFillRunsOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	testkit.Specimens(t, func(t *testing.T, src testkit.Specimen) {
		if len(src.Array.Shape) == 0 {
			return
		}
		for i, m := range testkit.Memories {
			for _, l := range testkit.Layouts {
				shape := slices.Clone(src.Array.Shape)
				shape[0] = r.IntN(9)
				dst := testkit.Make(t, src.DType(), shape, l, m, 50)
				value := testkit.Make(t, src.DType(), [][]int{{}, {1}, {1, 1}, {1}}[i], testkit.Stepped, m, r.IntN(2)*77)
				list := orderedRuns(r, shape[0], src.Array.Shape[0], 3, 3)
				want := dst.Written(dst.Array, slices.Repeat(value.Want(value.Array), naive.Size(shape)))
				at, width := dst.Array.At, naive.Size(shape[1:])
				for _, run := range list {
					part := naive.Array{At: at[run.To*width : (run.To+run.Len)*width]}
					rows := src.Want(naive.Array{At: src.Array.At[run.From*width : (run.From+run.Len)*width]})
					want = testkit.Scatter(want, src.DType().Size(), part, rows)
				}
				if refusesWrites(t, dst, fillRuns(dst.Tensor, src.Tensor, value.Tensor, list...)) {
					continue
				}
				require.Equal(t, want, dst.Mem, "%v %v to %s/%s", src, list, m.Name, l.Name)
			}
		}
	})
}

// Many rows are cut among cores, in the middle of runs too, and filled in the way that suits them.
func TestLargeFillRuns(t *testing.T) {
	tests := []struct {
		name                string
		dst                 int // bytes
		longestGap, longest int // rows
	}{
		{"short and sparse", 9 << 20, 40, 7},
		{"short and dense", 9 << 20, 2, 7},
		{"long", 9 << 20, 70_000, 70_000},
		{"longer than a part", 9 << 20, 20, 12 << 20},
		{"few", 9 << 20, 60_000, 9},
		{"huge", 33 << 20, 30_000, 9_000},
	}
	r, text := rand.New(rand.NewPCG(2, 4)), make([]byte, 251)
	for i := range text {
		text[i] = byte(i + 1)
	}
	for i, tt := range tests {
		for _, workers := range []int{1, 2, 3} {
			if !longtests.On() && workers != 1+i%3 {
				continue
			}
			d, cols := testkit.Widths[(i+workers)%5], 1+i%2
			row := cols * d.Size()
			rows := tt.dst / row
			from := bytes.Repeat(text, tt.dst/len(text))
			src := tensor.Must(tensor.FromBytes(d, from[:len(from)/row*row], len(from)/row, cols))
			list := orderedRuns(r, rows, len(from)/row, tt.longestGap, tt.longest)
			for _, v := range []any{0, 1} {
				to, value := bytes.Repeat([]byte{99}, rows*row), tensor.Must(tensor.ScalarOf(d, v))
				tr := tensor.Transfer{Workers: workers}
				require.NoError(t, tr.FillRuns(tensor.Must(tensor.FromBytes(d, to, rows, cols)), src, value, list))
				require.NoError(t, tr.Run())
				want := bytes.Repeat(testkit.Content(t, value), rows*cols)
				for _, run := range list {
					copy(want[run.To*row:(run.To+run.Len)*row], from[run.From*row:])
				}
				if !bytes.Equal(want, to) {
					t.Errorf("%s: %v by %d, %d workers, value %v: got other bytes", tt.name, d, cols, workers, v)
				}
			}
		}
	}
}

// Where nothing is read or nothing is to be set, the rest works.
func TestFillRunsOfNothing(t *testing.T) {
	five := tensor.Scalar[int32](5)
	zeros := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros[int32](shape...)) }
	gone := tensor.Must(tensor.FromLender(tensor.Int32, &testkit.Lender{Bytes: make([]byte, 8)}, 0, 2))
	gone.Lender().(*testkit.Lender).Fail = errors.New("gone")
	tests := []struct {
		name     string
		dst, src *tensor.Tensor
		runs     []shape.Run
		want     []int32
	}{
		{"no runs", zeros(3), zeros(2), nil, []int32{5, 5, 5}},
		{"no rows of the source", zeros(3), zeros(0), nil, []int32{5, 5, 5}},
		{"empty runs", zeros(3), zeros(0), []shape.Run{{}, {To: 1}, {To: 1}, {To: 3}}, []int32{5, 5, 5}},
		{"empty runs of memory that is gone", zeros(3), gone, []shape.Run{{To: 1, From: 2}}, []int32{5, 5, 5}},
		{"an empty run between others", zeros(3), zeros(2), []shape.Run{{Len: 1}, {To: 1, From: 2}, {To: 2, From: 1, Len: 1}}, []int32{0, 5, 0}},
		{"an empty run behind stepped rows", zeros(2), tensor.Must(zeros(3).Index(ix.Range(0, 3).Step(2))), []shape.Run{{Len: 1}, {To: 1, From: 2}}, []int32{0, 5}},
		{"no rows", zeros(0), zeros(2), []shape.Run{{From: 1}}, []int32{}},
		{"no features", zeros(3, 0), zeros(2, 0), []shape.Run{{Len: 2}}, []int32{}},
	}
	for _, tt := range tests {
		require.NoError(t, fillRuns(tt.dst, tt.src, five, tt.runs...), tt.name)
		require.Equal(t, tt.want, testkit.Elements[int32](t, tt.dst), tt.name)
	}
}

func TestFillRunsRefuse(t *testing.T) {
	type (
		tt   = *tensor.Tensor
		list = []shape.Run
	)
	x, y, v := tensor.Must(tensor.Zeros[int8](4, 2)), tensor.Must(tensor.Full[int8](1, 3, 2)), tensor.Scalar[int8](7)
	locked := testkit.Make(t, tensor.Int8, []int{4, 2}, testkit.Contiguous, testkit.LentLocked, 0).Tensor
	at := func(i int) tt { return tensor.Must(x.Index(ix.At(i), ix.At(0))) }
	tests := []struct {
		name            string
		dst, src, value tt
		runs            list
		want            error
	}{
		{"no destination", nil, y, v, nil, tensor.ErrKind},
		{"no source", x, nil, v, nil, tensor.ErrKind},
		{"no value", x, y, nil, nil, tensor.ErrKind},
		{"beyond the source", x, y, v, list{{Len: 1}, {To: 1, From: 1, Len: 3}}, shapeops.ErrIndex},
		{"beyond the destination", x, y, v, list{{To: 3, Len: 2}}, shapeops.ErrIndex},
		{"before the source", x, y, v, list{{From: -1, Len: 1}}, shapeops.ErrIndex},
		{"before the destination", x, y, v, list{{To: -1, Len: 1}}, shapeops.ErrIndex},
		{"a negative length", x, y, v, list{{To: 1, Len: -1}}, shapeops.ErrIndex},
		{"a length that overflows", x, y, v, list{{To: 1, From: 1, Len: math.MaxInt}}, shapeops.ErrIndex},
		{"out of order", x, y, v, list{{To: 2, Len: 1}, {To: 0, Len: 1}}, shapeops.ErrIndex},
		{"a row twice", x, y, v, list{{To: 0, Len: 2}, {To: 1, Len: 1}}, shapeops.ErrIndex},
		{"an empty run within another", x, y, v, list{{To: 0, Len: 2}, {To: 1}}, shapeops.ErrIndex},
		{"other rows", x, tensor.Must(tensor.Zeros[int8](4)), v, nil, shapeops.ErrShape},
		{"no rows", v, v, v, nil, shapeops.ErrShape},
		{"another dtype", x, tensor.Must(tensor.Zeros[uint8](4, 2)), v, nil, tensor.ErrDType},
		{"a value of another dtype", x, y, tensor.Scalar(1.0), nil, tensor.ErrDType},
		{"two values", x, y, tensor.Vector[int8](1, 2), nil, shapeops.ErrShape},
		{"an empty value", x, y, tensor.Vector[int8](), nil, shapeops.ErrShape},
		{"an expanded destination", tensor.Must(at(0).Expand(3, 2)), y, v, nil, tensor.ErrLayout},
		{"a destination not to be written", locked, y, v, nil, tensor.ErrReadOnly},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tr tensor.Transfer
			testkit.Fails(t, tt.want, tr.FillRuns(tt.dst, tt.src, tt.value, tt.runs))
			require.NoError(t, tr.Run(), "nothing was added")
			require.Equal(t, fmt.Sprint(tensor.Must(tensor.Zeros[int8](4, 2))), x.String())
		})
	}
}

// Source and value may lie in the memory of the destination: they are read as they were.
func TestFillRunsWithinOneMemory(t *testing.T) {
	x := tensor.Must(tensor.Arange[int8](0, 8, 1))
	low := tensor.Must(x.Index(ix.Range(0, 4)))
	require.NoError(t, fillRuns(low, x, tensor.Must(x.Index(ix.At(7))), shape.Run{To: 1, From: 4, Len: 2}))
	require.Equal(t, []int8{7, 4, 5, 7, 4, 5, 6, 7}, testkit.Elements[int8](t, x))
	require.NoError(t, fillRuns(low, x, tensor.Must(x.Index(ix.At(1))), shape.Run{To: 0, From: 2, Len: 2}))
	require.Equal(t, []int8{5, 7, 4, 4, 4, 5, 6, 7}, testkit.Elements[int8](t, x))
	require.NoError(t, fillRuns(x, x, tensor.Must(x.Index(ix.At(0))), shape.Run{To: 6, From: 6, Len: 1}))
	require.Equal(t, []int8{5, 5, 5, 5, 5, 5, 6, 5}, testkit.Elements[int8](t, x))
}

// Run does nothing if anything else in the Transfer fails, or memory is not there.
func TestFillRunsAllOrNothing(t *testing.T) {
	gone := errors.New("gone")
	one := []shape.Run{{To: 1, Len: 1}}
	for _, failing := range []string{"dst", "src", "value", "touch", "other"} {
		lent := map[string]*tensor.Tensor{}
		for _, name := range []string{"dst", "src", "value", "other"} {
			lender := &testkit.Lender{Bytes: []byte{1, 2, 3}}
			switch failing {
			case name:
				lender.Fail = gone
			case "touch":
				lender.Refuse = gone
			}
			lent[name] = tensor.Must(tensor.FromLender(tensor.Uint8, lender, 0, 3))
		}
		var tr tensor.Transfer
		value := tensor.Must(lent["value"].Index(ix.At(2)))
		require.NoError(t, tr.FillRuns(lent["dst"], lent["src"], value, one))
		require.NoError(t, tr.Copy(tensor.Vector[uint8](1, 2, 3), lent["other"]))
		require.ErrorIs(t, tr.Run(), gone, failing)
		for name, x := range lent {
			lender := x.Lender().(*testkit.Lender)
			require.Equal(t, []byte{1, 2, 3}, lender.Bytes, failing)
			require.Zero(t, lender.Borrowed(), "%s: %s", failing, name)
		}
	}
}

// A lender is told once that its memory will be written, and asked afterwards whether it was there.
func TestFillRunsOfLentMemory(t *testing.T) {
	cut := errors.New("cut")
	dst, src := &testkit.Lender{Bytes: make([]byte, 3)}, &testkit.Lender{Bytes: []byte{1, 2}, Cut: cut}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, dst, 0, 3))
	y := tensor.Must(tensor.FromLender(tensor.Uint8, src, 0, 2))
	err := fillRuns(x, y, tensor.Scalar[uint8](9), shape.Run{To: 1, Len: 2})
	require.ErrorIs(t, err, cut)
	require.Equal(t, []byte{9, 1, 2}, dst.Bytes)
	require.Equal(t, []int{1, 1, 0, 0}, []int{dst.Touched(), dst.Asked(), src.Touched(), dst.Borrowed()})
}

// What one copy of a Transfer writes another reads as it was; a second Run repeats the first.
func TestFillRunsBesideOthers(t *testing.T) {
	x, y := tensor.Vector[int8](1, 2, 3, 4), tensor.Vector[int8](5, 6)
	v, z := tensor.Scalar[int8](9), tensor.Must(tensor.Zeros[int8](4))
	one := []shape.Run{{To: 1, Len: 2}}
	var both, crossed tensor.Transfer
	require.NoError(t, both.FillRuns(x, y, v, one))
	require.NoError(t, both.Copy(z, x))
	require.NoError(t, both.Run())
	require.Equal(t, []int8{1, 2, 3, 4, 9, 5, 6, 9}, append(testkit.Elements[int8](t, z), testkit.Elements[int8](t, x)...))
	require.NoError(t, crossed.FillRuns(x, y, v, one))
	require.NoError(t, crossed.FillRuns(z, x, v, one))
	require.ErrorIs(t, crossed.Run(), tensor.ErrOverlap, "what is filled is filled from")
	require.Equal(t, []int8{1, 2, 3, 4}, testkit.Elements[int8](t, z))
	var tr tensor.Transfer
	require.NoError(t, tr.FillRuns(x, y, v, one))
	require.NoError(t, tr.Fill(tensor.Must(x.Index(ix.At(0))), tensor.Scalar[int8](-1)))
	for _, value := range []int8{9, 0, 8} {
		require.NoError(t, v.CopyFrom(tensor.Scalar(value)))
		require.NoError(t, tr.Run())
		require.Equal(t, []int8{-1, 5, 6, value}, testkit.Elements[int8](t, x), "in the order of adding")
	}
}

func TestFillRunsOnMeta(t *testing.T) {
	x, v := tensor.Vector[int8](1, 2, 3), tensor.Scalar[int8](1)
	meta, one := tensor.Must(x.ToMeta()), shape.Run{Len: 1}
	y := tensor.Vector[int8](4)
	require.ErrorIs(t, fillRuns(meta, y, v, one), tensor.ErrMeta)
	require.ErrorIs(t, fillRuns(x, meta, v, one), tensor.ErrMeta)
	require.ErrorIs(t, fillRuns(x, y, tensor.Must(v.ToMeta()), one), tensor.ErrMeta)
	require.Equal(t, []int8{1, 2, 3}, testkit.Elements[int8](t, x))
}

// What FillRuns allocates does not depend on the number of runs.
func TestFillRunsAllocations(t *testing.T) {
	src, dst := tensor.Must(tensor.Zeros[int8](1)), tensor.Must(tensor.Zeros[int8](100_000))
	count := func(n int) float64 {
		list := make([]shape.Run, n)
		for i := range list {
			list[i] = shape.Run{To: 10 * i, Len: 1}
		}
		value := tensor.Scalar[int8](1)
		return testing.AllocsPerRun(10, func() { require.NoError(t, fillRuns(dst, src, value, list...)) })
	}
	few := count(1)
	require.Equal(t, few, count(10_000))
	require.LessOrEqual(t, few, 10.0)
}
