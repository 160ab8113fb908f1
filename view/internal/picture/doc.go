// Package picture decides which leaves look like images or lines, and writes images as PNG.
//
//	if picture.LooksLike(dtype, features) {
//		layout := picture.Layouts(dtype, features)[0]
//		black, white := picture.Bounds(dtype, lowest, highest, p1, p99)
//		err := picture.Encode(w, row, layout, black, white)
//	}
//
// Guesses come from dtype, shape, keys and a few numbers about a leaf: only Encode reads values.
//
// # Numbers as grey
//
// A value at black or beyond it is 0, at white or beyond it 255, and linear in between, rounded to
// the nearest integer. If black is greater than white, the image is inverted. If both are equal,
// greater values are white, all others black. NaN is black. Alpha, the last of four channels, is
// scaled in the same way, but never inverted.
//
// # Limits
//
// Encode holds one image of 8 bits in memory: 1 byte for each pixel of a grey image, 4 otherwise;
// height and width are at most 4,096. PNGs are not compressed: they do not leave the machine, and
// this is the quickest.
//
// All functions are safe for concurrent use.
package picture
