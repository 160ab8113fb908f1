package ragged_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Collections that cannot be, and operations on them, are refused with the name of the field.
func TestJointRefusals(t *testing.T) {
	type list = []*joint.Joint
	plain := ragged.DensifyOptions{}
	field := func(name string, x *ragged.Tensor) joint.Field { return joint.Field{Name: name, Tensor: x} }
	renamed := func() *joint.Joint { return tensor.Must(joint.New(field("x", oneDeep()))) }
	other := tensor.Must(ragged.From[int64]([][]int64{{1}, {2}, {3}}))
	state := func(t testing.TB, j *joint.Joint) string { return storage(t, j) }
	type op = func(j *joint.Joint) error
	of := func(fields ...joint.Field) op {
		return func(*joint.Joint) error { return testkit.Err(joint.New(fields...)) }
	}
	tests := []testkit.Refusal[*joint.Joint]{
		{"no name", of(field("", oneDeep())), joint.ErrName},
		{"a slash", of(field("a/b", oneDeep())), joint.ErrName},
		{"bounds", of(field("bounds", oneDeep())), joint.ErrName},
		{"mask", of(field("mask", oneDeep())), joint.ErrName},
		{"a name twice", of(field("a", oneDeep()), field("a", oneDeep())), joint.ErrName},
		{"outer lengths differ", of(field("a", oneDeep()), field("b", tensor.Must(ragged.From[int64]([]int64{1, 2})))), ragged.ErrLengths},
		{"outer lengths differ, after a scalar", of(field("s", tensor.Must(oneDeep().Path(ix.At(0), ix.At(0)))), field("a", oneDeep()),
			field("b", tensor.Must(ragged.From[int64]([]int64{1, 2})))), ragged.ErrLengths},
		{"inner lengths differ", of(field("age", tensor.Must(ragged.From[int64]([]int64{1, 2, 3}))), field("a", oneDeep()), field("b", other)), ragged.ErrLengths},
		{"two dims of batch", of(field("a", tensor.Must(shapeops.Stack([]*ragged.Tensor{oneDeep(), oneDeep()}, 0)))), shapeops.ErrDim},
		{"a field that is not there", func(j *joint.Joint) error { return testkit.Err(j.Tensor("x")) }, joint.ErrName},
		{"selecting one that is not there", func(j *joint.Joint) error { return testkit.Err(j.Select("day", "x")) }, joint.ErrName},
		{"a row that is not there", func(j *joint.Joint) error { return testkit.Err(j.Row(3)) }, shapeops.ErrIndex},
		{"a row in a value", func(j *joint.Joint) error {
			return testkit.Err(tensor.Must(j.Index(ix.At(0), ix.At(1), ix.At(0))).Row(0))
		}, shapeops.ErrDim},
		{"a level that is not there", func(j *joint.Joint) error { return testkit.Err(j.IndexLevel(3, ix.Range(0, 1))) }, shapeops.ErrDim},
		{"a tree that is not there", func(j *joint.Joint) error { return testkit.Err(j.InTree("x").IndexLevel(1, ix.Range(0, 1))) }, joint.ErrName},
		{"an index of several dims", func(j *joint.Joint) error { return testkit.Err(j.Index(ix.New)) }, shapeops.ErrIndex},
		{"an index that has no level", func(j *joint.Joint) error {
			return testkit.Err(j.Pick(tensor.Must(j.Tensor("age"))))
		}, shapeops.ErrDim},
		{"an index of other rows", func(j *joint.Joint) error { return testkit.Err(j.Pick(tensor.Must(oneDeep().Range(0, 1)))) }, ragged.ErrLengths},
		{"a position that a row does not have", func(j *joint.Joint) error { return testkit.Err(j.IndexLevel(1, ix.At(1))) }, shapeops.ErrIndex},
		{"a list in a level", func(j *joint.Joint) error { return testkit.Err(j.IndexLevel(1, ix.Take(0))) }, shapeops.ErrIndex},
		{"the first of no rows", func(j *joint.Joint) error { return testkit.Err(j.FlattenLevel(1, joint.First)) }, ragged.ErrLengths},
		{"joining nothing", func(*joint.Joint) error { return testkit.Err(joint.Concat(nil, 0)) }, shapeops.ErrShape},
		{"joining other names", func(j *joint.Joint) error { return testkit.Err(joint.Concat(list{j, renamed()}, 0)) }, joint.ErrName},
		{"joining other depths", func(j *joint.Joint) error {
			x := tensor.Must(joint.New(field("x", twoDeep())))
			return testkit.Err(joint.Concat(list{renamed(), x}, 0))
		}, ragged.ErrLengths},
		{"joining other dtypes", func(*joint.Joint) error {
			x := tensor.Must(joint.New(field("x", tensor.Must(ragged.From[int16]([][]int16{{1}})))))
			return testkit.Err(joint.Concat(list{renamed(), x}, 0))
		}, tensor.ErrDType},
		{"stacking nothing", func(*joint.Joint) error { return testkit.Err(joint.Vstack(nil)) }, shapeops.ErrShape},
		{"collating nothing", func(*joint.Joint) error { return testkit.Err(joint.Collate(nil, plain)) }, shapeops.ErrShape},
		{"collating some rows", func(j *joint.Joint) error {
			return testkit.Err(joint.Collate(list{j}, ragged.DensifyOptions{Rows: []int{0}}))
		}, shapeops.ErrShape},
		{"padding rows that are not there", func(j *joint.Joint) error {
			return testkit.Err(j.Densify(ragged.DensifyOptions{Rows: []int{3}}))
		}, shapeops.ErrIndex},
		{"padding with what a field does not hold", func(j *joint.Joint) error {
			return testkit.Err(j.Densify(ragged.DensifyOptions{Fill: 0.5}))
		}, tensor.ErrDType},
		{"a list without a spec", func(*joint.Joint) error {
			return testkit.Err(nrt.FromLists(map[string]any{"a": []any{1}}, tdict.Schema{}))
		}, joint.ErrName},
		{"a spec without a list", func(*joint.Joint) error {
			return testkit.Err(nrt.FromLists(nil, tdict.Schema{{Key: "a"}}))
		}, joint.ErrName},
		{"a spec of a kind that has no field", func(*joint.Joint) error {
			return testkit.Err(nrt.FromLists(map[string]any{"a": []any{1}}, tdict.Schema{{Key: "a", Kind: tdict.KindData}}))
		}, shapeops.ErrKind},
		{"masks under the name of a field", func(j *joint.Joint) error {
			return testkit.Err(j.Densify(ragged.DensifyOptions{Masks: "age"}))
		}, tdict.ErrExists},
		{"a nil list", func(*joint.Joint) error { return testkit.Err(nrt.FromLists(map[string]any{"a": nil}, nil)) }, shapeops.ErrKind},
	}
	testkit.Refuse(t, patients, state, tests)
}
