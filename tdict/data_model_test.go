package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// labelled is a dictionary of Data under "d", and the numbers that its rows must have.
type labelled struct {
	td   *tdict.TensorDict
	want naive.Array
}

func (l labelled) check(t *testing.T, about string) {
	t.Helper()
	d := tensor.Must(tdict.Get[*tdict.Data](l.td, "d"))
	require.Equal(t, l.want.Shape, append([]int{}, d.Shape()...), about)
	got := []int{}
	for v := range d.All() {
		got = append(got, int(v.(int64)))
	}
	require.Equal(t, l.want.At, got, about)
}

// A labelling is labelled dictionaries made of one another by a random program.
type labelling struct {
	*testing.T
	*rand.Rand
	all  []labelled
	next int // number not yet given to a row
}

func newLabelling(t *testing.T, seed uint64) *labelling {
	p := &labelling{t, rand.New(rand.NewPCG(seed, 5)), nil, 6}
	six := tensor.Must(tdict.DataFrom([]int{0, 1, 2, 3, 4, 5}, 6))
	p.all = append(p.all, labelled{dict([]int{6}, entry{"d", six}), naive.New(6)})
	return p
}

func (p *labelling) one() labelled { return p.all[p.IntN(len(p.all))] }

// keep adds a labelled dictionary, in the place of another once there are many.
func (p *labelling) keep(td *tdict.TensorDict, want naive.Array) {
	if len(p.all) < 6 {
		p.all = append(p.all, labelled{td, want})
		return
	}
	p.all[p.IntN(len(p.all))] = labelled{td, want}
}

// expr returns one random index expression of a kind for a shape, whose result is not large.
func (p *labelling) expr(shape []int) []ix.Index {
	if len(shape) == 0 {
		return nil
	}
	n := shape[0]
	switch k := p.IntN(3); {
	case k == 0 && n > 0:
		return []ix.Index{ix.At(p.IntN(n))}
	case k == 1 && n > 0:
		return []ix.Index{ix.Take(p.Perm(n)[:1+p.IntN(n)]...)}
	}
	return []ix.Index{ix.Range(p.IntN(2), 1+p.IntN(n+1))}
}

func (p *labelling) index() string {
	l := p.one()
	expr := p.expr(l.want.Shape)
	want, ok := l.want.Index(expr...)
	require.True(p, ok)
	p.keep(tensor.Must(l.td.Index(expr...)), want)
	return "index " + ix.Format(expr...)
}

func (p *labelling) reshape() string {
	l := p.one()
	to := naive.Factors(p.Rand, naive.Size(l.want.Shape))
	p.keep(tensor.Must(l.td.Reshape(to...)), l.want.Reshape(to...))
	return fmt.Sprint("reshape ", to)
}

func (p *labelling) stack() string {
	l := p.one()
	if naive.Size(l.want.Shape) > 24 {
		return "no stack"
	}
	p.keep(tensor.Must(shapeops.Stack([]*tdict.TensorDict{l.td, l.td}, 0)), naive.Stack([]naive.Array{l.want, l.want}, 0))
	return "stack"
}

func (p *labelling) clone() string {
	l := p.one()
	p.keep(tensor.Must(l.td.Clone()), naive.Array{Shape: l.want.Shape, At: slices.Clone(l.want.At)})
	return "clone"
}

// setIndex writes many times to one place: values that no row has any more are dropped meanwhile.
func (p *labelling) setIndex() string {
	i := p.IntN(len(p.all))
	l := p.all[i]
	expr := p.expr(l.want.Shape)
	for range 1 + p.IntN(60) {
		p.next++
		want, ok := l.want.Fill(p.next, expr...)
		require.True(p, ok)
		require.NoError(p, l.td.SetIndex(data(p.next), expr...))
		l.want = want
	}
	for j := range p.all {
		if p.all[j].td == l.td {
			p.all[j].want = l.want
		}
	}
	return "set index " + ix.Format(expr...)
}

// Rows of Data have what nested loops say, whatever they were made of, and a write to some shows in
// no others.
func TestDataModel(t *testing.T) {
	for seed := range uint64(100) {
		p := newLabelling(t, seed)
		acts := []func() string{p.index, p.index, p.reshape, p.stack, p.clone, p.clone, p.setIndex, p.setIndex}
		about := fmt.Sprint("seed ", seed)
		for range 30 {
			about += ", " + acts[p.IntN(len(acts))]()
			for _, l := range p.all {
				l.check(t, about)
			}
		}
	}
}
