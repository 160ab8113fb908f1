package tdict_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// bindingSpecs is a schema with required and optional entries at several depths.
func bindingSpecs() tdict.Schema {
	return tdict.Schema{
		{Key: "x", DType: tensor.Float32, Shape: shapeops.Shape{3}},
		{Key: "any", Shape: shapeops.Shape{tdict.Any}, Optional: true},
		{Key: "in/y", DType: tensor.Int64},
		{Key: "in/opt", DType: tensor.Int8, Optional: true},
		{Key: "in/more/z", DType: tensor.Bool, Optional: true},
		{Key: "more", Kind: tdict.KindDict, Optional: true},
		{Key: "more/z", DType: tensor.Bool},
		{Key: "more/w", DType: tensor.Bool},
		{Key: "more/low", Kind: tdict.KindDict, Optional: true},
		{Key: "more/low/q", DType: tensor.Bool},
		{Key: "wide", Kind: tdict.KindDict, Shape: shapeops.Shape{4}, Optional: true},
		{Key: "wide/in/q", DType: tensor.Int8, Shape: shapeops.Shape{4}, Optional: true},
		{Key: "rows", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
		{Key: "name", Kind: tdict.KindText},
		{Key: "note", Kind: tdict.KindData, Optional: true},
		{Key: "table", Kind: tdict.KindUnbatched, DType: tensor.Float64, Shape: shapeops.Shape{7}, Optional: true},
	}
}

// bound returns a dictionary [2] to which bindingSpecs is bound, with some optional entries.
func bound(t testing.TB) *tdict.TensorDict {
	s := slices.DeleteFunc(bindingSpecs(), func(s tdict.Spec) bool { return slices.Contains(s.Shape, tdict.Any) })
	td := tensor.Must(s.Zeros(2))
	for _, key := range []nestedkey.Key{"in/opt", "more/low", "wide", "note"} {
		require.NoError(t, td.Delete(key))
	}
	require.NoError(t, td.Enforce(bindingSpecs()))
	return td
}

// zeros returns a tensor of zeros.
func zerosOf(d tensor.DType, shape ...int) *tensor.Tensor {
	return tensor.Must(tensor.New(d, shape...))
}

// breaking lists, for each method that can break a schema, calls that would: on the dictionary
// itself, and on the one under "in".
var breaking = map[string]struct {
	direct, child func(td *tdict.TensorDict) error
}{
	"Set": {
		func(td *tdict.TensorDict) error { return td.Set("x", zerosOf(tensor.Float64, 2, 3)) },
		func(td *tdict.TensorDict) error { return td.Set("bad", zerosOf(tensor.Int64, 2)) },
	},
	"Update": {
		func(td *tdict.TensorDict) error {
			other := tdict.New(2)
			_ = other.Set("in/opt", zerosOf(tensor.Int8, 2))
			_ = other.Set("x", zerosOf(tensor.Float32, 2, 4))
			return td.Update(other)
		},
		func(td *tdict.TensorDict) error {
			other := tdict.New(2)
			_ = other.Set("opt", zerosOf(tensor.Int8, 2))
			_ = other.Set("y", tdict.New(2))
			return td.Update(other)
		},
	},
	"SetIndexWith": {
		func(td *tdict.TensorDict) error {
			other := tdict.New(1)
			_ = other.Set("x", tensor.Must(tensor.Full[float32](7, 1, 3)))
			_ = other.Set("more/low/bad", zerosOf(tensor.Bool, 1))
			return td.SetIndexWith(other, tdict.SetIndexOptions{Create: true}, ix.Range(0, 1))
		},
		func(td *tdict.TensorDict) error {
			other := tdict.New(1)
			_ = other.Set("y", tensor.Must(tensor.Full[int64](7, 1)))
			_ = other.Set("bad", zerosOf(tensor.Bool, 1))
			return td.SetIndexWith(other, tdict.SetIndexOptions{Create: true}, ix.Range(0, 1))
		},
	},
	"Delete": {
		func(td *tdict.TensorDict) error { return td.Delete("in") },
		func(td *tdict.TensorDict) error { return td.Delete("y") },
	},
	"Pop": {
		func(td *tdict.TensorDict) error { return testkit.Err(td.Pop("more/z")) },
		func(td *tdict.TensorDict) error { return testkit.Err(td.Pop("y")) },
	},
	"Clear": {(*tdict.TensorDict).Clear, (*tdict.TensorDict).Clear},
	"Rename": {
		func(td *tdict.TensorDict) error { return td.Rename("table", "note") },
		func(td *tdict.TensorDict) error { return td.Rename("y", "opt") },
	},
	"Separate": {
		func(td *tdict.TensorDict) error { return testkit.Err(td.Separate("table", "in/y")) },
		func(td *tdict.TensorDict) error { return testkit.Err(td.Separate("y")) },
	},
	"UnmarshalJSON": {
		func(td *tdict.TensorDict) error {
			return td.UnmarshalJSON([]byte(`{"batch":[2],"entries":{"x":{"dtype":"float32","shape":[2],"values":[1,2]}}}`))
		},
		func(td *tdict.TensorDict) error { return td.UnmarshalJSON([]byte(`{"batch":[2],"entries":{}}`)) },
	},
	"Enforce": {
		func(td *tdict.TensorDict) error { return td.Enforce(tdict.Schema{{Key: "x"}}) },
		func(td *tdict.TensorDict) error { return td.Enforce(nil) },
	},
}

// harmless lists the methods that change a dictionary, and can break no schema.
var harmless = map[string]func(td *tdict.TensorDict) error{
	"SetIndex":      func(td *tdict.TensorDict) error { return td.SetIndex(td.Copy()) },
	"UpdateInPlace": func(td *tdict.TensorDict) error { return td.UpdateInPlace(tensor.Must(td.Clone())) },
	"SetNames":      func(td *tdict.TensorDict) error { return td.SetNames("row") },
	"RefineNames":   func(td *tdict.TensorDict) error { return td.RefineNames("row") },
	"RenameDims":    func(td *tdict.TensorDict) error { return td.RenameDims(map[string]string{}) },
	"SetClass":      func(td *tdict.TensorDict) error { return td.SetClass("my.Frame") },
	"Lock":          func(td *tdict.TensorDict) error { td.Lock(); return nil },
	"Unlock":        (*tdict.TensorDict).Unlock,
}

// reading lists the methods that change no dictionary but a destination's elements.
const reading = "All Apply ByteSize Cast Class Clone Copy Dense Dict Diff Diffs DiffsWithin DimOf Equal Exclude Expand FilterEmpty " +
	"Flatten FlattenKeys Format Gather GatherInto Get Has Head Index IndexInto IsEmpty Keys Leaves Locked LogValue MarshalJSON " +
	"MaskedSelect Materialize Movedim Names Narrow NestedKeys NewZeros NumEntries Pad PadInto Permute Plan Preview Reinterpret " +
	"Reshape Rows Scatter Select SelectPresent Shape SortKeys Squeeze String Take TakeInto Tensor Tensors ToMeta Transpose Tree " +
	"Unflatten UnflattenKeys Unsqueeze Ops WithBatch"

// TestEnforceHolds calls every method that could break the schema, on a bound dictionary and on one
// in it: it is refused, and nothing has changed. It fails for a method that no list has.
func TestEnforceHolds(t *testing.T) {
	typ := reflect.TypeFor[*tdict.TensorDict]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		_, breaks := breaking[name]
		_, harms := harmless[name]
		require.True(t, breaks || harms || slices.Contains(strings.Fields(reading), name), "%s: can it break a schema?", name)
	}
	for name, calls := range breaking {
		for where, call := range map[string]func() (*tdict.TensorDict, error){
			"direct": func() (*tdict.TensorDict, error) { td := bound(t); return td, calls.direct(td) },
			"child":  func() (*tdict.TensorDict, error) { td := bound(t); return td, calls.child(tensor.Must(td.Dict("in"))) },
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				td, err := call()
				require.ErrorIs(t, err, tdict.ErrSchema)
				requireAsBound(t, td)
				free := bound(t).Copy()
				if name != "Enforce" {
					require.NoError(t, calls.direct(free), "a copy is not bound")
				}
			})
		}
	}
	for name, call := range harmless {
		t.Run(name, func(t *testing.T) {
			td := bound(t)
			require.NoError(t, call(td))
			require.NoError(t, call(tensor.Must(td.Dict("in"))))
			require.NoError(t, td.Unlock())
			requireAsBound(t, td)
		})
	}
}

