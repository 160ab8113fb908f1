package shapeops_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/naive"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Once makes a value once for a key, by identity, and for a type.
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

	_, err := shapeops.Once(p, "e", func() (int, error) { return 7, fails })
	require.ErrorIs(t, err, fails)
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
