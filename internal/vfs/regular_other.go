//go:build !unix

package vfs

// noFollow is empty: OpenRegular checks the file before it opens it.
const noFollow = 0