// requireAsBound checks that a dictionary is as bound made it, and still bound.
func requireAsBound(t *testing.T, td *tdict.TensorDict) {
	t.Helper()
	want := bound(t)
	require.True(t, want.Equal(td), "%v", td)
	require.Equal(t, keysOf(want), keysOf(td))
	require.ErrorIs(t, td.Set("bad", tdict.New(2)), tdict.ErrSchema)
	require.ErrorIs(t, tensor.Must(td.Dict("in")).Delete("y"), tdict.ErrSchema)
}

func TestEnforceErrors(t *testing.T) {
	td := bound(t)
	in := tensor.Must(td.Dict("in"))
	more := tdict.New(2)
	require.NoError(t, more.Set("z", zerosOf(tensor.Bool, 2)))
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"another dtype", td.Set("x", zerosOf(tensor.Int8, 2, 3)), `set "x": schema mismatch: got tensor int8 [2 3], want tensor float32 [2 3]`},
		{"through a child", in.Set("y", zerosOf(tensor.Int8, 2)), `set "y": schema mismatch: got tensor int8 [2], want tensor int64 [2]`},
		{"no such entry", in.Set("bad", zerosOf(tensor.Int8, 2)), `set "bad": schema mismatch: got int8 [2], want no such entry`},
		{"a required entry goes", in.Delete("y"), `delete "y": schema mismatch: got none, want tensor int64 [2]`},
		{"an entry in it is missing", td.Set("more", more), `set "more": "more/w": schema mismatch: got none, want tensor bool [2]`},
		{"a dictionary on the way", td.Set("wide/in/q", zerosOf(tensor.Int8, 2, 4)), `set "wide/in/q": "wide": schema mismatch: got dictionary [2], want dictionary [2 4]`},
		{"a leaf for a dictionary", td.Set("in", zerosOf(tensor.Int8, 2)), `set "in": schema mismatch: got int8 [2], want a dictionary`},
		{"clear", in.Clear(), `clear "y": schema mismatch: got none, want tensor int64 [2]`},
		{"a child by itself", in.Enforce(tdict.SchemaOf(in)), `enforce: schema mismatch: "in" is in a dictionary that has a schema: call Enforce on the outer one`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, tt.err, tdict.ErrSchema)
			require.EqualError(t, tt.err, tt.want)
		})
	}
}

