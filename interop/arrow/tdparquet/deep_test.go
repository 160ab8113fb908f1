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

// TestDeepLists writes and reads lists that are nested 30 deep.
func TestDeepLists(t *testing.T) {
	r := tensor.Must(ragged.From[int64]([]int64{1, 2}))
	for range 30 {
		r = tensor.Must(r.Group(1, 1))
	}
	td := tdict.New(2)
	require.NoError(t, td.Set("l", r))
	b := write(t, td, tdict.SchemaOf(td), tdparquet.WriteOptions{})
	for got, err := range tdparquet.Read(t.Context(), bytes.NewReader(b), int64(len(b)), tdparquet.Options{}) {
		require.NoError(t, err)
		equal(t, td, got)
	}
}
