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

// TestSaveOfDatasetKeepsItsSchema: a Dataset is a Dictionary, and brings its schema along unless
// another is given.
func TestSaveOfDatasetKeepsItsSchema(t *testing.T) {
	td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"x": tensor.Vector[int64](1, 0), "there": tensor.Vector(true, false)}))
	schema := tdict.SchemaOf(td)
	schema[1].Mask, schema[1].Unit = "there", "kg"
	first := filepath.Join(t.TempDir(), "first")
	require.NoError(t, memmap.SaveWith(t.Context(), first, td, memmap.SaveOptions{Schema: schema}))
	ds := open(t, first)
	for name, tt := range map[string]struct {
		td   tdict.Dictionary
		opt  memmap.SaveOptions
		want tdict.Schema
	}{
		"a dataset":        {ds, memmap.SaveOptions{}, schema},
		"another schema":   {ds, memmap.SaveOptions{Schema: tdict.SchemaOf(td)}, tdict.SchemaOf(td)},
		"an archive":       {ds, memmap.SaveOptions{Container: memmap.Archive}, schema},
		"its dictionary":   {ds.TensorDict, memmap.SaveOptions{}, nil},
		"its AsTensorDict": {ds.AsTensorDict(), memmap.SaveOptions{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			require.NoError(t, memmap.SaveWith(t.Context(), dir, tt.td, tt.opt))
			require.Empty(t, tt.want.Diff(open(t, dir).Schema()))
			require.Equal(t, len(tt.want), len(open(t, dir).Schema()))
		})
	}
	var none *memmap.Dataset
	for name, td := range map[string]tdict.Dictionary{"nil": nil, "a nil dictionary": (*tdict.TensorDict)(nil), "a nil dataset": none, "the zero dataset": new(memmap.Dataset)} {
		require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td), tdict.ErrKind, name)
		_, err := tdict.Get[*tensor.Tensor](td, "x")
		require.ErrorIs(t, err, tdict.ErrKind, name)
		_, err = tdict.Slice[int64](td, "x")
		require.ErrorIs(t, err, tdict.ErrKind, name)
	}
}
