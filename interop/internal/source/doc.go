// Package source reads text that may be compressed or in UTF-16. It looks at the first bytes, not
// at names.
//
//	text := source.Open(file) // UTF-8, whatever file has
//	_, err := io.Copy(w, text)
//
// Memory does not grow with the input: a few buffers, and for zstd a window of at most 128 MiB. No
// goroutine runs between two calls of Read, and nothing is to be closed.
package source
