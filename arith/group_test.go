package arith

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// compareRows compares two rows of columns naively.
func compareRows(columns []*tensor.Tensor, contents [][]byte, a, b int64) int {
	for i, c := range columns {
		width := c.DType().Size()
		row := c.Shape()[1:].Size()
		for e := range row {
			x := contents[i][(int(a)*row+e)*width:][:width]
			y := contents[i][(int(b)*row+e)*width:][:width]
			if v := compareElements(c.DType(), x, y, false); v != 0 {
				return v
			}
		}
	}
	return 0
}

// checkGroups compares Lexsort and GroupBy with a naive sort.
func checkGroups(t *testing.T, columns ...*tensor.Tensor) {
	t.Helper()
	contents := make([][]byte, len(columns))
	for i, c := range columns {
		contents[i] = testkit.Content(t, c)
	}
	want := make([]int64, columns[0].Shape()[0])
	for i := range want {
		want[i] = int64(i)
	}
	compare := func(a, b int64) int { return compareRows(columns, contents, a, b) }
	slices.SortStableFunc(want, compare)
	rows, err := Lexsort(columns...)
	require.NoError(t, err)
	require.Equal(t, want, testkit.Elements[int64](t, rows))

	splits, of := []int64{}, make([]int64, len(want))
	firsts := []int64{}
	for i, row := range want {
		if i == 0 || compare(want[i-1], row) != 0 {
			splits, firsts = append(splits, int64(i)), append(firsts, row)
		}
		of[row] = int64(len(splits) - 1)
	}
	g, err := GroupBy(columns...)
	require.NoError(t, err)
	require.Equal(t, want, testkit.Elements[int64](t, g.Rows))
	require.Equal(t, append(splits, int64(len(want))), testkit.Elements[int64](t, g.Splits))
	require.Equal(t, of, testkit.Elements[int64](t, g.Of))
	require.Equal(t, firsts, testkit.Elements[int64](t, g.Firsts()))
	require.Equal(t, len(firsts), g.Len())
	require.Len(t, g.Sizes(), g.Len())
	for i, size := range g.Sizes() {
		require.Equal(t, testkit.Elements[int64](t, g.Splits)[i+1], testkit.Elements[int64](t, g.Splits)[i]+int64(size))
	}
}

// TestGroupsAreNaive takes one or two columns of any dtypes, layouts and memories.
func TestGroupsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trailing := [][]int{{}, {0}, {1}, {2}, {3, 5}}
	for i, d := range ordered() {
		t.Run(d.String(), func(t *testing.T) {
			for j, n := range []int{0, 1, 2, 50, fewKeys + 200} {
				for k, tail := range trailing {
					if !longtests.On() && n > 50 && k != i%len(trailing) {
						continue
					}
					s := testkit.Make(t, d, append([]int{n}, tail...), testkit.Layouts[(j+k)%4], testkit.Memories[(i+k)%4], 0)
					fill(r, d, s.Mem)
					checkGroups(t, s.Tensor)
					other := testkit.Make(t, ordered()[(i+k)%13], append([]int{n}, trailing[j]...), testkit.Contiguous, testkit.Go, 0)
					fill(r, other.DType(), other.Mem)
					checkGroups(t, s.Tensor, other.Tensor)
					checkGroups(t, other.Tensor, s.Tensor, other.Tensor)
				}
			}
		})
	}
}

// TestGroupsOfWideRows has rows that differ late, or not at all.
func TestGroupsOfWideRows(t *testing.T) {
	const n, wide = 600, 70
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Float32, tensor.Int64} {
		for _, differ := range [][]int{{}, {0}, {wide - 1}, {1, 33, 40}, {0, 69}} {
			t.Run(fmt.Sprintf("%v/%v", d, differ), func(t *testing.T) {
				x := tensor.Must(tensor.New(d, n, wide))
				for _, column := range differ {
					random := testkit.Make(t, d, []int{n}, testkit.Contiguous, testkit.Go, 0)
					fill(rand.New(rand.NewPCG(3, uint64(column))), d, random.Mem)
					target := tensor.Must(tensor.Must(x.Transpose(0, 1)).Index(ix.At(column)))
					require.NoError(t, target.CopyFrom(random.Tensor))
				}
				checkGroups(t, x)
			})
		}
	}
}

func TestFirstsAreACopy(t *testing.T) {
	g := tensor.Must(GroupBy(tensor.Vector[int8](1, 0)))
	require.NoError(t, g.Firsts().CopyFrom(tensor.Scalar[int64](9)))
	require.Equal(t, []int64{1, 0}, testkit.Elements[int64](t, g.Firsts()))
}