// TestEnforceBinds checks which dictionaries are bound, and which are free.
func TestEnforceBinds(t *testing.T) {
	bad := zerosOf(tensor.Int16, 2)
	td := bound(t)
	more := tensor.Must(bindingSpecs()[5:8].Zeros(2))
	inner := tensor.Must(more.Dict("more"))
	old := tensor.Must(td.Dict("more"))
	require.NoError(t, td.Set("more", inner))
	require.NoError(t, inner.Set("bad", bad), "what was given is set as a copy")
	require.NoError(t, old.Set("bad", bad), "what was replaced is free")
	require.ErrorIs(t, tensor.Must(td.Dict("more")).Set("bad", bad), tdict.ErrSchema)

	popped, err := td.Pop("more")
	require.NoError(t, err)
	require.NoError(t, popped.(*tdict.TensorDict).Set("bad", bad), "what was taken out is free")
	require.NoError(t, td.Set("in/more/z", zerosOf(tensor.Bool, 2)))
	made := tensor.Must(td.Dict("in/more"))
	require.ErrorIs(t, made.Set("bad", bad), tdict.ErrSchema, "what Set made is bound")
	require.NoError(t, made.Clear(), "an implied dictionary whose entries are all optional")
	require.NoError(t, td.Delete("in/more"))
	require.NoError(t, made.Set("bad", bad))

	require.NoError(t, td.Enforce(nil))
	require.NoError(t, tensor.Must(td.Dict("in")).Set("bad", bad))
	require.NoError(t, td.Set("bad", bad))
	require.ErrorIs(t, td.Enforce(bindingSpecs()), tdict.ErrSchema)
	require.NoError(t, td.Set("other", bad), "what was refused binds nothing")
}

