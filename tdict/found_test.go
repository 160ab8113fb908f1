package tdict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Rows that cannot be counted one by one are refused before anything is written.
func TestDataOfTooManyRows(t *testing.T) {
	td := dict([]int{1 << 50}, entry{"d", tensor.Must(tdict.NewData("x"))})
	value := dict(nil, entry{"d", tensor.Must(tdict.NewData("y"))})
	require.ErrorIs(t, td.SetIndex(value, ix.At(0)), shapeops.ErrShape)
	_, err := td.Unsqueeze(0)
	require.NoError(t, err)
	require.Equal(t, "x", tensor.Must(tensor.Must(tdict.Get[*tdict.Data](td, "d")).At(0)))
	vast := dict([]int{1 << 62}, entry{"d", tensor.Must(tdict.NewData("x"))})
	_, err = vast.Unsqueeze(0)
	require.NoError(t, err)
	two := dict([]int{1, 2}, entry{"d", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 1, 2))})
	wide, err := two.Expand(1<<60, 2)
	require.NoError(t, err)
	require.Equal(t, "b", tensor.Must(tensor.Must(tdict.Get[*tdict.Data](wide, "d")).At(-1, -1)))
	_, err = wide.Flatten(0, 1)
	require.ErrorIs(t, err, shapeops.ErrShape)
}

// Nothing fits a batch shape with a negative size, whatever its kind.
func TestNothingFitsANegativeSize(t *testing.T) {
	for _, v := range []tdict.Value{
		tensor.Must(tdict.NewData("x")), tensor.Must(tdict.NewUnbatched(count(2))), count(2), tdict.New(),
	} {
		require.ErrorIs(t, tdict.New(-1).Set("v", v), shapeops.ErrShape, "%T", v)
	}
}

// Without a context, Apply cannot be stopped.
func TestApplyWithoutContext(t *testing.T) {
	same := func(_ key, xs tensors) (*tensor.Tensor, error) { return xs[0], nil }
	//lint:ignore SA1012 what must not end the program
	got, err := tdict.Apply(nil, []*tdict.TensorDict{sample()}, same, tdict.ApplyOptions{Workers: 2})
	require.NoError(t, err)
	require.True(t, sample().Equal(got))
}

// A member of a stack has no counterpart in a dictionary of stacks that lack it.
func TestApplyBesideADictionaryWithoutTheMember(t *testing.T) {
	stack := func(tds ...*tdict.TensorDict) *tdict.TensorDict { return tensor.Must(tdict.LazyStack(tds, 0)) }
	leaf, within, none := dict(nil, entry{"a", count()}), dict(nil, entry{"a/b", count()}), dict(nil)
	first := func(_ key, xs tensors) (*tensor.Tensor, error) { return xs[0], nil }
	for _, other := range []*tdict.TensorDict{stack(within, none), stack(none, within)} {
		_, err := tdict.Apply(t.Context(), []*tdict.TensorDict{stack(leaf, leaf), other}, first, tdict.ApplyOptions{AllowMissing: true})
		require.ErrorIs(t, err, tdict.ErrKind)
	}
}

// Each kind says what is wrong with what it is given, and memory that is gone is never passed over.
func TestErrorsOfEachKind(t *testing.T) {
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errStop}, 0, 2))
	codes := func(x *tensor.Tensor) *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(x)) }
	td := dict([]int{2}, entry{"d/u", codes(gone)})
	deep := tdict.New(2)
	for outer, n := deep, 0; n <= tdict.MaxDepth; n++ { // from the top down, so that no Set sees it all
		inner := tdict.New(2)
		require.NoError(t, outer.Set("d", inner))
		outer = inner
	}
	pass := func() *plan.Pass { return plan.NewPass(tensor.Must(plan.Index(shapeops.Shape{3}))) }
	var tr tensor.Transfer
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"clone what is gone", testkit.Err(td.Clone()), errStop},
		{"marshal what is gone", testkit.Err(td.MarshalJSON()), errStop},
		{"compare what is gone", testkit.Err(td.Diff(dict([]int{2}, entry{"d/u", codes(count(2))}))), errStop},
		{"join what is gone", testkit.Err(shapeops.Stack([]*tdict.TensorDict{td, dict([]int{2}, entry{"d/u", codes(count(2))})}, 0)), errStop},
		{"a dictionary by a plan for another shape", dict([]int{2}).Ops().AddExecute(&tr, dict([]int{2}), pass()), shapeops.ErrShape},
		{"an index too deep", testkit.Err(deep.Index()), tdict.ErrDepth},
		{"a plan for what is too deep", testkit.Err(deep.Ops().Execute(plan.NewPass(tensor.Must(plan.Index(shapeops.Shape{2}))))), tdict.ErrDepth},
		{"a join into what is too deep", shapeops.CatInto(deep, []*tdict.TensorDict{deep}, 0), tdict.ErrDepth},
		{"data of negative rows", testkit.Err(tdict.DataFrom([]any{}, -1)), shapeops.ErrShape},
	}
	for _, tt := range tests {
		require.ErrorIs(t, tt.err, tt.want, tt.name)
	}
	for range deep.Keys() {
		break
	}
	require.Contains(t, fmt.Sprintf("%+v", dict([]int{2}, entry{"a\n", gone})), `"a\n": Tensor(shape=[2], dtype=int64, bytes=16, memory=lent)`)
}

// A destination that does not begin with the shape of a join is refused.
func TestJoinIntoChecksItsDestination(t *testing.T) {
	x := dict([]int{2}, entry{"a", count(2)})
	stack := &plan.Pass{Join: tensor.Must(plan.Stack(2, func(int) shapeops.Shape { return x.Shape() }, 0))}
	for _, batch := range [][]int{{}, {2}, {3, 2}} {
		err := x.Ops().JoinInto(stack, tdict.New(batch...), []*tdict.TensorDict{x, x})
		require.ErrorIs(t, err, shapeops.ErrShape, "%v", batch)
	}
}

// A long text is cut where people read it.
func TestLongDataIsCut(t *testing.T) {
	d := tensor.Must(tdict.NewData(strings.Repeat("x", 1<<20)))
	require.Less(t, len(d.String()), 100)
	require.Less(t, len(d.LogValue().String()), 100)
}
