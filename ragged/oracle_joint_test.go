package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// collection returns a random collection of one tree of so many levels, with two fields at the
// last.
func (g *drawer) collection(depth int) *joint.Joint {
	l := g.layout([]int{g.IntN(5)}, depth)
	var fields []joint.Field
	for d := range depth + 2 {
		at, err := l.At(min(d, depth))
		require.NoError(g, err)
		var features []int
		if g.chance(4) {
			features = []int{2}
		}
		x := g.fill(at, dtypes[g.IntN(len(dtypes))], features...)
		fields = append(fields, joint.Field{Name: fmt.Sprint("f", d), Tensor: x})
	}
	j, err := joint.New(fields...)
	require.NoError(g, err)
	return j
}

// each fails the test unless each field of y is what want makes of that of j, and fields share
// their layouts.
func (g *drawer) each(j, y *joint.Joint, err error, want func(m model) model) {
	g.Helper()
	require.NoError(g, err)
	requireShared(g, y)
	require.Equal(g, j.Names(), y.Names())
	for f := range j.Fields() {
		got, err := y.Tensor(f.Name)
		require.NoError(g, err)
		require.Equal(g, want(modelOf(g, f.Tensor)).String(), modelOf(g, got).String(), f.Name)
	}
}

// batchOf returns some rows of a model.
func (m model) batchOf(rows []any) model { return model{[]int{len(rows)}, m.depth, rows} }

