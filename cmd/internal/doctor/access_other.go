//go:build !unix

package doctor

import "io/fs"

// access finds nothing.
func access(string, fs.FileInfo) []Finding { return nil }
