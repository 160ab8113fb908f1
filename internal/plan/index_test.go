package plan_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// parse reads an index expression.
func parse(t testing.TB, text string) []ix.Index {
	t.Helper()
	expr := must(ix.Parse(text))
	return expr
}

// elements lists the elements of a row-major buffer of shape s that a plan for its leading dims
// leads to.
func elements(t testing.TB, p *plan.Plan, s shape.Shape) []int {
	t.Helper()
	whole := must(shape.Contiguous(s))
	if p.Pick() != nil {
		f := must(p.Frame(whole))
		return framed(f)
	}
	v, ok, err := p.View(whole)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, p.Extend(s), v.Shape)
	return slices.AppendSeq([]int{}, v.Offsets())
}

// framed lists the elements of a frame in the order of the result: dims before the rows, rows, the
// dims after them.
func framed(f plan.Frame) []int {
	before := shape.View{Shape: f.Kept.Shape[:f.At], Strides: f.Kept.Strides[:f.At], Offset: f.Kept.Offset}
	after := shape.View{Shape: f.Kept.Shape[f.At:], Strides: f.Kept.Strides[f.At:]}
	all := []int{}
	for a := range before.Offsets() {
		for _, row := range f.Rows {
			for b := range after.Offsets() {
				all = append(all, a+row*f.Stride+b)
			}
		}
	}
	return all
}

// checkIndex compares the plan of an expression, or the error, with nested loops: on the shape, and
// on a leaf that has a dim more. It reports whether there is a plan.
func checkIndex(t *testing.T, s shape.Shape, expr []ix.Index) bool {
	t.Helper()
	p, err := plan.Index(s, expr...)
	want, ok := naive.New(s...).Index(expr...)
	if err != nil {
		require.True(t, !ok || errors.Is(err, shape.ErrShape), "[%s] of %v: %v", ix.Format(expr...), s, err)
		return false
	}
	require.True(t, ok, "[%s] of %v", ix.Format(expr...), s)
	require.Equal(t, s, p.From())
	require.Equal(t, want.Shape, []int(p.Shape().Clone()))
	require.Equal(t, want.At, elements(t, p, s), "[%s] of %v", ix.Format(expr...), s)

	deep, halves := append(s.Clone(), 2), []int{}
	for _, at := range want.At {
		halves = append(halves, 2*at, 2*at+1)
	}
	require.Equal(t, append(p.Shape().Clone(), 2), p.Extend(deep))
	require.Equal(t, halves, elements(t, p, deep), "[%s] of %v", ix.Format(expr...), s)
	return true
}

func TestIndexOracle(t *testing.T) {
	r, good := rand.New(rand.NewPCG(5, 6)), 0
	for range 2000 {
		sizes := naive.Shape(r, 4)
		if checkIndex(t, sizes, naive.Expr(r, sizes)) {
			good++
		}
	}
	require.Greater(t, good, 1200)
}

