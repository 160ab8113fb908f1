package ragged_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// visits is the layout of three patients with visits, and codes that of their codes.
var (
	visits = tensor.Must(ragged.LayoutOf(shapeops.Shape{3}, []int64{2, 1, 3}))
	codes  = tensor.Must(visits.Nest([]int64{0, 0, 2, 5, 5, 5, 6}))
)

func of[T tensor.Elem](l *ragged.Layout, values ...T) *ragged.Tensor {
	return tensor.Must(ragged.New(tensor.Vector(values...), l))
}

// deep is [[[] [0 3]] [[3 4 5]] [[] [] [2]]], and days is [[1 2] [3] [4 5 6]].
func deep() *ragged.Tensor { return of[int64](codes, 0, 3, 3, 4, 5, 2) }
func days() *ragged.Tensor { return of[int64](visits, 1, 2, 3, 4, 5, 6) }

// pairs is days with two features.
func pairs() *ragged.Tensor {
	x := tensor.Must(tensor.Arange[int64](0, 12, 1))
	return tensor.Must(ragged.New(tensor.Must(x.Reshape(6, 2)), visits))
}

func rowsText(t *testing.T, x *ragged.Tensor) string {
	t.Helper()
	text, _ := json.Marshal(x)
	var out struct{ Values json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &out))
	return string(out.Values)
}

// Ops work on each value, with operands of every kind.
func TestLeafwise(t *testing.T) {
	permuted := tensor.Must(deep().Index(ix.Take(2, 0, 1)))
	view := tensor.Must(deep().Index(ix.Range(1, 3)))
	tests := []struct {
		name string
		do   func() (*ragged.Tensor, error)
		want string
	}{
		{"a number", func() (*ragged.Tensor, error) { return arith.Mul(deep(), 2) }, "[[[],[0,6]],[[6,8,10]],[[],[],[4]]]"},
		{"an equal layout", func() (*ragged.Tensor, error) { return arith.Add(deep(), deep()) }, "[[[],[0,6]],[[6,8,10]],[[],[],[4]]]"},
		{"fewer levels", func() (*ragged.Tensor, error) { return arith.Add(deep(), days()) }, "[[[],[2,5]],[[6,7,8]],[[],[],[8]]]"},
		{"a batch", func() (*ragged.Tensor, error) { return arith.Add(deep(), tensor.Vector[int64](10, 20, 30)) }, "[[[],[10,13]],[[23,24,25]],[[],[],[32]]]"},
		{"one for the batch", func() (*ragged.Tensor, error) { return arith.Add(deep(), tensor.Vector[int64](10)) }, "[[[],[10,13]],[[13,14,15]],[[],[],[12]]]"},
		{"a scalar", func() (*ragged.Tensor, error) { return arith.Add(deep(), tensor.Scalar[int64](1)) }, "[[[],[1,4]],[[4,5,6]],[[],[],[3]]]"},
		{"after a list", func() (*ragged.Tensor, error) { return arith.Add(permuted, 1) }, "[[[],[],[3]],[[],[1,4]],[[4,5,6]]]"},
		{"of a part", func() (*ragged.Tensor, error) { return arith.Add(view, tensor.Vector[int64](1, 2)) }, "[[[4,5,6]],[[],[],[4]]]"},
		{"features follow", func() (*ragged.Tensor, error) { return arith.Mul(pairs(), days()) }, "[[[0,1],[4,6]],[[12,15]],[[24,28],[40,45],[60,66]]]"},
		{"features of a batch", func() (*ragged.Tensor, error) { return arith.Add(pairs(), tensor.Vector[int64](0, 100, 200)) }, "[[[0,1],[2,3]],[[104,105]],[[206,207],[208,209],[210,211]]]"},
		{"a batch with features", func() (*ragged.Tensor, error) {
			return arith.Add(pairs(), tensor.Must(tensor.Vector[int64](0, 1, 2, 3, 4, 5).Reshape(3, 2)))
		}, "[[[0,2],[2,4]],[[6,8]],[[10,12],[12,14],[14,16]]]"},
		{"features reduced", func() (*ragged.Tensor, error) {
			return pairs().MapValues(func(x *tensor.Tensor) (*tensor.Tensor, error) { return arith.Sum(x, arith.Dims(1)) })
		}, "[[1,5],[9],[13,17,21]]"},
		{"one hot", func() (*ragged.Tensor, error) {
			return arith.OneHot(tensor.Must(arith.Sub(days(), 1)), 6, tensor.Uint8)
		},
			"[[[1,0,0,0,0,0],[0,1,0,0,0,0]],[[0,0,1,0,0,0]],[[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]]"},
		{"where a batch says", func() (*ragged.Tensor, error) { return arith.Where(tensor.Vector(true, false, false), deep(), -1) }, "[[[],[0,3]],[[-1,-1,-1]],[[],[],[-1]]]"},
		{"where values say", func() (*ragged.Tensor, error) {
			return arith.MaskedFill(deep(), tensor.Must(arith.Greater(deep(), 2)), -1)
		}, "[[[],[0,-1]],[[-1,-1,-1]],[[],[],[2]]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.do()
			require.NoError(t, err)
			require.Equal(t, tt.want, rowsText(t, got))
		})
	}
	require.Same(t, codes, tensor.Must(arith.Add(deep(), 1)).Layout())
}

