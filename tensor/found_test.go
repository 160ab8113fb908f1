package tensor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Lists of runs that begin alike are not one list.
func TestRunsThatBeginAlike(t *testing.T) {
	zeros := func() *tensor.Tensor { return tensor.Must(tensor.Zeros[int8](4)) }
	a, b, c := zeros(), zeros(), zeros()
	runs := []shape.Run{{To: 0, From: 0, Len: 1}, {To: 3, From: 3, Len: 1}}
	var tr tensor.Transfer
	require.NoError(t, tr.Runs(c, a, runs[:1]))
	require.NoError(t, tr.Runs(b, a, runs))
	require.NoError(t, tr.Copy(tensor.Must(c.Index(ix.At(1))), tensor.Must(b.Index(ix.At(3)))))
	require.NoError(t, a.CopyFrom(tensor.Scalar[int8](5)))
	require.NoError(t, tr.Run())
	require.Equal(t, []int8{5, 0, 0, 0}, testkit.Elements[int8](t, c), "row 3 of b as it was")
	require.Equal(t, []int8{5, 0, 0, 5}, testkit.Elements[int8](t, b))
}

// A shape without elements takes no time to print, whatever its sizes.
func TestJSONOfNoElements(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float32](1<<40, 0))
	text, err := json.Marshal(x)
	require.NoError(t, err)
	require.Equal(t, `{"dtype":"float32","shape":[1099511627776,0],"values":[]}`, string(text))
	require.Equal(t, "float32 [1099511627776 0] []", x.LogValue().String())
}

// The shape of what a list took does not keep the list.
func TestShapeKeepsNoList(t *testing.T) {
	list := make([]int, 1<<20)
	var shapes []shapeops.Shape
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range 4 {
		p := tensor.Must(plan.Index(shapeops.Shape{2}, ix.Take(list...)))
		shapes = append(shapes, p.Shape())
	}
	require.Less(t, heap(), before+1<<22)
	runtime.KeepAlive(shapes)
}

// A lender that cannot be compared would panic when two tensors are.
func TestLenderMustBeComparable(t *testing.T) {
	_, err := tensor.FromLender(tensor.Int8, uncomparable{}, 0, 1)
	require.ErrorIs(t, err, tensor.ErrKind)
	require.ErrorContains(t, err, "want a pointer")
	_, err = tensor.FromLender(tensor.Int8, &testkit.Lender{Bytes: make([]byte, 1)}, 0, 1)
	require.NoError(t, err)
}

type uncomparable struct{ _ []int }

func (uncomparable) Borrow() ([]byte, error) { return nil, nil }
func (uncomparable) Return()                 {}
func (uncomparable) Pin() ([]byte, error)    { return nil, nil }
func (uncomparable) ReadOnly() bool          { return false }

// A row may be copied onto itself, however either side spells it.
func TestRowsOntoThemselves(t *testing.T) {
	x := tensor.Must(tensor.Arange[int64](0, 12, 1))
	x = tensor.Must(x.Reshape(4, 3))
	part := func(expr ...ix.Index) *tensor.Tensor { return tensor.Must(x.Index(expr...)) }
	for name, err := range map[string]error{
		"one listed row":               x.SetIndex(part(ix.Range(2, 3)), ix.Take(2)),
		"one masked row":               x.SetIndex(part(ix.Range(0, 1)), ix.Mask([]bool{true, false, false, false})),
		"every second row":             x.SetIndex(part(ix.Range(1, 4).Step(2)), ix.Take(1, 3)),
		"a listed row, read by a step": x.IndexInto(part(ix.Range(1, 4).Step(2)), ix.Take(1, 3)),
		"a column":                     x.SetIndex(part(ix.All, ix.Range(1, 2)), ix.All, ix.Take(1)),
	} {
		require.NoError(t, err, name)
	}
	y := tensor.Must(x.Clone())
	require.NoError(t, y.SetIndex(tensor.Must(y.Index(ix.Range(0, 3).Step(2))), ix.Take(2, 3)))
	require.True(t, tensor.Must(y.Index(ix.Take(2, 3))).Equal(tensor.Must(x.Index(ix.Take(0, 2)))))
	require.NoError(t, x.SetIndex(part(ix.Range(0, 3).Step(2)), ix.Take(1, 3)))
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2, 6, 7, 8, 6, 7, 8}, testkit.Elements[int64](t, x))
}

// alike is a lender that says of which other it lends the memory.
type alike struct {
	testkit.Lender
	other tensor.Lender
}