func TestIndex(t *testing.T) {
	tests := []struct {
		name string
		from shape.Shape
		expr string
		to   shape.Shape
		want []int // elements of the row-major buffer
	}{
		{"nothing keeps all", shape.Shape{2, 2}, "", shape.Shape{2, 2}, []int{0, 1, 2, 3}},
		{"a scalar, nothing", shape.Shape{}, "", shape.Shape{}, []int{0}},
		{"a scalar, rest", shape.Shape{}, "...", shape.Shape{}, []int{0}},
		{"a scalar, new", shape.Shape{}, "new, new", shape.Shape{1, 1}, []int{0}},
		{"a scalar, true", shape.Shape{}, "mask[T]@", shape.Shape{1}, []int{0}},
		{"a scalar, false", shape.Shape{}, "mask[F]@", shape.Shape{0}, []int{}},

		{"at drops the dim", shape.Shape{2, 3}, "1", shape.Shape{3}, []int{3, 4, 5}},
		{"at counts from the end", shape.Shape{2, 3}, "-2, -1", shape.Shape{}, []int{2}},
		{"all keeps the dim", shape.Shape{2, 3}, ":, 1", shape.Shape{2}, []int{1, 4}},
		{"a range keeps the dim", shape.Shape{4}, "1:3", shape.Shape{2}, []int{1, 2}},
		{"a range counts from the end", shape.Shape{4}, "-3:-1", shape.Shape{2}, []int{1, 2}},
		{"a range clamps", shape.Shape{4}, "2:99", shape.Shape{2}, []int{2, 3}},
		{"a range clamps at the start", shape.Shape{4}, "-99:2", shape.Shape{2}, []int{0, 1}},
		{"a range clamps whatever the numbers", shape.Shape{4}, "-9223372036854775808:9223372036854775807:9223372036854775807", shape.Shape{1}, []int{0}},
		{"a range backwards is empty", shape.Shape{4}, "3:1", shape.Shape{0}, []int{}},
		{"a range beyond the end is empty", shape.Shape{4}, "9:", shape.Shape{0}, []int{}},
		{"a step", shape.Shape{5}, "1::2", shape.Shape{2}, []int{1, 3}},
		{"a step of a step that is short", shape.Shape{5}, "0:5:3", shape.Shape{2}, []int{0, 3}},
		{"a step beyond the end", shape.Shape{5}, "1::9", shape.Shape{1}, []int{1}},
		{"rest is the dims left", shape.Shape{2, 2, 2}, "1, ..., 0", shape.Shape{2}, []int{4, 6}},
		{"rest may be no dim", shape.Shape{2, 2}, "1, ..., 0", shape.Shape{}, []int{2}},
		{"new adds a dim in its place", shape.Shape{2, 2}, ":, new, 1", shape.Shape{2, 1}, []int{1, 3}},
		{"new after rest", shape.Shape{2}, "..., new", shape.Shape{2, 1}, []int{0, 1}},
		{"an empty dim can be ranged over", shape.Shape{0, 3}, ":, 1", shape.Shape{0}, []int{}},
		{"a range over an empty dim", shape.Shape{3, 0, 2}, "1, 0:9", shape.Shape{0, 2}, []int{}},

		{"a take copies in its order", shape.Shape{3, 2}, "[2, 0, -1]", shape.Shape{3, 2}, []int{4, 5, 0, 1, 4, 5}},
		{"an arranged take replaces a dim by several", shape.Shape{2, 3}, ":, [2, 1, 0, 0]@2x2", shape.Shape{2, 2, 2}, []int{2, 1, 0, 0, 5, 4, 3, 3}},
		{"an empty take", shape.Shape{3, 2}, "[]", shape.Shape{0, 2}, []int{}},
		{"an empty take of an empty dim", shape.Shape{0}, "[]@0x3", shape.Shape{0, 3}, []int{}},
		{"a take of the only position drops the dim", shape.Shape{3}, "[1]@", shape.Shape{}, []int{1}},
		{"a mask", shape.Shape{3}, "mask[TFT]", shape.Shape{2}, []int{0, 2}},
		{"a mask over nothing true", shape.Shape{3}, "mask[FFF]", shape.Shape{0}, []int{}},
		{"a mask of an empty dim", shape.Shape{0, 2}, "mask[]", shape.Shape{0, 2}, []int{}},
		{"a mask over two dims gives one", shape.Shape{2, 2, 2}, "mask[FTTF]@2x2", shape.Shape{2, 2}, []int{2, 3, 4, 5}},
		{"a mask over two dims after another", shape.Shape{2, 2, 2}, "0, mask[FTTT]@2x2", shape.Shape{3}, []int{1, 2, 3}},
		{"a mask over two dims between others", shape.Shape{2, 1, 2, 2}, ":, mask[FT]@1x2, :", shape.Shape{2, 1, 2}, []int{2, 3, 6, 7}},
		{"a position after such a mask, where dims have size 1", shape.Shape{2, 1, 1}, "mask[FT]@2x1, 0", shape.Shape{1}, []int{1}},
		{"a new dim after such a mask, where dims have size 1", shape.Shape{2, 1, 2}, "mask[FT]@2x1, new", shape.Shape{1, 1, 2}, []int{2, 3}},
		{"a range that cuts nothing after such a mask", shape.Shape{2, 2, 2}, "mask[FTFF]@2x2, 0:2", shape.Shape{1, 2}, []int{2, 3}},
		{"parts in front of such a mask are free", shape.Shape{2, 2, 2}, "new, 1, mask[FTFT]@2x2", shape.Shape{1, 2}, []int{5, 7}},
		{"a mask over two dims of which one is stepped past", shape.Shape{4, 2}, "::2, mask[TF]", shape.Shape{2, 1}, []int{0, 4}},
		{"true adds a dim of size 1", shape.Shape{2}, "mask[T]@", shape.Shape{1, 2}, []int{0, 1}},
		{"false adds a dim of size 0", shape.Shape{2}, "mask[F]@", shape.Shape{0, 2}, []int{}},
		{"true broadcasts with a list", shape.Shape{2, 3}, "mask[T]@, [1, 1, 0]", shape.Shape{3, 3}, []int{3, 4, 5, 3, 4, 5, 0, 1, 2}},

		{"two lists pair up", shape.Shape{3, 3}, "[0, 1, 2], [2, 1, 0]", shape.Shape{3}, []int{2, 4, 6}},
		{"lists broadcast", shape.Shape{3, 3}, "[0, 2]@2x1, [0, 1]", shape.Shape{2, 2}, []int{0, 1, 6, 7}},
		{"a list and a mask broadcast", shape.Shape{2, 3}, "[1], mask[TFT]", shape.Shape{2}, []int{3, 5}},
		{"neighbours stay in place", shape.Shape{2, 2, 2}, ":, [1, 0, 1], [1, 1, 0]", shape.Shape{2, 3}, []int{3, 1, 2, 7, 5, 6}},
		{"lists that a range separates come first", shape.Shape{2, 2, 2}, "[1, 0, 1], :, [1, 1, 0]", shape.Shape{3, 2}, []int{5, 7, 1, 3, 4, 6}},
		{"lists that a new dim separates come first", shape.Shape{2, 2, 2}, ":, [1, 0], new, [1, 1]", shape.Shape{2, 2, 1}, []int{3, 7, 1, 5}},
		{"lists that rest separates come first", shape.Shape{2, 2, 2}, "[1], ..., [0]", shape.Shape{1, 2}, []int{4, 6}},
		{"an empty rest separates nothing", shape.Shape{2, 2, 2}, ":, [1], ..., [0, 1]", shape.Shape{2, 2}, []int{2, 3, 6, 7}},
		{"a position between lists separates nothing", shape.Shape{2, 2, 2, 2}, ":, [1, 0], 1, [0, 1]", shape.Shape{2, 2}, []int{6, 3, 14, 11}},
		{"a position is no list", shape.Shape{2, 2, 2}, "1, :, [1]", shape.Shape{2, 1}, []int{5, 7}},
		{"a mask over two dims and a list, separated", shape.Shape{2, 2, 2, 2}, "mask[FTTF]@2x2, :, [0, 1]", shape.Shape{2, 2}, []int{4, 6, 9, 11}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expr := parse(t, tt.expr)
			want, ok := naive.New(tt.from...).Index(expr...)
			require.True(t, ok)
			require.Equal(t, naive.Array{Shape: tt.to, At: tt.want}, want, "by nested loops")
			checkIndex(t, tt.from, expr)
		})
	}
}

