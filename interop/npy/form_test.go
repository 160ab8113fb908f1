package npy_test

import (
	"context"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit/filekit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFormats: .npy and .npz follow the rules of all files.
func TestFormats(t *testing.T) {
	t.Run("npy", func(t *testing.T) {
		filekit.Run(t, filekit.Format{
			Save: func(ctx context.Context, path string, x *tensor.Tensor) error {
				return npy.SaveWith(ctx, path, x, npy.SaveOptions{NoSync: true})
			},
			Write:    npy.Write,
			Open:     func(path string) (filekit.File, error) { return npy.Open(path) },
			Vector:   func(f filekit.File) *tensor.Tensor { return f.(*npy.File).Tensor },
			Unopened: new(npy.File),
		})
	})
	of := func(x *tensor.Tensor) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": x}))
	}
	t.Run("npz", func(t *testing.T) {
		filekit.Run(t, filekit.Format{
			Save: func(ctx context.Context, path string, x *tensor.Tensor) error {
				return npy.SaveDictWith(ctx, path, of(x), npy.SaveDictOptions{NoSync: true})
			},
			Open:     func(path string) (filekit.File, error) { return npy.OpenDict(path) },
			Vector:   func(f filekit.File) *tensor.Tensor { return tensor.Must(f.(*npy.Dict).Tensor("x")) },
			Name:     `"x.npy"`,
			Unopened: new(npy.Dict),
		})
	})
}
