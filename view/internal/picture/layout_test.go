package picture_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/picture"
)

func TestLayouts(t *testing.T) {
	hw, hwc, chw := picture.HW, picture.HWC, picture.CHW
	tests := []struct {
		name     string
		dtype    tensor.DType
		features shapeops.Shape
		want     []picture.Layout
	}{
		{"height and width", tensor.Uint8, shapeops.Shape{8, 8}, []picture.Layout{hw}},
		{"any real numbers", tensor.BFloat16, shapeops.Shape{8, 8}, []picture.Layout{hw}},
		{"bool never", tensor.Bool, shapeops.Shape{8, 8}, nil},
		{"complex never", tensor.Complex64, shapeops.Shape{8, 8}, nil},
		{"no dtype", 0, shapeops.Shape{8, 8}, nil},
		{"scalars", tensor.Uint8, shapeops.Shape{}, nil},
		{"vectors", tensor.Uint8, shapeops.Shape{64}, nil},
		{"videos", tensor.Uint8, shapeops.Shape{8, 8, 8, 3}, nil},
		{"sides from 4", tensor.Uint8, shapeops.Shape{4, 5}, []picture.Layout{hw}},
		{"height of 3", tensor.Uint8, shapeops.Shape{3, 5}, nil},
		{"width of 3", tensor.Uint8, shapeops.Shape{5, 3}, nil},
		{"sides to 4096", tensor.Uint8, shapeops.Shape{4096, 4096}, []picture.Layout{hw}},
		{"height of 4097", tensor.Uint8, shapeops.Shape{4097, 4096}, nil},
		{"width of 4097", tensor.Uint8, shapeops.Shape{4096, 4097}, nil},
		{"8 to 1", tensor.Uint8, shapeops.Shape{80, 10}, []picture.Layout{hw}},
		{"more than 8 to 1", tensor.Uint8, shapeops.Shape{81, 10}, nil},
		{"more than 1 to 8", tensor.Uint8, shapeops.Shape{10, 81}, nil},
		{"channels last", tensor.Float32, shapeops.Shape{8, 9, 3}, []picture.Layout{hwc}},
		{"channels first", tensor.Float32, shapeops.Shape{3, 8, 9}, []picture.Layout{chw}},
		{"one channel", tensor.Float32, shapeops.Shape{1, 8, 9}, []picture.Layout{chw}},
		{"four channels", tensor.Float32, shapeops.Shape{8, 9, 4}, []picture.Layout{hwc}},
		{"two channels", tensor.Float32, shapeops.Shape{8, 9, 2}, nil},
		{"channels last before first", tensor.Uint8, shapeops.Shape{4, 8, 4}, []picture.Layout{hwc, chw}},
		{"empty", tensor.Uint8, shapeops.Shape{0, 0}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, picture.Layouts(tt.dtype, tt.features))
		})
	}
}

func TestPicturesOrLines(t *testing.T) {
	tests := []struct {
		name            string
		dtype           tensor.DType
		features        shapeops.Shape
		pictures, lines bool
	}{
		{"an image", tensor.Float32, shapeops.Shape{64, 64}, true, false},
		{"a row of steps", tensor.Float32, shapeops.Shape{8}, false, true},
		{"fewer than 8 steps", tensor.Float32, shapeops.Shape{7}, false, false},
		{"16 columns", tensor.Int64, shapeops.Shape{1000, 16}, false, true},
		{"17 columns", tensor.Int64, shapeops.Shape{1000, 17}, false, false},
		{"no columns", tensor.Int64, shapeops.Shape{1000, 0}, false, false},
		{"fewer than 8 steps of columns", tensor.Float32, shapeops.Shape{7, 1}, false, false},
		{"both, 2 to 1", tensor.Int64, shapeops.Shape{16, 8}, true, false},
		{"both, 1 to 2", tensor.Int64, shapeops.Shape{8, 16}, true, false},
		{"both, longer", tensor.Int64, shapeops.Shape{17, 8}, false, true},
		{"both, longer, uint8", tensor.Uint8, shapeops.Shape{17, 8}, true, false},
		{"channels are never lines", tensor.Float32, shapeops.Shape{64, 8, 3}, true, false},
		{"lines of bool never", tensor.Bool, shapeops.Shape{100}, false, false},
		{"lines of complex never", tensor.Complex128, shapeops.Shape{100}, false, false},
		{"scalars", tensor.Float32, shapeops.Shape{}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.pictures, picture.LooksLike(tt.dtype, tt.features), "pictures")
			require.Equal(t, tt.lines, picture.LooksLikeLines(tt.dtype, tt.features), "lines")
		})
	}
}

func TestRaggedLooksLikeLines(t *testing.T) {
	tests := []struct {
		name     string
		dtype    tensor.DType
		features shapeops.Shape
		want     bool
	}{
		{"numbers", tensor.Float64, shapeops.Shape{}, true},
		{"uint8 is text", tensor.Uint8, shapeops.Shape{}, false},
		{"uint8 with features is not", tensor.Uint8, shapeops.Shape{2}, true},
		{"16 columns", tensor.Float64, shapeops.Shape{16}, true},
		{"17 columns", tensor.Float64, shapeops.Shape{17}, false},
		{"no columns", tensor.Float64, shapeops.Shape{0}, false},
		{"matrices", tensor.Float64, shapeops.Shape{2, 2}, false},
		{"bool", tensor.Bool, shapeops.Shape{}, false},
		{"bool columns", tensor.Bool, shapeops.Shape{2}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, picture.RaggedLooksLikeLines(tt.dtype, tt.features))
		})
	}
}

func TestParseLayout(t *testing.T) {
	for _, l := range []picture.Layout{picture.HW, picture.HWC, picture.CHW} {
		got, err := picture.ParseLayout(l.String())
		require.NoError(t, err)
		require.Equal(t, l, got)
	}
	got, err := picture.ParseLayout("nchw")
	require.NoError(t, err)
	require.Equal(t, picture.CHW, got)
	for _, name := range []string{"", "hw", "nhwcc", "n-h-w", "\x00"} {
		_, err := picture.ParseLayout(name)
		require.ErrorIs(t, err, picture.ErrLayout, name)
	}
	require.Equal(t, "Layout(9)", picture.Layout(9).String())
}
