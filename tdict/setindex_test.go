package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// small returns "a" int64 [3] 0 1 2, and "d" with "d/b" int64 [3 2] 0 to 5.
func small() *tdict.TensorDict {
	return dict([]int{3}, entry{"a", count(3)}, entry{"d/b", count(3, 2)})
}

func TestSetIndex(t *testing.T) {
	nines := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Full[int64](9, shape...)) }
	rows := []ix.Index{ix.Take(2, 0)}
	tests := []struct {
		name  string
		value tdict.Value
		expr  []ix.Index
		a, b  []int64
	}{
		{"a tensor goes to every leaf", nines(), []ix.Index{ix.At(1)}, []int64{0, 9, 2}, []int64{0, 1, 9, 9, 4, 5}},
		{"a tensor broadcasts", nines(1), []ix.Index{ix.Range(1, 9)}, []int64{0, 9, 9}, []int64{0, 1, 9, 9, 9, 9}},
		{"everything, without an expression", nines(), nil, []int64{9, 9, 9}, []int64{9, 9, 9, 9, 9, 9}},
		{"everything, with a new dim", nines(), []ix.Index{ix.New}, []int64{9, 9, 9}, []int64{9, 9, 9, 9, 9, 9}},
		{"true is everything", nines(), []ix.Index{ix.Bool(true)}, []int64{9, 9, 9}, []int64{9, 9, 9, 9, 9, 9}},
		{"false is nothing", nines(), []ix.Index{ix.Bool(false)}, []int64{0, 1, 2}, []int64{0, 1, 2, 3, 4, 5}},
		{"a mask that is false is nothing", nines(), []ix.Index{ix.Mask(make([]bool, 3))}, []int64{0, 1, 2}, []int64{0, 1, 2, 3, 4, 5}},
		{"a dictionary goes leaf by leaf", dict([]int{2}, entry{"d/b", count(2, 2)}, entry{"a", nines(2)}), rows,
			[]int64{9, 1, 9}, []int64{2, 3, 2, 3, 0, 1}},
		{"keys that it lacks stay", dict([]int{2}, entry{"a", nines(2)}), rows, []int64{9, 1, 9}, []int64{0, 1, 2, 3, 4, 5}},
		{"a dictionary without keys changes nothing", tdict.New(2), rows, []int64{0, 1, 2}, []int64{0, 1, 2, 3, 4, 5}},
		{"the last dims are repeated over the others", dict([]int{2}, entry{"a", tensor.Vector[int64](7, 8)}),
			[]ix.Index{ix.TakeND([]int{0, 1, 2, 0}, 2, 2)}, []int64{8, 8, 7}, []int64{0, 1, 2, 3, 4, 5}},
		{"the batch shape [] is the last no dims", dict(nil, entry{"a", nines()}), []ix.Index{ix.Take(0, 2)}, []int64{9, 1, 9}, []int64{0, 1, 2, 3, 4, 5}},
		{"of duplicates the last stays", dict([]int{2}, entry{"a", tensor.Vector[int64](7, 8)}), []ix.Index{ix.Take(0, 0)},
			[]int64{8, 1, 2}, []int64{0, 1, 2, 3, 4, 5}},
		{"a dictionary for one position", dict(nil, entry{"a", nines()}), []ix.Index{ix.At(-1)}, []int64{0, 1, 9}, []int64{0, 1, 2, 3, 4, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := small()
			td.Lock() // elements may be written
			require.NoError(t, td.SetIndex(tt.value, tt.expr...))
			require.Equal(t, tt.a, values(t, td, "a"))
			require.Equal(t, tt.b, values(t, td, "d/b"))
		})
	}
}

var create = tdict.SetIndexOptions{Create: true}

func TestSetIndexCreatesKeys(t *testing.T) {
	td := small()
	value := dict([]int{2},
		entry{"new", tensor.Vector[int64](7, 8)},
		entry{"d/new", count(2, 2)},
		entry{"e/f", dict([]int{2, 2}, entry{"g", count(2, 2)})},
		entry{"e/none", tdict.New(2, 5)},
	)
	require.NoError(t, td.SetIndexWith(value, create, ix.Take(2, 0)))
	consistent(t, td)
	require.Equal(t, []nestedkey.Key{"a", "d", "d/b", "d/new", "new", "e", "e/f", "e/f/g", "e/none"}, keys(td))
	require.Equal(t, []int64{8, 0, 7}, values(t, td, "new"), "zeros elsewhere")
	require.Equal(t, []int64{2, 3, 0, 0, 0, 1}, values(t, td, "d/new"))
	require.Equal(t, []int64{2, 3, 0, 0, 0, 1}, values(t, td, "e/f/g"))
	require.Equal(t, shapeops.Shape{3, 2}, tensor.Must(td.Dict("e/f")).Shape())
	require.Equal(t, shapeops.Shape{3, 5}, tensor.Must(td.Dict("e/none")).Shape())

	ruin(t, value)
	require.True(t, td.Has("e/f/g"), "what is created is not the value's")
	empty := tdict.New(3)
	require.NoError(t, empty.SetIndexWith(dict(nil, entry{"x", tensor.Vector[int64](1, 2)}), create, ix.At(1)))
	require.Equal(t, []int64{0, 0, 1, 2, 0, 0}, values(t, empty, "x"), "a dim that the expression drops is there in full")
}

