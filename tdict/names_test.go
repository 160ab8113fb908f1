package tdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// namedXY returns a dictionary [2 3] with dims x and y, and one [2 3 4] in it, with dims x, y and
// z.
func namedXY() *tdict.TensorDict {
	inner := dict([]int{2, 3, 4}, entry{"b", count(2, 3, 4)})
	td := dict([]int{2, 3}, entry{"a", count(2, 3)}, entry{"n", inner})
	if err := errorsJoin(td.SetNames("x", "y"), inner.SetNames("x", "y", "z")); err != nil {
		panic(err)
	}
	return td
}

// labels shows the names of td, and of the dictionary n in it.
func labels(td *tdict.TensorDict) string {
	show := func(names []string) string {
		for i, name := range names {
			if name == "" {
				names[i] = "-"
			}
		}
		return strings.Join(names, " ")
	}
	return show(td.Names()) + ", " + show(tensor.Must(td.Dict("n")).Names())
}

// nameState is state with names.
func nameState(t testing.TB, td *tdict.TensorDict) string { return state(t, td) + labels(td) }

func TestNamesFollowDims(t *testing.T) {
	type dictionary = *tdict.TensorDict
	mask := make([]bool, 6)
	tests := []struct {
		name string
		op   func(td dictionary) (dictionary, error)
		want string
	}{
		{"a position drops its own", func(td dictionary) (dictionary, error) { return td.Index(ix.At(0)) }, "y, y z"},
		{"so does a later one", func(td dictionary) (dictionary, error) { return td.Index(ix.All, ix.At(0)) }, "x, x z"},
		{"a new dim has none", func(td dictionary) (dictionary, error) { return td.Index(ix.New) }, "- x y, - x y z"},
		{"a list keeps them", func(td dictionary) (dictionary, error) { return td.Index(ix.Take(0, 0)) }, "x y, x y z"},
		{"a mask of two dims drops both", func(td dictionary) (dictionary, error) { return td.Index(ix.Mask(mask, 2, 3)) }, "-, - z"},
		{"permute", func(td dictionary) (dictionary, error) { return td.Permute(1, 0) }, "y x, y x z"},
		{"stack has a new one", func(td dictionary) (dictionary, error) { return shapeops.Stack([]dictionary{td, td}, 1) }, "x - y, x - y z"},
		{"cat keeps them", func(td dictionary) (dictionary, error) { return shapeops.Cat([]dictionary{td, td}, 1) }, "x y, x y z"},
		{"flatten", func(td dictionary) (dictionary, error) { return td.Flatten(0, 1) }, "-, - z"},
		{"reshape", func(td dictionary) (dictionary, error) { return td.Reshape(3, 2) }, "- -, - - z"},
		{"expand", func(td dictionary) (dictionary, error) { return td.Expand(5, 2, 3) }, "- x y, - x y z"},
		{"pad sequence", func(td dictionary) (dictionary, error) {
			return shapeops.PadSequence([]dictionary{td, td}, shapeops.PadSequenceOptions{Dim: 1})
		}, "- x y, - x y z"},
		{"pad with values of their own", func(td dictionary) (dictionary, error) {
			return td.Pad(tdict.PadOptions{Fills: map[nestedkey.Key]any{"a": 1}}, 1, 0)
		}, "x y, x y z"},
		{"a quarter", func(td dictionary) (dictionary, error) { return shapeops.Rot90(td, 0, 1, 1) }, "y x, y x z"},
		{"unfold", func(td dictionary) (dictionary, error) { return shapeops.Unfold(td, 1, 2, 1) }, "x y -, x y - z"},
		{"copy", func(td dictionary) (dictionary, error) { return td.Copy(), nil }, "x y, x y z"},
		{"clone", func(td dictionary) (dictionary, error) { return td.Clone() }, "x y, x y z"},
		{"select", func(td dictionary) (dictionary, error) { return td.Select("n") }, "x y, x y z"},
		{"exclude", func(td dictionary) (dictionary, error) { return td.Exclude("a"), nil }, "x y, x y z"},
		{"a shorter batch shape", func(td dictionary) (dictionary, error) { return td.WithBatch(2) }, "x, x y z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := namedXY()
			got := tensor.Must(tt.op(td))
			require.Equal(t, tt.want, labels(got))
			require.NoError(t, got.SetNames(make([]string, len(got.Shape()))...))
			require.Equal(t, "x y, x y z", labels(td), "what has changed is the result only")
		})
	}
}

