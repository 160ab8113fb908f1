package tdict_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestJSONOfLeavesReadsBack outside of a dictionary too.
func TestJSONOfLeavesReadsBack(t *testing.T) {
	u := tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2)))
	td := dict([]int{3}, entry{"u", u})
	for _, d := range []*tdict.Data{data("a", 2), texts("a", "b"), data(1, 0), data(nil)} {
		got := new(tdict.Data)
		require.NoError(t, json.Unmarshal(tensor.Must(json.Marshal(d)), got))
		require.True(t, d.Equal(got), "%v %v", d, got)
		require.NoError(t, got.UnmarshalJSON([]byte(" null ")), "null changes nothing")
		require.True(t, d.Equal(got))
	}
	for _, u := range []*tdict.Unbatched{u, tensor.Must(tdict.Get[*tdict.Unbatched](td, "u"))} {
		got := new(tdict.Unbatched)
		require.NoError(t, json.Unmarshal(tensor.Must(json.Marshal(u)), got))
		require.True(t, u.Equal(got))
		require.NoError(t, got.UnmarshalJSON([]byte("null")))
		require.True(t, u.Equal(got))
	}
}

// TestJSONOfLeavesRefuses: whatever is wrong, the receiver is as it was.
func TestJSONOfLeavesRefuses(t *testing.T) {
	value := `{"shape":[],"value":1}`
	unbatched := `{"batch":[],"unbatched":{"dtype":"int8","shape":[1],"values":[1]}}`
	made, madeU := data("a"), tensor.Must(tdict.NewUnbatched(count(2)))
	tests := []struct {
		name string
		into json.Unmarshaler
		text string
		want error
	}{
		{"data: another kind", new(tdict.Data), unbatched, tensor.ErrJSON},
		{"data: trailing data", new(tdict.Data), value + "1", tensor.ErrJSON},
		{"data: null and more", new(tdict.Data), "null 1", tensor.ErrJSON},
		{"data: a preview", new(tdict.Data), leafPreview(made, 1), tensor.ErrJSON},
		{"data: made", made, value, tdict.ErrKind},
		{"unbatched: another kind", new(tdict.Unbatched), value, tensor.ErrJSON},
		{"unbatched: a preview", new(tdict.Unbatched), leafPreview(madeU, 1), tensor.ErrJSON},
		{"unbatched: made", madeU, unbatched, tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.into.UnmarshalJSON([]byte(tt.text))) })
	}
	require.True(t, made.Equal(data("a")))
	require.True(t, madeU.Tensor().Equal(count(2)))
}

// TestJSONOfZeroLeaves is null, as that of the zero tensor.
func TestJSONOfZeroLeaves(t *testing.T) {
	for _, x := range []json.Marshaler{new(tdict.Data), (*tdict.Data)(nil), new(tdict.Unbatched), (*tdict.Unbatched)(nil), new(tensor.Tensor)} {
		require.Equal(t, "null", string(tensor.Must(x.MarshalJSON())))
	}
}
