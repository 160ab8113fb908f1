package shapeops_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

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