// TestEnforceMoves renames a dictionary: it is bound at its new key.
func TestEnforceMoves(t *testing.T) {
	leaf := func(key nestedkey.Key) tdict.Spec { return tdict.Spec{Key: key, DType: tensor.Int8, Optional: true} }
	td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"a/x": zerosOf(tensor.Int8, 2)}))
	require.NoError(t, td.Enforce(tdict.Schema{leaf("a/x"), leaf("b/x"), leaf("b/y"), leaf("c/d/x"), leaf("c/d/z")}))
	d := tensor.Must(td.Dict("a"))
	require.ErrorIs(t, d.Set("y", zerosOf(tensor.Int8, 2)), tdict.ErrSchema)
	require.NoError(t, td.Rename("a", "b"))
	require.NoError(t, d.Set("y", zerosOf(tensor.Int8, 2)))
	require.ErrorIs(t, td.Rename("b", "c/d"), tdict.ErrSchema, "y is not there")
	require.NoError(t, d.Delete("y"))
	require.NoError(t, td.Rename("b", "c/d"))
	require.NoError(t, d.Set("any", zerosOf(tensor.Int8, 2)), "another dictionary gets a copy")
	require.NoError(t, td.Set("c/d/z", zerosOf(tensor.Int8, 2)))
	require.ErrorIs(t, td.Set("c/d/y", zerosOf(tensor.Int8, 2)), tdict.ErrSchema)
}

// TestEnforceRefuses refuses dictionaries that cannot be bound.
func TestEnforceRefuses(t *testing.T) {
	schema := tdict.Schema{{Key: "a", Kind: tdict.KindDict}, {Key: "b", Kind: tdict.KindDict}}
	d := tdict.New()
	twice := tdict.New()
	require.NoError(t, twice.Set("a", d))
	require.NoError(t, twice.Set("b", d))
	require.ErrorIs(t, twice.Enforce(schema), tdict.ErrSchema)
	require.NoError(t, twice.Set("b", tdict.New()))
	require.NoError(t, d.Enforce(tdict.Schema{}))
	require.ErrorIs(t, twice.Enforce(schema), tdict.ErrSchema, "one that has a schema of its own")
	require.NoError(t, twice.Clear())
	require.ErrorIs(t, d.Set("x", tdict.New()), tdict.ErrSchema, "Clear of a dictionary around it frees nothing")
	require.NoError(t, twice.Set("a", d))
	require.NoError(t, twice.Enforce(nil))
	require.ErrorIs(t, d.Set("x", tdict.New()), tdict.ErrSchema, "nor does its Enforce")
	require.ErrorIs(t, twice.Enforce(tdict.Schema{{Key: "a"}, {Key: "a"}}), tdict.ErrSchema)

	s := tdict.Schema{{Key: "x", DType: tensor.Int8, Shape: shapeops.Shape{2}}}
	td := tensor.Must(s.Zeros(1))
	require.NoError(t, td.Enforce(s))
	s[0].Shape[0], s[0].DType = 3, tensor.Bool
	require.NoError(t, td.Set("x", zerosOf(tensor.Int8, 1, 2)), "the schema is kept as it was")
	td.Lock()
	require.NoError(t, td.Enforce(nil), "a locked dictionary allows it")
}

