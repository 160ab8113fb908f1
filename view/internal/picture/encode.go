package picture

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"sync"

	"github.com/go-tensordict/tensordict/tensor"
)

// Bounds returns which values are shown as black and white, from the smallest and the largest value
// and the quantiles at 1 % and 99 %. uint8 is shown from 0 to 255 if the largest is above 63, and
// otherwise from 0 to the largest; other dtypes from p1 to p99. Infinite quantiles become the
// nearest finite numbers, and NaN, as of a leaf without values, 0.
func Bounds(dtype tensor.DType, largest, p1, p99 float64) (black, white float64) {
	if dtype != tensor.Uint8 {
		return finite(p1), finite(p99)
	}
	if largest > 63 {
		return 0, 255
	}
	return 0, finite(largest)
}

// finite returns v, 0 for NaN, and the largest numbers for infinities.
func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}

// Encode writes the image of one row as PNG: grey for HW and 1 channel, otherwise in colour, with
// alpha for 4 channels. The shape of x is the feature shape. The doc of the package says how values
// become grey.
//
// Nothing is written before all of x is read: a fault in mapped memory is an error, and nothing is
// written to w. Encode returns ErrLayout if the shape does not fit the layout, or is beyond the
// limits, tensor.ErrDType if x is bool or complex, and the errors of tensor.ReadStrided and w.
func Encode(w io.Writer, x *tensor.Tensor, layout Layout, black, white float64) error {
	features := x.Shape()
	height, width, channels, ok := layout.size(features)
	if !ok {
		return fmt.Errorf("%w: got shape %v for %v, want sides from 1 to %d and 1, 3 or 4 channels", ErrLayout, features, layout, mostSide)
	}
	read, ok := readers[x.DType()]
	if !ok {
		return fmt.Errorf("%w: got %v, want integers or floating-point numbers", tensor.ErrDType, x.DType())
	}
	p := &pixels{layout: layout, height: height, width: width, channels: channels, levels: levels{finite(black), finite(white)}}
	p.allocate()
	defer p.free()
	if err := read(p, x); err != nil {
		return err
	}
	return encoder.Encode(w, p.image())
}

// encoder does not compress: pictures do not leave the machine.
var encoder = png.Encoder{CompressionLevel: png.NoCompression, BufferPool: &encoderBuffers{}}

// encoderBuffers is a png.EncoderBufferPool.
type encoderBuffers struct{ pool sync.Pool }

// Get returns a buffer, or nil.
func (b *encoderBuffers) Get() *png.EncoderBuffer {
	buffer, _ := b.pool.Get().(*png.EncoderBuffer)
	return buffer
}

// Put keeps a buffer.
func (b *encoderBuffers) Put(buffer *png.EncoderBuffer) { b.pool.Put(buffer) }

// pixels is an image of 8 bits while it is filled.
type pixels struct {
	layout                  Layout
	height, width, channels int
	levels                  levels
	pix                     []byte // 1 byte a pixel if there is 1 channel, otherwise 4
}

// each returns the bytes of a pixel.
func (p *pixels) each() int {
	if p.channels == 1 {
		return 1
	}
	return 4
}

// image returns the pixels as an image that package png knows.
func (p *pixels) image() image.Image {
	r := image.Rect(0, 0, p.width, p.height)
	if p.channels == 1 {
		return &image.Gray{Pix: p.pix, Stride: p.width, Rect: r}
	}
	return &image.NRGBA{Pix: p.pix, Stride: 4 * p.width, Rect: r}
}

// keptPixels is the largest number of bytes that are kept for the next image.
const keptPixels = 1 << 20

var kept sync.Pool // of *[]byte, with a capacity of keptPixels

// allocate makes room for the pixels, which hold any bytes.
func (p *pixels) allocate() {
	n := p.height * p.width * p.each()
	if n > keptPixels {
		p.pix = make([]byte, n)
		return
	}
	b, ok := kept.Get().(*[]byte)
	if !ok {
		b = new(make([]byte, keptPixels))
	}
	p.pix = (*b)[:n]
}

// free ends the use of the pixels.
func (p *pixels) free() {
	if cap(p.pix) == keptPixels {
		b := p.pix[:keptPixels]
		kept.Put(&b)
	}
	p.pix = nil
}
