package plan_test

import (
	"errors"
	"fmt"
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pass returns a pass that carries a plan which must be one.
func pass(p *plan.Plan, err error) *plan.Pass { return plan.NewPass(must(p, err)) }

// What a plan was made from may change: the plan stays as it was.
func TestPlanOwnsItsNumbers(t *testing.T) {
	s, n, bits := shape.Shape{3, 2}, []int{2, 0}, []bool{true, false, true}
	tests := []struct {
		name    string
		make    func() (*plan.Plan, error)
		numbers []int // what it was made from, besides s
	}{
		{"a list", func() (*plan.Plan, error) { return plan.Index(s, ix.Take(n...)) }, n},
		{"lists that broadcast", func() (*plan.Plan, error) { return plan.Index(s, ix.Take(n...), ix.Take(1)) }, n},
		{"the shape of a list", func() (*plan.Plan, error) { return plan.Index(s, ix.TakeND([]int{2, 0, 1, 1}, n[:2]...)) }, n},
		{"the shape of a mask", func() (*plan.Plan, error) { return plan.Index(s, ix.Mask(bits, n[:1]...)) }, n},
		{"no list", func() (*plan.Plan, error) { return plan.Index(s, ix.Range(1, 3), ix.At(1)) }, n},
		{"the sizes of a reshape", func() (*plan.Plan, error) { return plan.Reshape(s, n...) }, n},
		{"the sizes of an expand", func() (*plan.Plan, error) { return plan.Expand(shape.Shape{1, 2}, n...) }, n},
		{"the order of a permute", func() (*plan.Plan, error) { return plan.Permute(s, n...) }, n},
		{"the sizes of an unflatten", func() (*plan.Plan, error) { return plan.Unflatten(s, 0, n...) }, n},
	}
	sizes := map[string][]int{
		"the shape of a list": {2, 2}, "the shape of a mask": {3}, "the sizes of a reshape": {2, 3},
		"the sizes of an expand": {3, 2}, "the order of a permute": {1, 0}, "the sizes of an unflatten": {3, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s[0], s[1] = 3, 2
			n[0], n[1] = 2, 0
			bits[0], bits[1], bits[2] = true, false, true
			copy(n, sizes[tt.name])
			p := must(tt.make())
			rows := must(plan.NewRows(p.From()...))
			was := fmt.Sprint(p, must(rows.Execute(plan.NewPass(p))))
			clear(s)
			clear(tt.numbers)
			clear(bits)
			require.Equal(t, was, fmt.Sprint(p, must(rows.Execute(plan.NewPass(p)))))
		})
	}
}

// Who appends to a shape that a plan gives away changes no plan and no other shape.
func TestPlanShapesDoNotGrowIntoOthers(t *testing.T) {
	for _, p := range []*plan.Plan{
		must(plan.Index(shape.Shape{2}, ix.All)), must(plan.Index(shape.Shape{2}, ix.Take(1, 0))), must(plan.Reshape(shape.Shape{2, 3}, 6)),
	} {
		was := p.String()
		_ = append(append(p.Shape(), 7), 8)
		_ = append(p.Extend(append(slices.Clone(p.From()), 4)), 9)
		if k := p.Pick(); k != nil {
			_ = append(k.Shape(), 7)
		}
		require.Equal(t, was, p.String())
		require.Equal(t, append(slices.Clone(p.Shape()), 4), p.Extend(append(slices.Clone(p.From()), 4)))
	}
}

// Once makes a value once for a key, by identity, and for a type.
// What a pass keeps is found however much there is, and under one key for each type.
func TestOnceOfMany(t *testing.T) {
	p, calls := new(plan.Pass), 0
	for range 2 {
		for i := range 1000 {
			got := must(plan.Once(p, i, func() (int, error) { calls++; return 2 * i, nil }))
			require.Equal(t, 2*i, got)
			text := must(plan.Once(p, i, func() (string, error) { calls++; return fmt.Sprint(i), nil }))
			require.Equal(t, fmt.Sprint(i), text)
		}
	}
	require.Equal(t, 2000, calls)
	_, ok := plan.Made[float64](p, 1)
	require.False(t, ok)
	_, ok = plan.Made[int](p, 1000)
	require.False(t, ok)
}

func TestOnce(t *testing.T) {
	type layout struct{ rows int }
	a, b := &layout{1}, &layout{1}
	calls := 0
	next := func() (int, error) { calls++; return calls, nil }
	fails := errors.New("no")
	once := func(p *plan.Pass, key any) int { return must(plan.Once(p, key, next)) }
	p := &plan.Pass{}

	require.Equal(t, []int{1, 2, 1, 2}, []int{once(p, a), once(p, b), once(p, a), once(p, b)}, "equal is not the same")
	for i := range 20 { // more than there is room for
		require.Equal(t, 3+i, once(p, i))
	}
	require.Equal(t, []int{1, 2, 3, 22}, []int{once(p, a), once(p, b), once(p, 0), once(p, 19)})
	require.Equal(t, 23, once(&plan.Pass{}, a), "another pass")
	require.Equal(t, []int{24, 25}, []int{once(nil, a), once(nil, a)}, "no pass keeps nothing")

	text := must(plan.Once(p, a, func() (string, error) { return "text", nil }))
	require.Equal(t, "text", text, "another type under the same key")
	require.Equal(t, 1, once(p, a))

	require.ErrorIs(t, testkit.Err(plan.Once(p, "e", func() (int, error) { return 7, fails })), fails)
	require.Equal(t, 26, once(p, "e"), "an error is not kept")
	zero := must(plan.Once(p, "nil", func() (*layout, error) { return nil, nil }))
	require.Nil(t, zero)
	require.Nil(t, must(plan.Once(p, "nil", func() (*layout, error) { return a, nil })), "a nil value is a value")
}

