package tensor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A nil tensor, or pass, is an error wherever it is an argument.
func TestNilArguments(t *testing.T) {
	type list = []*tensor.Tensor
	var none *tensor.Tensor
	x, tr := tensor.Vector[int8](1, 2, 3), &tensor.Transfer{}
	all := pass(shapeops.Shape{3}.Index(ix.Take(0, 1, 2)))
	joining := &shapeops.Pass{}
	_, _ = shapeops.Stack([]*spy{{pass: &joining}, {pass: &joining}}, 0)
	tests := []struct {
		name string
		do   func() error
	}{
		{"of", func() error { return testkit.Err(tensor.Of[int8](none)) }},
		{"read", func() error { return tensor.Read(none, func([]int8) {}) }},
		{"write", func() error { return tensor.Write(none, func([]int8) {}) }},
		{"item", func() error { return testkit.Err(tensor.Item[int8](none)) }},
		{"elements", func() error { return testkit.Err(tensor.Elements[int8](none)) }},
		{"map", func() error { return testkit.Err(tensor.Map(none, func(v int8) int8 { return v })) }},
		{"from lender", func() error { return testkit.Err(tensor.FromLender(tensor.Int8, nil, 0, 3)) }},
		{"all close", func() error { return testkit.Err(x.AllClose(nil, 0, 0)) }},
		{"diff", func() error { return testkit.Err(x.Diff(nil)) }},
		{"copy from", func() error { return x.CopyFrom(nil) }},
		{"set index", func() error { return x.SetIndex(nil, ix.All) }},
		{"set index by a list", func() error { return x.SetIndex(nil, ix.Take(0)) }},
		{"index into", func() error { return x.IndexInto(nil, ix.All) }},
		{"index into by a position", func() error { return x.IndexInto(nil, ix.At(0)) }},
		{"set index by a position", func() error { return x.SetIndex(none, ix.At(0)) }},
		{"execute", func() error { return testkit.Err(x.Execute(nil)) }},
		{"execute a pass without a plan", func() error { return testkit.Err(x.Execute(&shapeops.Pass{})) }},
		{"execute into", func() error { return x.ExecuteInto(tr, nil, all) }},
		{"execute into, of no plan", func() error { return x.ExecuteInto(tr, x, nil) }},
		{"a transfer's write", func() error { return x.Write(tr, nil, all) }},
		{"a transfer's write by no plan", func() error { return x.Write(tr, x, nil) }},
		{"a transfer's copy to", func() error { return tr.Copy(nil, x) }},
		{"a transfer's copy from", func() error { return tr.Copy(x, nil) }},
		{"a transfer's fill of", func() error { return tr.Fill(nil, x) }},
		{"a transfer's fill with", func() error { return tr.Fill(x, nil) }},
		{"a transfer's runs to", func() error { return tr.Runs(nil, x, nil) }},
		{"a transfer's runs from", func() error { return tr.Runs(x, nil, nil) }},
		{"a transfer's write by a pass without a plan", func() error { return x.Write(tr, x, &shapeops.Pass{}) }},
		{"join", func() error { return testkit.Err(x.Join(nil, list{x})) }},
		{"join by a pass without a plan", func() error { return testkit.Err(x.Join(&shapeops.Pass{}, list{x})) }},
		{"join nothing", func() error { return testkit.Err(x.Join(joining, nil)) }},
		{"join what is nil", func() error { return testkit.Err(x.Join(joining, list{x, nil})) }},
		{"join what begins with nil", func() error { return testkit.Err(x.Join(joining, list{nil, x})) }},
		{"join into", func() error { return x.JoinInto(joining, nil, list{x, x}) }},
		{"join nil into", func() error { return x.JoinInto(joining, x, list{x, nil}) }},
		{"stack", func() error { return testkit.Err(shapeops.Stack(list{x, nil}, 0)) }},
		{"stack from nil on", func() error { return testkit.Err(shapeops.Stack(list{nil, x}, 0)) }},
		{"stack into", func() error { return shapeops.StackInto(nil, list{x}, 0) }},
		{"stack nil into", func() error { return shapeops.StackInto(x, list{nil}, 0) }},
		{"cat", func() error { return testkit.Err(shapeops.Cat(list{x, nil}, 0)) }},
		{"cat into", func() error { return shapeops.CatInto(nil, list{x}, 0) }},
		{"cat nil into", func() error { return shapeops.CatInto(x, list{nil}, 0) }},
		{"split", func() error { return testkit.Err(shapeops.Split(none, 0, 1)) }},
		{"split by", func() error { return testkit.Err(shapeops.SplitBy(none, 0, 1)) }},
		{"chunk", func() error { return testkit.Err(shapeops.Chunk(none, 0, 1)) }},
		{"unbind", func() error { return testkit.Err(shapeops.Unbind(none, 0)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotPanics(t, func() { require.ErrorIs(t, tt.do(), tensor.ErrKind) })
		})
	}
	require.NoError(t, tr.Run(), "nothing was added")
	require.False(t, x.Equal(nil))
	require.False(t, x.SharesMemory(nil))
	require.Equal(t, "int8 [3]\n[1 2 3]", fmt.Sprint(x))
}

// A spy is a value that keeps the pass that it is joined by.
type spy struct{ pass **shapeops.Pass }

func (*spy) Shape() shapeops.Shape { return shapeops.Shape{3} }

func (s *spy) Join(p *shapeops.Pass, _ []*spy) (*spy, error) { *s.pass = p; return s, nil }
