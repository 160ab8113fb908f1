package nrt_test

import (
	"context"
	"io"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit/filekit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestFormat: files of nested ragged tensors follow the rules of all files.
func TestFormat(t *testing.T) {
	of := func(x *tensor.Tensor) *joint.Joint {
		return tensor.Must(joint.New(field("x", "", x, tensor.Must(ragged.NewLayout(x.Shape())))))
	}
	filekit.Run(t, filekit.Format{
		Save: func(ctx context.Context, path string, x *tensor.Tensor) error {
			return nrt.SaveWith(ctx, path, of(x), nrt.SaveOptions{NoSync: true})
		},
		Write: func(w io.Writer, x *tensor.Tensor) error { return nrt.Write(w, of(x)) },
		Open:  func(path string) (filekit.File, error) { return nrt.Open(path) },
		Vector: func(f filekit.File) *tensor.Tensor {
			return tensor.Must(tensor.Must(f.(*nrt.File).Tensor("x")).Values())
		},
		Unopened: new(nrt.File),
	})
}
