package picture_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/picture"
)

func TestBounds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name             string
		dtype            tensor.DType
		largest, p1, p99 float64
		black, white     float64
	}{
		{"uint8", tensor.Uint8, 64, 3, 50, 0, 255},
		{"uint8 of few values", tensor.Uint8, 63, 3, 50, 0, 63},
		{"uint8 of zeros", tensor.Uint8, 0, 0, 0, 0, 0},
		{"uint8 without values", tensor.Uint8, nan, nan, nan, 0, 0},
		{"others by quantiles", tensor.Float32, 900, -3, 50, -3, 50},
		{"infinite", tensor.Float32, inf, -inf, inf, -math.MaxFloat64, math.MaxFloat64},
		{"without values", tensor.Float32, nan, nan, nan, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			black, white := picture.Bounds(tt.dtype, tt.largest, tt.p1, tt.p99)
			require.Equal(t, [2]float64{tt.black, tt.white}, [2]float64{black, white})
		})
	}
}

// grey is the naive form of the rule of the package.
func grey(v, black, white float64) uint8 {
	switch {
	case math.IsNaN(v):
		return 0
	case black == white && v > black:
		return 255
	case black == white:
		return 0
	}
	return uint8(math.Round(255 * min(max((v/4-black/4)/(white/4-black/4), 0), 1)))
}

// channelsOf returns the grey or the colours of a pixel, by nested loops over values.
func channelsOf(at func(c int) float64, channels int, black, white float64) color.NRGBA {
	g := func(c int) uint8 { return grey(at(c), black, white) }
	switch channels {
	case 1:
		return color.NRGBA{g(0), g(0), g(0), 255}
	case 3:
		return color.NRGBA{g(0), g(1), g(2), 255}
	}
	return color.NRGBA{g(0), g(1), g(2), grey(at(3), min(black, white), max(black, white))}
}

func encoded(t *testing.T, x *tensor.Tensor, l picture.Layout, black, white float64) image.Image {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, picture.Encode(&b, x, l, black, white))
	decoded, err := png.Decode(&b)
	require.NoError(t, err)
	return decoded
}

// requirePixels compares a picture of x with nested loops.
func requirePixels(t *testing.T, x *tensor.Tensor, l picture.Layout, black, white float64) {
	t.Helper()
	got := encoded(t, x, l, black, white)
	s := x.Shape()
	var height, width, channels int
	var pos func(i, j, c int) []int
	switch l {
	case picture.HW:
		height, width, channels = s[0], s[1], 1
		pos = func(i, j, _ int) []int { return []int{i, j} }
	case picture.HWC:
		height, width, channels = s[0], s[1], s[2]
		pos = func(i, j, c int) []int { return []int{i, j, c} }
	case picture.CHW:
		height, width, channels = s[1], s[2], s[0]
		pos = func(i, j, c int) []int { return []int{c, i, j} }
	}
	values := tensor.Must(x.Cast(tensor.Float64))
	require.Equal(t, image.Rect(0, 0, width, height), got.Bounds())
	_, isGrey := got.(*image.Gray)
	require.Equal(t, channels == 1, isGrey)
	for i := range height {
		for j := range width {
			want := channelsOf(func(c int) float64 { return tensor.Must(tensor.Item[float64](values, pos(i, j, c)...)) }, channels, black, white)
			require.Equal(t, want, color.NRGBAModel.Convert(got.At(j, i)), "row %d, column %d", i, j)
		}
	}
}

// sample returns n numbers from 0 to 96, with NaN and infinities for floats.
func sample(t *testing.T, dtype tensor.DType, shape ...int) *tensor.Tensor {
	t.Helper()
	s := make([]float64, shapeops.Shape(shape).Size())
	for i := range s {
		s[i] = float64(i * 37 % 97)
		if dtype.IsFloat() {
			s[i] = [...]float64{s[i], s[i], -s[i] / 3, s[i], math.NaN(), math.Inf(1), math.Inf(-1)}[i%7]
		}
	}
	return tensor.Must(tensor.Must(tensor.From(s, shape...)).Cast(dtype))
}