func TestSetNames(t *testing.T) {
	tests := []struct {
		name string
		op   func(td *tdict.TensorDict) error
		want string
	}{
		{"set all", func(td *tdict.TensorDict) error { return td.SetNames("p", "q") }, "p q, p q z"},
		{"take one away", func(td *tdict.TensorDict) error { return td.SetNames("", "y") }, "- y, - y z"},
		{"swap", func(td *tdict.TensorDict) error { return td.RenameDims(map[string]string{"x": "y", "y": "x"}) }, "y x, y x z"},
		{"rename to none", func(td *tdict.TensorDict) error { return td.RenameDims(map[string]string{"x": ""}) }, "- y, - y z"},
		{"rename nothing", func(td *tdict.TensorDict) error { return td.RenameDims(nil) }, "x y, x y z"},
		{"refine with what is there", func(td *tdict.TensorDict) error { return td.RefineNames("", "y") }, "x y, x y z"},
		{"refine what has none", func(td *tdict.TensorDict) error { return errorsJoin(td.SetNames("", "y"), td.RefineNames("r", "")) }, "r y, r y z"},
		{"take all away", func(td *tdict.TensorDict) error { return td.SetNames(make([]string, 2)...) }, "- -, - - z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := namedXY()
			require.NoError(t, tt.op(td))
			require.Equal(t, tt.want, labels(td))
		})
	}
	require.Equal(t, []string{""}, tdict.New(2).Names())
	require.Equal(t, 1, tensor.Must(namedXY().DimOf("y")))
	td := tdict.New()
	require.NoError(t, errorsJoin(td.SetNames(), td.RefineNames()))
	require.Equal(t, []string{}, td.Names())
}

func TestNamesRefusals(t *testing.T) {
	type dictionary = *tdict.TensorDict
	testkit.Refuse(t, namedXY, nameState, []refusal{
		{"too few", func(td dictionary) error { return td.SetNames("x") }, tdict.ErrName},
		{"too many", func(td dictionary) error { return td.SetNames("x", "y", "z") }, tdict.ErrName},
		{"one twice", func(td dictionary) error { return td.SetNames("x", "x") }, tdict.ErrName},
		{"one of a dim after the batch shape, nested", func(td dictionary) error { return td.SetNames("x", "z") }, tdict.ErrName},
		{"refine another", func(td dictionary) error { return td.RefineNames("x", "q") }, tdict.ErrName},
		{"refine too few", func(td dictionary) error { return td.RefineNames("x") }, tdict.ErrName},
		{"refine too many", func(td dictionary) error { return td.RefineNames("x", "y", "") }, tdict.ErrName},
		{"rename an unknown one", func(td dictionary) error { return td.RenameDims(map[string]string{"x": "p", "q": "r"}) }, tdict.ErrName},
		{"rename no name", func(td dictionary) error { return td.RenameDims(map[string]string{"": "p"}) }, tdict.ErrName},
		{"rename to one that is there", func(td dictionary) error { return td.RenameDims(map[string]string{"x": "y"}) }, tdict.ErrName},
		{"rename two to one", func(td dictionary) error { return td.RenameDims(map[string]string{"x": "p", "y": "p"}) }, tdict.ErrName},
		{"an unknown dim", func(td dictionary) error { return testkit.Err(td.DimOf("q")) }, tdict.ErrName},
		{"the dim of no name", func(td dictionary) error { return testkit.Err(td.DimOf("")) }, tdict.ErrName},
		{"a child that has the name elsewhere", func(td dictionary) error {
			child := tdict.New(2, 3, 4)
			return errorsJoin(child.SetNames("", "", "x"), td.Set("c", child))
		}, tdict.ErrName},
	})
	locked := func() dictionary { td := namedXY(); td.Lock(); return td }
	testkit.Refuse(t, locked, nameState, []refusal{
		{"set, locked", func(td dictionary) error { return td.SetNames("p", "q") }, tdict.ErrLocked},
		{"refine, locked", func(td dictionary) error { return td.RefineNames("x", "y") }, tdict.ErrLocked},
		{"rename, locked", func(td dictionary) error { return td.RenameDims(map[string]string{"x": "p"}) }, tdict.ErrLocked},
		{"set, nested in what is locked", func(td dictionary) error { return tensor.Must(td.Dict("n")).SetNames("", "", "") }, tdict.ErrLocked},
	})
}

// A dictionary that is locked keeps its names, if the one around it is not locked, too.
func TestNamesOfALockedChild(t *testing.T) {
	td := namedXY()
	tensor.Must(td.Dict("n")).Lock()
	require.ErrorIs(t, td.SetNames("p", "q"), tdict.ErrLocked)
	require.Equal(t, "x y, x y z", labels(td))
}

// Names that a nested dictionary is given by itself are its own, until the outer one is named
// again.
func TestNamesOfAChild(t *testing.T) {
	td := namedXY()
	require.NoError(t, tensor.Must(td.Dict("n")).SetNames("p", "q", "z"))
	require.Equal(t, []string{"x", "y"}, td.Names())
	require.NoError(t, td.SetNames("x", "y"))
	require.Equal(t, []string{"x", "y", "z"}, tensor.Must(td.Dict("n")).Names())
}