// TestNotReducible: the compiler refuses operations that work along dims, as Sum and Sort do, on a
// ragged tensor, since that has no Permute.
func TestNotReducible(t *testing.T) {
	_, ok := any(days()).(interface {
		Permute(dims ...int) (*ragged.Tensor, error)
	})
	require.False(t, ok)
}

// What does not fit is refused, with level and row.
func TestLeafwiseRefuses(t *testing.T) {
	other := of[int64](tensor.Must(ragged.LayoutOf(shapeops.Shape{3}, []int64{2, 2, 2})), 1, 2, 3, 4, 5, 6)
	tests := []struct {
		name string
		do   func() error
		want error
		text string
	}{
		{"other lengths", func() error { return fails(arith.Add(days(), other)) }, ragged.ErrLengths, "add: y: lengths differ: level 1, row 1 has length 1, other 2"},
		{"more levels", func() error { return fails(arith.Add(days(), deep())) }, ragged.ErrLengths, "2 levels, want at most 1"},
		{"another batch", func() error { return fails(arith.Add(days(), tensor.Vector[int64](1, 2))) }, shapeops.ErrShape, ""},
		{"another dtype", func() error { return fails(arith.Add(days(), 0.5)) }, tensor.ErrDType, ""},
		{"more features", func() error { return fails(arith.Add(days(), pairs())) }, shapeops.ErrShape, ""},
		{"into other depths", func() error { return arith.AddInto(days(), deep(), 1) }, ragged.ErrLengths, ""},
		{"into another dtype", func() error { return arith.LessInto(days(), days(), 1) }, tensor.ErrDType, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.do()
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
		})
	}
}

func fails[T any](_ T, err error) error { return err }

// In place, values that lie anywhere are set where they lie; other lengths become those of the
// result.
func TestLeafwiseInto(t *testing.T) {
	whole := deep()
	require.NoError(t, arith.AddInto(whole, whole, 1))
	require.Equal(t, "[[[],[1,4]],[[4,5,6]],[[],[],[3]]]", rowsText(t, whole))

	part := tensor.Must(whole.Index(ix.Range(1, 3)))
	require.NoError(t, arith.AddInto(part, part, tensor.Vector[int64](10, 20)))
	require.Equal(t, "[[[],[1,4]],[[14,15,16]],[[],[],[23]]]", rowsText(t, whole), "the part is its memory")

	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{2, 2}, []int64{1, 2, 0, 1}))
	square := of[int64](l, 1, 2, 3, 4)
	turned := tensor.Must(square.Ops().Execute(plan.NewPass(tensor.Must(plan.Transpose(square.Shape(), 0, 1)))))
	require.NoError(t, arith.MulInto(turned, turned, 10))
	require.Equal(t, "[[[10],[20,30]],[[],[40]]]", rowsText(t, square))

	dst := tensor.Must(verbsOf(deep()).EmptyIn(nil, 3))
	require.NoError(t, arith.MulInto(dst, deep(), 2))
	require.Equal(t, "[[[],[0,6]],[[6,8,10]],[[],[],[4]]]", rowsText(t, dst))
}