// Views of one pass have numbers of their own, whatever room was expected, and are those without a
// pass.
func TestPassRoom(t *testing.T) {
	for _, expected := range []int{-1, 0, 1, 3, 100, 1 << 62} {
		g := rand.New(rand.NewPCG(5, 5))
		p := pass(plan.Index(shape.Shape{4, 3}, ix.Range(1, 3), ix.New))
		picking := pass(plan.Index(shape.Shape{4, 3}, ix.Take(2, 0)))
		p.Reserve(expected)
		picking.Reserve(expected)
		var all []shape.View
		var texts []string
		keep := func(v, want shape.View) {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(v))
			all, texts = append(all, v), append(texts, fmt.Sprint(want))
		}
		for range 60 {
			sizes := slices.Concat(shape.Shape{4, 3}, naive.Shape(g, 3))
			v := must(shape.Contiguous(sizes))
			got, ok, err := p.View(v)
			want, _, _ := p.Plan.View(v)
			require.True(t, ok && err == nil)
			keep(got, want)
			keep(must(p.Contiguous(sizes[:2], sizes[2:])), v)
			keep(must(picking.Frame(v)).Kept, must(picking.Plan.Frame(v)).Kept)
			s := p.Extend(sizes)
			require.Equal(t, p.Plan.Extend(sizes), s)
			if len(sizes) > 2 {
				keep(shape.View{Shape: s}, shape.View{Shape: s})
			}
		}
		for i, v := range all {
			require.Equal(t, texts[i], fmt.Sprint(v), "expected %d", expected)
			strides := slices.Clone(v.Strides)
			spoil(append(v.Shape, 99))
			require.Equal(t, strides, v.Strides)
			spoil(append(v.Strides, 99))
		}
	}
}

// spoil overwrites numbers.
func spoil[S ~[]int](s S) {
	for i := range s {
		s[i] = -1
	}
}

func TestPassChecks(t *testing.T) {
	none, empty := (*plan.Pass)(nil), &plan.Pass{}
	one := pass(plan.Index(shape.Shape{2}, ix.At(0)))
	joins := &plan.Pass{Join: joinPlan(2, false, 0, shape.Shape{2})}
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"no pass", none.CheckPlan(nil), shape.ErrKind},
		{"no plan", joins.CheckPlan(nil), shape.ErrKind},
		{"another shape", one.CheckPlan(shape.Shape{3}), shape.ErrShape},
		{"too few dims", one.CheckPlan(nil), shape.ErrShape},
		{"no pass to join", none.CheckJoin(1), shape.ErrKind},
		{"no plan to join", empty.CheckJoin(1), shape.ErrKind},
		{"nothing to join", joins.CheckJoin(0), shape.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
	require.NoError(t, one.CheckPlan(shape.Shape{2, 5}))
	require.NoError(t, joins.CheckJoin(1))
	require.Equal(t, shape.Shape{2, 3}, must(none.Contiguous(shape.Shape{2}, shape.Shape{3})).Shape)
}

// Runs go to 5 rows from 3.
func TestCheckRuns(t *testing.T) {
	tests := []struct {
		name string
		run  shape.Run
		ok   bool
	}{
		{"all that there is", shape.Run{To: 2, From: 0, Len: 3}, true},
		{"nothing, at the ends", shape.Run{To: 5, From: 3}, true},
		{"a negative length", shape.Run{Len: -1}, false},
		{"before the destination", shape.Run{To: -1, Len: 1}, false},
		{"before the source", shape.Run{From: -1, Len: 1}, false},
		{"beyond the destination", shape.Run{To: 3, From: 0, Len: 3}, false},
		{"beyond the source", shape.Run{To: 0, From: 1, Len: 3}, false},
		{"nothing, beyond the destination", shape.Run{To: 6}, false},
		{"nothing, beyond the source", shape.Run{From: 4}, false},
		{"an end that no int holds", shape.Run{To: 1, From: 1, Len: math.MaxInt}, false},
		{"a start that no int holds with its length", shape.Run{To: math.MaxInt, From: math.MaxInt, Len: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := plan.CheckRuns([]shape.Run{{Len: 1}, tt.run, {Len: 1}}, 5, 3)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			testkit.Fails(t, shape.ErrIndex, err)
		})
	}
	require.NoError(t, plan.CheckRuns(nil, 0, 0))
}
