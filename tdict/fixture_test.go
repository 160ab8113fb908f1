package tdict_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// count returns an int64 tensor that counts up from 0.
func count(shape ...int) *tensor.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return tensor.Must(tensor.Must(tensor.Arange[int64](0, int64(n), 1)).Reshape(shape...))
}

// entry is a key and its value, for dictionaries spelled in a line.
type entry struct {
	key   nestedkey.Key
	value tdict.Value
}

// dict returns a dictionary of entries, in that order.
func dict(batch []int, entries ...entry) *tdict.TensorDict {
	td := tdict.New(batch...)
	for _, e := range entries {
		if err := td.Set(e.key, e.value); err != nil {
			panic(err)
		}
	}
	return td
}

// sample returns what most tables start from. Its batch shape is [3]:
//
//	a    int64 [3 4]
//	b    a dictionary [3 4]
//	b/c  int64 [3 4 2]
func sample() *tdict.TensorDict {
	return dict([]int{3}, entry{"a", count(3, 4)}, entry{"b", dict([]int{3, 4}, entry{"c", count(3, 4, 2)})})
}

// keys returns every key of td, in order.
func keys(td *tdict.TensorDict) []nestedkey.Key {
	all := []nestedkey.Key{}
	for name, v := range td.All() {
		all = append(all, name)
		if d, ok := v.(*tdict.TensorDict); ok {
			for _, key := range keys(d) {
				all = append(all, nestedkey.Join(name, key))
			}
		}
	}
	return all
}

// state is all that can be seen of td, as text: keys and their order, shapes, dtypes, locks and
// elements.
func state(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	text := fmt.Sprintln(td.Shape(), td.Locked())
	for _, key := range keys(td) {
		switch v := tensor.Must(td.Get(key)).(type) {
		case *tdict.TensorDict:
			text += fmt.Sprintln(key, v.Shape(), v.Locked())
		case *tensor.Tensor:
			text += fmt.Sprintln(key, v.Shape(), v.DType(), testkit.Content(t, v))
		case *ragged.Tensor:
			text += fmt.Sprintln(key, v, v.Layout())
		case *tdict.Data:
			text += fmt.Sprintln(key, v.Shape(), slices.Collect(v.All()))
		case *tdict.Unbatched:
			text += fmt.Sprintln(key, v.Shape(), v.Tensor().DType(), testkit.Content(t, v.Tensor()))
		}
	}
	return text
}

// dicts returns td and every dictionary below it.
func dicts(td *tdict.TensorDict) []*tdict.TensorDict {
	all := []*tdict.TensorDict{td}
	for _, v := range td.All() {
		if d, ok := v.(*tdict.TensorDict); ok {
			all = append(all, dicts(d)...)
		}
	}
	return all
}

// values returns the elements of an int64 tensor in td.
func values(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) []int64 {
	t.Helper()
	return testkit.Elements[int64](t, tensor.Must(td.Tensor(key)))
}

// consistent checks what holds of every dictionary: shapes begin with the batch shape, and keys
// find their values.
func consistent(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	for _, d := range dicts(td) {
		n := 0
		for name, v := range d.All() {
			require.NoError(t, v.Shape().CheckPrefix(d.Shape()), "%q of %v", name, d)
			found := tensor.Must(d.Get(name))
			require.Same(t, v, found)
			n++
		}
		require.Equal(t, n, d.NumEntries())
	}
}

// A refusal is an operation that must fail.
type refusal = testkit.Refusal[*tdict.TensorDict]

// refuse runs operations on dictionaries that td makes.
func refuse(t *testing.T, td func() *tdict.TensorDict, rows []refusal) {
	testkit.Refuse(t, td, state, rows)
}

// ruin edits a dictionary at every depth: nothing of it is left, and each dictionary that was in it
// has one other key.
func ruin(t testing.TB, td *tdict.TensorDict) {
	t.Helper()
	for _, d := range dicts(td) {
		for key := range maps.Collect(d.All()) {
			require.NoError(t, d.Delete(key))
		}
		require.NoError(t, d.Set("ruin", tdict.New(d.Shape()...)))
	}
}

// loop measures fn.
func loop(b *testing.B, fn func() error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if err := fn(); err != nil {
			b.Fatal(err)
		}
	}
}

// leafDiff returns what Diff says of two dictionaries that differ in one leaf.
func leafDiff(a, b tdict.Value) string {
	return strings.TrimPrefix(tensor.Must(dict(nil, entry{"x", a}).Diff(dict(nil, entry{"x", b}))), `"x": `)
}

// leafPreview returns what Preview writes of a leaf in a dictionary.
func leafPreview(v tdict.Value, n int) string {
	text := string(tensor.Must(dict(nil, entry{"x", v}).Preview(n).MarshalJSON()))
	_, text, _ = strings.Cut(text, `"x":`)
	return strings.TrimSuffix(text, "}}")
}
