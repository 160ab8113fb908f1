package shapeops_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
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
func elements(t testing.TB, p *shapeops.Plan, s shapeops.Shape) []int {
	t.Helper()
	whole := must(shapeops.Contiguous(s))
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
func framed(f shapeops.Frame) []int {
	before := shapeops.View{Shape: f.Kept.Shape[:f.At], Strides: f.Kept.Strides[:f.At], Offset: f.Kept.Offset}
	after := shapeops.View{Shape: f.Kept.Shape[f.At:], Strides: f.Kept.Strides[f.At:]}
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
func checkIndex(t *testing.T, s shapeops.Shape, expr []ix.Index) bool {
	t.Helper()
	p, err := s.Index(expr...)
	want, ok := naive.New(s...).Index(expr...)
	if err != nil {
		require.True(t, !ok || errors.Is(err, shapeops.ErrShape), "[%s] of %v: %v", ix.Format(expr...), s, err)
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
		shape := naive.Shape(r, 4)
		if checkIndex(t, shape, naive.Expr(r, shape)) {
			good++
		}
	}
	require.Greater(t, good, 1200)
}

func TestIndex(t *testing.T) {
	type shape = shapeops.Shape
	tests := []struct {
		name string
		from shape
		expr string
		to   shape
		want []int // elements of the row-major buffer
	}{
		{"nothing keeps all", shape{2, 2}, "", shape{2, 2}, []int{0, 1, 2, 3}},
		{"a scalar, nothing", shape{}, "", shape{}, []int{0}},
		{"a scalar, rest", shape{}, "...", shape{}, []int{0}},
		{"a scalar, new", shape{}, "new, new", shape{1, 1}, []int{0}},
		{"a scalar, true", shape{}, "mask[T]@", shape{1}, []int{0}},
		{"a scalar, false", shape{}, "mask[F]@", shape{0}, []int{}},

		{"at drops the dim", shape{2, 3}, "1", shape{3}, []int{3, 4, 5}},
		{"at counts from the end", shape{2, 3}, "-2, -1", shape{}, []int{2}},
		{"all keeps the dim", shape{2, 3}, ":, 1", shape{2}, []int{1, 4}},
		{"a range keeps the dim", shape{4}, "1:3", shape{2}, []int{1, 2}},
		{"a range counts from the end", shape{4}, "-3:-1", shape{2}, []int{1, 2}},
		{"a range clamps", shape{4}, "2:99", shape{2}, []int{2, 3}},
		{"a range clamps at the start", shape{4}, "-99:2", shape{2}, []int{0, 1}},
		{"a range clamps whatever the numbers", shape{4}, "-9223372036854775808:9223372036854775807:9223372036854775807", shape{1}, []int{0}},
		{"a range backwards is empty", shape{4}, "3:1", shape{0}, []int{}},
		{"a range beyond the end is empty", shape{4}, "9:", shape{0}, []int{}},
		{"a step", shape{5}, "1::2", shape{2}, []int{1, 3}},
		{"a step of a step that is short", shape{5}, "0:5:3", shape{2}, []int{0, 3}},
		{"a step beyond the end", shape{5}, "1::9", shape{1}, []int{1}},
		{"rest is the dims left", shape{2, 2, 2}, "1, ..., 0", shape{2}, []int{4, 6}},
		{"rest may be no dim", shape{2, 2}, "1, ..., 0", shape{}, []int{2}},
		{"new adds a dim in its place", shape{2, 2}, ":, new, 1", shape{2, 1}, []int{1, 3}},
		{"new after rest", shape{2}, "..., new", shape{2, 1}, []int{0, 1}},
		{"an empty dim can be ranged over", shape{0, 3}, ":, 1", shape{0}, []int{}},
		{"a range over an empty dim", shape{3, 0, 2}, "1, 0:9", shape{0, 2}, []int{}},

		{"a take copies in its order", shape{3, 2}, "[2, 0, -1]", shape{3, 2}, []int{4, 5, 0, 1, 4, 5}},
		{"an arranged take replaces a dim by several", shape{2, 3}, ":, [2, 1, 0, 0]@2x2", shape{2, 2, 2}, []int{2, 1, 0, 0, 5, 4, 3, 3}},
		{"an empty take", shape{3, 2}, "[]", shape{0, 2}, []int{}},
		{"an empty take of an empty dim", shape{0}, "[]@0x3", shape{0, 3}, []int{}},
		{"a take of the only position drops the dim", shape{3}, "[1]@", shape{}, []int{1}},
		{"a mask", shape{3}, "mask[TFT]", shape{2}, []int{0, 2}},
		{"a mask over nothing true", shape{3}, "mask[FFF]", shape{0}, []int{}},
		{"a mask of an empty dim", shape{0, 2}, "mask[]", shape{0, 2}, []int{}},
		{"a mask over two dims gives one", shape{2, 2, 2}, "mask[FTTF]@2x2", shape{2, 2}, []int{2, 3, 4, 5}},
		{"a mask over two dims after another", shape{2, 2, 2}, "0, mask[FTTT]@2x2", shape{3}, []int{1, 2, 3}},
		{"a mask over two dims between others", shape{2, 1, 2, 2}, ":, mask[FT]@1x2, :", shape{2, 1, 2}, []int{2, 3, 6, 7}},
		{"a position after such a mask, where dims have size 1", shape{2, 1, 1}, "mask[FT]@2x1, 0", shape{1}, []int{1}},
		{"a new dim after such a mask, where dims have size 1", shape{2, 1, 2}, "mask[FT]@2x1, new", shape{1, 1, 2}, []int{2, 3}},
		{"a range that cuts nothing after such a mask", shape{2, 2, 2}, "mask[FTFF]@2x2, 0:2", shape{1, 2}, []int{2, 3}},
		{"parts in front of such a mask are free", shape{2, 2, 2}, "new, 1, mask[FTFT]@2x2", shape{1, 2}, []int{5, 7}},
		{"a mask over two dims of which one is stepped past", shape{4, 2}, "::2, mask[TF]", shape{2, 1}, []int{0, 4}},
		{"true adds a dim of size 1", shape{2}, "mask[T]@", shape{1, 2}, []int{0, 1}},
		{"false adds a dim of size 0", shape{2}, "mask[F]@", shape{0, 2}, []int{}},
		{"true broadcasts with a list", shape{2, 3}, "mask[T]@, [1, 1, 0]", shape{3, 3}, []int{3, 4, 5, 3, 4, 5, 0, 1, 2}},

		{"two lists pair up", shape{3, 3}, "[0, 1, 2], [2, 1, 0]", shape{3}, []int{2, 4, 6}},
		{"lists broadcast", shape{3, 3}, "[0, 2]@2x1, [0, 1]", shape{2, 2}, []int{0, 1, 6, 7}},
		{"a list and a mask broadcast", shape{2, 3}, "[1], mask[TFT]", shape{2}, []int{3, 5}},
		{"neighbours stay in place", shape{2, 2, 2}, ":, [1, 0, 1], [1, 1, 0]", shape{2, 3}, []int{3, 1, 2, 7, 5, 6}},
		{"lists that a range separates come first", shape{2, 2, 2}, "[1, 0, 1], :, [1, 1, 0]", shape{3, 2}, []int{5, 7, 1, 3, 4, 6}},
		{"lists that a new dim separates come first", shape{2, 2, 2}, ":, [1, 0], new, [1, 1]", shape{2, 2, 1}, []int{3, 7, 1, 5}},
		{"lists that rest separates come first", shape{2, 2, 2}, "[1], ..., [0]", shape{1, 2}, []int{4, 6}},
		{"an empty rest separates nothing", shape{2, 2, 2}, ":, [1], ..., [0, 1]", shape{2, 2}, []int{2, 3, 6, 7}},
		{"a position between lists separates nothing", shape{2, 2, 2, 2}, ":, [1, 0], 1, [0, 1]", shape{2, 2}, []int{6, 3, 14, 11}},
		{"a position is no list", shape{2, 2, 2}, "1, :, [1]", shape{2, 1}, []int{5, 7}},
		{"a mask over two dims and a list, separated", shape{2, 2, 2, 2}, "mask[FTTF]@2x2, :, [0, 1]", shape{2, 2}, []int{4, 6, 9, 11}},
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
	type shape = shapeops.Shape
	take, at := ix.Take, ix.At
	tests := []struct {
		name string
		from shape
		expr []ix.Index
		err  error
	}{
		{"at the end", shape{2, 3}, []ix.Index{ix.All, at(3)}, shapeops.ErrIndex},
		{"at before the start", shape{2}, []ix.Index{at(-3)}, shapeops.ErrIndex},
		{"at the lowest number", shape{2}, []ix.Index{at(math.MinInt)}, shapeops.ErrIndex},
		{"at of an empty dim", shape{0}, []ix.Index{at(0)}, shapeops.ErrIndex},
		{"a take beyond the end", shape{2}, []ix.Index{take(0, -1, 2)}, shapeops.ErrIndex},
		{"more parts than dims", shape{2}, []ix.Index{at(0), at(0)}, shapeops.ErrIndex},
		{"a scalar has no position", shape{}, []ix.Index{at(0)}, shapeops.ErrIndex},
		{"a mask over more dims than there are", shape{2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2)}, shapeops.ErrIndex},
		{"two rests", shape{2}, []ix.Index{ix.Rest, ix.Rest}, shapeops.ErrIndex},
		{"a mask of another size", shape{2, 3}, []ix.Index{ix.All, ix.Mask(make([]bool, 2))}, shapeops.ErrIndex},
		{"a mask never broadcasts", shape{2, 3}, []ix.Index{ix.Mask(make([]bool, 1))}, shapeops.ErrIndex},
		{"lists that do not broadcast", shape{2, 2}, []ix.Index{take(0, 1), take(0, 1, 0)}, shapeops.ErrIndex},
		{"a position after a mask over two dims", shape{2, 2, 2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2), at(0)}, shapeops.ErrIndex},
		{"a new dim after a mask over two dims", shape{2, 2}, []ix.Index{ix.Mask(make([]bool, 4), 2, 2), ix.New}, shapeops.ErrIndex},
		{"a range that cuts after a mask over two dims", shape{2, 3, 3}, []ix.Index{ix.Mask(make([]bool, 6), 2, 3), ix.Range(0, 2)}, shapeops.ErrIndex},
		{"a part that contradicts itself", shape{2}, []ix.Index{ix.New, ix.All.Step(0)}, shapeops.ErrIndex},
		{"a negative size", shape{-1}, nil, shapeops.ErrShape},
		{"sizes that overflow", shape{math.MaxInt, 2}, nil, shapeops.ErrShape},
		{"sizes that overflow beside an empty dim", shape{math.MaxInt, 0, 2}, nil, shapeops.ErrShape},
		{"lists whose arrangement overflows", shape{1, 1}, []ix.Index{ix.TakeND(nil, 0, 1<<40, 1), ix.TakeND(nil, 0, 1, 1<<40)}, shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.err, testkit.Err(tt.from.Index(tt.expr...)))
			if tt.err == shapeops.ErrIndex {
				require.False(t, checkIndex(t, tt.from, tt.expr))
			}
		})
	}
}