func (l *alike) Identity() any { return l.other }

// Lenders of one identity lend one memory, within a copy and between two.
func TestLendersOfOneIdentity(t *testing.T) {
	b := make([]byte, 8)
	plain := &testkit.Lender{Bytes: b}
	of := func(l tensor.Lender) *tensor.Tensor { return tensor.Must(tensor.FromLender(tensor.Int8, l, 0, 8)) }
	p, q := of(plain), of(&alike{testkit.Lender{Bytes: b}, plain})
	low, high := ix.Range(0, 7), ix.Range(1, 8)
	for _, pair := range [][2]*tensor.Tensor{{p, q}, {q, p}} {
		require.True(t, pair[0].SharesMemory(pair[1]))
		dst, src := tensor.Must(pair[0].Index(low)), tensor.Must(pair[1].Index(high))
		copy(b, []byte{0, 1, 2, 3, 4, 5, 6, 7})
		require.NoError(t, dst.CopyFrom(src))
		require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 7}, b)
		var tr tensor.Transfer
		out := tensor.Must(tensor.Zeros[int8](8))
		require.NoError(t, tr.Copy(pair[0], tensor.Must(tensor.Zeros[int8](8))))
		require.NoError(t, tr.Copy(out, pair[1]))
		require.NoError(t, tr.Run())
		require.Equal(t, []int8{1, 2, 3, 4, 5, 6, 7, 7}, testkit.Elements[int8](t, out))
		require.Equal(t, make([]byte, 8), b)
	}
}

// A join writes nothing beside its destination, whatever it is given to join.
func TestJoinChecksWhatItJoins(t *testing.T) {
	join := tensor.Must(plan.Stack(2, func(int) shapeops.Shape { return shapeops.Shape{2} }, 0))
	p := &plan.Pass{Join: join}
	base := tensor.Must(tensor.Zeros[int32](4, 2))
	dst, v := tensor.Must(base.Index(ix.Range(0, 2))), tensor.Vector[int32](7, 7)
	w := tensor.Vector[int32](1, 2, 3)
	require.ErrorIs(t, v.Ops().JoinInto(p, dst, []*tensor.Tensor{v, v, v}), shapeops.ErrShape)
	for _, xs := range [][]*tensor.Tensor{{v}, {v, v, v}, {w, w}} {
		require.ErrorIs(t, testkit.Err(xs[0].Ops().Join(p, xs)), shapeops.ErrShape)
	}
	require.Equal(t, make([]int32, 8), testkit.Elements[int32](t, base))
}

// counting counts how often it is asked for its identity.
type counting struct {
	testkit.Lender
	asked int
}

func (l *counting) Identity() any {
	l.asked++
	return l
}

// Lenders are asked a number of times that does not grow with their number.
func TestLendersAreAskedFewTimes(t *testing.T) {
	var tr tensor.Transfer
	lenders := make([]counting, 2000)
	of := func(l *counting) *tensor.Tensor {
		l.Bytes = make([]byte, 2)
		return tensor.Must(tensor.FromLender(tensor.Int8, l, 0, 2))
	}
	for i := 0; i < len(lenders); i += 2 {
		require.NoError(t, tr.Copy(of(&lenders[i]), of(&lenders[i+1])))
	}
	require.NoError(t, tr.Run())
	for i := range lenders {
		require.LessOrEqual(t, lenders[i].asked, 4)
	}
}

// What both sides repeat is compared once.
func TestExpandedAreComparedOnce(t *testing.T) {
	x, y := tensor.Vector(1.0, 2), tensor.Vector(1.0, 3)
	wide := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Must(x.Expand(1<<40, 2)) }
	testkit.MaxBytes(t, 1<<16, func() {
		require.True(t, wide(x).Equal(wide(x)))
		require.False(t, wide(x).Equal(wide(y)))
		require.Equal(t, "element [0 1] is 2, other 3", tensor.Must(wide(x).Diff(wide(y))))
	})
	full := tensor.Must(tensor.Must(x.Expand(3, 2)).Clone())
	require.True(t, full.Equal(tensor.Must(x.Expand(3, 2))), "one side alone repeats")
}

