package npy_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
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