// A list may be used by several goroutines and plans: a plan must not resolve its negative
// positions in place.
func TestIndexKeepsLists(t *testing.T) {
	list := []int{-1, 0, -2}
	require.NoError(t, testkit.Err(shapeops.Shape{5}.Index(ix.Take(list...))))
	require.Equal(t, []int{-1, 0, -2}, list)
}

// A dim that no element fills may have any size; nothing may count its positions.
func TestEmptyDimsCostNothing(t *testing.T) {
	huge := shapeops.Shape{1 << 60, 0}
	p, err := huge.Index(ix.Range(1, ix.End), ix.New)
	require.NoError(t, err)
	require.Empty(t, elements(t, p, huge))

	two := []ix.Index{ix.TakeND(nil, 1<<60, 0), ix.TakeND(nil, 1<<60, 0)}
	p, err = shapeops.Shape{1, 1}.Index(two...)
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{1 << 60, 0}, p.Shape())
}

func TestPlanWantsItsBatchShape(t *testing.T) {
	other := must(shapeops.Contiguous(shapeops.Shape{5, 4}))
	at, err := shapeops.Shape{4}.Index(ix.At(0))
	require.NoError(t, err)
	_, _, err = at.View(other)
	testkit.Fails(t, shapeops.ErrShape, err)
	take := must(shapeops.Shape{4}.Index(ix.Take(0)))
	require.ErrorIs(t, testkit.Err(take.Frame(other)), shapeops.ErrShape)
}