// A dictionary that is created where the batch shape is longer gets that batch shape.
func TestSetIndexCreatesInLongerBatch(t *testing.T) {
	td := dict([]int{3}, entry{"d", dict([]int{3, 2})})
	require.NoError(t, td.SetIndexWith(dict([]int{1}, entry{"d/e/x", count(1, 2)}), create, ix.Range(1, 2)))
	consistent(t, td)
	require.Equal(t, shapeops.Shape{3, 2}, tensor.Must(td.Dict("d/e")).Shape())
	require.Equal(t, []int64{0, 0, 0, 1, 0, 0}, values(t, td, "d/e/x"))
}

func TestSetIndexRefuses(t *testing.T) {
	setIndex := func(value tdict.Value, expr ...ix.Index) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error { return td.SetIndex(value, expr...) }
	}
	nine := tensor.Scalar[int64](9)
	refuse(t, small, []refusal{
		{"a position out of range", setIndex(nine, ix.At(3)), shapeops.ErrIndex},
		{"features are out of reach", setIndex(nine, ix.At(0), ix.At(0)), shapeops.ErrIndex},
		{"a tensor that does not fit a later leaf", setIndex(tensor.Vector[int64](7, 8, 9), ix.New), shapeops.ErrShape},
		{"another dtype", setIndex(tensor.Scalar(1.5)), tensor.ErrDType},
		{"a later leaf that does not fit", func(td *tdict.TensorDict) error {
			value := dict([]int{2}, entry{"a", tensor.Vector[int64](7, 8)}, entry{"n", count(2)}, entry{"d/b", count(2, 3)})
			return td.SetIndexWith(value, create, ix.Take(0, 1))
		}, shapeops.ErrShape},
		{"a key that is missing", setIndex(dict([]int{2}, entry{"a", count(2)}, entry{"n", count(2)}), ix.Take(0, 1)), tdict.ErrMissing},
		{"a key that is missing within", setIndex(dict([]int{2}, entry{"d/n", count(2)}), ix.Take(0, 1)), tdict.ErrMissing},
		{"features do not broadcast", setIndex(dict([]int{2}, entry{"d/b", count(2, 1)}), ix.Take(0, 1)), shapeops.ErrShape},
		{"a leaf for a dictionary", setIndex(dict([]int{3}, entry{"a", count(3)}, entry{"d", count(3)})), tdict.ErrKind},
		{"a batch shape that is another", setIndex(tdict.New(3), ix.Take(0, 1)), shapeops.ErrShape},
		{"a batch shape of size 1 does not broadcast", setIndex(tdict.New(1), ix.Take(0, 1)), shapeops.ErrShape},
	})
}

func TestSetIndexOfItselfInPlace(t *testing.T) {
	td := small()
	before := tensor.Must(td.Clone())
	require.NoError(t, td.SetIndex(td))
	require.NoError(t, td.SetIndex(tensor.Must(td.Index(ix.Range(1, 3))), ix.Range(1, 3)))
	require.True(t, before.Equal(td))
}