// TestSetClassOfMade checks that dictionaries which Set makes have no class.
func TestSetClassOfMade(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.SetClass("my.Frame"))
	require.NoError(t, td.Set("a/b/c", zerosOf(tensor.Int8, 2)))
	require.Empty(t, tensor.Must(td.Dict("a")).Class()+tensor.Must(td.Dict("a/b")).Class())
}

// TestSetCreatesWhole checks that SetIndexWith creates a dictionary with all that it must have.
func TestSetCreatesWhole(t *testing.T) {
	td := bound(t)
	require.NoError(t, td.Delete("more"))
	part := tdict.New(1)
	for _, key := range []nestedkey.Key{"more/z", "more/w", "more/low/q"} {
		require.NoError(t, part.Set(key, tensor.Must(tensor.Full(true, 1))))
	}
	require.NoError(t, td.SetIndexWith(part, tdict.SetIndexOptions{Create: true}, ix.Range(1, 2)))
	require.Equal(t, []bool{false, true}, tensor.Must(tdict.Slice[bool](td, "more/low/q")))
	require.ErrorIs(t, tensor.Must(td.Dict("more/low")).Delete("q"), tdict.ErrSchema)
}

// TestSetUnderEnforceAllocates pins allocations: none beside those of an unbound dictionary, for an
// entry like the one there, and for another shape that the schema allows.
func TestSetUnderEnforceAllocates(t *testing.T) {
	td := bound(t)
	free := td.Copy()
	x, wide := zerosOf(tensor.Float32, 2, 3), []tdict.Value{zerosOf(tensor.Int8, 2, 1), zerosOf(tensor.Int8, 2, 2)}
	rows := tensor.Must(ragged.FromStrings([]string{"a", "b"}))
	n := 0
	for name, set := range map[string]func(td *tdict.TensorDict) error{
		"alike":         func(td *tdict.TensorDict) error { return td.Set("x", x) },
		"another shape": func(td *tdict.TensorDict) error { n++; return td.Set("any", wide[n%2]) },
		"ragged":        func(td *tdict.TensorDict) error { return td.Set("name", rows) },
	} {
		got := testing.AllocsPerRun(100, func() { require.NoError(t, set(td)) })
		want := testing.AllocsPerRun(100, func() { require.NoError(t, set(free)) })
		require.Equal(t, want, got, name)
	}
}

// A mutation does one thing to a dictionary.
type mutation struct {
	text string
	do   func(td *tdict.TensorDict) error
}