// jointSteps do something to a collection and compare each field with its model.
var jointSteps = []struct {
	name string
	run  func(g *drawer, j *joint.Joint) (*joint.Joint, error)
}{
	{"take", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		n, _ := j.Len()
		var list []int
		for range g.IntN(5) {
			if n > 0 {
				list = append(list, g.IntN(2*n)-n)
			}
		}
		y, err := j.Index(ix.Take(list...))
		g.each(j, y, err, func(m model) model {
			rows := []any{}
			for _, i := range list {
				rows = append(rows, m.rows[(i+n)%n])
			}
			return m.batchOf(rows)
		})
		return y, err
	}},
	{"index", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		a, b, by := g.bound(), g.bound(), 1+g.IntN(3)
		y, err := j.Index(ix.Range(a, b).Step(by))
		g.each(j, y, err, func(m model) model { return m.batchOf(clipped(m.rows, a, b, by)) })
		return y, err
	}},
	{"range", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		a, b := g.bound(), g.bound()
		y, err := j.Range(a, b)
		g.each(j, y, err, func(m model) model { return m.batchOf(clipped(m.rows, a, b, 1)) })
		return y, err
	}},
	{"row", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		n, _ := j.Len()
		if n == 0 {
			_, err := j.Row(0)
			g.refused(err)
			return j, nil
		}
		i := g.IntN(n)
		y, err := j.Row(i)
		g.each(j, y, err, func(m model) model {
			if m.depth == 0 {
				return model{[]int{}, 0, m.rows[i : i+1]}
			}
			m.depth--
			return m.batchOf(m.rows[i].([]any))
		})
		back, err := j.Row(i - n)
		require.NoError(g, err)
		require.Equal(g, storage(g, y), storage(g, back))
		return j, nil
	}},
	{"cut", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		level, a, b := 1+g.IntN(depthOf(j)), g.bound(), g.bound()
		y, err := j.IndexLevel(level, ix.Range(a, b))
		g.each(j, y, err, func(m model) model {
			if m.depth < level {
				return m
			}
			return m.at(level, func(_ int, rows []any) any { return clipped(rows, a, b, 1) })
		})
		return y, err
	}},
	{"masked select", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		level := g.IntN(depthOf(j) + 1)
		l := tensor.Must(j.Tensor(fmt.Sprint("f", level))).Layout().Compact()
		mask := g.fill(l, tensor.Bool)
		bits := modelOf(g, mask).lists(level)
		y, err := j.MaskedSelect(mask)
		pick := func(i int, rows []any) any {
			out := []any{}
			for k, row := range rows {
				if bits[i][k].(value)[0] == 1 {
					out = append(out, row)
				}
			}
			return out
		}
		g.each(j, y, err, func(m model) model {
			switch {
			case level == 0:
				return m.batchOf(pick(0, m.rows).([]any))
			case m.depth < level:
				return m
			}
			return m.at(level, pick)
		})
		return y, err
	}},
	{"sort by", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		level := 1 + g.IntN(depthOf(j))
		name := fmt.Sprint("f", level)
		by := tensor.Must(j.Tensor(name))
		order, err := by.ArgSort(arith.SortOptions{})
		if len(by.Features()) > 0 || by.DType() == tensor.Complex128 {
			require.Error(g, err)
			return j, nil
		}
		require.NoError(g, err)
		y, err := j.Pick(order)
		keys := modelOf(g, by).lists(level)
		g.each(j, y, err, func(m model) model {
			if m.depth < level {
				return m
			}
			return m.at(level, func(i int, rows []any) any {
				order := make([]int, len(rows))
				for k := range order {
					order[k] = k
				}
				slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(keys[i][a].(value), keys[i][b].(value)) })
				out := []any{}
				for _, k := range order {
					out = append(out, rows[k])
				}
				return out
			})
		})
		return y, err
	}},
	{"flatten", flattenJoint},
	{"concat", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		part, err := j.Range(g.bound(), ix.End)
		require.NoError(g, err)
		rows := map[string][]any{}
		y, err := joint.Concat([]*joint.Joint{j, part, j}, 0)
		require.NoError(g, err)
		for f := range part.Fields() {
			rows[f.Name] = modelOf(g, f.Tensor).rows
		}
		for f := range j.Fields() {
			m := modelOf(g, f.Tensor)
			want := m.batchOf(slices.Concat(m.rows, rows[f.Name], m.rows))
			g.same(want, tensor.Must(y.Tensor(f.Name)), nil)
		}
		requireShared(g, y)
		return y, nil
	}},
	{"vstack", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		part, err := j.Range(g.bound(), ix.End)
		require.NoError(g, err)
		y, err := joint.Vstack([]*joint.Joint{j, part})
		require.NoError(g, err)
		requireShared(g, y)
		for f := range j.Fields() {
			m, other := modelOf(g, f.Tensor), modelOf(g, tensor.Must(part.Tensor(f.Name)))
			g.same(model{[]int{2}, m.depth + 1, []any{m.rows, other.rows}}, tensor.Must(y.Tensor(f.Name)), nil)
		}
		rejoined, err := y.Row(0)
		require.NoError(g, err)
		require.Equal(g, storage(g, j), storage(g, rejoined))
		return j, nil
	}},
	{"unsqueeze", func(g *drawer, j *joint.Joint) (*joint.Joint, error) {
		y, err := unsqueezed(j)
		g.each(j, y, err, func(m model) model { return model{[]int{1}, m.depth + 1, []any{m.rows}} })
		z, err := squeezed(y)
		g.each(j, z, err, func(m model) model { return m })
		return z, err
	}},
	{"collate", collate},
}

// Random programs on collections do to each field what loops do, and fields go on sharing layouts.
func TestJointOracle(t *testing.T) {
	for i, first := range jointSteps {
		t.Run(first.name, func(t *testing.T) {
			for seed := range uint64(longtests.Times(50, 100)) {
				jointProgram(t, seed, uint64(i))
			}
		})
	}
}

func jointProgram(t testing.TB, seed, ops uint64) {
	g := &drawer{TB: t, Rand: rand.New(rand.NewPCG(seed, ops))}
	depth := 1 + g.IntN(4)
	j := g.collection(depth)
	for range 4 {
		before := storage(t, j)
		s := jointSteps[ops%uint64(len(jointSteps))]
		ops = ops/uint64(len(jointSteps)) + g.Uint64()%1000
		y, err := s.run(g, j)
		require.NoError(t, err, s.name)
		require.Equal(t, before, storage(t, j), "%s changed its receiver", s.name)
		if j = y; size(j) > 400 {
			return
		}
	}
}

// size returns how many values a collection has.
func size(j *joint.Joint) (n int) {
	for f := range j.Fields() {
		n += f.Tensor.NumValues()
	}
	return n
}

// FuzzJoint is FuzzRagged for collections.
func FuzzJoint(f *testing.F) {
	for i := range jointSteps {
		f.Add(uint64(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, seed, ops uint64) { jointProgram(t, seed, ops) })
}
