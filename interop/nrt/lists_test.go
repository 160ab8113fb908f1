package nrt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A field that lists cannot have is an error, not left out in silence.
func TestFromListsSpec(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec tdict.Spec
		is   error
		text string
	}{
		{"dims after the levels", tdict.Spec{Shape: shapeops.Shape{2}}, shapeops.ErrShape,
			`field "x": shape mismatch: got Shape [2], want none: lists have no dims after their levels`},
		{"dims before the levels", tdict.Spec{Kind: tdict.KindRagged, Batch: shapeops.Shape{2}}, shapeops.ErrShape,
			`field "x": shape mismatch: got Batch [2], want none: the outermost list is the batch`},
		{"a tensor with levels", tdict.Spec{Depth: 1}, shapeops.ErrDim,
			`field "x": no such dim: got Depth 1 for kind tensor, want 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Key = "x"
			_, err := nrt.FromLists(map[string]any{"x": []any{1, 2}}, tdict.Schema{tt.spec})
			require.ErrorIs(t, err, tt.is)
			require.EqualError(t, err, tt.text)
		})
	}
}

// A collection lacks an optional field without a list; a list of values is needed for a tensor.
func TestFromListsOptional(t *testing.T) {
	schema := tdict.Schema{{Key: "age", DType: tensor.Int32}, {Key: "day", Kind: tdict.KindRagged, Depth: 1, Optional: true}}
	j, err := nrt.FromLists(map[string]any{"age": []any{70, 80}}, schema)
	require.NoError(t, err)
	require.Equal(t, []string{"age"}, j.Names())
	j, err = nrt.FromLists(map[string]any{"age": []any{70, 80}, "day": []any{[]any{1}, []any{}}}, schema)
	require.NoError(t, err)
	require.Equal(t, []string{"age", "day"}, j.Names())
	_, err = nrt.FromLists(map[string]any{"day": []any{[]any{1}, []any{}}}, schema)
	require.ErrorContains(t, err, `got no list for "age"`)
}
