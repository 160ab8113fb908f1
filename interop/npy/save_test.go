package npy_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriteOfLayouts writes and reads tensors of all layouts and memories.
func TestWriteOfLayouts(t *testing.T) {
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		if s.DType() == tensor.BFloat16 {
			return
		}
		x := tensor.Must(npy.Read(bytes.NewReader(written(t, s.Tensor))))
		require.Equal(t, s.Shape(), x.Shape())
		require.Equal(t, testkit.Content(t, s.Tensor), testkit.Content(t, x))
	})
}

func TestSaveRefuses(t *testing.T) {
	x := tensor.Vector(1.0)
	tests := []struct {
		name string
		x    *tensor.Tensor
		err  error
	}{
		{"no tensor", nil, shapeops.ErrKind},
		{"bfloat16", tensor.Must(x.Cast(tensor.BFloat16)), npy.ErrUnsupported},
		{"more dims than NumPy has", tensor.Must(x.Reshape(append(make([]int, 0, 65), ones(65)...)...)), npy.ErrUnsupported},
		{"no elements", tensor.Must(tensor.NewMeta(tensor.Int64, 2)), tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.err, npy.Write(&bytes.Buffer{}, tt.x))
			path := filepath.Join(t.TempDir(), "x.npy")
			err := npy.Save(path, tt.x)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "save "+path+": ")
			require.NoFileExists(t, path)
		})
	}
	require.NoError(t, npy.Write(&bytes.Buffer{}, tensor.Must(x.Reshape(ones(64)...))))
}

func ones(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

func TestSaveDictRefuses(t *testing.T) {
	x := tensor.Vector(1.0)
	with := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := tdict.New()
		require.NoError(t, td.Set("x", x))
		require.NoError(t, td.Set(key, v))
		return td
	}
	others := with("text", tensor.Must(tdict.NewData("hello")))
	require.NoError(t, others.Set("none", tdict.New()))
	require.NoError(t, others.Set("one", tensor.Must(tdict.NewUnbatched(x))))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		err  error
	}{
		{"no dictionary", nil, shapeops.ErrKind},
		{"values that are not tensors", others, npy.ErrUnsupported},
		{"bfloat16", with("obs/y", tensor.Must(x.Cast(tensor.BFloat16))), npy.ErrUnsupported},
		{"a part with the separator", with(nestedkey.Of("a/b"), x), npy.ErrUnsupported},
		{"a part that leads up", with("a/../b", x), npy.ErrUnsupported},
		{"an empty part within", with("a//b", x), npy.ErrUnsupported},
		{"a backslash", with(`a\b`, x), npy.ErrUnsupported},
		{"a name that is too long", with(nestedkey.Of(strings.Repeat("n", 1<<16)), x), npy.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.npz")
			err := npy.SaveDict(path, tt.td)
			testkit.Fails(t, tt.err, maskPath(err))
			require.ErrorContains(t, err, "save "+path+": ")
			require.NoFileExists(t, path)
		})
	}
}

// TestOddKeys saves keys whose parts are empty, dots, or have a "~" or, as TensorFlow's, a ":".
func TestOddKeys(t *testing.T) {
	td := tdict.New()
	for _, key := range []nestedkey.Key{"", "a/", "b/..", "c/.", nestedkey.Of("~", "é"), ".npy", "w:0", "c:/x"} {
		require.NoError(t, td.Set(key, tensor.Scalar(1.0)))
	}
	requireEqual(t, td, openDict(t, saved(t, td)).TensorDict)
}

func TestSaveRefusesPaths(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, path string
		err        error
	}{
		{"none", "", fs.ErrInvalid},
		{"a directory by its form", dir + string(filepath.Separator), fs.ErrInvalid},
		{"a directory", dir, fs.ErrExist},
		{"in a directory that is not there", filepath.Join(dir, "nope", "x"), fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, npy.Save(tt.path, tensor.Vector(1.0)), tt.err)
			require.ErrorIs(t, npy.SaveDict(tt.path, tdict.New()), tt.err)
		})
	}
	require.Empty(t, tensor.Must(os.ReadDir(dir)))
}

// TestSaveStops: a context that has ended leaves what was there, and nothing beside it.
func TestSaveStops(t *testing.T) {
	path := put(t, written(t, tensor.Vector(1.0)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, npy.SaveWith(ctx, path, tensor.Vector(2.0), npy.SaveOptions{}), context.Canceled)
	require.ErrorIs(t, npy.SaveDictWith(ctx, path, visits(t), npy.SaveDictOptions{}), context.Canceled)
	require.True(t, open(t, path).Equal(tensor.Vector(1.0)))
	require.NoError(t, npy.SaveWith(t.Context(), path, tensor.Vector(2.0), npy.SaveOptions{NoSync: true}))
	require.Len(t, tensor.Must(os.ReadDir(filepath.Dir(path))), 1)
}

// TestSaveOverItself saves a part of a file over that file.
func TestSaveOverItself(t *testing.T) {
	path := put(t, written(t, tensor.Vector(1.0, 2, 3)))
	f := open(t, path)
	require.NoError(t, npy.Save(path, tensor.Must(f.Index(ix.Range(1, 3)))))
	require.True(t, open(t, path).Equal(tensor.Vector(2.0, 3)))
}

func TestWriteReportsTheWriter(t *testing.T) {
	broken := errors.New("broken")
	x := tensor.Vector(1.0, 2)
	for left := range written(t, x) {
		require.ErrorIs(t, npy.Write(&short{left, broken}, x), broken)
	}
}

// A short writer takes some bytes.
type short struct {
	left int
	err  error
}

func (w *short) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}
