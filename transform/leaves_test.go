package transform_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

var nan = math.NaN()

func TestFillNaN(t *testing.T) {
	td, err := tdict.FromMap(shapeops.Shape{3}, tdict.Entries{
		"a":    tensor.Vector(1, nan, 3),
		"in/b": tensor.Vector(float32(nan), 5, 6),
		"in/h": tensor.Must(tensor.Vector(1, nan, 3).Cast(tensor.BFloat16)),
		"n":    tensor.Vector[int64](1, 2, 3),
		"note": tensor.Must(tdict.NewData("x")),
	})
	require.NoError(t, err)
	td.Lock()
	out, err := transform.FillNaN(-1).Apply(td, transform.Draw{})
	require.NoError(t, err)
	require.Equal(t, []float64{1, -1, 3}, tensor.Must(tdict.Slice[float64](out, "a")))
	require.Equal(t, []float32{-1, 5, 6}, tensor.Must(tdict.Slice[float32](out, "in/b")))
	require.True(t, tensor.Must(out.Tensor("in/h")).Equal(tensor.Must(tensor.Vector(1., -1, 3).Cast(tensor.BFloat16))))
	require.True(t, math.IsNaN(tensor.Must(tdict.Slice[float64](td, "a"))[1]), "the argument has changed")
	require.True(t, out.Has("note"))
}

func TestVerbsOfArith(t *testing.T) {
	td := images(t, 4)
	image, label := tensor.Must(td.Tensor("image")), tensor.Must(td.Tensor("label"))
	out := apply(t, transform.OnKeys(transform.CastScale(tensor.Float32, 2./255, -1), "image"), td, transform.Draw{})
	require.True(t, tensor.Must(out.Tensor("image")).Equal(tensor.Must(arith.CastScale(image, tensor.Float32, 2./255, -1))))
	out = apply(t, transform.OnKeys(transform.OneHot(5, tensor.Bool), "label"), td, transform.Draw{})
	require.True(t, tensor.Must(out.Tensor("label")).Equal(tensor.Must(arith.OneHot(label, 5, tensor.Bool))))
}

func TestLeavesRefuse(t *testing.T) {
	td := images(t, 4)
	tests := []struct {
		name string
		t    transform.Transform
		is   error
	}{
		{"a class beyond the last", transform.OnKeys(transform.OneHot(3, tensor.Bool), "label"), shapeops.ErrIndex},
		{"bools to scale", transform.OnKeys(transform.CastScale(tensor.Float32, 1, 0), "mask"), tensor.ErrDType},
		{"a filling that the dtype does not hold", transform.FillNaN(1e300), tensor.ErrDType},
		{"a filling that is no number", transform.FillNaN("0"), tensor.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, testkit.Err(tt.t.Apply(td, transform.Draw{}))) })
	}
}
