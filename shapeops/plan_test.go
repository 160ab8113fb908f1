package shapeops_test

import (
	"errors"
	"fmt"
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// plan returns a pass that carries a plan which must be one.
func plan(p *shapeops.Plan, err error) *shapeops.Pass { return shapeops.NewPass(must(p, err)) }

// What a plan was made from may change: the plan stays as it was.
func TestPlanOwnsItsNumbers(t *testing.T) {
	s, n, bits := shapeops.Shape{3, 2}, []int{2, 0}, []bool{true, false, true}
	tests := []struct {
		name    string
		make    func() (*shapeops.Plan, error)
		numbers []int // what it was made from, besides s
	}{
		{"a list", func() (*shapeops.Plan, error) { return s.Index(ix.Take(n...)) }, n},
		{"lists that broadcast", func() (*shapeops.Plan, error) { return s.Index(ix.Take(n...), ix.Take(1)) }, n},
		{"the shape of a list", func() (*shapeops.Plan, error) { return s.Index(ix.TakeND([]int{2, 0, 1, 1}, n[:2]...)) }, n},
		{"the shape of a mask", func() (*shapeops.Plan, error) { return s.Index(ix.Mask(bits, n[:1]...)) }, n},
		{"no list", func() (*shapeops.Plan, error) { return s.Index(ix.Range(1, 3), ix.At(1)) }, n},
		{"the sizes of a reshape", func() (*shapeops.Plan, error) { return s.Reshape(n...) }, n},
		{"the sizes of an expand", func() (*shapeops.Plan, error) { return shapeops.Shape{1, 2}.Expand(n...) }, n},
		{"the order of a permute", func() (*shapeops.Plan, error) { return s.Permute(n...) }, n},
		{"the sizes of an unflatten", func() (*shapeops.Plan, error) { return s.Unflatten(0, n...) }, n},
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
			rows := must(shapeops.NewRows(p.From()...))
			was := fmt.Sprint(p, must(rows.Execute(shapeops.NewPass(p))))
			clear(s)
			clear(tt.numbers)
			clear(bits)
			require.Equal(t, was, fmt.Sprint(p, must(rows.Execute(shapeops.NewPass(p)))))
		})
	}
}