func TestIndexRefuses(t *testing.T) {
	take, at := ix.Take, ix.At
	tests := []struct {
		name string
		from shape.Shape
		expr []ix.Index
		err  error
	}{
		{"at the end", shape.Shape{2, 3}, []ix.Index{ix.All, at(3)}, shape.ErrIndex},
		{"at before the start", shape.Shape{2}, []ix.Index{at(-3)}, shape.ErrIndex},
		{"at the lowest number", shape.Shape{2}, []ix.Index{at(math.MinInt)}, shape.ErrIndex},
		{"at of an empty dim", shape.Shape{0}, []ix.Index{at(0)}, shape.ErrIndex},
		{"a take beyond the end", shape.Shape{2}, []ix.Index{take(0, -1, 2)}, shape.ErrIndex},
		{"more parts than dims", shape.Shape{2}, []ix.Index{at(0), at(0)}, shape.ErrIndex},
		{"a scalar has no position", shape.Shape{}, []ix.Index{at(0)}, shape.ErrIndex},
		{"a mask over more dims than there are", shape.Shape{2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2)}, shape.ErrIndex},
		{"two rests", shape.Shape{2}, []ix.Index{ix.Rest, ix.Rest}, shape.ErrIndex},
		{"a mask of another size", shape.Shape{2, 3}, []ix.Index{ix.All, ix.Mask(make([]bool, 2))}, shape.ErrIndex},
		{"a mask never broadcasts", shape.Shape{2, 3}, []ix.Index{ix.Mask(make([]bool, 1))}, shape.ErrIndex},
		{"lists that do not broadcast", shape.Shape{2, 2}, []ix.Index{take(0, 1), take(0, 1, 0)}, shape.ErrIndex},
		{"a position after a mask over two dims", shape.Shape{2, 2, 2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2), at(0)}, shape.ErrIndex},
		{"a new dim after a mask over two dims", shape.Shape{2, 2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2), ix.New}, shape.ErrIndex},
		{"a range that cuts after a mask over two dims", shape.Shape{2, 3, 3}, []ix.Index{ix.Mask(make([]bool, 6), 2, 3), ix.Range(0, 2)}, shape.ErrIndex},
		{"a part that contradicts itself", shape.Shape{2}, []ix.Index{ix.New, ix.All.Step(0)}, shape.ErrIndex},
		{"a negative size", shape.Shape{-1}, nil, shape.ErrShape},
		{"sizes that overflow", shape.Shape{math.MaxInt, 2}, nil, shape.ErrShape},
		{"sizes that overflow beside an empty dim", shape.Shape{math.MaxInt, 0, 2}, nil, shape.ErrShape},
		{"lists whose arrangement overflows", shape.Shape{1, 1}, []ix.Index{ix.TakeND(nil, 0, 1<<40, 1), ix.TakeND(nil, 0, 1, 1<<40)}, shape.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.err, testkit.Err(plan.Index(tt.from, tt.expr...)))
			if tt.err == shape.ErrIndex {
				require.False(t, checkIndex(t, tt.from, tt.expr))
			}
		})
	}
}

