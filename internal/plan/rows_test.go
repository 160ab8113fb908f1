package plan_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// A pair is Rows and the numbers that ought to be in them.
type pair struct {
	rows *plan.Rows
	want naive.Array
}

// check compares a pair by all that reads Rows.
func (p pair) check(t *testing.T, about string) {
	t.Helper()
	require.Equal(t, p.want.Shape, []int(p.rows.Shape().Clone()), about)
	require.Equal(t, p.want.At, slices.AppendSeq([]int{}, p.rows.All()), about)
	require.Equal(t, fmt.Sprintf("%v %v", p.want.Shape, p.want.At), p.rows.String(), about)
	sum := 0
	for _, row := range p.want.At {
		require.Less(t, row, p.rows.Count(), about)
		sum += row
	}
	require.Equal(t, sum, p.rows.Sum(func(row int) int { return row }), about)
	naive.Each(p.want.Shape, func(pos []int) {
		row := must(p.rows.At(pos...))
		require.Equal(t, p.want.Get(pos), row, about)
	})
}

// A herd is pairs that were made of one another.
type herd struct {
	*testing.T
	*rand.Rand
	pairs []pair
}

func newHerd(t *testing.T, seed uint64) *herd {
	h := &herd{t, rand.New(rand.NewPCG(seed, 11)), nil}
	for range 2 {
		sizes := naive.Shape(h.Rand, 3)
		h.pairs = append(h.pairs,
			pair{must(plan.NewRows(sizes...)), naive.New(sizes...)},
			pair{must(plan.OneRow(sizes...)), naive.Build(sizes, func([]int) int { return 0 })})
	}
	return h
}

// one returns a pair, and its place.
func (h *herd) one() (pair, int) { i := h.IntN(len(h.pairs)); return h.pairs[i], i }

// keep adds a pair, or puts it in the place of another once there are many.
func (h *herd) keep(p pair) {
	if len(h.pairs) < 8 {
		h.pairs = append(h.pairs, p)
		return
	}
	h.pairs[h.IntN(len(h.pairs))] = p
}

// lift returns what an operation that arranges batch positions as b says makes of a, whose shape
// goes on after them.
func lift(a naive.Array, dims int, b naive.Array) naive.Array {
	width := naive.Size(a.Shape[dims:])
	return naive.Build(slices.Concat(b.Shape, a.Shape[dims:]), func(pos []int) int {
		return a.At[b.Get(pos[:len(b.Shape)])*width+naive.Flat(a.Shape[dims:], pos[len(b.Shape):])]
	})
}

// plan returns a random plan on a shape, and what it makes of the positions.
func (h *herd) plan(s shape.Shape) (string, *plan.Plan, naive.Array) {
	a := naive.New(s...)
	switch h.IntN(5) {
	case 0:
		to := naive.Factors(h.Rand, s.Size())
		return fmt.Sprint("reshape ", to), must(plan.Reshape(s, to...)), a.Reshape(to...)
	case 1:
		order := h.Perm(len(s))
		return fmt.Sprint("permute ", order), must(plan.Permute(s, order...)), a.Permute(order...)
	case 2:
		to := slices.Concat(naive.Shape(h.Rand, 1), s)
		return fmt.Sprint("expand ", to), must(plan.Expand(s, to...)), a.Expand(to...)
	}
	return h.index(s)
}

func (h *herd) index(s shape.Shape) (string, *plan.Plan, naive.Array) {
	for {
		expr := naive.Expr(h.Rand, s)
		p, err := plan.Index(s, expr...)
		if err != nil {
			continue
		}
		b, ok := naive.New(s...).Index(expr...)
		require.True(h, ok)
		return "index " + ix.Format(expr...), p, b
	}
}

func (h *herd) execute() string {
	p, _ := h.one()
	dims := h.IntN(len(p.want.Shape) + 1)
	text, planned, b := h.plan(p.rows.Shape()[:dims])
	h.keep(pair{must(p.rows.Execute(plan.NewPass(planned))), lift(p.want, dims, b)})
	return text
}

