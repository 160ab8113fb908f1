//go:build !linux

package main

import "errors"

// evicts reports whether pages of files can be evicted.
func evicts(string) bool { return false }

// evict returns errors.ErrUnsupported.
func evict(string) error { return errors.ErrUnsupported }
