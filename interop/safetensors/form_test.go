package safetensors_test

import (
	"context"
	"io"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit/filekit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFormat: safetensors follow the rules of all files.
func TestFormat(t *testing.T) {
	of := func(x *tensor.Tensor) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"a/x": x}))
	}
	filekit.Run(t, filekit.Format{
		Save: func(ctx context.Context, path string, x *tensor.Tensor) error {
			return safetensors.SaveWith(ctx, path, of(x), safetensors.SaveOptions{NoSync: true})
		},
		Write: func(w io.Writer, x *tensor.Tensor) error {
			return safetensors.Write(w, of(x), safetensors.SaveOptions{NoSync: true})
		},
		Open:     func(path string) (filekit.File, error) { return safetensors.Open(path) },
		Vector:   func(f filekit.File) *tensor.Tensor { return tensor.Must(f.(*safetensors.File).Tensor("a/x")) },
		Name:     `a.x`,
		Unopened: new(safetensors.File),
	})
}