// A list may be used by several goroutines and plans: a plan must not resolve its negative
// positions in place.
func TestIndexKeepsLists(t *testing.T) {
	list := []int{-1, 0, -2}
	require.NoError(t, testkit.Err(plan.Index(shape.Shape{5}, ix.Take(list...))))
	require.Equal(t, []int{-1, 0, -2}, list)
}

// A dim that no element fills may have any size; nothing may count its positions.
func TestEmptyDimsCostNothing(t *testing.T) {
	huge := shape.Shape{1 << 60, 0}
	p, err := plan.Index(huge, ix.Range(1, ix.End), ix.New)
	require.NoError(t, err)
	require.Empty(t, elements(t, p, huge))

	two := []ix.Index{ix.TakeND(nil, 1<<60, 0), ix.TakeND(nil, 1<<60, 0)}
	p, err = plan.Index(shape.Shape{1, 1}, two...)
	require.NoError(t, err)
	require.Equal(t, shape.Shape{1 << 60, 0}, p.Shape())
}

func TestPlanWantsItsBatchShape(t *testing.T) {
	other := must(shape.Contiguous(shape.Shape{5, 4}))
	at, err := plan.Index(shape.Shape{4}, ix.At(0))
	require.NoError(t, err)
	_, _, err = at.View(other)
	testkit.Fails(t, shape.ErrShape, err)
	take := must(plan.Index(shape.Shape{4}, ix.Take(0)))
	require.ErrorIs(t, testkit.Err(take.Frame(other)), shape.ErrShape)
}

func TestIndexAllocates(t *testing.T) {
	batch := shape.Shape{9, 4}
	whole := must(shape.Contiguous(batch))
	many := make([]int, 1000)
	tests := []struct {
		name string
		most float64
		do   func()
	}{
		{"a range: shape, steps, starts; the numbers of the view", 4, func() {
			p, _ := plan.Index(batch, ix.Range(1, 5))
			_, _, _ = p.View(whole)
		}},
		{"a take of many rows: nothing for each", 9, func() {
			p, _ := plan.Index(batch, ix.Take(many...))
			_, _ = p.Frame(whole)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.LessOrEqual(t, testing.AllocsPerRun(100, tt.do), tt.most) })
	}
}