func (h *herd) write() string {
	p, i := h.one()
	q, _ := h.one()
	dims := h.IntN(len(p.want.Shape) + 1)
	text, planned, b := h.plan(p.rows.Shape()[:dims])
	at := lift(naive.New(p.want.Shape...), dims, b)
	raised := q.want.Plus(p.rows.Count())
	if _, err := plan.Expand(shape.Shape(q.want.Shape), at.Shape...); err != nil {
		require.ErrorIs(h, p.rows.Write(plan.NewPass(planned), q.rows), shape.ErrShape, text)
		return "refused write to " + text
	}
	require.NoError(h, p.rows.Write(plan.NewPass(planned), q.rows))
	raised = raised.Expand(at.Shape...)
	out := naive.Array{Shape: p.want.Shape, At: slices.Clone(p.want.At)}
	for j, place := range at.At {
		out.At[place] = raised.At[j]
	}
	h.replace(p.rows, out)
	h.pairs[i].want = out
	return "write to " + text
}

// replace gives the pairs that are of the very same Rows new numbers.
func (h *herd) replace(r *plan.Rows, want naive.Array) {
	for i := range h.pairs {
		if h.pairs[i].rows == r {
			h.pairs[i].want = want
		}
	}
}

func (h *herd) join() string {
	p, _ := h.one()
	xs, arrays, count := []*plan.Rows{}, []naive.Array{}, 0
	for _, q := range append([]pair{p, p}, h.pairs...) {
		if slices.Equal(q.want.Shape, p.want.Shape) && len(xs) < 4 {
			xs, arrays = append(xs, q.rows), append(arrays, q.want.Plus(count))
			count += q.rows.Count()
		}
	}
	shapeOf := func(i int) shape.Shape { return xs[i].Shape() }
	dim := h.IntN(len(p.want.Shape) + 1)
	if dim < len(p.want.Shape) && h.IntN(2) == 0 {
		cat := &plan.Pass{Join: must(plan.Cat(len(xs), shapeOf, dim))}
		h.keep(pair{must(p.rows.Join(cat, xs)), naive.Cat(arrays, dim)})
		return fmt.Sprint("cat ", dim)
	}
	stack := &plan.Pass{Join: must(plan.Stack(len(xs), shapeOf, dim))}
	h.keep(pair{must(p.rows.Join(stack, xs)), naive.Stack(arrays, dim)})
	return fmt.Sprint("stack ", dim)
}

func (h *herd) renumber() string {
	p, i := h.one()
	n := p.rows.Count()
	require.NoError(h, p.rows.Renumber(n+3, func(row int) int { return n + 2 - row }))
	want := naive.Build(p.want.Shape, func(pos []int) int { return n + 2 - p.want.Get(pos) })
	h.replace(p.rows, want)
	h.pairs[i].want = want
	return "renumber"
}

func (h *herd) clone() string {
	p, _ := h.one()
	c := must(p.rows.Clone())
	require.True(h, c.Equal(p.rows) && p.rows.Equal(c))
	h.keep(pair{c, p.want})
	return "clone"
}

// Rows that were made of one another in any way hold what nested loops say, and a write to one
// shows in no other.
func TestRowsOracle(t *testing.T) {
	for seed := range uint64(longtests.Times(100, 300)) {
		h := newHerd(t, seed)
		acts := []func() string{h.execute, h.execute, h.execute, h.write, h.write, h.join, h.renumber, h.clone}
		for range 30 {
			text := fmt.Sprintf("seed %d: %s", seed, acts[h.IntN(len(acts))]())
			total := 0
			for _, p := range h.pairs {
				p.check(t, text)
				total += len(p.want.At)
			}
			if total > 4000 {
				break
			}
		}
	}
}

