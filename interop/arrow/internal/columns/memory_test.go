package columns_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A batch of a dataset has its schema, and stays valid after the dataset is closed.
func TestFromDataset(t *testing.T) {
	td, schema := wide(100, "masked")
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.SaveWith(t.Context(), dir, td, memmap.SaveOptions{Schema: schema}))
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	rec, err := columns.FromDict(ds, nil)
	require.NoError(t, err)
	require.NoError(t, ds.Close())
	require.Equal(t, 34, rec.Column(0).NullN())
	got, err := schemaOf(rec.Schema(), columns.Options{})
	require.NoError(t, err)
	require.Empty(t, schema.Diff(got))
	back, err := columns.ToDict(rec, columns.Options{})
	require.NoError(t, err)
	same(t, td, back)
}

// Batches are converted by many goroutines at once.
func TestConcurrent(t *testing.T) {
	td, schema := wide(100, "text")
	rec := tensor.Must(columns.FromDict(td, schema))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				back, err := columns.ToDict(rec, columns.Options{})
				if err != nil || !back.Equal(td) {
					t.Error("got another dictionary", err)
				}
				if _, err := columns.FromDict(td, schema); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A Reader uses its memory again: a dictionary is valid until the next call, a clone longer.
func TestReaderUsesMemoryAgain(t *testing.T) {
	first, schema := wide(100, "bool")
	second := tensor.Must(first.Clone())
	require.NoError(t, tensor.Must(second.Tensor("c0")).CopyFrom(tensor.Must(tensor.Full(true, 100))))
	a, b := tensor.Must(columns.FromDict(first, schema)), tensor.Must(columns.FromDict(second, schema))
	r := tensor.Must(columns.NewReader(a.Schema(), columns.Options{}))
	got := tensor.Must(r.Dict(a))
	clone := tensor.Must(got.Clone())
	same(t, second, tensor.Must(r.Dict(b)))
	same(t, first, clone)
	require.True(t, tensor.Must(tdict.Slice[bool](got, "c0"))[0]) // overwritten
}

// schemaOf returns the schema that an Inferrer proposes for batches that it has not seen.
func schemaOf(s *arrow.Schema, opt columns.Options) (tdict.Schema, error) {
	x, err := columns.NewInferrer(s, opt)
	if err != nil {
		return nil, err
	}
	return x.Schema()
}