// Shapes are shared by whatever a plan is applied to, so nobody who appends to one may write into
// another's.
func TestPlanShapesHaveNoRoom(t *testing.T) {
	for _, expr := range [][]ix.Index{{ix.At(0)}, {ix.Range(0, 2)}, {ix.Take(1, 0)}, {ix.New, ix.At(0), ix.At(0)}} {
		p := must(plan.Index(shape.Shape{3, 4}, expr...))
		require.Equal(t, len(p.Shape()), cap(p.Shape()), ix.Format(expr...))
	}
}

// small returns the sizes as a shape of up to three dims, a negative size ending it, or false if
// one is too large for a fuzz test.
func small(sizes ...int) (shape.Shape, bool) {
	if i := slices.IndexFunc(sizes, func(n int) bool { return n < 0 }); i >= 0 {
		sizes = sizes[:i]
	}
	return sizes, !slices.ContainsFunc(sizes, func(n int) bool { return n > 9 })
}

// classified fails unless err is one of the three that this package has.
func classified(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, shape.ErrShape) && !errors.Is(err, shape.ErrDim) && !errors.Is(err, shape.ErrIndex) {
		t.Fatalf("unclassified error %v", err)
	}
}

// countable reports whether a shape has few enough elements to look at each.
func countable(s shape.Shape) bool { return s.Check() == nil && s.Size() < 1<<16 }

// FuzzIndex checks that, whatever the expression, the View or the rows of the Frame that a plan
// leads to are the elements that nested loops find, on the planned shape and on a leaf that has a
// dim more; and so that nothing reaches outside of the buffer.
func FuzzIndex(f *testing.F) {
	for _, expr := range []string{
		"1:3, -1", "..., new, ::2", "[0, -1]@2x1, [1, 0, 2]", "[1], :, [0]", "mask[TFFT]@2x2, new", "mask[T]@, 0:0",
		"[0], 1, [1]", "mask[FFF]", "[]@0x3", ":9223372036854775807:4611686018427387904",
	} {
		f.Add(expr, 2, 2, 3)
		f.Add(expr, 3, 0, -1)
	}
	f.Fuzz(func(t *testing.T, text string, a, b, c int) {
		expr, err := ix.Parse(text)
		sizes, ok := small(a, b, c)
		if err != nil || !ok {
			return
		}
		p, err := plan.Index(sizes, expr...)
		switch {
		case err != nil:
			classified(t, err)
		case !countable(p.Shape()):
			return
		}
		checkIndex(t, sizes, expr)
	})
}

// FuzzReshape checks that a reshape of a view that may be sliced, stepped and permuted reaches the
// same elements in the same order.
func FuzzReshape(f *testing.F) {
	f.Add("::2", 4, 2, 3, false, 2, -1, 1)
	f.Add("1:, :, 0", 3, 2, 2, true, 4, 1, 1)
	f.Add("..., new", 3, 0, 2, true, 0, 5, 1)
	f.Fuzz(func(t *testing.T, text string, a, b, c int, turned bool, x, y, z int) {
		sizes, ok := small(a, b, c)
		from, made := viewOf(sizes, text, turned)
		if !ok || !made {
			return
		}
		p, err := plan.Reshape(from.Shape, x, y, z)
		if err != nil {
			classified(t, err)
			return
		}
		to, ok, err := p.View(from)
		require.NoError(t, err)
		if !ok || from.Shape.Size() == 0 {
			require.Equal(t, from.Shape.Size(), p.Shape().Size())
			return
		}
		require.Equal(t, slices.Collect(from.Offsets()), slices.Collect(to.Offsets()))
	})
}

// viewOf returns what an expression selects of a row-major buffer, with its dims reversed if turned
// is set.
func viewOf(sizes shape.Shape, text string, turned bool) (shape.View, bool) {
	expr, err := ix.Parse(text)
	whole, bad := shape.Contiguous(sizes)
	if err != nil || bad != nil {
		return shape.View{}, false
	}
	p, err := plan.Index(sizes, expr...)
	if err != nil || p.Pick() != nil {
		return shape.View{}, false
	}
	v, ok, err := p.View(whole)
	if turned {
		v = shape.View{Shape: reversed(v.Shape), Strides: reversed(v.Strides), Offset: v.Offset}
	}
	return v, ok && err == nil && countable(v.Shape)
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}
