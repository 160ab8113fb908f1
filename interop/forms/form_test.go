package forms_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestFor(t *testing.T) {
	for path, want := range map[string]string{
		"a": "directory", "a.b/": "directory", ".": "directory", "..": "directory", "x/a": "directory", "x.csv/a": "directory",
		"a.tdz": "tdz", "a.tdc": "tdc", "a.npy": "npy", "a.NPZ": "npz", "a.b.safetensors": "safetensors", "a.nrt": "nrt", "a.csv": "csv", "a.jsonl": "jsonl",
		"a.arrow": "arrow", "a.Feather": "arrow", "a.ipc": "arrow", "a.parquet": "parquet", "a.pq": "parquet",
		"m.safetensors.index.json": "safetensors",
		"":                         "", "a.": "", "a.json": "", "a.directory": "", "a.v1": "",
	} {
		f, err := forms.For(path)
		if want == "" {
			require.ErrorIs(t, err, forms.ErrForm, path)
			require.ErrorContains(t, err, ".tdz, .npy, .npz, .safetensors, .nrt, .csv, .jsonl")
			continue
		}
		require.NoError(t, err, path)
		require.Equal(t, want, f.String(), path)
		var back forms.Form
		require.NoError(t, back.UnmarshalText([]byte(want)))
		require.Equal(t, f, back)
	}
	require.ErrorContains(t, new(forms.Form).UnmarshalText([]byte("xls")), "directory, tdz, npy, npz, safetensors, nrt, csv, jsonl, tdc, arrow or parquet")
}

// TestOf looks at the bytes, whatever the name is, and at the name of text and of .nrt.
func TestOf(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](1, 2, 3)}))
	dir := testkit.TempDir(t)
	for _, suffix := range all {
		path, other := filepath.Join(dir, "a"+suffix), filepath.Join(dir, "b.csv")
		require.NoError(t, forms.Convert(ctx, path, []string{in}, forms.Options{}))
		want, err := forms.For(path)
		require.NoError(t, err)
		got, err := forms.Of(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if suffix == ".nrt" || suffix == ".jsonl" {
			continue // the name tells
		}
		require.NoError(t, os.Rename(path, other))
		got, err = forms.Of(other)
		require.NoError(t, err)
		require.Equal(t, want, got, suffix)
		require.NoError(t, os.RemoveAll(other))
	}
	for _, path := range []string{os.DevNull, filepath.Join(dir, "none.txt")} {
		if path != os.DevNull {
			require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
		}
		_, err := forms.Of(path)
		require.ErrorIs(t, err, forms.ErrForm, path)
		require.ErrorContains(t, err, path)
	}
}

// TestCancelledMidway ends a slice and a split after their first chunk.
func TestCancelledMidway(t *testing.T) {
	in := wide(t, 40_000)
	for _, suffix := range all[:2] {
		dir := testkit.TempDir(t)
		ended, cancel := context.WithCancel(ctx)
		chunks := 0
		keep := func(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
			chunks++
			cancel()
			return tensor.New(tensor.Bool, chunk.Shape()...)
		}
		require.ErrorIs(t, forms.Slice(ended, filepath.Join(dir, "out"+suffix), in, forms.SliceOptions{Keep: keep}), context.Canceled)
		require.Equal(t, 1, chunks)
		litter(t, dir)
	}
	for _, suffix := range []string{"", ".tdz", ".npz", ".safetensors", ".csv", ".jsonl"} {
		dir := testkit.TempDir(t)
		ended, cancel := context.WithCancel(ctx)
		opt := forms.Options{Progress: func(int64, int64) { cancel() }}
		require.ErrorIs(t, forms.Convert(ended, filepath.Join(dir, "out"+suffix), []string{in, in}, opt), context.Canceled)
		litter(t, dir)
	}
	dir := testkit.TempDir(t)
	ended, cancel := context.WithCancel(ctx)
	opt := forms.SplitOptions{Fractions: []float64{0.5, 0.5}}
	opt.Progress = func(int64, int64) { cancel() }
	require.ErrorIs(t, forms.Split(ended, filepath.Join(dir, "out"), in, opt), context.Canceled)
	litter(t, dir)
}