// mutationOf returns the mutation that some bytes stand for.
func mutationOf(b [4]byte) mutation {
	keys := []nestedkey.Key{"x", "any", "in", "in/y", "in/opt", "in/more", "in/more/z", "more", "more/z", "more/w", "more/low",
		"more/low/q", "wide", "wide/in", "wide/in/q", "rows", "name", "note", "table", "bad", "more/bad", "y", "z", "opt", "low/q", "q"}
	dict := func(entries tdict.Entries) tdict.Value { return tensor.Must(tdict.FromMap(shapeops.Shape{2}, entries)) }
	flag := zerosOf(tensor.Bool, 2)
	values := []tdict.Value{
		zerosOf(tensor.Float32, 2, 3), zerosOf(tensor.Int8, 2, 4), zerosOf(tensor.Int64, 2), zerosOf(tensor.Int8, 2), flag,
		tensor.Must(ragged.From[int64]([][]int64{{1}, {}})), tensor.Must(ragged.FromStrings([]string{"a", "b"})),
		tensor.Must(tdict.NewData("n", 2)), tensor.Must(tdict.NewUnbatched(zerosOf(tensor.Float64, 7))),
		dict(nil), dict(tdict.Entries{"z": flag, "w": flag}), dict(tdict.Entries{"z": flag, "w": flag, "low/q": flag}),
		dict(tdict.Entries{"y": zerosOf(tensor.Int64, 2), "bad": flag}), dict(tdict.Entries{"z": flag}), dict(tdict.Entries{"q": flag}),
		tensor.Must(tdict.FromMap(shapeops.Shape{2, 4}, tdict.Entries{"in/q": zerosOf(tensor.Int8, 2, 4)})),
		dict(tdict.Entries{"x": zerosOf(tensor.Float32, 2, 3), "in/y": zerosOf(tensor.Int64, 2)}),
		dict(tdict.Entries{"more/z": flag, "more/w": flag, "in/opt": zerosOf(tensor.Int8, 2)}), zerosOf(tensor.Int8, 3),
	}
	key, other, v := keys[int(b[1])%len(keys)], keys[int(b[2])%len(keys)], values[int(b[3])%len(values)]
	d, isDict := v.(*tdict.TensorDict)
	if !isDict {
		d, _ = dict(nil).(*tdict.TensorDict)
	}
	all := []mutation{
		{fmt.Sprintf("Set %s %v", key, v.Shape()), func(td *tdict.TensorDict) error { return td.Set(key, v) }},
		{"Delete " + string(key), func(td *tdict.TensorDict) error { return td.Delete(key) }},
		{"Pop " + string(key), func(td *tdict.TensorDict) error { return testkit.Err(td.Pop(key)) }},
		{"Rename " + string(key+" "+other), func(td *tdict.TensorDict) error { return td.Rename(key, other) }},
		{"Clear", (*tdict.TensorDict).Clear},
		{"Separate " + string(key+" "+other), func(td *tdict.TensorDict) error { return testkit.Err(td.Separate(key, other)) }},
		{fmt.Sprint("Update ", d), func(td *tdict.TensorDict) error { return td.Update(d) }},
		{fmt.Sprint("Create ", d), func(td *tdict.TensorDict) error {
			return td.SetIndexWith(d, tdict.SetIndexOptions{Create: true})
		}},
		{fmt.Sprint("UnmarshalJSON ", d), func(td *tdict.TensorDict) error { return json.Unmarshal(tensor.Must(d.MarshalJSON()), td) }},
	}
	return all[int(b[0]>>2)%len(all)]
}

// runBound runs a program of mutations, each on a bound dictionary or one in it, and on an unbound
// copy, which says what the bound one must do: fail as the copy does, refuse what breaks the schema
// and stay as it was, and else do the same.
func runBound(t *testing.T, program []byte) {
	td, schema := bound(t), bindingSpecs()
	for step := range slices.Chunk(program, 4) {
		if len(step) < 4 {
			return
		}
		m := mutationOf([4]byte(step))
		on := []nestedkey.Key{"", "in", "more", "wide"}[step[0]&3]
		model, before := td.Copy(), td.Copy()
		at := func(td *tdict.TensorDict) *tdict.TensorDict {
			if d, err := td.Dict(on); err == nil && on != "" {
				return d
			}
			return td
		}
		want, err := m.do(at(model)), m.do(at(td))
		switch {
		case want != nil:
			require.Error(t, err, "%s on %q", m.text, on)
			require.True(t, td.Equal(before), "%s on %q: %v", m.text, on, err)
		case schema.Check(model) != nil:
			require.ErrorIs(t, err, tdict.ErrSchema, "%s on %q: %v", m.text, on, schema.Check(model))
			require.True(t, td.Equal(before), "%s on %q", m.text, on)
		default:
			require.NoError(t, err, "%s on %q", m.text, on)
			require.True(t, td.Equal(model), "%s on %q: got %v, want %v", m.text, on, td, model)
			require.Equal(t, keysOf(model), keysOf(td), "%s on %q", m.text, on)
		}
		require.NoError(t, schema.Check(td))
	}
	for _, v := range td.All() {
		if d, ok := v.(*tdict.TensorDict); ok {
			require.ErrorIs(t, d.Set("nobody/has/this", tdict.New(d.Shape()...)), tdict.ErrSchema, "all of it is bound")
		}
	}
}

// TestBoundPrograms runs random programs.
func TestBoundPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		program := make([]byte, 4*(1+r.IntN(12)))
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		runBound(t, program)
	}
}