// One row alone, wherever it stands, is repeated by a list without a list.
func TestRowsPickOneRow(t *testing.T) {
	r := must(plan.NewRows(3))
	require.NoError(t, r.Renumber(6, func(row int) int { return 5 - row }))
	for _, x := range []*plan.Rows{r, must(plan.NewRows(3))} {
		row := must(x.At(2))
		one := must(x.Execute(pass(plan.Index(x.Shape(), ix.Range(2, 3)))))
		many := must(one.Execute(pass(plan.Index(one.Shape(), ix.Take(0, 0)))))
		require.Equal(t, fmt.Sprintf("[2] [%d %d]", row, row), many.String())
		none := must(one.Execute(pass(plan.Index(one.Shape(), ix.Take()))))
		require.Equal(t, "[0] []", none.String())
	}
}

// A row that is repeated is asked for once, and a sum beyond an int is the largest int.
func TestRowsSum(t *testing.T) {
	column := must(must(plan.NewRows(2, 1)).Execute(pass(plan.Expand(shape.Shape{2, 1}, 3, 2, 1<<40))))
	tests := []struct {
		name string
		rows *plan.Rows
		size int
		want int
		asks int
	}{
		{"a column repeated", column, 5, 30 << 40, 2},
		{"one beyond an int", column, math.MaxInt/2 + 1, math.MaxInt, 2},
		{"product beyond an int", column, 1 << 21, math.MaxInt, 2},
		{"zeros", column, 0, 0, 2},
		{"repeated no times", must(plan.OneRow(0, 1<<40)), 5, 0, 0},
		{"no rows", must(plan.NewRows(0)), 5, 0, 0},
		{"a scalar", must(plan.NewRows()), 5, 5, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asks := 0
			require.Equal(t, tt.want, tt.rows.Sum(func(int) int { asks++; return tt.size }))
			require.Equal(t, tt.asks, asks)
		})
	}
}

// TestShapePosition counts in the order of the rows.
func TestShapePosition(t *testing.T) {
	for _, s := range []shape.Shape{nil, {1}, {3}, {2, 3}, {2, 1, 4}} {
		for i := range s.Size() {
			require.Equal(t, i, must(must(plan.NewRows(s...)).At(s.Position(i)...)), "%v %d", s, i)
		}
	}
}

// TestRowsDistinct has each row that an expansion repeats once, and none where there is none.
func TestRowsDistinct(t *testing.T) {
	column := must(must(plan.NewRows(2, 1)).Execute(pass(plan.Expand(shape.Shape{2, 1}, 3, 2, 1<<40))))
	list := must(must(plan.NewRows(3)).Execute(pass(plan.Index(shape.Shape{3}, ix.Take(2, 0, 2)))))
	tests := []struct {
		name string
		rows *plan.Rows
		want []int
	}{
		{"a column repeated", column, []int{0, 1}},
		{"in another order", must(column.Execute(pass(plan.Permute(shape.Shape{3, 2, 1 << 40}, 2, 1, 0)))), []int{0, 1}},
		{"a list", list, []int{2, 0, 2}},
		{"a list repeated", must(list.Execute(pass(plan.Expand(shape.Shape{3}, 1<<40, 3)))), []int{2, 0, 2}},
		{"a row repeated", must(plan.OneRow(1 << 40)), []int{0}},
		{"a row repeated no times", must(plan.OneRow(0, 1<<40)), nil},
		{"rows repeated no times", must(must(plan.NewRows(2, 1)).Execute(pass(plan.Expand(shape.Shape{2, 1}, 2, 0)))), nil},
		{"no rows", must(plan.NewRows(0)), nil},
		{"a scalar", must(plan.NewRows()), []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, slices.Collect(tt.rows.Distinct()))
			for range tt.rows.Distinct() {
				break
			}
		})
	}
}

func TestRowsEqual(t *testing.T) {
	a := must(plan.NewRows(2, 1))
	tests := []struct {
		name string
		b    *plan.Rows
		want bool
	}{
		{"the same numbers, kept as a list", must(a.Execute(pass(plan.Index(a.Shape(), ix.Take(0, 1))))), true},
		{"another shape", must(plan.NewRows(2)), false},
		{"another number, last", must(plan.OneRow(2, 1)), false},
		{"nil", nil, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, a.Equal(tt.b), tt.name)
	}
}

