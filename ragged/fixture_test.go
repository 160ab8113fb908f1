package ragged_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// verbsOf returns what package tdict asks of a tensor.
func verbsOf(x *ragged.Tensor) plan.Nested[*ragged.Tensor, *ragged.Layout] {
	return x.Ops().(plan.Nested[*ragged.Tensor, *ragged.Layout])
}

// parsed returns lists written as JSON, their integers as int.
func parsed(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return plain(v)
}

func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

// jointOf returns the collection of lists written as JSON.
func jointOf(text string) (*joint.Joint, error) {
	return nrt.FromLists(parsed(text).(map[string]any), nil)
}

// inferred returns the tensor of lists, of the dtype that holds all values.
func inferred(lists any) (*ragged.Tensor, error) { return inferredAs(lists, 0) }

// inferredAs returns the tensor of lists as a dtype.
func inferredAs(lists any, dtype tensor.DType) (*ragged.Tensor, error) {
	s := tdict.Schema{{Key: "x", Kind: tdict.KindRagged, DType: dtype, Depth: tdict.Any}}
	j, err := nrt.FromLists(map[string]any{"x": lists}, s)
	if err != nil {
		return nil, err
	}
	return j.Tensor("x")
}

// numbersOf returns the elements of a tensor, a bool being 0 or 1.
func numbersOf(t testing.TB, x *tensor.Tensor) []float64 {
	t.Helper()
	wide, err := x.Cast(tensor.Float64)
	require.NoError(t, err)
	return testkit.Elements[float64](t, wide)
}

// storage returns how a collection of one tree is stored: where the rows of each level end, and the
// values of each field under its name and depth. It fails the test unless the fields share layouts.
func storage(t testing.TB, j *joint.Joint) string {
	t.Helper()
	requireShared(t, j)
	var deepest *ragged.Layout
	var parts []string
	for f := range j.Fields() {
		values, err := f.Tensor.Values()
		require.NoError(t, err)
		at := fmt.Sprint(f.Tensor.Depth())
		if len(f.Tensor.Shape()) == 0 {
			at = "scalar"
		} else if deepest == nil || deepest.Depth() < f.Tensor.Depth() {
			deepest = f.Tensor.Layout()
		}
		parts = append(parts, fmt.Sprintf("%s@%s%v", f.Name, at, realsOf(t, values)))
	}
	slices.Sort(parts)
	for level := 1; deepest != nil && level <= deepest.Depth(); level++ {
		offsets, err := deepest.Offsets(level)
		require.NoError(t, err)
		parts = append(parts, fmt.Sprintf("b%d%v", level, offsets[1:]))
	}
	return strings.Join(parts, " ")
}

// requireShared fails the test unless fields of one tree have the same layouts at the levels that
// they share.
func requireShared(t testing.TB, j *joint.Joint) {
	t.Helper()
	trees := map[string]*ragged.Layout{}
	for f := range j.Fields() {
		if len(f.Tensor.Shape()) == 0 {
			continue
		}
		own, other := f.Tensor.Layout(), trees[f.Tree]
		if other == nil || other.Depth() < own.Depth() {
			trees[f.Tree] = own
			own, other = other, own
		}
		if own != nil {
			at, err := other.At(own.Depth())
			require.NoError(t, err)
			require.Same(t, at, own, "layout of field %q of tree %q", f.Name, f.Tree)
		}
	}
}

// nested returns the elements of a tensor as nested lists.
func nested(t testing.TB, x *tensor.Tensor) string {
	t.Helper()
	list := numbersOf(t, x)
	var text func(shape []int) string
	text = func(shape []int) string {
		if len(shape) == 0 {
			v := list[0]
			list = list[1:]
			return fmt.Sprint(v)
		}
		parts := make([]string, shape[0])
		for i := range parts {
			parts[i] = text(shape[1:])
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return text(x.Shape())
}

// padded returns a collection densified, field by field, and the last mask of each that has one.
func padded(t testing.TB, d *tdict.TensorDict) string {
	t.Helper()
	var parts []string
	for key, v := range d.All() {
		name, x := key.Name(), denseOf(v)
		if x == nil {
			continue
		}
		text := fmt.Sprintf("%s%v %s", name, x.Shape(), nested(t, x))
		if masks := masksOf(d, name); len(masks) > 0 {
			text += " mask " + nested(t, masks[len(masks)-1])
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// denseOf returns a field of a padded collection, which is unbatched if it was a scalar; nil if it
// is the dictionary of masks.
func denseOf(v tdict.Value) *tensor.Tensor {
	if u, ok := v.(*tdict.Unbatched); ok {
		return u.Tensor()
	}
	x, _ := v.(*tensor.Tensor)
	return x
}

// masksOf returns the masks of a field of a padded collection, level by level.
func masksOf(d *tdict.TensorDict, name string) (all []*tensor.Tensor) {
	at := nestedkey.Join("masks", nestedkey.Of(name))
	if x, err := d.Tensor(at); err == nil {
		return []*tensor.Tensor{x}
	}
	for {
		x, err := d.Tensor(nestedkey.Join(at, nestedkey.Of(fmt.Sprint(len(all)+1))))
		if err != nil {
			return all
		}
		all = append(all, x)
	}
}