// TestBoundHandles runs random mutations on dictionaries that are set in each other, several of
// which are bound, through whatever handle there is: an error changes none of them, what is bound
// keeps its schema, and a dictionary is bound if, and only if, it is in one that is.
func TestBoundHandles(t *testing.T) {
	leaf := func(key nestedkey.Key, optional bool) tdict.Spec {
		return tdict.Spec{Key: key, DType: tensor.Int8, Optional: optional}
	}
	b := tdict.Spec{Key: "b", Kind: tdict.KindDict, Optional: true}
	schemas := []tdict.Schema{
		{leaf("a/x", true), leaf("a/b/x", true), leaf("x", true), leaf("b/x", true), leaf("c/d/x", true)},
		{leaf("a/x", false), leaf("x", true), b, leaf("b/x", false), leaf("b/y", true)},
		{leaf("x", true), leaf("y", true), b, leaf("b/x", true)},
		nil,
	}
	keys := []nestedkey.Key{"a", "a/x", "a/b", "a/b/x", "x", "b", "b/x", "a/y", "y", "c/d/x", "c", "c/d", "bad"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		all := []*tdict.TensorDict{tdict.New(2), tdict.New(2), tdict.New(2)}
		binds := map[*tdict.TensorDict]tdict.Schema{}
		pick := func() *tdict.TensorDict { return all[r.IntN(len(all))] }
		for range 40 {
			all = reached(all...)
			td, other, key, to := pick(), pick(), keys[r.IntN(len(keys))], keys[r.IntN(len(keys))]
			before := make([]*tdict.TensorDict, len(all))
			for i, d := range all {
				before[i] = d.Copy()
			}
			s := schemas[r.IntN(len(schemas))]
			err := []func() error{
				func() error { return td.Set(key, zerosOf(tensor.Int8, 2)) },
				func() error { return td.Set(key, other) },
				func() error { return testkit.Err(td.Pop(key)) },
				func() error { return td.Rename(key, to) },
				td.Clear,
				func() error { return testkit.Err(td.Separate(key, to)) },
				func() error { return td.Update(other) },
				func() error { return td.SetIndexWith(other, tdict.SetIndexOptions{Create: true}) },
				func() error { return json.Unmarshal(tensor.Must(other.MarshalJSON()), td) },
				func() error {
					err := td.Enforce(s)
					if err == nil {
						binds[td] = s
					}
					return err
				},
			}[r.IntN(10)]()
			for i, d := range before {
				require.True(t, err == nil || d.Equal(all[i]), "seed %d: dictionary %d changed: %v", seed, i, err)
			}
			maps.DeleteFunc(binds, func(_ *tdict.TensorDict, s tdict.Schema) bool { return s == nil })
			for d, s := range binds {
				require.NoError(t, s.Check(d), "seed %d", seed)
			}
		}
		bound := reached(slices.Collect(maps.Keys(binds))...)
		for i, d := range reached(all...) {
			err := d.Set("further", tdict.New(2))
			require.Equal(t, slices.Contains(bound, d), err != nil, "seed %d: dictionary %d: %v", seed, i, err)
		}
	}
}