// TestArangeStopsBeforeStop: no element is at or past stop, though the quotient or the elements are
// rounded.
func TestArangeStopsBeforeStop(t *testing.T) {
	for _, r := range [][3]float64{{1, 1.3, 0.1}, {0, 0.3, 0.1}, {1.3, 1, -0.1}, {0, 1, 1. / 3}, {1e17, 1e17 + 32, 4}, {0, 1e-300, 1e-301}, {-1319, 781.0000000000001, 525}} {
		got := testkit.Elements[float64](t, tensor.Must(tensor.Arange(r[0], r[1], r[2])))
		require.NotEmpty(t, got, r)
		require.Equal(t, r[0], got[0])
		last, next := got[len(got)-1], r[0]+float64(len(got))*r[2]
		if r[2] < 0 {
			last, next, r[1] = -last, -next, -r[1]
		}
		require.Less(t, last, r[1], r)
		require.GreaterOrEqual(t, next, r[1], r)
	}
	_, err := tensor.Arange(1, math.Nextafter(1, 2), 1e-31) // half of the elements round to 1
	require.ErrorIs(t, err, shapeops.ErrShape)
	narrow := testkit.Elements[float32](t, tensor.Must(tensor.Arange[float32](1<<24, 1<<24+10, 1)))
	require.Less(t, narrow[len(narrow)-1], float32(1<<24+10))
}

// TestArangeOfTheWholeDType: a range has all its elements, also if its length, or a multiple of
// step, is beyond the dtype.
func TestArangeOfTheWholeDType(t *testing.T) {
	wide := testkit.Elements[float64](t, tensor.Must(tensor.Arange(-1.5e308, 1.5e308, 1e307)))
	require.Len(t, wide, 30)
	require.InDelta(t, 1.4, wide[29]/1e308, 1e-9)
	down := testkit.Elements[float32](t, tensor.Must(tensor.Arange[float32](3e38, -3e38, -1e37)))
	require.Len(t, down, 60)
	require.InDelta(t, -2.9, float64(down[59])/1e38, 1e-5)
	_, err := tensor.Arange(-math.MaxFloat64, math.MaxFloat64, 5e-324)
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// TestErrorsNameOneOperation: an operation that casts or copies does not name that in its errors.
func TestErrorsNameOneOperation(t *testing.T) {
	cut := errors.New("cut off")
	lent := func(dtype tensor.DType, n int) *tensor.Tensor {
		l := &testkit.Lender{Bytes: make([]byte, n*dtype.Size()), Fail: cut}
		return tensor.Must(tensor.FromLender(dtype, l, 0, n))
	}
	x := tensor.Must(tensor.Zeros[float32](3))
	positions := lent(tensor.Int8, 2)
	for _, tt := range []struct {
		name, want string
		err        error
	}{
		{"integers", "cut off", testkit.Err(positions.Ints())},
		{"an index", "gather: index: cut off", testkit.Err(x.Gather(0, positions))},
		{"a scalar", "cut off", testkit.Err(tensor.ScalarOf(tensor.Float32, lent(tensor.Int8, 1)))},
		{"padding", "pad: padding: cut off", testkit.Err(x.Pad(lent(tensor.Float32, 1), 1, 1))},
		{"a cast", "cast: cut off", testkit.Err(positions.Cast(tensor.Int64))},
		{"a cast to the same dtype", "cast: cut off", lent(tensor.Float32, 3).CastInto(x)},
		{"a copy", "copy from: cut off", x.CopyFrom(lent(tensor.Float32, 3))},
		{"a read", "cut off", tensor.Must(lent(tensor.Int8, 4).Index(ix.Range(0, 4).Step(2))).ReadFull(bytes.NewReader(make([]byte, 2)))},
	} {
		require.EqualError(t, tt.err, tt.want, tt.name)
		require.ErrorIs(t, tt.err, cut, tt.name)
	}
}

// TestZeroTensorsDoNotPanic: what has no dtype prints, and is an error as an operand.
func TestZeroTensorsDoNotPanic(t *testing.T) {
	zero := new(tensor.Tensor)
	require.Equal(t, "<zero Tensor>", zero.LogValue().String())
	testkit.Fails(t, tensor.ErrKind, testkit.Err(zero.AllClose(zero, tensor.Tolerance{})))
	one := tensor.Scalar(1.0)
	for name, lists := range map[string][2][]*tensor.Tensor{
		"nil destination": {{nil}, {one}}, "nil source": {{one}, {nil}}, "zero destination": {{zero}, {one}}, "two of nil": {{nil}, {nil}},
	} {
		require.ErrorIs(t, tensor.CheckApart(lists[0], lists[1]), tensor.ErrKind, name)
		require.ErrorIs(t, tensor.CheckOnto(lists[0], lists[1]), tensor.ErrKind, name)
	}
}