func TestPixels(t *testing.T) {
	bounds := []struct {
		name         string
		black, white float64
	}{
		{"within the values", 10, 80},
		{"beyond the values", -100, 300},
		{"inverted", 80, 10},
		{"equal", 40, 40},
		{"bytes", 0, 255},
		{"infinite range", -math.MaxFloat64, math.MaxFloat64},
	}
	shapes := []struct {
		layout picture.Layout
		shape  []int
	}{
		{picture.HW, []int{5, 7}}, {picture.HW, []int{1, 1}},
		{picture.HWC, []int{5, 7, 1}}, {picture.HWC, []int{5, 4, 3}}, {picture.HWC, []int{5, 4, 4}},
		{picture.CHW, []int{1, 5, 7}}, {picture.CHW, []int{3, 5, 4}}, {picture.CHW, []int{4, 5, 4}},
	}
	for _, dtype := range tensor.DTypes() {
		if dtype == tensor.Bool || dtype.IsComplex() {
			continue
		}
		t.Run(dtype.String(), func(t *testing.T) {
			for _, s := range shapes {
				x := sample(t, dtype, s.shape...)
				for _, b := range bounds {
					t.Run(s.layout.String()+" "+b.name, func(t *testing.T) { requirePixels(t, x, s.layout, b.black, b.white) })
				}
			}
		})
	}
}

// shifted lends memory at an address that is not aligned.
type shifted struct{ b []byte }

func (s *shifted) Borrow() ([]byte, error) { return s.b[1:], nil }
func (s *shifted) Return()                 {}
func (s *shifted) Pin() ([]byte, error)    { return s.b[1:], nil }
func (s *shifted) ReadOnly() bool          { return true }

func TestViews(t *testing.T) {
	x := sample(t, tensor.Float32, 12, 10, 3)
	tests := []struct {
		name   string
		x      *tensor.Tensor
		layout picture.Layout
	}{
		{"permuted", tensor.Must(x.Permute(2, 1, 0)), picture.CHW},
		{"stepped", tensor.Must(x.Index(tensor.Must(ix.Parse("1::2, ::3"))...)), picture.HWC},
		{"one channel", tensor.Must(x.Index(ix.All, ix.All, ix.At(1))), picture.HW},
		{"repeated", tensor.Must(tensor.Must(x.Index(ix.At(3))).Expand(6, 10, 3)), picture.HWC},
		{"not aligned", tensor.Must(tensor.FromLender(tensor.Float32, &shifted{make([]byte, 4*4*5+1)}, 0, 4, 5)), picture.HW},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { requirePixels(t, tt.x, tt.layout, 5, 90) })
	}
}

func TestBytesAreCopied(t *testing.T) {
	s := make([]uint8, 256)
	for i := range s {
		s[i] = uint8(i)
	}
	got := encoded(t, tensor.Must(tensor.From(s, 16, 16)), picture.HW, 0, 255)
	require.Equal(t, s, got.(*image.Gray).Pix)
}

// TestBoundsThatAreNotFinite checks that NaN is 0, and infinities are the largest numbers.
func TestBoundsThatAreNotFinite(t *testing.T) {
	x := sample(t, tensor.Float32, 5, 6)
	require.Equal(t, encoded(t, x, picture.HW, 0, 50), encoded(t, x, picture.HW, math.NaN(), 50))
	require.Equal(t, encoded(t, x, picture.HW, -math.MaxFloat64, 50), encoded(t, x, picture.HW, math.Inf(-1), 50))
}

// TestPooledPixels checks that nothing of an earlier picture is seen in a later one.
func TestPooledPixels(t *testing.T) {
	white := tensor.Must(tensor.Full[uint8](255, 9, 9, 4))
	encoded(t, white, picture.HWC, 0, 255)
	requirePixels(t, sample(t, tensor.Uint8, 5, 6), picture.HW, 0, 255)
	requirePixels(t, sample(t, tensor.Uint8, 5, 6, 3), picture.HWC, 0, 255)
}

var errFull = errors.New("full")

