package tdict_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestDiff(t *testing.T) {
	codes := func(v ...int8) *tdict.Unbatched { return tensor.Must(tdict.NewUnbatched(tensor.Vector(v...))) }
	base := func(change ...func(td *tdict.TensorDict)) *tdict.TensorDict {
		td := dict([]int{2},
			entry{"a", count(2)},
			entry{"d/x", count(2, 2)},
			entry{"d/name", tensor.Must(tdict.NewData("n"))},
			entry{"u", codes(1, 2)},
		)
		for _, fn := range change {
			fn(td)
		}
		return td
	}
	set := func(key nestedkey.Key, v tdict.Value) func(td *tdict.TensorDict) {
		return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Set(key, v)) }
	}
	drop := func(key nestedkey.Key) func(td *tdict.TensorDict) {
		return func(td *tdict.TensorDict) { _ = tensor.Must(0, td.Delete(key)) }
	}
	tests := []struct {
		name  string
		other *tdict.TensorDict
		want  string
	}{
		{"none", base(), ""},
		{"the order of keys is none", base(drop("a"), set("a", count(2))), ""},
		{"a batch shape", dict([]int{1}), "batch [2], other [1]"},
		{"a batch shape within", base(drop("d"), set("d", tdict.New(2, 2))), `"d": batch [2], other [2 2]`},
		{"an element", base(set("d/x", tensor.Must(tensor.From([]int64{1, 1, 2, 3}, 2, 2)))), `"d/x": element [0 0] is 0, other 1`},
		{"a key that other lacks", base(drop("d/x")), `"d/x" is missing in other`},
		{"a key of other", base(set("d/y", count(2))), `"d/y" is only in other`},
		{"a kind", base(set("a", tdict.New(2))), `"a": int64 [2], other dictionary [2]`},
		{"a value of data", base(set("d/name", tensor.Must(tdict.NewData("m")))), `"d/name": row 0 is "n", other "m"`},
		{"an unbatched tensor", base(set("u", codes(1, 3))), `"u": element [1] is 2, other 3`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := base().Diff(tt.other)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want == "", base().Equal(tt.other))
		})
	}
	gone := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errors.New("closed")}, 0, 2, 2))
	_, err := base().Diff(base(set("d/x", gone)))
	require.EqualError(t, err, `diff "d/x": closed`)
}

func TestWithBatch(t *testing.T) {
	td := dict([]int{2}, entry{"a", count(2, 3)}, entry{"d/x", count(2, 3)}, entry{"n", tensor.Must(tdict.NewData("n"))})
	longer, err := td.WithBatch(2, 3)
	require.NoError(t, err)
	consistent(t, longer)
	require.Equal(t, shapeops.Shape{2, 3}, tensor.Must(longer.Dict("d")).Shape(), "dictionaries follow")
	shorter, err := longer.WithBatch()
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{2, 3}, tensor.Must(shorter.Dict("d")).Shape(), "what fits stays")
	require.Equal(t, shapeops.Shape{2}, tensor.Must(td.Dict("d")).Shape(), "td has not changed")
	for _, bad := range [][]int{{3}, {2, 3, 1}, {-1}} {
		_, err := td.WithBatch(bad...)
		require.ErrorIs(t, err, shapeops.ErrShape)
	}
}
