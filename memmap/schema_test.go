package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// What Schema.Meta returns is a prototype, for a Writer and for Create: the dataset fits the
// schema.
func TestSchemaIsAPrototype(t *testing.T) {
	schema := tdict.Schema{
		{Key: "obs/x", DType: tensor.Float32, Shape: shapeops.Shape{3}},
		{Key: "ok", DType: tensor.Bool},
		{Key: "table", Kind: tdict.KindUnbatched, DType: tensor.Float64, Shape: shapeops.Shape{2}},
		{Key: "note", Kind: tdict.KindData},
		{Key: "name", Kind: tdict.KindText},
		{Key: "codes", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 2, Shape: shapeops.Shape{2}},
	}
	dir := filepath.Join(t.TempDir(), "rows")
	w, err := memmap.NewWriter(dir, tensor.Must(schema.Meta()), memmap.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Append(tensor.Must(schema.Zeros(5))))
	require.NoError(t, w.Finish())
	require.NoError(t, schema.Check(open(t, dir).TensorDict))
	require.Empty(t, tensor.Must(open(t, dir).Diff(tensor.Must(schema.Zeros(5)))))
	d, err := memmap.Create(filepath.Join(t.TempDir(), "whole"), tensor.Must(schema.Meta(4)), memmap.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, schema.Check(d.TensorDict))
	require.Empty(t, tensor.Must(d.Diff(tensor.Must(schema.Zeros(4)))))
	require.NoError(t, d.Close())
}