func TestIndexAllocates(t *testing.T) {
	batch := shapeops.Shape{9, 4}
	whole := must(shapeops.Contiguous(batch))
	many := make([]int, 1000)
	tests := []struct {
		name string
		most float64
		do   func()
	}{
		{"a range: shape, axes, starts; the numbers of the view", 4, func() {
			p, _ := batch.Index(ix.Range(1, 5))
			_, _, _ = p.View(whole)
		}},
		{"a take of many rows: nothing for each", 9, func() {
			p, _ := batch.Index(ix.Take(many...))
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
		p := must(shapeops.Shape{3, 4}.Index(expr...))
		require.Equal(t, len(p.Shape()), cap(p.Shape()), ix.Format(expr...))
	}
}

// small returns the sizes as a shape of up to three dims, a negative size ending it, or false if
// one is too large for a fuzz test.
func small(sizes ...int) (shapeops.Shape, bool) {
	if i := slices.IndexFunc(sizes, func(n int) bool { return n < 0 }); i >= 0 {
		sizes = sizes[:i]
	}
	return sizes, !slices.ContainsFunc(sizes, func(n int) bool { return n > 9 })
}

// classified fails unless err is one of the three that this package has.
func classified(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, shapeops.ErrShape) && !errors.Is(err, shapeops.ErrDim) && !errors.Is(err, shapeops.ErrIndex) {
		t.Fatalf("unclassified error %v", err)
	}
}

// countable reports whether a shape has few enough elements to look at each.
func countable(s shapeops.Shape) bool { return s.Check() == nil && s.Size() < 1<<16 }

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
		shape, ok := small(a, b, c)
		if err != nil || !ok {
			return
		}
		p, err := shape.Index(expr...)
		switch {
		case err != nil:
			classified(t, err)
		case !countable(p.Shape()):
			return
		}
		checkIndex(t, shape, expr)
	})
}

