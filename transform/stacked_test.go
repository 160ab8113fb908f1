package transform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// imageStack returns a stack of images of several sizes, or of one.
func imageStack(t testing.TB, dim int, sizes ...int) *tdict.TensorDict {
	t.Helper()
	var tds []*tdict.TensorDict
	for _, n := range sizes {
		td := tdict.New(2)
		require.NoError(t, td.Set("image", tensor.Must(tensor.Full[float32](float32(n), 2, n, 3))))
		tds = append(tds, td)
	}
	return tensor.Must(tdict.LazyStack(tds, dim))
}

// Stacked leaves are treated, or named in an error; none is passed over.
func TestStackedLeaves(t *testing.T) {
	tests := []struct {
		name string
		do   func(td *tdict.TensorDict) error
		want error
	}{
		{"fit standard", func(td *tdict.TensorDict) error { _, err := transform.FitStandard(td, nil); return err }, tdict.ErrKind},
		{"crop", applying(transform.RandomCrop(1, 1)), tdict.ErrKind},
		{"flip", applying(transform.RandomFlip(1, -1)), tdict.ErrKind},
		{"cast scale", applying(transform.CastScale(tensor.Float64, 2, 1)), nil},
		{"fill NaN", applying(transform.FillNaN(0)), nil},
	}
	for _, tt := range tests {
		for _, td := range []*tdict.TensorDict{imageStack(t, 0, 4, 5), imageStack(t, 0, 4, 4), imageStack(t, 1, 4, 5)} {
			t.Run(tt.name, func(t *testing.T) {
				err := tt.do(td)
				require.ErrorIs(t, err, tt.want)
				if tt.want != nil {
					require.ErrorContains(t, err, `"image"`)
					require.ErrorContains(t, err, "Dense")
				}
			})
		}
	}
}

func applying(tr transform.Transform) func(td *tdict.TensorDict) error {
	return func(td *tdict.TensorDict) error { _, err := tr.Apply(td, transform.Draw{}); return err }
}