// full is a writer that fails.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) { f.n += len(p); return 0, errFull }

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		x      *tensor.Tensor
		layout picture.Layout
		want   error
	}{
		{"another rank", sample(t, tensor.Uint8, 8, 8), picture.HWC, picture.ErrLayout},
		{"two channels", sample(t, tensor.Uint8, 8, 8, 2), picture.HWC, picture.ErrLayout},
		{"no height", sample(t, tensor.Uint8, 0, 8), picture.HW, picture.ErrLayout},
		{"no width", sample(t, tensor.Uint8, 8, 0), picture.HW, picture.ErrLayout},
		{"too wide", sample(t, tensor.Uint8, 1, 4097), picture.HW, picture.ErrLayout},
		{"no such layout", sample(t, tensor.Uint8, 8, 8), 7, picture.ErrLayout},
		{"a scalar", tensor.Scalar[uint8](1), picture.HW, picture.ErrLayout},
		{"bool", tensor.Must(tensor.Zeros[bool](8, 8)), picture.HW, tensor.ErrDType},
		{"complex", tensor.Must(tensor.Zeros[complex64](8, 8)), picture.HW, tensor.ErrDType},
		{"no memory", tensor.Must(tensor.NewMeta(tensor.Uint8, 8, 8)), picture.HW, tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w full
			testkit.Fails(t, tt.want, picture.Encode(&w, tt.x, tt.layout, 0, 1))
			require.Zero(t, w.n, "nothing is written")
		})
	}
	require.ErrorIs(t, picture.Encode(&full{}, sample(t, tensor.Uint8, 8, 8), picture.HW, 0, 1), errFull)
}

// TestMemory checks that a picture takes its pixels and a bounded rest.
func TestMemory(t *testing.T) {
	x := tensor.Must(tensor.Zeros[float64](2048, 2048))
	testkit.MaxBytes(t, 4<<20+1<<20, func() { require.NoError(t, picture.Encode(io.Discard, x, picture.HW, 0, 1)) })
}

// FuzzEncode checks that every layout that fits is written, and what does not fit is refused.
func FuzzEncode(f *testing.F) {
	f.Add(uint8(1), int16(8), int16(8), int16(-1), uint8(0), 0.0, 1.0, []byte{1, 2})
	f.Add(uint8(9), int16(3), int16(8), int16(9), uint8(2), math.NaN(), math.Inf(1), []byte{255, 255})
	f.Add(uint8(11), int16(4), int16(4), int16(4), uint8(1), math.MaxFloat64, -math.MaxFloat64, []byte{})
	f.Add(uint8(12), int16(1), int16(4097), int16(0), uint8(3), 5e-324, 0.0, []byte{127, 1})
	f.Fuzz(func(t *testing.T, d uint8, a, b, c int16, l uint8, black, white float64, data []byte) {
		dtype := tensor.DTypes()[int(d)%len(tensor.DTypes())]
		shape := shapeops.Shape{int(a), int(b), int(c)}
		if c < 0 {
			shape = shape[:2]
		}
		if a < 0 || b < 0 || shape.Size() > 1<<14 {
			return
		}
		raw := make([]byte, shape.Size()*dtype.Size())
		if dtype != tensor.Bool && len(data) > 0 {
			for i := range raw {
				raw[i] = data[i%len(data)]
			}
		}
		x := tensor.Must(tensor.FromBytes(dtype, raw, shape...))
		for _, fit := range picture.Layouts(dtype, shape) {
			require.NoError(t, picture.Encode(io.Discard, x, fit, black, white))
		}
		var out bytes.Buffer
		if err := picture.Encode(&out, x, picture.Layout(l), black, white); err != nil {
			require.True(t, errors.Is(err, picture.ErrLayout) || errors.Is(err, tensor.ErrDType), "%v", err)
			require.Zero(t, out.Len())
			return
		}
		_, err := png.Decode(&out)
		require.NoError(t, err)
	})
}

// BenchmarkEncode writes 64 pictures on two goroutines.
func BenchmarkEncode(b *testing.B) {
	for _, bm := range []struct {
		name   string
		layout picture.Layout
		x      *tensor.Tensor
	}{
		{"uint8=HWC", picture.HWC, tensor.Must(tensor.Zeros[uint8](224, 224, 3))},
		{"float32=CHW", picture.CHW, tensor.Must(tensor.Zeros[float32](3, 224, 224))},
		{"uint8=8x8", picture.HW, tensor.Must(tensor.Zeros[uint8](8, 8))},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var wg sync.WaitGroup
				for range 2 {
					wg.Go(func() {
						for range 32 {
							_ = picture.Encode(io.Discard, bm.x, bm.layout, 0, 200)
						}
					})
				}
				wg.Wait()
			}
		})
	}
}