// FuzzReshape checks that a reshape of a view that may be sliced, stepped and permuted reaches the
// same elements in the same order.
func FuzzReshape(f *testing.F) {
	f.Add("::2", 4, 2, 3, false, 2, -1, 1)
	f.Add("1:, :, 0", 3, 2, 2, true, 4, 1, 1)
	f.Add("..., new", 3, 0, 2, true, 0, 5, 1)
	f.Fuzz(func(t *testing.T, text string, a, b, c int, turned bool, x, y, z int) {
		shape, ok := small(a, b, c)
		from, made := viewOf(shape, text, turned)
		if !ok || !made {
			return
		}
		p, err := from.Shape.Reshape(x, y, z)
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
func viewOf(shape shapeops.Shape, text string, turned bool) (shapeops.View, bool) {
	expr, err := ix.Parse(text)
	whole, bad := shapeops.Contiguous(shape)
	if err != nil || bad != nil {
		return shapeops.View{}, false
	}
	p, err := shape.Index(expr...)
	if err != nil || p.Pick() != nil {
		return shapeops.View{}, false
	}
	v, ok, err := p.View(whole)
	if turned {
		v = shapeops.View{Shape: reversed(v.Shape), Strides: reversed(v.Strides), Offset: v.Offset}
	}
	return v, ok && err == nil && countable(v.Shape)
}

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}
