package ragged_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Collections that cannot be, and operations on them, are refused with the name of the field.
func TestJointRefusals(t *testing.T) {
	type list = []*ragged.Joint
	alike, plain := ragged.JoinOptions{}, ragged.DensifyOptions{}
	field := func(name string, x *ragged.Tensor) ragged.Field { return ragged.Field{Name: name, Tensor: x} }
	renamed := func() *ragged.Joint { return tensor.Must(ragged.NewJoint(field("x", oneDeep()))) }
	other := tensor.Must(ragged.From[int64]([][]int64{{1}, {2}, {3}}))
	state := func(t testing.TB, j *ragged.Joint) string { return storage(t, j) }
	type op = func(j *ragged.Joint) error
	of := func(fields ...ragged.Field) op {
		return func(*ragged.Joint) error { return testkit.Err(ragged.NewJoint(fields...)) }
	}
	tests := []testkit.Refusal[*ragged.Joint]{
		{"no name", of(field("", oneDeep())), ragged.ErrName},
		{"a slash", of(field("a/b", oneDeep())), ragged.ErrName},
		{"bounds", of(field("bounds", oneDeep())), ragged.ErrName},
		{"mask", of(field("mask", oneDeep())), ragged.ErrName},
		{"a name twice", of(field("a", oneDeep()), field("a", oneDeep())), ragged.ErrName},
		{"a nil tensor", of(field("a", oneDeep()), field("b", nil)), shapeops.ErrKind},
		{"a zero tensor", of(field("b", &ragged.Tensor{})), shapeops.ErrKind},
		{"outer lengths differ", of(field("a", oneDeep()), field("b", tensor.Must(ragged.From[int64]([]int64{1, 2})))), ragged.ErrLengths},
		{"outer lengths differ, after a scalar", of(field("s", tensor.Must(oneDeep().Path(ix.At(0), ix.At(0)))), field("a", oneDeep()),
			field("b", tensor.Must(ragged.From[int64]([]int64{1, 2})))), ragged.ErrLengths},
		{"inner lengths differ", of(field("age", tensor.Must(ragged.From[int64]([]int64{1, 2, 3}))), field("a", oneDeep()), field("b", other)), ragged.ErrLengths},
		{"two dims of batch", of(field("a", tensor.Must(shapeops.Stack([]*ragged.Tensor{oneDeep(), oneDeep()}, 0)))), shapeops.ErrDim},
		{"a field that is not there", func(j *ragged.Joint) error { return testkit.Err(j.Tensor("x")) }, ragged.ErrName},
		{"selecting one that is not there", func(j *ragged.Joint) error { return testkit.Err(j.Select("day", "x")) }, ragged.ErrName},
		{"a row that is not there", func(j *ragged.Joint) error { return testkit.Err(j.Row(3)) }, shapeops.ErrIndex},
		{"a row in a value", func(j *ragged.Joint) error {
			return testkit.Err(tensor.Must(j.Index(ix.At(0), ix.At(1), ix.At(0))).Row(0))
		}, shapeops.ErrDim},
		{"a level that is not there", func(j *ragged.Joint) error { return testkit.Err(j.IndexLevel(3, ix.Range(0, 1))) }, shapeops.ErrDim},
		{"a tree that is not there", func(j *ragged.Joint) error { return testkit.Err(j.InTree("x").IndexLevel(1, ix.Range(0, 1))) }, ragged.ErrName},
		{"an index of several dims", func(j *ragged.Joint) error { return testkit.Err(j.Index(ix.New)) }, shapeops.ErrIndex},
		{"a nil mask", func(j *ragged.Joint) error { return testkit.Err(j.MaskedSelect(nil)) }, shapeops.ErrKind},
		{"a nil index", func(j *ragged.Joint) error { return testkit.Err(j.Pick(nil)) }, shapeops.ErrKind},
		{"an index that has no level", func(j *ragged.Joint) error {
			return testkit.Err(j.Pick(tensor.Must(j.Tensor("age"))))
		}, shapeops.ErrDim},
		{"an index of other rows", func(j *ragged.Joint) error { return testkit.Err(j.Pick(tensor.Must(oneDeep().Range(0, 1)))) }, ragged.ErrLengths},
		{"a position that a row does not have", func(j *ragged.Joint) error { return testkit.Err(j.IndexLevel(1, ix.At(1))) }, shapeops.ErrIndex},
		{"a list in a level", func(j *ragged.Joint) error { return testkit.Err(j.IndexLevel(1, ix.Take(0))) }, shapeops.ErrIndex},
		{"the first of no rows", func(j *ragged.Joint) error { return testkit.Err(j.FlattenLevel(1, ragged.First)) }, ragged.ErrLengths},
		{"joining nothing", func(*ragged.Joint) error { return testkit.Err(ragged.ConcatJoints(nil, alike)) }, shapeops.ErrShape},
		{"a field beside those of nil", func(j *ragged.Joint) error { return testkit.Err((*ragged.Joint)(nil).With()) }, shapeops.ErrKind},
		{"the fields of nil mapped", func(j *ragged.Joint) error {
			return testkit.Err((*ragged.Joint)(nil).Map(func(f ragged.Field) (*ragged.Tensor, error) { return f.Tensor, nil }))
		}, shapeops.ErrKind},
		{"joining nil", func(j *ragged.Joint) error { return testkit.Err(ragged.ConcatJoints(list{j, nil}, alike)) }, shapeops.ErrKind},
		{"joining a zero Joint", func(j *ragged.Joint) error { return testkit.Err(ragged.ConcatJoints(list{j, {}}, alike)) }, shapeops.ErrKind},
		{"joining other names", func(j *ragged.Joint) error { return testkit.Err(ragged.ConcatJoints(list{j, renamed()}, alike)) }, ragged.ErrName},
		{"joining other depths", func(j *ragged.Joint) error {
			x := tensor.Must(ragged.NewJoint(field("x", twoDeep())))
			return testkit.Err(ragged.ConcatJoints(list{renamed(), x}, alike))
		}, ragged.ErrLengths},
		{"stacking nothing", func(*ragged.Joint) error { return testkit.Err(ragged.VstackJoints(nil, alike)) }, shapeops.ErrShape},
		{"stacking nil", func(j *ragged.Joint) error { return testkit.Err(ragged.VstackJoints(list{nil, j}, alike)) }, shapeops.ErrKind},
		{"collating nothing", func(*ragged.Joint) error { return testkit.Err(ragged.Collate(nil, plain)) }, shapeops.ErrShape},
		{"collating nil", func(j *ragged.Joint) error { return testkit.Err(ragged.Collate(list{j, nil}, plain)) }, shapeops.ErrKind},
		{"collating some rows", func(j *ragged.Joint) error {
			return testkit.Err(ragged.Collate(list{j}, ragged.DensifyOptions{Rows: []int{0}}))
		}, shapeops.ErrShape},
		{"padding rows that are not there", func(j *ragged.Joint) error {
			return testkit.Err(j.Densify(ragged.DensifyOptions{Rows: []int{3}}))
		}, shapeops.ErrIndex},
		{"padding with what a field does not hold", func(j *ragged.Joint) error {
			return testkit.Err(j.Densify(ragged.DensifyOptions{Fill: 0.5}))
		}, tensor.ErrDType},
		{"a list without a spec", func(*ragged.Joint) error {
			return testkit.Err(ragged.Schema{}.Joint(map[string]any{"a": []any{1}}))
		}, ragged.ErrName},
		{"a spec without a list", func(*ragged.Joint) error {
			return testkit.Err(ragged.Schema{{Name: "a"}}.Joint(nil))
		}, ragged.ErrName},
		{"a nil list", func(*ragged.Joint) error { return testkit.Err(ragged.JointFromLists(map[string]any{"a": nil})) }, shapeops.ErrKind},
	}
	testkit.Refuse(t, patients, state, tests)
}
