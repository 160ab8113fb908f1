package tdict_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A nil value of any kind, or a pass without a plan, is an error wherever it is an argument.
func TestNilArguments(t *testing.T) {
	var none *tdict.TensorDict
	td, tr := sample(), &tensor.Transfer{}
	data, same := tensor.Must(tdict.NewData("x", 3)), tensor.Must(tdict.NewUnbatched(count(2)))
	p := &shapeops.Pass{Plan: tensor.Must(shapeops.Shape{3}.Index(ix.All))}
	empty := &shapeops.Pass{Plan: tensor.Must(shapeops.Shape{}.Index(ix.Rest))}
	var joining *shapeops.Pass
	_, _ = shapeops.Stack([]*spy{{pass: &joining}, {pass: &joining}}, 0)
	each := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) { return xs[0], nil }
	type list = []*tdict.TensorDict
	tests := []struct {
		name string
		do   func() error
	}{
		{"get", func() error { return testkit.Err(tdict.Get[*tensor.Tensor](none, "a")) }},
		{"slice", func() error { return testkit.Err(tdict.Slice[int64](none, "a")) }},
		{"set nothing", func() error { return td.Set("x", nil) }},
		{"set a dictionary", func() error { return td.Set("x", none) }},
		{"set a tensor", func() error { return td.Set("x", (*tensor.Tensor)(nil)) }},
		{"set data", func() error { return td.Set("x", (*tdict.Data)(nil)) }},
		{"set an unbatched tensor", func() error { return td.Set("x", (*tdict.Unbatched)(nil)) }},
		{"set default", func() error { return testkit.Err(td.SetDefault("x", nil)) }},
		{"from map", func() error { return testkit.Err(tdict.FromMap(nil, tdict.Entries{"x": nil})) }},
		{"from map of a nil dictionary", func() error { return testkit.Err(tdict.FromMap(nil, tdict.Entries{"x": none})) }},
		{"update", func() error { return td.Update(nil) }},
		{"diff", func() error { return testkit.Err(td.Diff(nil)) }},
		{"apply to no dictionary", func() error { return testkit.Err(tdict.Apply(context.Background(), nil, each, tdict.ApplyOptions{})) }},
		{"apply that makes a zero tensor", func() error {
			return testkit.Err(td.Apply(func(nestedkey.Key, *tensor.Tensor) (*tensor.Tensor, error) { return &tensor.Tensor{}, nil }))
		}},
		{"apply to a nil one", func() error {
			return testkit.Err(tdict.Apply(context.Background(), list{td, nil}, each, tdict.ApplyOptions{}))
		}},
		{"set index", func() error { return td.SetIndex(nil) }},
		{"set index to a dictionary", func() error { return td.SetIndex(none) }},
		{"set index to a tensor", func() error { return td.SetIndex((*tensor.Tensor)(nil)) }},
		{"index into", func() error { return td.IndexInto(nil) }},
		{"execute", func() error { return testkit.Err(td.Execute(nil)) }},
		{"execute into", func() error { return td.ExecuteInto(tr, nil, p) }},
		{"execute into by no plan", func() error { return td.ExecuteInto(tr, td, nil) }},
		{"write", func() error { return td.Write(tr, nil, p) }},
		{"write by no plan", func() error { return td.Write(tr, td, nil) }},
		{"join", func() error { return testkit.Err(td.Join(nil, list{td})) }},
		{"join nothing", func() error { return testkit.Err(td.Join(joining, nil)) }},
		{"join what is nil", func() error { return testkit.Err(td.Join(joining, list{td, nil})) }},
		{"join what begins with nil", func() error { return testkit.Err(td.Join(joining, list{nil, td})) }},
		{"join into", func() error { return td.JoinInto(joining, nil, list{td, td}) }},
		{"join nil into", func() error { return td.JoinInto(joining, td, list{td, nil}) }},
		{"stack", func() error { return testkit.Err(shapeops.Stack(list{td, nil}, 0)) }},
		{"stack into", func() error { return shapeops.StackInto(nil, list{td}, 0) }},
		{"stack nil into", func() error { return shapeops.StackInto(td, list{nil}, 0) }},
		{"cat", func() error { return testkit.Err(shapeops.Cat(list{nil, td}, 0)) }},
		{"cat into", func() error { return shapeops.CatInto(nil, list{td}, 0) }},
		{"split", func() error { return testkit.Err(shapeops.Split(none, 0, 1)) }},
		{"split by", func() error { return testkit.Err(shapeops.SplitBy(none, 0, 1)) }},
		{"chunk", func() error { return testkit.Err(shapeops.Chunk(none, 0, 1)) }},
		{"unbind", func() error { return testkit.Err(shapeops.Unbind(none, 0)) }},

		{"data: diff", func() error { return testkit.Err(data.Diff(nil)) }},
		{"data: execute", func() error { return testkit.Err(data.Execute(nil)) }},
		{"data: execute into", func() error { return data.ExecuteInto(tr, nil, p) }},
		{"data: write", func() error { return data.Write(tr, nil, p) }},
		{"data: write zero data", func() error { return data.Write(tr, &tdict.Data{}, p) }},
		{"data: write by no plan", func() error { return data.Write(tr, data, nil) }},
		{"data: join", func() error { return testkit.Err(data.Join(joining, []*tdict.Data{data, nil})) }},
		{"data: join nothing", func() error { return testkit.Err(data.Join(joining, nil)) }},
		{"data: stack", func() error { return testkit.Err(shapeops.Stack([]*tdict.Data{data, nil}, 0)) }},

		{"unbatched: of nil", func() error { return testkit.Err(tdict.NewUnbatched(nil)) }},
		{"unbatched: diff", func() error { return testkit.Err(same.Diff(nil)) }},
		{"unbatched: diff with a zero one", func() error { return testkit.Err(same.Diff(&tdict.Unbatched{})) }},
		{"unbatched: execute", func() error { return testkit.Err(same.Execute(nil)) }},
		{"unbatched: execute into", func() error { return same.ExecuteInto(tr, nil, empty) }},
		{"unbatched: write", func() error { return same.Write(tr, nil, empty) }},
		{"unbatched: join", func() error { return testkit.Err(same.Join(joining, []*tdict.Unbatched{same, nil})) }},
		{"unbatched: join nothing", func() error { return testkit.Err(same.Join(joining, nil)) }},
		{"unbatched: stack", func() error { return testkit.Err(shapeops.Stack([]*tdict.Unbatched{same, nil}, 0)) }},
	}
	was := state(t, td)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotPanics(t, func() { require.ErrorIs(t, tt.do(), tdict.ErrKind) })
		})
	}
	require.NoError(t, tr.Run(), "nothing was added")
	require.Equal(t, was, state(t, td))
	require.False(t, td.Equal(nil))
	require.False(t, data.Equal(nil) || data.Equal(&tdict.Data{}))
	require.False(t, same.Equal(nil) || same.Equal(&tdict.Unbatched{}))
}

// A spy is a value that keeps the pass that it is joined by.
type spy struct{ pass **shapeops.Pass }

func (*spy) Shape() shapeops.Shape { return shapeops.Shape{3} }

func (s *spy) Join(p *shapeops.Pass, _ []*spy) (*spy, error) { *s.pass = p; return s, nil }
