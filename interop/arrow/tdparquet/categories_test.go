package tdparquet_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestEmptyListsOfCategories reads lists of categories of which a row group, or a batch, has no
// values.
func TestEmptyListsOfCategories(t *testing.T) {
	for name, offsets := range map[string][]int64{"all empty": {0, 0, 0}, "last empty": {0, 2, 2}, "first empty": {0, 0, 2}} {
		for _, rows := range []int{1, 2} {
			for _, groups := range []int{1, 0} {
				t.Run(name, func(t *testing.T) {
					values := make([]int32, offsets[2])
					r, err := ragged.FromOffsets(tensor.Must(tensor.From(values, len(values))), offsets)
					require.NoError(t, err)
					td, err := tdict.FromMap([]int{2}, tdict.Entries{"c": r})
					require.NoError(t, err)
					schema := tdict.Schema{{Key: "c", Kind: tdict.KindRagged, DType: tensor.Int32, Depth: 1, Categories: []string{"a", "b"}}}
					b := write(t, td, schema, tdparquet.WriteOptions{Rows: groups})
					var got []*tdict.TensorDict
					for chunk, err := range tdparquet.Read(t.Context(), bytes.NewReader(b), int64(len(b)), tdparquet.Options{Schema: schema, Rows: rows}) {
						require.NoError(t, err)
						got = append(got, tensor.Must(chunk.Clone()))
					}
					equal(t, td, tensor.Must(cat(got)))
				})
			}
		}
	}
}