// Who appends to a shape that a plan gives away changes no plan and no other shape.
func TestPlanShapesDoNotGrowIntoOthers(t *testing.T) {
	for _, p := range []*shapeops.Plan{
		must(shapeops.Shape{2}.Index(ix.All)), must(shapeops.Shape{2}.Index(ix.Take(1, 0))), must(shapeops.Shape{2, 3}.Reshape(6)),
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
	p, calls := new(shapeops.Pass), 0
	for range 2 {
		for i := range 1000 {
			got := must(shapeops.Once(p, i, func() (int, error) { calls++; return 2 * i, nil }))
			require.Equal(t, 2*i, got)
			text := must(shapeops.Once(p, i, func() (string, error) { calls++; return fmt.Sprint(i), nil }))
			require.Equal(t, fmt.Sprint(i), text)
		}
	}
	require.Equal(t, 2000, calls)
	_, ok := shapeops.Made[float64](p, 1)
	require.False(t, ok)
	_, ok = shapeops.Made[int](p, 1000)
	require.False(t, ok)
}

func TestOnce(t *testing.T) {
	type layout struct{ rows int }
	a, b := &layout{1}, &layout{1}
	calls := 0
	next := func() (int, error) { calls++; return calls, nil }
	fails := errors.New("no")
	once := func(p *shapeops.Pass, key any) int { return must(shapeops.Once(p, key, next)) }
	p := &shapeops.Pass{}

	require.Equal(t, []int{1, 2, 1, 2}, []int{once(p, a), once(p, b), once(p, a), once(p, b)}, "equal is not the same")
	for i := range 20 { // more than there is room for
		require.Equal(t, 3+i, once(p, i))
	}
	require.Equal(t, []int{1, 2, 3, 22}, []int{once(p, a), once(p, b), once(p, 0), once(p, 19)})
	require.Equal(t, 23, once(&shapeops.Pass{}, a), "another pass")
	require.Equal(t, []int{24, 25}, []int{once(nil, a), once(nil, a)}, "no pass keeps nothing")

	text := must(shapeops.Once(p, a, func() (string, error) { return "text", nil }))
	require.Equal(t, "text", text, "another type under the same key")
	require.Equal(t, 1, once(p, a))

	require.ErrorIs(t, testkit.Err(shapeops.Once(p, "e", func() (int, error) { return 7, fails })), fails)
	require.Equal(t, 26, once(p, "e"), "an error is not kept")
	zero := must(shapeops.Once(p, "nil", func() (*layout, error) { return nil, nil }))
	require.Nil(t, zero)
	require.Nil(t, must(shapeops.Once(p, "nil", func() (*layout, error) { return a, nil })), "a nil value is a value")
}

// Views of one pass have numbers of their own, whatever room was expected, and are those without a
// pass.
func TestPassRoom(t *testing.T) {
	for _, expected := range []int{-1, 0, 1, 3, 100, 1 << 62} {
		g := rand.New(rand.NewPCG(5, 5))
		p := plan(shapeops.Shape{4, 3}.Index(ix.Range(1, 3), ix.New))
		picking := plan(shapeops.Shape{4, 3}.Index(ix.Take(2, 0)))
		p.Expect(expected)
		picking.Expect(expected)
		var all []shapeops.View
		var texts []string
		keep := func(v, want shapeops.View) {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(v))
			all, texts = append(all, v), append(texts, fmt.Sprint(want))
		}
		for range 60 {
			shape := slices.Concat(shapeops.Shape{4, 3}, naive.Shape(g, 3))
			v := must(shapeops.Contiguous(shape))
			got, ok, err := p.View(v)
			want, _, _ := p.Plan.View(v)
			require.True(t, ok && err == nil)
			keep(got, want)
			keep(must(p.Contiguous(shape[:2], shape[2:])), v)
			keep(must(picking.Frame(v)).Kept, must(picking.Plan.Frame(v)).Kept)
			s := p.Extend(shape)
			require.Equal(t, p.Plan.Extend(shape), s)
			if len(shape) > 2 {
				keep(shapeops.View{Shape: s}, shapeops.View{Shape: s})
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
	none, empty := (*shapeops.Pass)(nil), &shapeops.Pass{}
	one := plan(shapeops.Shape{2}.Index(ix.At(0)))
	joins := &shapeops.Pass{Join: joinPlan(2, false, 0, shapeops.Shape{2})}
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"no pass", none.CheckPlan(nil), shapeops.ErrKind},
		{"no plan", joins.CheckPlan(nil), shapeops.ErrKind},
		{"another shape", one.CheckPlan(shapeops.Shape{3}), shapeops.ErrShape},
		{"too few dims", one.CheckPlan(nil), shapeops.ErrShape},
		{"no pass to join", none.CheckJoin(1), shapeops.ErrKind},
		{"no plan to join", empty.CheckJoin(1), shapeops.ErrKind},
		{"nothing to join", joins.CheckJoin(0), shapeops.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
	require.NoError(t, one.CheckPlan(shapeops.Shape{2, 5}))
	require.NoError(t, joins.CheckJoin(1))
	require.Equal(t, shapeops.Shape{2, 3}, must(none.Contiguous(shapeops.Shape{2}, shapeops.Shape{3})).Shape)
}

// Runs go to 5 rows from 3.
func TestCheckRuns(t *testing.T) {
	tests := []struct {
		name string
		run  shapeops.Run
		ok   bool
	}{
		{"all that there is", shapeops.Run{To: 2, From: 0, Len: 3}, true},
		{"nothing, at the ends", shapeops.Run{To: 5, From: 3}, true},
		{"a negative length", shapeops.Run{Len: -1}, false},
		{"before the destination", shapeops.Run{To: -1, Len: 1}, false},
		{"before the source", shapeops.Run{From: -1, Len: 1}, false},
		{"beyond the destination", shapeops.Run{To: 3, From: 0, Len: 3}, false},
		{"beyond the source", shapeops.Run{To: 0, From: 1, Len: 3}, false},
		{"nothing, beyond the destination", shapeops.Run{To: 6}, false},
		{"nothing, beyond the source", shapeops.Run{From: 4}, false},
		{"an end that no int holds", shapeops.Run{To: 1, From: 1, Len: math.MaxInt}, false},
		{"a start that no int holds with its length", shapeops.Run{To: math.MaxInt, From: math.MaxInt, Len: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := shapeops.CheckRuns([]shapeops.Run{{Len: 1}, tt.run, {Len: 1}}, 5, 3)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			testkit.Fails(t, shapeops.ErrIndex, err)
		})
	}
	require.NoError(t, shapeops.CheckRuns(nil, 0, 0))
}
