package forms_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// countedSchema is the schema of counted rows.
var countedSchema = tdict.Schema{
	{Key: "x", DType: tensor.Int64, Doc: "counts"},
	{Key: "s", Kind: tdict.KindText},
	{Key: "r", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
	{Key: "more", DType: tensor.Int8, Optional: true},
}

// TestSavedSchemaGoesAlong looks at the schema of what is made of a dataset that keeps one.
func TestSavedSchemaGoesAlong(t *testing.T) {
	dir := testkit.TempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, memmap.SaveWith(ctx, at("in"), counted(t, 9), memmap.SaveOptions{Schema: countedSchema}))
	saved := func(path string) tdict.Schema {
		in, err := forms.Open(at(path), forms.OpenOptions{})
		require.NoError(t, err, path)
		defer in.Close()
		if in.Dataset == nil {
			return nil
		}
		return in.Dataset.Schema()
	}
	keep := func(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
		return tensor.Vector(true, false, true, true, false, true, true, true, false), nil
	}
	for name, make := range map[string]func(out string) error{
		"copy.tdz": func(out string) error { return forms.Convert(ctx, out, []string{at("in")}, forms.Options{}) },
		"copy.tdc": func(out string) error { return forms.Convert(ctx, out, []string{at("in")}, forms.Options{}) },
		"twice":    func(out string) error { return forms.Convert(ctx, out, []string{at("in"), at("in")}, forms.Options{}) },
		"kept":     func(out string) error { return forms.Slice(ctx, out, at("in"), forms.SliceOptions{Keep: keep}) },
	} {
		require.NoError(t, make(at(name)), name)
		require.Empty(t, saved(name).Diff(countedSchema), name)
	}
	require.NoError(t, forms.Slice(ctx, at("columns"), at("in"), selecting([]nestedkey.Key{"s", "x"}, nil)))
	require.Empty(t, saved("columns").Diff(tdict.Schema{countedSchema[0], countedSchema[1], countedSchema[3]}))
	require.NoError(t, forms.Split(ctx, at("parts"), at("in"), forms.SplitOptions{Counts: []int{6, 3}}))
	require.Empty(t, saved("parts/0").Diff(countedSchema))
	require.Empty(t, saved("parts/1").Diff(countedSchema))
	require.NoError(t, forms.Convert(ctx, at("out.jsonl"), []string{at("in")}, forms.Options{}))
	require.Nil(t, saved("out.jsonl"))
}

// TestClassesAreLosses converts dictionaries that have a class.
func TestClassesAreLosses(t *testing.T) {
	dir := testkit.TempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	td := dict(t, []int{2}, tdict.Entries{"x": tensor.Vector[int64](1, 2), "in/y": tensor.Vector[int64](3, 4)})
	require.NoError(t, td.SetClass("my.Outer"))
	require.NoError(t, tensor.Must(td.Dict("in")).SetClass("my.Inner"))
	require.NoError(t, memmap.Save(at("in"), td))
	want := []forms.Loss{{Reason: `class "my.Outer"`}, {Key: "in", Reason: `class "my.Inner"`}}

	require.NoError(t, forms.Convert(ctx, at("copy.tdz"), []string{at("in")}, forms.Options{}), "a copy keeps them")
	in, err := forms.Open(at("copy.tdz"), forms.OpenOptions{})
	require.NoError(t, err)
	defer in.Close()
	require.Equal(t, "my.Outer", in.Dict.Class())
	require.Empty(t, in.Losses(forms.Directory))
	require.Equal(t, want, in.Losses(forms.Npz))

	for name, from := range map[string][]string{"out.npz": {at("in")}, "twice": {at("in"), at("in")}} {
		var lost *forms.LossError
		require.ErrorAs(t, forms.Convert(ctx, at(name), from, forms.Options{}), &lost, name)
		require.Equal(t, want, lost.Losses, name)
		require.NoError(t, forms.Convert(ctx, at(name), from, forms.Options{Lossy: true}), name)
	}
}

// TestMetadataGoesAlong converts a safetensors file that has metadata.
func TestMetadataGoesAlong(t *testing.T) {
	dir := testkit.TempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	metadata := map[string]string{"format": "pt", "author": "x"}
	require.NoError(t, safetensors.SaveWith(ctx, at("in.safetensors"), tensor.Must(counted(t, 9).Select("x")), safetensors.SaveOptions{Metadata: metadata}))
	in, err := forms.Open(at("in.safetensors"), forms.OpenOptions{})
	require.NoError(t, err)
	defer in.Close()
	require.Equal(t, metadata, in.Metadata)
	for name, make := range map[string]func(out string) error{
		"copy":  func(out string) error { return forms.Convert(ctx, out, []string{in.Path}, forms.Options{}) },
		"twice": func(out string) error { return forms.Convert(ctx, out, []string{in.Path, in.Path}, forms.Options{}) },
		"slice": func(out string) error {
			return forms.Slice(ctx, out, in.Path, forms.SliceOptions{Index: []ix.Index{ix.Range(0, 2)}})
		},
	} {
		require.NoError(t, make(at(name+".safetensors")), name)
		out, err := forms.Open(at(name+".safetensors"), forms.OpenOptions{})
		require.NoError(t, err, name)
		require.Equal(t, metadata, out.Metadata, name)
		require.NoError(t, out.Close())
	}
	want := []forms.Loss{{Reason: `metadata "author"`}}
	for _, f := range []forms.Form{forms.Directory, forms.Archive, forms.Npz, forms.CSV} {
		require.Equal(t, want, in.Losses(f), "%v", f)
		require.ErrorIs(t, forms.Convert(ctx, at("lost"), []string{in.Path}, forms.Options{Form: f}), forms.ErrLoss, "%v", f)
	}
	require.NoError(t, forms.Convert(ctx, at("lost"), []string{in.Path}, forms.Options{Lossy: true}))
	require.Empty(t, in.Losses(forms.Safetensors))
}