// reached returns dictionaries and all that are in them, each once.
func reached(all ...*tdict.TensorDict) []*tdict.TensorDict {
	for i := 0; i < len(all); i++ {
		for _, v := range all[i].All() {
			if d, ok := v.(*tdict.TensorDict); ok && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

func FuzzEnforce(f *testing.F) {
	f.Add([]byte{0, 7, 0, 10, 2, 10, 0, 14, 12, 7, 12, 0})
	f.Fuzz(runBound)
}

// randomSpecs returns a schema of entries of every kind, at several depths.
func randomSpecs(r *rand.Rand) tdict.Schema {
	sizes := func() (s shapeops.Shape) {
		for range r.IntN(3) {
			s = append(s, 1+r.IntN(3))
		}
		return s
	}
	var s tdict.Schema
	for i := range 1 + r.IntN(8) {
		key := nestedkey.Key(strings.Repeat("d/", r.IntN(3)) + fmt.Sprint("k", i))
		spec := tdict.Spec{Key: key, Kind: tdict.Kind(r.IntN(6)), Shape: sizes(), Optional: r.IntN(3) == 0}
		switch spec.Kind {
		case tdict.KindRagged:
			spec.DType, spec.Depth, spec.Batch = tensor.Int32, 1+r.IntN(2), sizes()
		case tdict.KindTensor, tdict.KindUnbatched:
			spec.DType = tensor.Float32
		}
		s = append(s, spec)
	}
	return s
}

// wrongFor returns values for an entry which break one rule each: kind, dtype, a size, a dim.
func wrongFor(t *testing.T, s tdict.Spec, batch ...int) map[string]tdict.Value {
	change := func(f func(*tdict.Spec)) tdict.Value {
		c := s
		c.Shape, c.Batch = s.Shape.Clone(), s.Batch.Clone()
		f(&c)
		return tensor.Must(tensor.Must(tdict.Schema{c}.Zeros(batch...)).Get(s.Key))
	}
	wrong := map[string]tdict.Value{
		"a dim":  change(func(s *tdict.Spec) { s.Shape = append(s.Shape, 1) }),
		"a kind": change(func(c *tdict.Spec) { *c = tdict.Spec{Key: s.Key, Kind: tdict.KindData, Shape: s.Shape} }),
	}
	if s.Kind == tdict.KindData {
		wrong["a kind"] = change(func(c *tdict.Spec) { *c = tdict.Spec{Key: s.Key, Kind: tdict.KindDict, Shape: s.Shape} })
	}
	if s.DType != 0 {
		wrong["a dtype"] = change(func(s *tdict.Spec) { s.DType = tensor.Bool })
	}
	if len(s.Shape) > 0 {
		wrong["a size"] = change(func(s *tdict.Spec) { s.Shape[0]++ })
	}
	if s.Depth > 0 {
		wrong["a level"] = change(func(s *tdict.Spec) { s.Depth++ })
		wrong["a batch dim"] = change(func(s *tdict.Spec) { s.Batch = append(s.Batch, 2) })
	}
	return wrong
}

// TestEnforceRandomSchemas checks that zeros fit a schema, and that each change which breaks one
// rule is refused, by Check of a copy and by the bound dictionary, and no other is.
func TestEnforceRandomSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		schema := randomSpecs(r)
		td := tensor.Must(schema.Zeros(2))
		require.NoError(t, schema.Check(td))
		require.NoError(t, td.Enforce(schema))
		refused := func(what string, change func(td *tdict.TensorDict) error, breaks bool) {
			free := td.Copy()
			require.NoError(t, change(free), what)
			require.Equal(t, breaks, schema.Check(free) != nil, what)
			before := td.Copy()
			err := change(td)
			require.Equal(t, breaks, err != nil, "%s: %v\n%v", what, err, schema)
			if breaks {
				require.ErrorIs(t, err, tdict.ErrSchema, what)
				require.True(t, before.Equal(td), what)
			}
		}
		for _, s := range schema {
			for what, v := range wrongFor(t, s, 2) {
				refused(string(s.Key)+" has another "+what, func(td *tdict.TensorDict) error { return td.Set(s.Key, v) }, true)
			}
			refused(string(s.Key)+" is set again", func(td *tdict.TensorDict) error {
				return td.Set(s.Key, tensor.Must(tensor.Must(tdict.Schema{s}.Zeros(2)).Get(s.Key)))
			}, false)
			if !s.Optional {
				refused(string(s.Key)+" goes", func(td *tdict.TensorDict) error { return td.Delete(s.Key) }, true)
			}
		}
		refused("a further entry", func(td *tdict.TensorDict) error { return td.Set("more", zerosOf(tensor.Int8, 2)) }, true)
		for _, s := range schema {
			if s.Optional {
				refused(string(s.Key)+" goes", func(td *tdict.TensorDict) error { return td.Delete(s.Key) }, false)
			}
		}
	}
}