// Equal and Diff look through arrangements.
func TestCompare(t *testing.T) {
	x := deep()
	back := tensor.Must(tensor.Must(x.Index(ix.Take(1, 2, 0))).Index(ix.Take(2, 0, 1)))
	require.True(t, x.Equal(back))
	for name, tt := range map[string]struct {
		x, y *ragged.Tensor
		want string
	}{
		"equal":           {x, back, ""},
		"a value":         {x, of[int64](codes, 0, 3, 3, 9, 5, 2), "element [1 0 1] is 4, other 9"},
		"the last value":  {x, of[int64](codes, 0, 3, 3, 4, 5, 9), "element [2 2 0] is 2, other 9"},
		"a feature":       {pairs(), tensor.Must(arith.Where(tensor.Vector(true, false, true), pairs(), 2)), "element [1 0 0] is 4, other 2"},
		"a dtype":         {x, tensor.Must(ragged.New(tensor.Must(tensor.Must(x.Values()).Cast(tensor.Int32)), codes)), "ragged int64 [3 * *], other ragged int32 [3 * *]"},
		"depths":          {x, days(), "ragged int64 [3 * *], other ragged int64 [3 *]"},
		"lengths":         {days(), of[int64](tensor.Must(ragged.LayoutOf(shapeops.Shape{3}, []int64{2, 2, 2})), 1, 2, 3, 4, 5, 6), "level 1, row 1 has length 1, other 2"},
		"NaN":             {of(visits, 1, 2, 3, math.NaN(), 5, 6), of(visits, 1, 2, 3, math.NaN(), 5, 6), "element [2 0] is NaN, which differs from itself"},
		"batch of a part": {tensor.Must(x.Index(ix.Range(1, 3))), x, "ragged int64 [2 * *], other ragged int64 [3 * *]"},
	} {
		require.Equal(t, tt.want, tensor.Must(tt.x.Diff(tt.y)), name)
		require.Equal(t, tt.want == "", tt.x.Equal(tt.y), name)
	}
	nan := func() *ragged.Tensor { return of(visits, 1, 2, 3, math.NaN(), 5, 6) }
	require.Empty(t, tensor.Must(nan().DiffWithin(nan(), tensor.Tolerance{EqualNaN: true})))
	require.NotEmpty(t, tensor.Must(nan().DiffWithin(of(visits, 1, 2, 3, 4.0, 5, 6), tensor.Tolerance{EqualNaN: true})))
	require.ErrorIs(t, fails(x.Diff(nil)), shapeops.ErrKind)
	require.False(t, x.Equal(nil) || x.Equal(&ragged.Tensor{}))
}

// Rows are shown as nested lists, and the ends of long ones.
func TestPrint(t *testing.T) {
	require.Equal(t, "ragged int64 [3 * *]\n[[[] [0 3]]\n [[3 4 5]]\n [[] [] [2]]]", deep().String())
	require.Equal(t, "ragged int64 [3 * 2]\n[[[0 1] [2 3]]\n [[4 5]]\n [[6 7] [8 9] [10 11]]]", pairs().String())
	require.Equal(t, "ragged int64 [* *] [[] [0 3]]", tensor.Must(deep().Index(ix.At(0))).String())
	require.Equal(t, "ragged <nil>", (*ragged.Tensor)(nil).String())
	require.Equal(t, []string{"[[] [0 3]]", "[[3 4 5]]", "[[] [] [2]]"}, tensor.Must(deep().Ops().Texts()))
	require.Equal(t, `{"dtype":"int64","shape":"[3 * *]","values":[[[],[0,3]],[[3,4,5]],[[],[],[2]]]}`, string(tensor.Must(deep().MarshalJSON())))
	require.Equal(t, `{"dtype":"float64","shape":"[1 *]","values":[["NaN",0.5]]}`,
		string(tensor.Must(of(tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, []int64{2})), math.NaN(), 0.5).MarshalJSON())))
	require.Equal(t, "ragged int64 [3 *] [[1,2],[3],[4,5,6]]", days().LogValue().String())

	long := make([]int64, 2000)
	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{1998, 2}))
	x := of(l, long...)
	require.Equal(t, "ragged int64 [2 *]\n[[0 0 0 ... 0 0 0]\n [0 0]]", x.String())
	require.Equal(t, `{"dtype":"int64","shape":"[2 *]","values":[[0`+strings.Repeat(",0", 1997)+`],[0,0]]}`, string(tensor.Must(x.MarshalJSON())))
	require.Equal(t, "ragged int64 [2 *]", x.LogValue().String())
	require.Equal(t, []string{"[0 0 0 ... 0 0 0]", "[0 0]"}, tensor.Must(x.Ops().Texts()))
	many := of(tensor.Must(ragged.LayoutOf(shapeops.Shape{2000}, make([]int64, 2000))), []int64{}...)
	require.Equal(t, 7, strings.Count(many.String(), "\n"), fmt.Sprint(many))

}

// TestPrintOfNoRows: many lists without rows are abbreviated.
func TestPrintOfNoRows(t *testing.T) {
	for _, shape := range [][]int{{math.MaxInt, 0}, {0, math.MaxInt}, {5, 1 << 40, 0}} {
		text := tensor.Must(ragged.FromStrings(nil, shape...)).String()
		require.Less(t, len(text), 400, shape)
	}
	require.Equal(t, "ragged uint8 [2 0 *]\n[[]\n\n []]", tensor.Must(ragged.FromStrings(nil, 2, 0)).String())
}
