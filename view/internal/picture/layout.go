package picture

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// ErrLayout is returned for a layout that does not exist, or does not fit a shape.
var ErrLayout = errors.New("layout of pictures")

// A Layout is the order of the dims of images. Rows come first and are not part of a feature shape.
type Layout uint8

// The layouts: height and width, with channels last or first.
const (
	HW Layout = iota
	HWC
	CHW
)

var layoutNames = [...]string{HW: "N H W", HWC: "N H W C", CHW: "N C H W"}

// String returns the name of a layout, as in "N H W C".
func (l Layout) String() string {
	if int(l) >= len(layoutNames) {
		return fmt.Sprintf("Layout(%d)", l)
	}
	return layoutNames[l]
}

// ParseLayout returns the layout of a name, with or without spaces, in upper or lower case: "N H W"
// and "nhw" are one. It returns ErrLayout for other names.
func ParseLayout(name string) (Layout, error) {
	short := strings.ToUpper(strings.ReplaceAll(name, " ", ""))
	for l, known := range layoutNames {
		if short == strings.ReplaceAll(known, " ", "") {
			return Layout(l), nil
		}
	}
	return 0, fmt.Errorf("%w: got %q, want nhw, nhwc or nchw", ErrLayout, name)
}

const (
	leastSide = 4    // of what looks like an image
	mostSide  = 4096 // of what is written as an image
	mostRatio = 8    // of the sides of what looks like an image
)

// dims returns the positions of height, width and channels in a feature shape; channels is -1 for
// HW.
func (l Layout) dims() (height, width, channels int) {
	switch l {
	case HWC:
		return 0, 1, 2
	case CHW:
		return 1, 2, 0
	}
	return 0, 1, -1
}

// size returns the height, width and channels of an image. It reports false if Encode cannot write
// one of this shape.
func (l Layout) size(features shapeops.Shape) (height, width, channels int, ok bool) {
	y, x, c := l.dims()
	channels, rank := 1, 2
	if c >= 0 {
		rank = 3
	}
	if int(l) >= len(layoutNames) || len(features) != rank {
		return 0, 0, 0, false
	}
	if c >= 0 {
		channels = features[c]
	}
	height, width = features[y], features[x]
	ok = min(height, width) >= 1 && max(height, width) <= mostSide && (channels == 1 || channels == 3 || channels == 4)
	return height, width, channels, ok
}

// looksLike reports whether an image of this shape is likely.
func (l Layout) looksLike(features shapeops.Shape) bool {
	height, width, _, ok := l.size(features)
	short, long := min(height, width), max(height, width)
	return ok && short >= leastSide && long <= mostRatio*short
}

// numbers reports whether a dtype is of real numbers: neither bool nor complex.
func numbers(dtype tensor.DType) bool { return dtype.IsInteger() || dtype.IsFloat() }

// Layouts returns the layouts in which a leaf with these features, the dims of one row, looks like
// images, the best first: none for bool and complex dtypes. Height and width are from 4 to 4,096
// and at most 8 to 1, channels 1, 3 or 4. Where HWC and CHW both fit, HWC is first.
func Layouts(dtype tensor.DType, features shapeops.Shape) []Layout {
	if !numbers(dtype) {
		return nil
	}
	var fit []Layout
	for _, l := range []Layout{HW, HWC, CHW} {
		if l.looksLike(features) {
			fit = append(fit, l)
		}
	}
	return fit
}

const (
	leastSteps  = 8  // of a line
	mostColumns = 16 // lines of one row
)

// LooksLike reports whether a leaf is shown as pictures: it has a layout, and if it could be lines
// too, it is uint8 or its height and width are within 2 to 1.
func LooksLike(dtype tensor.DType, features shapeops.Shape) bool {
	layouts := Layouts(dtype, features)
	if len(layouts) == 0 {
		return false
	}
	height, width, _, _ := layouts[0].size(features)
	square := max(height, width) <= 2*min(height, width)
	return dtype == tensor.Uint8 || square || !fitsLines(dtype, features)
}

// LooksLikeLines reports whether a dense leaf is shown as lines: real numbers of features [T], or
// [T F] with F at most 16, with T of at least 8, unless it is shown as pictures.
func LooksLikeLines(dtype tensor.DType, features shapeops.Shape) bool {
	return fitsLines(dtype, features) && !LooksLike(dtype, features)
}

func fitsLines(dtype tensor.DType, features shapeops.Shape) bool {
	switch len(features) {
	case 1:
	case 2:
		if features[1] < 1 || features[1] > mostColumns {
			return false
		}
	default:
		return false
	}
	return numbers(dtype) && features[0] >= leastSteps
}

// RaggedLooksLikeLines reports whether a ragged leaf, with these features of each value, is shown
// as lines: real numbers of features [], or [F] with F at most 16. uint8 without features is text.
func RaggedLooksLikeLines(dtype tensor.DType, features shapeops.Shape) bool {
	switch len(features) {
	case 0:
		return numbers(dtype) && dtype != tensor.Uint8
	case 1:
		return numbers(dtype) && features[0] >= 1 && features[0] <= mostColumns
	}
	return false
}