// What writes into a dictionary reads parts of that dictionary as they were.
func TestWritingPartsOfItself(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(td *tdict.TensorDict) error
		want []int // rows
	}{
		"set-index, shifted": {func(td *tdict.TensorDict) error {
			return td.SetIndex(tensor.Must(td.Index(ix.Range(1, 3))), ix.Range(0, 2))
		}, []int{1, 2, 2}},
		"index-into, shifted": {func(td *tdict.TensorDict) error {
			return tensor.Must(td.Index(ix.Range(0, 2))).IndexInto(tensor.Must(td.Index(ix.Range(1, 3))))
		}, []int{0, 0, 1}},
		"cat-into": {func(td *tdict.TensorDict) error {
			return shapeops.CatInto(td, []*tdict.TensorDict{tensor.Must(td.Index(ix.Range(1, 3))), tensor.Must(td.Index(ix.Range(0, 1)))}, 0)
		}, []int{1, 2, 0}},
		"flip-into": {func(td *tdict.TensorDict) error { return shapeops.FlipInto(td, td, 0) }, []int{2, 1, 0}},
		"take-into": {func(td *tdict.TensorDict) error { return td.IndexInto(td, ix.Take(2, 0, 2)) }, []int{2, 0, 2}},
	} {
		td := dict([]int{3}, entry{"a", count(3)}, entry{"d/b", count(3, 2)})
		want := tensor.Must(td.Index(ix.Take(tt.want...)))
		require.NoError(t, tt.do(td), name)
		require.True(t, td.Equal(want), name)
	}
}

// SetIndex reads a value before it writes: leaves of td that are other leaves of the value are no
// exception.
func TestSetIndexSwapsLeaves(t *testing.T) {
	x, y := tensor.Vector[int64](1, 2), tensor.Vector[int64](3, 4)
	td := dict([]int{2}, entry{"x", x}, entry{"y", y})
	require.NoError(t, td.SetIndex(dict([]int{2}, entry{"x", y}, entry{"y", x})))
	require.Equal(t, []int64{3, 4}, values(t, td, "x"))
	require.Equal(t, []int64{1, 2}, values(t, td, "y"))
}

// A plan over fewer dims than the batch shape writes whole batch rows.
func TestWriteByShorterPlan(t *testing.T) {
	td := dict([]int{2, 2}, entry{"a", count(2, 2, 1)}, entry{"d", data("x", 2, 2)})
	src := dict([]int{2}, entry{"a", count(2, 1)}, entry{"d", texts("p", "q")})
	var tr tensor.Transfer
	p := tensor.Must(plan.Index(shapeops.Shape{2}, ix.At(1)))
	require.NoError(t, td.Ops().AddWrite(&tr, src, plan.NewPass(p)))
	require.NoError(t, tr.Run())
	require.Equal(t, []int64{0, 1, 0, 1}, values(t, td, "a"))
	require.Equal(t, `data [2 2] ["x" "x" "p" "q"]`, tensor.Must(tdict.Get[*tdict.Data](td, "d")).String())
	require.ErrorIs(t, td.Ops().AddWrite(&tr, tdict.New(3), plan.NewPass(p)), shapeops.ErrShape)
}

// A dictionary in the destination has the batch shape of those joined, after the dims joined.
func TestStackIntoChecksInnerBatchShapes(t *testing.T) {
	row := func(inner ...int) *tdict.TensorDict {
		return dict([]int{1}, entry{"d", dict(inner, entry{"a", count(1, 2)})})
	}
	dst := dict([]int{2, 1}, entry{"d", dict([]int{2, 1, 2}, entry{"a", count(2, 1, 2)})})
	err := shapeops.StackInto(dst, []*tdict.TensorDict{row(1, 2), row(1)}, 0)
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.ErrorContains(t, err, `stack "d": value 1: shape mismatch`)
	short := dict([]int{2, 1}, entry{"d", dict([]int{2, 1}, entry{"a", count(2, 1, 2)})})
	err = shapeops.StackInto(short, []*tdict.TensorDict{row(1, 2), row(1, 2)}, 0)
	require.ErrorIs(t, err, shapeops.ErrShape)
	require.ErrorContains(t, err, `stack "d": destination: shape mismatch`)
	require.NoError(t, shapeops.StackInto(dst, []*tdict.TensorDict{row(1, 2), row(1, 2)}, 0))
	require.Equal(t, []int64{0, 1, 0, 1}, values(t, dst, "d/a"))
}

// What a caller's pass has made once is found again by every dictionary that it goes through.
func TestPassGoesThroughDictionaries(t *testing.T) {
	p := plan.NewPass(tensor.Must(plan.Reshape(shapeops.Shape{3}, 3, 1)))
	for range 2 {
		_, err := sample().Ops().Execute(p)
		require.NoError(t, err)
	}
	made := 0
	for range 2 {
		_, _ = plan.Once(p, "key", func() (int, error) { made++; return 1, nil })
		_, err := sample().Ops().Execute(p)
		require.NoError(t, err)
	}
	require.Equal(t, 1, made)
	_, err := tdict.Get[tdict.Leaf](sample(), "b")
	require.ErrorIs(t, err, tdict.ErrKind, "a dictionary is not a leaf")
}
