//go:build !linux

package testkit

// roomInMemory reports false.
func roomInMemory() bool { return false }
