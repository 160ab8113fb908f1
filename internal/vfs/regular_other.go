//go:build !unix

package vfs

// noFollow is nothing here: OpenRegular looks before it opens.
const noFollow = 0