// What is set with other names is a copy with those of the outer dictionary; with the same, or in
// one without names, it is the value itself.
func TestSetOfANamedChild(t *testing.T) {
	child := func(names ...string) *tdict.TensorDict {
		c := dict([]int{2, 3, 4}, entry{"b", count(2, 3, 4)})
		require.NoError(t, c.SetNames(names...))
		return c
	}
	for _, names := range [][]string{{"p", "q", "r"}, {"", "", "r"}, {"y", "x", "r"}} {
		td, c := namedXY(), child(names...)
		require.NoError(t, td.Set("n", c))
		got := tensor.Must(td.Dict("n"))
		require.NotSame(t, c, got)
		require.Equal(t, names, c.Names())
		require.Equal(t, []string{"x", "y", "r"}, got.Names())
		require.Same(t, tensor.Must(c.Tensor("b")), tensor.Must(got.Tensor("b")))
	}
	same := child("x", "y", "r")
	td := namedXY()
	require.NoError(t, td.Set("n", same))
	require.Same(t, same, tensor.Must(td.Dict("n")))
	plain := dict([]int{2, 3})
	require.NoError(t, plain.Set("n", same))
	require.Same(t, same, tensor.Must(plain.Dict("n")))
	require.NoError(t, td.Set("new/deep/x", count(2, 3)))
	require.Equal(t, []string{"x", "y"}, tensor.Must(td.Dict("new/deep")).Names())
	require.NoError(t, td.Update(dict([]int{2, 3}, entry{"u", child("p", "q", "r")})))
	require.Equal(t, []string{"x", "y", "r"}, tensor.Must(td.Dict("u")).Names())
}

// Of several wrong keys of a map, always the same one is reported.
func TestErrorsOfMapsAreInOrder(t *testing.T) {
	values := map[nestedkey.Key]any{"p": 1, "q": 1, "r": 1}
	texts := map[string]bool{}
	for range 50 {
		texts[namedXY().RenameDims(map[string]string{"p": "1", "q": "2", "r": "3"}).Error()] = true
		texts[testkit.Err(namedXY().Pad(tdict.PadOptions{Fills: values}, 1, 0)).Error()] = true
	}
	require.Len(t, texts, 2)
}

// CheckNames finds a clash however deep it is, below dictionaries without names, too.
func TestCheckNames(t *testing.T) {
	deep := dict(nil, entry{"a/b", dict([]int{2}, entry{"c", dict([]int{2, 3}, entry{"x", count(2, 3)})})})
	b := tensor.Must(deep.Dict("a/b"))
	require.NoError(t, b.SetNames("x"))
	check := deep.Ops().(interface{ CheckNames() error }).CheckNames
	require.NoError(t, check())
	require.NoError(t, tensor.Must(b.Dict("c")).SetNames("y", "x"))
	require.ErrorIs(t, check(), tdict.ErrName)
	require.ErrorContains(t, check(), `"a/b/c"`)
}

// TestNamesOfStacks: a name stays if all dictionaries have it, in nested ones too. Cat keeps the
// names of the first.
func TestNamesOfStacks(t *testing.T) {
	named := func(names ...string) *tdict.TensorDict {
		td := tensor.Must(tdict.FromMap([]int{2, 3}, tdict.Entries{"n/x": tensor.Must(tensor.Zeros[int8](2, 3))}))
		require.NoError(t, td.SetNames(names...))
		return td
	}
	for _, tt := range []struct {
		a, b, stacked, cat []string
	}{
		{[]string{"time", "place"}, []string{"time", "place"}, []string{"", "time", "place"}, []string{"time", "place"}},
		{[]string{"time", "place"}, []string{"other", "place"}, []string{"", "", "place"}, []string{"time", "place"}},
		{[]string{"time", "place"}, []string{"", ""}, []string{"", "", ""}, []string{"time", "place"}},
		{[]string{"", ""}, []string{"time", "place"}, []string{"", "", ""}, []string{"", ""}},
		{[]string{"a", "b"}, []string{"b", "a"}, []string{"", "", ""}, []string{"a", "b"}},
	} {
		a, b := named(tt.a...), named(tt.b...)
		stack, lazy := tensor.Must(shapeops.Stack([]*tdict.TensorDict{a, b}, 0)), tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a, b}, 0))
		cat := tensor.Must(shapeops.Cat([]*tdict.TensorDict{a, b}, 0))
		require.Equal(t, tt.stacked, stack.Names())
		require.Equal(t, tt.stacked, lazy.Names())
		require.Equal(t, tt.stacked, tensor.Must(stack.Dict("n")).Names())
		require.Equal(t, tt.cat, cat.Names())
		require.Equal(t, tt.a, a.Names(), "an operand stays")
	}
}