func TestGroupsRefuse(t *testing.T) {
	x := tensor.Vector[float32](2, 1)
	tests := []struct {
		name    string
		columns []*tensor.Tensor
		is      error
		text    string
	}{
		{"no column", nil, tensor.ErrKind, "wrong kind of value: got no column"},
		{"complex numbers", []*tensor.Tensor{tensor.Vector[complex128](1)}, tensor.ErrDType, "column 0: dtype mismatch: got complex128, which has no order"},
		{"elements of device meta", []*tensor.Tensor{tensor.Must(tensor.NewMeta(tensor.Float32, 1<<40))}, tensor.ErrMeta, "column 0: " + tensor.ErrMeta.Error()},
		{"a scalar", []*tensor.Tensor{x, tensor.Scalar(1.0)}, shapeops.ErrDim, "column 1: no such dim: got a scalar, want rows"},
		{"a scalar first", []*tensor.Tensor{tensor.Scalar(1.0), x}, shapeops.ErrDim, "column 0: no such dim: got a scalar, want rows"},
		{"other rows", []*tensor.Tensor{x, tensor.Must(tensor.Zeros[int8](3, 2))}, shapeops.ErrShape, "column 1: shape mismatch: got [3 2], want 2 rows"},
		{"a bool that is neither 0 nor 1", []*tensor.Tensor{x, tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 2}, 2))}, tensor.ErrDType, "column 1: dtype mismatch: got byte 2 for bool element 1, want 0 or 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Lexsort(tt.columns...)
			require.ErrorIs(t, err, tt.is)
			require.EqualError(t, err, "lexsort: "+tt.text)
			require.EqualError(t, testkit.Err(GroupBy(tt.columns...)), "group by: "+tt.text)
		})
	}
	require.ErrorIs(t, testkit.Err(Unique(tensor.Scalar(1.0))), shapeops.ErrDim)
}

// TestUniqueIsGather checks that Values by Inverse are the rows, but for the bits of equal numbers.
func TestUniqueIsGather(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for i, d := range ordered() {
		for j, shape := range [][]int{{0}, {0, 3}, {1}, {90}, {90, 2}, {40, 2, 2}, {5, 0}} {
			t.Run(fmt.Sprintf("%v/%v", d, shape), func(t *testing.T) {
				s := testkit.Make(t, d, shape, testkit.Layouts[(i+j)%4], testkit.Memories[i%4], 0)
				fill(r, d, s.Mem)
				u, err := Unique(s.Tensor)
				require.NoError(t, err)
				require.Equal(t, s.DType(), u.Values.DType())
				require.Equal(t, s.Shape()[1:], u.Values.Shape()[1:])
				checkUnique(t, s.Tensor, u)
			})
		}
	}
}

func checkUnique(t *testing.T, x *tensor.Tensor, u *Uniques) {
	t.Helper()
	contents := [][]byte{testkit.Content(t, x), testkit.Content(t, u.Values)}
	bytesOfRow := x.Shape()[1:].Size() * x.DType().Size()
	row := func(i int, of []byte) []byte { return of[i*bytesOfRow:][:bytesOfRow] }
	counts := make([]int64, u.Values.Shape()[0])
	for i, g := range testkit.Elements[int64](t, u.Inverse) {
		if counts[g]++; counts[g] == 1 {
			require.Equal(t, row(i, contents[0]), row(int(g), contents[1]), "the first one is shown")
		}
		both := [][]byte{slices.Concat(row(i, contents[0]), row(int(g), contents[1]))}
		require.Zero(t, compareRows([]*tensor.Tensor{x}, both, 0, 1))
	}
	require.Equal(t, counts, testkit.Elements[int64](t, u.Counts))
	for i := 1; i < len(counts); i++ {
		require.Negative(t, compareRows([]*tensor.Tensor{x}, contents[1:], int64(i-1), int64(i)))
	}
}

// TestGroupsKeepMemory checks that what is lent has been returned and has not changed.
func TestGroupsKeepMemory(t *testing.T) {
	lender := &testkit.Lender{Bytes: []byte{3, 1, 3, 2}, Locked: true}
	x := tensor.Must(tensor.FromLender(tensor.Uint8, lender, 0, 4))
	u, err := Unique(x)
	require.NoError(t, err)
	require.Equal(t, []uint8{1, 2, 3}, testkit.Elements[uint8](t, u.Values))
	require.Zero(t, lender.Borrowed())
	require.Zero(t, lender.Pinned())
	require.True(t, bytes.Equal([]byte{3, 1, 3, 2}, lender.Bytes))
}
