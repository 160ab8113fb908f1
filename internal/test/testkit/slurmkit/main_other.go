//go:build !unix

package slurmkit

// Main returns: this system runs no scripts.
func Main() {}
