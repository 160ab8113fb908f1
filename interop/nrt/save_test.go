package nrt_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPartsAreCompacted writes parts of a collection, in memory and mapped, as what they are.
func TestPartsAreCompacted(t *testing.T) {
	f := open(t, saved(t, visits()))
	parts := []struct {
		name string
		of   func(j *joint.Joint) (*joint.Joint, error)
		want map[string]any
	}{
		{"a range of rows", func(j *joint.Joint) (*joint.Joint, error) { return j.Range(1, 3) }, map[string]any{
			"s": []any{8, 9}, "ts": []any{[]any{3}, []any{4, 5, 6}},
			"v": []any{[]any{[]any{3, 4, 5}}, []any{[]any{}, []any{}, []any{2}}}}},
		{"rows by list", func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Take(1, 0)) }, map[string]any{
			"s": []any{8, 7}, "ts": []any{[]any{3}, []any{1, 2}}, "v": []any{[]any{[]any{3, 4, 5}}, []any{[]any{}, []any{3, 0}}}}},
		{"every other row", func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Range(0, 3).Step(2)) }, map[string]any{
			"s": []any{7, 9}, "ts": []any{[]any{1, 2}, []any{4, 5, 6}},
			"v": []any{[]any{[]any{}, []any{3, 0}}, []any{[]any{}, []any{}, []any{2}}}}},
		{"one field, in a row", func(j *joint.Joint) (*joint.Joint, error) {
			v, err := j.Select("v")
			if err != nil {
				return nil, err
			}
			return v.Row(1)
		}, map[string]any{"v": []any{[]any{3, 4, 5}}}},
	}
	for _, tt := range parts {
		for _, j := range []*joint.Joint{visits(), f.Joint} {
			t.Run(tt.name, func(t *testing.T) {
				want := written(t, tensor.Must(nrt.FromLists(tt.want, nil)))
				require.Equal(t, string(want), string(written(t, tensor.Must(tt.of(j)))))
			})
		}
	}
}

// field returns a field of values over a layout.
func field(name, tree string, values *tensor.Tensor, l *ragged.Layout) joint.Field {
	return joint.Field{Name: name, Tree: tree, Tensor: tensor.Must(ragged.New(values, l))}
}

func TestSaveRefuses(t *testing.T) {
	rows := tensor.Must(ragged.NewLayout([]int{2}))
	nested := tensor.Must(rows.Nest([]int64{0, 1, 2}))
	x := tensor.Vector[int64](1, 1)
	of := func(fields ...joint.Field) *joint.Joint { return tensor.Must(joint.New(fields...)) }
	tests := []struct {
		name string
		j    *joint.Joint
		err  error
	}{
		{"no collection", nil, shapeops.ErrKind},
		{"values with dims of their own", of(field("a", "", tensor.Must(x.Reshape(2, 1)), nested)), nrt.ErrUnsupported},
		{"two trees", of(field("a", "one", x, nested), field("b", "two", x, nested)), nrt.ErrUnsupported},
		{"bfloat16", of(field("a", "", tensor.Must(x.Cast(tensor.BFloat16)), rows)), nrt.ErrUnsupported},
		{"complex64", of(field("a", "", tensor.Must(x.Cast(tensor.Complex64)), rows)), nrt.ErrUnsupported},
		{"complex128", of(field("a", "", tensor.Must(x.Cast(tensor.Complex128)), rows)), nrt.ErrUnsupported},
		{"a field that would be taken for lengths", of(field("lengths", "", x, nested)), nrt.ErrUnsupported},
		{"a name that is not UTF-8", of(field("\xff", "", x, nested)), nrt.ErrUnsupported},
		{"no elements", of(field("a", "", tensor.Must(tensor.NewMeta(tensor.Int64, 2)), nested)), tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			err := nrt.Write(&b, tt.j)
			testkit.Fails(t, tt.err, err)
			path := filepath.Join(t.TempDir(), "data.nrt")
			err = nrt.Save(path, tt.j)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "save "+path+": ")
			require.NoFileExists(t, path)
		})
	}
	require.NoError(t, nrt.Write(&bytes.Buffer{}, of(field("a", "one", x, nested), field("b", "one", x, nested))), "a tree of any name")
}
