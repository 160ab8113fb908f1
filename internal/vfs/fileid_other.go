//go:build !unix

package vfs

import "io/fs"

// systemID returns false: a FileInfo has no file number on this system.
func systemID(fs.FileInfo) (id any, ok bool) { return nil, false }

func links(fs.FileInfo) int { return 0 }