func TestRowsRefuse(t *testing.T) {
	type rows = *plan.Rows
	two := must(plan.NewRows(2))
	fresh := func() rows { return must(plan.NewRows(2, 3)) }
	many := func() rows { return must(plan.OneRow(1<<31 + 1)) }
	first := func(r rows) *plan.Pass { return pass(plan.Index(shape.Shape{2}, ix.At(0))) }
	joining := func(r rows) *plan.Pass {
		return &plan.Pass{Join: must(plan.Stack(2, func(int) shape.Shape { return r.Shape() }, 0))}
	}
	testkit.Refuse(t, fresh, func(_ testing.TB, r rows) string { return fmt.Sprint(r, r.Count()) }, []testkit.Refusal[rows]{
		{"a negative size", func(rows) error { return testkit.Err(plan.NewRows(-1)) }, shape.ErrShape},
		{"one row of a negative size", func(rows) error { return testkit.Err(plan.OneRow(2, -1)) }, shape.ErrShape},
		{"a position out of range", func(r rows) error { return testkit.Err(r.At(0, 3)) }, shape.ErrIndex},
		{"a position of fewer dims", func(r rows) error { return testkit.Err(r.At(0)) }, shape.ErrIndex},
		{"no pass", func(r rows) error { return testkit.Err(r.Execute(nil)) }, shape.ErrKind},
		{"a plan on another shape", func(r rows) error { return testkit.Err(two.Execute(pass(plan.Index(r.Shape(), ix.At(0))))) }, shape.ErrShape},
		{"an expansion beyond what an int counts", func(rows) error {
			return testkit.Err(must(plan.NewRows(1, 4)).Execute(pass(plan.Expand(shape.Shape{1}, 1<<62))))
		}, shape.ErrShape},
		{"a join without a plan", func(r rows) error { return testkit.Err(r.Join(nil, []rows{r})) }, shape.ErrKind},
		{"a join with nil", func(r rows) error { return testkit.Err(r.Join(joining(r), []rows{r, nil})) }, shape.ErrKind},
		{"a join of other shapes", func(r rows) error { return testkit.Err(r.Join(joining(r), []rows{r, two})) }, shape.ErrShape},
		{"writing nil", func(r rows) error { return r.Write(first(r), nil) }, shape.ErrKind},
		{"writing without a pass", func(r rows) error { return r.Write(nil, two) }, shape.ErrKind},
		{"writing what does not broadcast", func(r rows) error { return r.Write(first(r), two) }, shape.ErrShape},
		{"writing to a row expanded too often", func(rows) error { return many().Write(pass(plan.Index(many().Shape(), ix.At(0))), must(plan.OneRow())) }, shape.ErrShape},
		{"writing through a plan that expands too often", func(r rows) error { return r.Write(pass(plan.Expand(r.Shape(), 1<<30, 2, 3)), must(plan.OneRow())) }, shape.ErrShape},
		{"renumbering a row expanded too often", func(rows) error { return many().Renumber(1, func(int) int { return 0 }) }, shape.ErrShape},
		{"writing to another shape", func(r rows) error { return r.Write(pass(plan.Index(shape.Shape{3}, ix.At(0))), two) }, shape.ErrShape},
	})
}

// The race detector watches readers whose results share the list of what they read, and are written
// to.
func TestRowsConcurrentReaders(t *testing.T) {
	r := must(plan.NewRows(4))
	require.NoError(t, r.Renumber(4, func(row int) int { return 3 - row })) // a list of its own
	was := r.String()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				part, err := r.Execute(pass(plan.Index(r.Shape(), ix.Range(i%3, 4))))
				if err == nil {
					err = part.Write(pass(plan.Index(part.Shape(), ix.At(0))), must(plan.OneRow()))
				}
				if c, _ := r.Clone(); err != nil || !c.Equal(r) {
					t.Errorf("got %v, %v", err, c)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, was, r.String())
}
